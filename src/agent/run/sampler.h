/*
 * Looks at a job's processes now and then, and writes what they use into the
 * job's series file (tell/store/series), and which of them came and went.
 *
 * How often: each second in the first minute, each 2 s until ten minutes, each
 * 5 s from then on; half as often each time, down to each 5 s (later 10 s), while
 * the job does nothing that would be seen; rarer where a look costs so much that it would take more
 * than its share (0.5 % of a core at first, 0.005 % later, and a thousandth
 * of what the job itself uses), at the least every five minutes.
 */
#pragma once

#include "agent/hang/hangshm.h"
#include "agent/jobs/jobpids.h"
#include "base/base.h"

#define SAMPLER_RANKS 64

struct sampler_want {
	struct jobpids_want pids;
	uint32_t attempt;
	struct {
		pid_t pid;
		uint64_t start_ticks;
		int32_t rank;
	} rank[SAMPLER_RANKS]; /* main processes whose rank is known */
	size_t n_ranks;
	const struct hang_own *own; /* ranks that the program has started itself, as far as they are known; NULL */
	uint64_t node_used_bytes, node_total_bytes, job_bytes; /* 0: not known */
};

struct sampler;

/* dir: the job's. since_boot_ns: what started later is the job's from its first moment on. NULL without memory. */
struct sampler *sampler_new(const struct world *w, const char *dir, uint64_t since_boot_ns);
struct sampler *sampler_free(struct sampler *s);
/* When the next look is due, monotonic. */
uint64_t sampler_due_ns(const struct sampler *s);
/* Look now. The first error of the file is returned, once; what could not be kept is lost, looking goes on. */
int must_check sampler_look(struct sampler *s, const struct sampler_want *want);
struct sampler_memory {
	uint64_t own_bytes, rss_bytes; /* at the last look at which it had any */
	uint64_t peak_own_bytes; /* the most that a look saw */
};
/* Of one of its processes, alive or just ended. false: it was never seen to have any. */
bool sampler_recall(const struct sampler *s, pid_t pid, uint64_t start_ticks, struct sampler_memory *ret);
/* A process is about to be forgotten by the kernel: look, unless that was done just now or never. */
int must_check sampler_look_before_end(struct sampler *s, const struct sampler_want *want);
