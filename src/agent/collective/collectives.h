/*
 * Gathers what is known of a job's collectives: files that a person names, or
 * for a running job its ranks' Flight Recorder dumps, the rings of the NCCL
 * plugin, and NCCL's RAS when that is allowed. What could not be looked at is
 * said, not passed over.
 */
#pragma once

#include "agent/jobs/members.h"
#include "base/fault.h"
#include "model/collective/collective.h"

#define COLLECTIVES_NOTES 16

struct collectives {
	struct collective_set *set;
	char note[COLLECTIVES_NOTES][320]; /* what was not read, and why */
	size_t n_notes;
	size_t n_read; /* dumps, rings and reports */
};
void collectives_done(struct collectives *c);

/* Files and folders of dumps, rings and saved RAS reports. 0: see n_read and the notes; -errno. */
int must_check collectives_of_files(char **paths, size_t n, struct collectives *ret);

struct collectives_rank {
	int32_t rank;
	pid_t pid; /* its main process */
};

struct collectives_want {
	const struct members_want *members; /* looked for on the whole machine; NULL: the ranks are known */
	const struct collectives_rank *ranks;
	size_t n_ranks;
	/* Nothing is asked or read unless a rank has NCCL in its memory, or its environment names dumps or a ring. */
	bool only_if_used;
	int64_t dumps_since_unix_ms; /* an older dump shows another moment, and is none; 0: any */
	const char *ras_address; /* NULL: as the job says, else localhost:28028 */
	bool ras_force; /* though its NCCL is old, unknown or just starting */
	bool ras_no_hint; /* nobody is there who could force it */
	bool no_ras;
	bool ask_dumps; /* through the ranks' pipes, and wait for them */
	uint64_t dumps_limit_ns; /* for waiting for dumps; 0: all of limit_ns */
	uint64_t limit_ns; /* for all waiting together */
};
int must_check collectives_of_job(const struct world *w, const struct collectives_want *want, struct collectives *ret);
