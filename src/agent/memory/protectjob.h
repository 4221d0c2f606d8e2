/*
 * Protects a whole job and finds out what can still end it: lists its
 * processes (again, until no new one turns up), acts, asks systemd which of
 * its rules reach the job, and has the judge say what is left. Old values go
 * to the store, so that they can be put back later, by anybody.
 */
#pragma once

#include "act/protect.h"
#include "agent/jobs/members.h"
#include "base/fault.h"
#include "judge/memory/protect.h"
#include "tell/store/store.h"

struct protectjob_want {
	const struct members_want *members;
	const char *subject; /* for messages */
	const char *key; /* under which old values are kept: the job's id, or "pid-812" */
	enum protect_level level;
	bool dry_run;
	bool guarded; /* a vigil acts on it before the kernel does */
};

struct protectjob {
	struct protect_outcome outcome;
	struct protect_wish wish;
	struct protect_facts facts;
	struct probe probe; /* borrowed by facts */
	struct findings threats;
	size_t notes_lost; /* old values that could not be stored */
};

enum { PROTECTJOB_NO_PROCESS = 4 };

/* s NULL: old values are not kept. ret is large: make it static or allocate it. */
int must_check protectjob_apply(const struct world *w, const struct protectjob_want *want, struct store *s,
				struct protectjob *ret, struct fault *f);
void protectjob_done(struct protectjob *s);

struct protectjob_restored {
	size_t n, n_done, n_gone, n_refused;
};
/* Puts back and forgets what was stored under key; what is refused stays stored. STORE_NONE: nothing was stored. */
int must_check protectjob_restore(const struct world *w, struct store *s, const char *key,
				  struct protectjob_restored *ret, struct fault *f);
