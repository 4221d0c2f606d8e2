#include "agent/incident/lookahead.h"

#include <string.h>

#include "agent/guard/guardcase.h"
#include "agent/guard/memlock.h"
#include "sense/lockwait.h"

_Static_assert(VIEWCACHE_PLACES == GUARD_LIKELY, "a place for each process that the guard names");

/* Time for one call; processes not reached are opened at the next change. */
#define BUDGET_NS (4 * NS_PER_MS)

void lookahead_refresh(struct lookahead *a, const struct world *w, struct guard_shm *shm)
{
	pid_t pids[GUARD_LIKELY];
	if (!a->names && atomic_load(&shm->names.want_seq) > 0)
		a->names = namereader_new(w, &shm->names);
	if (a->names)
		namereader_refresh(a->names);
	if (!a->sharing && shm->sharing.n_want > 0)
		a->sharing = sharing_new(w, shm);
	if (a->sharing)
		sharing_refresh(a->sharing);
	if (!a->sizes || shm->now.state < GUARD_WARN)
		return;
	memcpy(pids, shm->now.likely, sizeof(pids));
	prefetch_ask(a->sizes, pids, GUARD_LIKELY);
}

void lookahead_update(struct lookahead *a, const struct world *w, struct guard_shm *shm)
{
	pid_t pids[GUARD_LIKELY];
	if (shm->now.state < GUARD_WARN) {
		viewcache_clear(&a->views); /* an agent lives for months, and has seen many programs */
		return;
	}
	if (guard_case_pending(shm))
		return;
	memcpy(pids, shm->now.likely, sizeof(pids));
	if (!a->sizes)
		a->sizes = prefetch_new(w);
	lookahead_refresh(a, w, shm);
	atomic_store(&shm->lock_helper, lockwait_helper());
	atomic_store(&shm->preloading, 1);
	/* pages that the report of a case will write to are touched now, not while a victim is frozen */
	memlock_populate(&a->draft, sizeof(a->draft));
	guardcase_prepare(shm);
	viewcache_keep(&a->views, w, pids, GUARD_LIKELY, BUDGET_NS);
	atomic_store(&shm->preloading, 0);
}

void lookahead_done(struct lookahead *a)
{
	viewcache_clear(&a->views);
	a->sizes = prefetch_free(a->sizes);
	a->sharing = sharing_free(a->sharing);
	a->names = namereader_free(a->names);
}
