/*
 * Where the profile comes from that `vigil heap` shows: a file, a job or a process that has one, the page faults of
 * what runs (--what growth), or a sampler that is loaded for a while (--attach -d TIME).
 *
 * Errors: SUBJECT_*, HEAPREAD_NONE, WORLD_* and -errno, with a sentence in the fault.
 */
#pragma once

#include "agent/heap/heapload.h"
#include "cli/heap/heap_switch.h"
#include "cli/heap/heap_write.h"

#define HEAP_NOTES 8

/* What is looked for, and what was found: the set is freed by heap_source_done(). */
struct heap_source {
	struct world *world;
	char state[256];
	int what;	      /* enum heapset_what; below 0: not said */
	uint64_t duration_ns; /* UINT64_MAX: not given */
	bool has_attempt, warn;
	uint32_t attempt;

	struct heapset *set;
	struct heap_name name;
	char notes[HEAP_NOTES][300];
	size_t n_notes;
	bool brief; /* the profile was made now, in a time that is too short for leaks */
};

void heap_source_done(struct heap_source *s);
/* The exit status for an error of this page. */
int heap_status(int r);
/* A process of the set can still be asked, or its profile was saved while it ran. */
bool heap_source_runs(const struct heap_source *s);

/* what: a file, a folder, a job or a process. *ret is the caller's; notes are added to the source. */
int must_check heap_source_load(struct heap_source *s, const char *what, struct heapset **ret, struct heap_name *name,
				struct fault *f);
/* --what growth: records the page faults of a running job or process from now on, into s->set. */
int must_check heap_source_growth(struct heap_source *s, const char *what, struct fault *f);
/*
 * `--attach -d TIME`: samples for this time, loads the profile into s->set, and gives the program its own calls back.
 * Where there is a sampler already (--heap), its profile is loaded at once. Returns an exit status; the fault is set
 * where it is not said yet.
 */
int must_check heap_source_sample(struct heap_source *s, const char *what, const struct heap_switch *attach,
				  struct fault *f);
