/*
 * One process while it is recorded (agent/stacks/profile): its view, its threads,
 * and what each was last seen doing.
 */
#pragma once

#include "agent/inspect/procview.h"
#include "agent/jobs/members.h"
#include "model/stacks/stackset.h"

struct profproc_thread;
struct idmap_row;

struct profproc {
	struct procview *view;
	struct stack_lane lane; /* of the process; threads take it and add theirs */
	bool threads_apart;
	struct profproc_thread *thread; /* owned, by tid */
	size_t n_threads;
	struct threadwatch *watch;
	struct idmap_row *idmap; /* frame -> number in the set's table: open addressing */
	size_t idmap_n, idmap_cap;
	uint64_t list_ns; /* when the threads were last listed */
	uint64_t recheck_ns; /* when functions were last looked at again */
	uint64_t again_ns, again_wait_ns; /* when Python is looked for again, while there is none; and after that */
	bool checked; /* in this round: it is still the same program */
	uint32_t broken; /* rounds in a row without a readable Python thread: it has exec'ed, or ends */
	bool homeless; /* code of other interpreters of which CPython does not say which thread runs it was left out */
	bool all_threads; /* also those that never run Python */
	bool gone;
	bool seen; /* mark of the last listing of processes */
};

/* Of all samples, also of those that show what was read before, because the thread stood still. */
struct profproc_tally {
	uint64_t dropped, merged, approximate, native_missing, incomplete;
	uint64_t samples;
};

/* WORLD_GONE, WORLD_DENIED with the fault. */
int must_check profproc_open(const struct world *w, const struct member *m, const struct procview_want *want,
			     bool threads_apart, struct profproc **ret, struct fault *f);
/* A program that becomes another has another command, and perhaps another role. */
void profproc_name(struct profproc *t, const struct member *m);
struct profproc *profproc_close(struct profproc *t);
/* One look at every thread of it; weight_ns: what each sample stands for. -ENOMEM; a process that ended sets gone. */
int must_check profproc_sample(struct profproc *t, struct stackset *into, uint64_t weight_ns,
			       struct profproc_tally *tally);
