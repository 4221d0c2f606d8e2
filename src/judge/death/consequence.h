/*
 * What a memory kill by the guard has to do with the end of an attempt. Pure.
 *
 * Monotonic times are nanoseconds; times in unix milliseconds are those of the rank's end and of the kill's report.
 */
#pragma once

#include "base/base.h"

/*
 * True when a failure at failed_ns follows a memory kill at killed_ns by less than 60 s: launchers take a while to
 * notice that a process is gone, and a later failure has another cause. False when it failed before the kill.
 */
bool consequence_of_kill(uint64_t killed_ns, uint64_t failed_ns);

/* One rank at the time of the check. */
struct consequence_rank {
	bool running;
	int64_t ended_unix_ms; /* valid when it is not running */
};

/*
 * True when all ranks had ended before the kill and none had failed: the victim was then a process that they left in
 * the background. A rank that ended at the time of the kill or after it does not count as ended before.
 */
bool consequence_only_rest(const struct consequence_rank *rank, size_t n, bool any_failed, int64_t killed_unix_ms);
