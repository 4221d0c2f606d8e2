/* What `vigil top` looks at again and again: the memory of all processes, and what they use of the processors. */
#pragma once

#include "agent/jobs/livefollow.h"
#include "cli/options/subject.h"
#include "model/memory/toplist.h"
#include "sense/world.h"

/* Of so many running jobs their supervisors are listened to. */
#define TOPDATA_LIVES 8

struct topdata_live {
	char job[64]; /* "": free */
	struct livefollow *follow;
};

struct topdata {
	struct world w;
	char state[256];
	bool has_subject;
	struct subject subject;
	struct topdata_live live[TOPDATA_LIVES];
	uint64_t lives_ns; /* when jobs were looked for last; 0: never */
	bool looked; /* footprint is of the last look */
	struct footprint footprint;
	struct toplist_look *was, *now; /* by pid; owned */
	size_t n_was, n_now;
	uint64_t was_ns, now_ns, took_ns; /* when the looks began, and how long the last one took */
};

/* what: JOB, PID or NULL for the node. Returns an exit status; what is wrong has then been said. */
int must_check topdata_open(struct topdata *d, const char *state, const char *what);
void topdata_done(struct topdata *d);
/* MEMORY_NO_PROCESS, or a negative errno, with a sentence. Lists made before are then no longer valid. */
int must_check topdata_look(struct topdata *d, struct fault *f);
/* Borrows from d until the next look. */
int must_check topdata_list(const struct topdata *d, const struct toplist_want *want, struct toplist *ret);
/* When the next look is due: looking takes at most a twentieth of the time. */
uint64_t topdata_due_ns(const struct topdata *d, uint64_t every_ns);
/* What the supervisor of the i-th job says of it; NULL: nothing. Borrowed until the next look. */
const struct live_state *topdata_live(const struct topdata *d, size_t i);
