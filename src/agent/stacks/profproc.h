/* One process while it is recorded (agent/stacks/profile): its view, its threads, and the last sample of each. */
#pragma once

#include "agent/inspect/procview.h"
#include "agent/jobs/members.h"
#include "model/stacks/stackset.h"

struct profproc_thread;
struct idmap_row;

struct profproc {
	struct procview *view;
	struct stack_lane lane; /* lane of the process; threads copy it and add their own fields */
	bool threads_apart;
	struct profproc_thread *thread; /* owned, sorted by tid */
	size_t n_threads;
	struct threadwatch *watch;
	struct idmap_row *idmap; /* hash table with open addressing: frame -> id in the set's frame table */
	size_t idmap_n, idmap_cap;
	uint64_t list_ns; /* time of the last listing of threads; 0: list now */
	uint64_t recheck_ns; /* time of the last check of functions */
	uint64_t again_ns, again_wait_ns; /* next search for Python while there is none, and the interval after it */
	bool checked; /* in this round: the process still runs the same program */
	uint32_t broken; /* rounds in a row without a readable Python thread: the process called exec, or ends */
	bool threadless; /* left out: code of other interpreters whose thread CPython does not report */
	bool all_threads; /* sample also threads that never run Python */
	bool gone;
	bool seen; /* found by the last listing of processes */
};

/* Counts over all samples, including repeated ones of threads that stood still. */
struct profproc_tally {
	uint64_t dropped, merged, approximate, native_missing, incomplete;
	uint64_t samples;
};

/* WORLD_GONE, WORLD_DENIED with the fault, -errno. Free with profproc_close. */
int must_check profproc_open(const struct world *w, const struct member *m, const struct procview_want *want,
			     bool threads_apart, struct profproc **ret, struct fault *f);
/* Updates the names of the lane: a process that runs a new program has another command, and may have another role. */
void profproc_name(struct profproc *t, const struct member *m);
struct profproc *profproc_close(struct profproc *t);
/*
 * Samples every thread once. weight_ns: time that each sample stands for. -ENOMEM; t->gone is set when the process has
 * ended.
 */
int must_check profproc_sample(struct profproc *t, struct stackset *into, uint64_t weight_ns,
			       struct profproc_tally *tally);
