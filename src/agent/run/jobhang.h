/*
 * What the supervisor keeps of one job's hangs: the last incident, which may still be resolved or retried, and the
 * first stacks of a suspicion, for the report of a job that ends before its verdict. Used by both loops
 * (agent/run/services).
 */
#pragma once

#include "agent/incident/hangreport.h"

struct job_hang {
	struct incident *last; /* the last incident of kind hang in this attempt; owned; NULL: none */
	struct attachments parts; /* of `last` */
	struct incident *slow; /* that of a rank that is slow by itself, until it is no more; owned; NULL: none */
	struct attachments slow_parts; /* of `slow` */
	struct hang_message *early; /* the first stacks of the last suspicion; owned; NULL: none */
	uint64_t early_ns; /* when they came, monotonic */
	bool loss_reported; /* a rank's broken loss was told on stderr and by a notice; those of others are events */
	bool ended; /* the job is being ended because of `last`, so it can no longer be resolved */
};

/* Copy a HANG_SAYS_EARLY message. Without memory nothing is kept. */
void jobhang_keep_early(struct job_hang *h, const struct hang_message *m, uint64_t now_ns);
void jobhang_forget_early(struct job_hang *h);
/*
 * Keep a copy of the incident, and its parts, which are empty afterwards, where it may be over later. Without memory
 * neither is kept.
 */
void jobhang_keep(struct job_hang *h, const struct hang_verdict *v, const struct incident *in,
		  struct attachments *parts);
void jobhang_forget_slow(struct job_hang *h);
/* Forget everything; safe on zeroed memory. */
void jobhang_clear(struct job_hang *h);
/* The job has ended during a suspicion: complete its incident by what the early stacks show. True if there are any. */
bool jobhang_ended(const struct job_hang *h, uint64_t now_ns, struct incident *in, struct attachments *parts);
