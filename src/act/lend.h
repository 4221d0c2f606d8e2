/*
 * Lends a process the priority of the one that waits for it. Who runs before everybody else on the machine and waits for
 * a process of ordinary priority waits for everybody else too (priority inversion): the borrower gets its turn only
 * when they have had theirs. Lent is the priority right below the lender's own, to one thread, for the time of the wait;
 * forks of the borrower do not have it. A borrower with real-time priority of its own keeps that.
 *
 * What was lent can be given back by whoever holds the note of it, so that it does not stay when the lender dies.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

struct lent {
	pid_t tid; /* 0: nothing is lent */
	int policy; /* what the borrower had: a policy of sched(7) with its flags, */
	int priority; /* its real-time priority, */
	int nice;     /* and its nice value */
};

/* Empty: {.tid = 0}. Without the right to lend, and to who is gone, nothing is lent. */
void lend(struct lent *l, pid_t tid);
/* Nothing where nothing is lent. */
void lend_back(struct lent *l);
