/*
 * Ranks that a program starts itself, without a launcher that sets each rank's variables. multiprocessing passes the
 * number as an argument of the function that runs; a program that starts copies of itself sets LOCAL_RANK alone
 * (Lightning), and its parent is rank 0; a launcher of one's own may tell each one by an option of its command line. A
 * process that such a rank starts belongs to the same rank. A worker of Ray Train has its number in the log of that
 * worker; it stays a Ray worker.
 *
 * Pure. Source: docs/decisions/0024.
 */
#pragma once

#include <sys/types.h>

#include "model/jobs/role.h"

enum ownranks_source {
	OWNRANKS_NOTHING, /* it was not read, or has no number */
	OWNRANKS_BY_OPTION, /* its command line says it; accepted if siblings have other numbers, and one has 0 */
	OWNRANKS_BY_NAME, /* an argument is called rank; accepted only if siblings reported other numbers */
	OWNRANKS_BY_TORCH, /* the process index that torch.multiprocessing passes */
	/* It has set RANK and WORLD_SIZE itself; accepted if exactly so many siblings have told as many numbers. */
	OWNRANKS_BY_WORLD,
	OWNRANKS_BY_SIBLINGS, /* what it and its siblings were started with has the numbers; accepted as BY_WORLD */
	OWNRANKS_BY_RAY, /* Ray Train's own number; accepted unless two workers have the same */
};

struct ownranks_process {
	pid_t pid, ppid;
	uint64_t start_ticks;
	bool ended; /* a zombie: another process may have its number by now */
	enum ownranks_source reported;
	int32_t number; /* valid unless reported is OWNRANKS_NOTHING */
	int32_t world; /* of OWNRANKS_BY_WORLD and OWNRANKS_BY_SIBLINGS: how many they are */
	int32_t local; /* of OWNRANKS_BY_RAY: the number on this machine, or NO_RANK */
	struct role_info who;
};

/* True if a process may be a rank of the program that is its parent; only then its number is read. */
bool ownranks_may_be(const struct role_info *who, const struct role_info *parent);
/* The parent of p among all processes of a job, which are sorted by pid; NULL: it is not among them. */
const struct ownranks_process *ownranks_parent(const struct ownranks_process *all, size_t n,
					       const struct ownranks_process *p);
/*
 * Takes all processes of a job, sorted by pid, and sets rank and role of those that their program numbered. Call it
 * again after processes were added.
 */
void ownranks_name(struct ownranks_process *p, size_t n);
