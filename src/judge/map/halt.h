/*
 * When a bag of tasks ends before all of it has run (--halt, as GNU parallel spells it), and the exit status of a bag.
 * Pure.
 *
 *   never · soon,fail=N · now,success=P% · …,done=N · 0 never · 1 soon,fail=1 · 2 now,fail=1 · -1 soon,success=1 ·
 *   -2 now,success=1 · P% soon,fail=P%
 *
 * soon: no task is started any more. now: those that run are ended as well. A share is one of all tasks.
 */
#pragma once

#include "base/base.h"
#include "base/fault.h"

enum halt_when { HALT_NEVER, HALT_SOON, HALT_NOW };
enum halt_what { HALT_FAIL, HALT_SUCCESS, HALT_DONE };

struct halt {
	enum halt_when when;
	enum halt_what what;
	uint64_t count; /* 0: the share counts */
	double share_ratio;
};

/* -EINVAL with a sentence. */
int must_check halt_parse(const char *text, struct halt *ret, struct fault *f);
/* total 0: not known yet; a share is then not reached. */
enum halt_when halt_judge(const struct halt *h, uint64_t failed, uint64_t succeeded, uint64_t total);

struct map_tally {
	uint64_t failed, succeeded;
	bool for_memory; /* a task was ended for memory and not tried again */
	bool halted;
	int halt_status; /* of the task that made the end */
	int stop_signal; /* the user's; 0: none */
};
/*
 * The exit status of `vigil map`: the number of failed tasks; with --halt that of the task that made the end where one
 * was waited for, 0 where several were to succeed and did, and where a share was waited for, how many in a hundred
 * have failed. total 0: not known.
 */
int map_exit_status(const struct halt *h, const struct map_tally *t, uint64_t total);
