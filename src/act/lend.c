#include "act/lend.h"

#include <sched.h>
#include <sys/resource.h>

static bool is_realtime(int policy)
{
	int plain = policy & ~SCHED_RESET_ON_FORK;
	return plain != SCHED_OTHER && plain != SCHED_BATCH && plain != SCHED_IDLE;
}

/* The lender's own, one lower; false: it has no real-time priority. */
static bool realtime_below(struct sched_param *ret)
{
	struct sched_param own;
	int policy = sched_getscheduler(0);
	if (policy < 0 || !is_realtime(policy) || sched_getparam(0, &own) < 0)
		return false;
	ret->sched_priority = MAX(own.sched_priority - 1, 1);
	return true;
}

void lend(struct lent *l, pid_t tid)
{
	struct sched_param had, now;
	int policy = sched_getscheduler(tid);
	if (l->tid || tid <= 0 || policy < 0 || is_realtime(policy) || sched_getparam(tid, &had) < 0)
		return;
	/* noted first: the lender may die in between */
	*l = (struct lent){.policy = policy, .priority = had.sched_priority, .nice = getpriority(PRIO_PROCESS, (id_t)tid)};
	l->tid = tid;
	if (realtime_below(&now) && sched_setscheduler(tid, SCHED_FIFO | SCHED_RESET_ON_FORK, &now) == 0)
		return;
	int own = getpriority(PRIO_PROCESS, 0);
	if (own >= l->nice || setpriority(PRIO_PROCESS, (id_t)tid, own) < 0)
		l->tid = 0;
}

void lend_back(struct lent *l)
{
	const struct sched_param had = {.sched_priority = l->priority};
	if (l->tid == 0)
		return;
	/* taking the flag back takes a right that lending did not; its forks then have no more than it has */
	if (sched_setscheduler(l->tid, l->policy, &had) < 0)
		ignore(sched_setscheduler(l->tid, l->policy | SCHED_RESET_ON_FORK, &had), "gone is fine");
	ignore(setpriority(PRIO_PROCESS, (id_t)l->tid, l->nice), "gone is fine");
	l->tid = 0;
}
