#include "agent/guard/guardrecover.h"

#include <signal.h>

void guardrecover_let_go(const struct world *w, struct guard_shm *shm)
{
	for (uint32_t j = 0; j < MIN(shm->n_jobs, (uint32_t)UNIT_JOBS_MAX); j++) {
		struct guard_job *job = &shm->jobs[j];
		if (!job->has_group)
			continue;
		ignore(jobgroup_unthrottle(&job->group), "a removed group needs nothing");
		ignore(jobgroup_thaw(&job->group), "a removed group needs nothing");
	}
	uint32_t n = MIN(atomic_load(&shm->n_frozen), (uint32_t)GUARD_FROZEN);
	for (uint32_t i = 0; i < n; i++)
		ignore(target_signal(w, &shm->frozen[i], SIGCONT), "gone is fine");
	atomic_store(&shm->n_frozen, 0);
	for (size_t i = 0; i < GUARD_LENT; i++)
		lend_back(&shm->lent[i]);
}

static bool case_is_open(const struct guard_case *c)
{
	uint32_t phase = atomic_load(&c->phase);
	return phase == CASE_BEGUN || phase == CASE_DECIDED || phase == CASE_KILLED;
}

void guardrecover_finish(const struct world *w, struct guard_shm *shm)
{
	/* victims first: once resumed they would go on growing */
	for (size_t k = 0; k < GUARD_CASES; k++) {
		const struct guard_case *c = &shm->cases[k];
		for (uint32_t i = 0; case_is_open(c) && i < MIN(c->n_victims, (uint32_t)GUARD_CASE_PIDS); i++) {
			struct target t = {.id = c->victim[i], .pidfd = -1};
			ignore(target_signal(w, &t, SIGKILL), "gone is fine");
		}
	}
	guardrecover_let_go(w, shm);
}

void guardrecover_note(const struct world *w, struct guard_case *c)
{
	incident_evidence_add(
		&c->incident, "guard", "shared ring", w->unix_ms(),
		"the guard died in the middle of this; its report is replayed from what it left, and what it "
		"had begun was carried through by the process that watches it");
	atomic_store(&c->phase, CASE_DONE);
}
