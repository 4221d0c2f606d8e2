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

struct shield_want {
	const struct members_want *members;
	const char *subject;  /* for messages */
	const char *key;      /* under which old values are kept: the job's id, or "pid-812" */
	enum protect_level level;
	bool dry_run;
	bool guarded; /* a vigil acts on it before the kernel does */
};

struct shield {
	struct protect_outcome outcome;
	struct protect_wish wish;
	struct protect_facts facts;
	struct probe probe; /* borrowed by facts */
	struct findings threats;
	size_t notes_lost;  /* old values that could not be stored */
};

enum { SHIELD_NO_PROCESS = 4 };

/* s NULL: old values are not kept. ret is large: make it static or allocate it. */
int must_check shield_apply(const struct world *w, const struct shield_want *want, struct store *s, struct shield *ret,
			    struct fault *f);
void shield_done(struct shield *s);

struct shield_restored {
	size_t n, n_done, n_gone, n_refused;
};
/* Puts back and forgets what was stored under key; what is refused stays stored. STORE_NONE: nothing was stored. */
int must_check shield_restore(const struct world *w, struct store *s, const char *key, struct shield_restored *ret,
			      struct fault *f);
