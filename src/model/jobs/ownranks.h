/*
 * Ranks that a program starts itself, rather than a launcher that gives each its variables: by multiprocessing, where the
 * number is an argument of the function that runs, or by its own words with LOCAL_RANK alone (Lightning), where the parent
 * is rank 0. What such a rank starts in turn is of that rank. Pure; see docs/decisions/0024.
 */
#pragma once

#include <sys/types.h>

#include "model/jobs/role.h"

enum ownranks_told {
	OWNRANKS_NOTHING, /* it was not asked, or has no number */
	OWNRANKS_BY_NAME, /* an argument is called rank: believed where siblings have told others */
	OWNRANKS_BY_TORCH, /* the index of torch's own launcher */
};

struct ownranks_process {
	pid_t pid, ppid;
	uint64_t start_ticks;
	bool ended; /* a zombie: its number may be another's by now */
	enum ownranks_told told;
	int32_t number; /* if it has told one */
	struct role_info who;
};

/* May a process be a rank of the program that is its parent? Then it is worth being asked for its number. */
bool ownranks_may_be(const struct role_info *who, const struct role_info *parent);
/* Among all of a job, by pid; NULL: its parent is none of them. */
const struct ownranks_process *ownranks_parent(const struct ownranks_process *all, size_t n, const struct ownranks_process *p);
/* All processes of a job, by pid. Those whom it concerns get rank and role anew; to be called again when others have come. */
void ownranks_name(struct ownranks_process *p, size_t n);
