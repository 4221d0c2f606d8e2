/*
 * Who waits for whom in a job or process that is not watched: two looks at the waits of all its processes, what Python
 * says of its locks and the collective library's rings of its calls in between, and the graph of them. Nothing is
 * stopped or changed. For `vigil waits` and `vigil stack`.
 */
#pragma once

#include "agent/jobs/members.h"
#include "agent/wait/waitgo.h"
#include "base/fault.h"
#include "model/hang/waitgraph.h"
#include "model/hang/wakehist.h"

/* Less time between the looks proves nothing: a thread that is about to wake looks as if it stood. */
#define WAITSREAD_LEAST_NS (2 * NS_PER_S)

struct waitsread_want {
	const struct members_want *members;
	const struct wakehist *wakes; /* who usually ended such waits; NULL: unknown */
	uint64_t apart_ns; /* time between the looks, at least WAITSREAD_LEAST_NS; 0: one look, and nothing is proved */
	uint64_t budget_ns; /* most time for Python; 0: what there is between the looks, or 2 s */
	const volatile bool *stop; /* set by a signal handler: no more waiting, what is there is shown; may be NULL */
	void (*progress)(void *ctx, uint64_t left_ns); /* about ten times a second between the looks; may be NULL */
	void *ctx;
};

struct waitsread {
	struct waitfacts look[2]; /* owned */
	size_t n_looks;
	struct waitgo go[2]; /* of each look; owned */
	struct waitgraph_who *who; /* of the last look; owned */
	size_t n_who;
	struct waithint *hint; /* owned */
	size_t n_hints;
	struct waitgraph graph; /* owned; points into the looks, who and hint */
	int64_t captured_unix_ms; /* of the last look */
	uint64_t apart_ns; /* between the looks, as it was */
	uint64_t took_ns; /* reading, without the time between the looks */
	bool stopped; /* ended early: there is one look */
	bool cut; /* processes are missing: there are more than are read, or memory is short */
	bool hints_late; /* not every Python could be asked in time about its locks and tasks */
	size_t n_denied; /* processes that may not be looked into */
	bool subject_denied; /* the very process that was asked for is one of them */
};

enum {
	WAITSREAD_NONE = 4, /* no process of it runs */
	WAITSREAD_ENDED = 5, /* all of them ended between the looks */
};

/* WORLD_DENIED: none of its processes may be looked into; WAITSREAD_*, WORLD_ABSENT, -errno. The fault says why. */
int must_check waitsread_take(const struct world *w, const struct waitsread_want *want, struct waitsread *ret,
			      struct fault *f);
/* Reads what a watcher has learned of a job, from <state>/jobs/<job>/wakers; empty where there is nothing. */
void waitsread_wakes(const char *state, const char *job, struct wakehist *ret);
void waitsread_done(struct waitsread *r);
