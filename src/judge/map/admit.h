/*
 * Memory of a bag of tasks: whether another one may start, and what is done when it runs short. Pure.
 *
 * The room is what all tasks together may hold. A task is admitted if what it is expected to need fits beside what
 * those that run hold or are expected to need yet: the sum is not exceeded in nine of ten cases, and of each only the
 * share is counted that tasks hold on average. One task alone is always admitted: else the bag would be stuck.
 *
 * Short of memory, the newest task that grows is suspended, then the next newest: suspended memory does not grow, and
 * who does not grow will end and give its memory back. If that is not enough, the newest suspended one is ended and
 * tried again later with more room set aside. The oldest goes on in any case, so that a bag always gets on; only if it
 * is alone and holds all of the room is it too big, and fails.
 *
 * Where fewer tasks run than there are processors, since the others are suspended, the newest of these are ended too,
 * if the oldest suspended one can then go on and little is lost: at most twice what the oldest that runs has done.
 */
#pragma once

#include "base/base.h"

struct admit_task {
	uint64_t own_bytes; /* now */
	uint64_t expected_bytes; /* at its peak */
	uint64_t spread_bytes; /* standard deviation of that */
	uint64_t lived_ns; /* without the time in which it was suspended */
	bool growing; /* has grown lately */
	bool suspended;
	bool ending; /* it was killed and is not gone yet */
};

struct admit_state {
	uint64_t room_bytes;
	uint64_t ahead_bytes; /* by which the tasks may grow until the next look */
	double share_ratio; /* of its peak that a task holds on average */
	size_t n_processors; /* which the tasks may use */
	const struct admit_task *task; /* the oldest first */
	size_t n;
};

enum admit_act { ADMIT_NOTHING, ADMIT_SUSPEND, ADMIT_RESUME, ADMIT_KILL, ADMIT_TOO_BIG };

struct admit_verdict {
	enum admit_act act;
	size_t task;
};

/* True if another task, of which expectations are given, may start. */
bool admit_start(const struct admit_state *s, const struct admit_task *next);
/* What is to be done now; asked again after it was done, until it is nothing. */
struct admit_verdict admit_judge(const struct admit_state *s);
/* The memory to set aside for a task that was ended with so much. */
uint64_t admit_more(uint64_t own_bytes, uint64_t expected_bytes);
/* What the tasks may hold: the limit, and what is available beside a reserve of the machine or container. */
uint64_t admit_room(uint64_t limit_bytes, uint64_t own_bytes, uint64_t available_bytes, uint64_t total_bytes);
