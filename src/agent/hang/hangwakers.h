/*
 * Learns who usually ends the waits of the watched jobs' threads while they work: for two seconds of a minute, less
 * where the machine switches between threads very often, and three times in the first half minute of a job.
 * Meanwhile, the places in Python at which threads wait for locks are sampled, and who ends those very waits is asked.
 *
 * One BPF program serves all jobs of a watcher; it is loaded when the first job works. Without the right to load it
 * nothing is learned, and all else goes on.
 */
#pragma once

#include "agent/hang/hangprocs.h"
#include "model/hang/wakehist.h"

struct hangwakers;

/* A job that works now. */
struct hangwakers_job {
	uint32_t number; /* tells it from the others */
	const struct hangprocs *procs;
	struct wakehist *hist; /* grows */
};

/* NULL without memory. w is borrowed. It lives as long as the watcher. */
struct hangwakers *hangwakers_new(const struct world *w);
/*
 * Does what is due: begins to count for these jobs, takes a sample, or ends. Returns when the next thing is due.
 */
uint64_t hangwakers_step(struct hangwakers *h, const struct hangwakers_job *job, size_t n);
/* Ends the counting, if there is one, before its time: the caller is about to do something that takes long. */
void hangwakers_end(struct hangwakers *h, const struct hangwakers_job *job, size_t n);
/* True while wakes are counted: then the jobs that are watched are wanted, else those that work. */
bool hangwakers_counts(const struct hangwakers *h);
/* True once a counting has just ended, until it is asked again: the histories have grown. */
bool hangwakers_learned(struct hangwakers *h);
