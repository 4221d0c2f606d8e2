/*
 * Gathers what is known of a job's collectives: from files that a person names, or for a running job from its ranks'
 * Flight Recorder dumps, the rings of the NCCL plugin, and NCCL's RAS where that is allowed. Each source that could not
 * be read gets a note.
 */
#pragma once

#include "agent/jobs/members.h"
#include "base/fault.h"
#include "model/collective/collective.h"

#define COLLECTIVES_NOTES 16

struct collectives {
	struct collective_set *set;
	char note[COLLECTIVES_NOTES][320]; /* what could not be read, and why */
	size_t n_notes;
	size_t n_read; /* number of dumps, rings and reports that were read */
};
void collectives_done(struct collectives *c);

/*
 * Reads files and folders of dumps, rings and saved RAS reports. -errno; 0 also where nothing could be read: see n_read
 * and the notes.
 */
int must_check collectives_of_files(char **paths, size_t n, struct collectives *ret);

struct collectives_rank {
	int32_t rank;
	pid_t pid; /* main process of the rank */
};

struct collectives_want {
	/* processes to search the whole machine for; NULL: ranks and n_ranks name them */
	const struct members_want *members;
	const struct collectives_rank *ranks;
	size_t n_ranks;
	/* Skip everything unless a rank has NCCL in its memory, or its environment names dumps or a ring. */
	bool only_if_used;
	int64_t dumps_since_unix_ms; /* older dumps are left out; 0: none are */
	const char *ras_address; /* NULL: the address in the job's environment, else localhost:28028 */
	bool ras_force; /* ask although NCCL is too old, of unknown version, or just starting */
	bool ras_no_hint; /* leave out the hint at --force: the caller is not a person */
	bool no_ras;
	bool ask_dumps; /* ask for dumps through the ranks' pipes, and wait for them */
	uint64_t dumps_limit_ns; /* most time to wait for dumps; 0: all of limit_ns */
	uint64_t limit_ns; /* most time for all waiting together */
};
int must_check collectives_of_job(const struct world *w, const struct collectives_want *want, struct collectives *ret);
