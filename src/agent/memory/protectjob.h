/*
 * Protects a whole job from being killed for memory and reports what can still
 * end it: lists its processes, repeated until no new one appears, sets their
 * values, asks systemd which of its rules reach the job, and has the judge
 * list the remaining threats. Old values go to the store, so that any later
 * call can put them back.
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
	const char *key; /* of the old values in the store: the job's id, or "pid-812" */
	enum protect_level level;
	bool dry_run;
	bool guarded; /* a guard of vigil acts before the kernel does */
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

/* s NULL: old values are not kept. *ret is too large for the stack. PROTECTJOB_NO_PROCESS: no process is alive. */
int must_check protectjob_apply(const struct world *w, const struct protectjob_want *want, struct store *s,
				struct protectjob *ret, struct fault *f);
void protectjob_done(struct protectjob *s);

struct protectjob_restored {
	size_t n, n_done, n_gone, n_refused;
};
/* Puts back and drops the values stored under key; refused ones stay stored. STORE_NONE: nothing was stored. */
int must_check protectjob_restore(const struct world *w, struct store *s, const char *key,
				  struct protectjob_restored *ret, struct fault *f);
