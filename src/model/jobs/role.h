/*
 * What a process of a job is for, and which rank it belongs to, from its name,
 * command line, environment and parent. Frameworks do not announce this, so
 * it is recognised from what they leave visible: torchrun's, MPI's and Slurm's
 * variables, Ray's process titles, the command lines of CPython's
 * multiprocessing module, and the fact that a forked child keeps its parent's
 * command line.
 *
 * Pure, allocates nothing, a few microseconds: fit for the guard's path.
 * Variables that a program sets for itself after its start are not in
 * /proc/PID/environ and cannot be seen.
 */
#pragma once

#include "base/text.h"
#include "sense/rank.h"

enum role {
	ROLE_OTHER, /* nothing known: kernel thread, zombie, unreadable */
	ROLE_MAIN, /* the program itself: a rank, or the whole job */
	ROLE_LOADER, /* serves its parent: data loader worker, multiprocessing child */
	ROLE_COMPILER, /* torch inductor worker, cc, nvcc, ptxas … */
	ROLE_LAUNCHER, /* starts ranks and waits: torchrun, mpirun, srun, accelerate … */
	ROLE_RAY_WORKER, /* a Ray task, actor or idle worker */
	ROLE_RAY_SYSTEM, /* raylet, gcs_server, dashboard … */
	ROLE_HELPER, /* resource tracker, fork server, other programs that the job called */
	ROLE_SHELL, /* a shell or a wrapper such as timeout, sudo, tini */
	ROLE_MAX,
};

/* rank, local_rank: NO_RANK when not told; world_size: 0 when not told. */
struct role_info {
	int32_t rank, local_rank, world_size;
	enum role role;
	bool own_number; /* by the program itself: LOCAL_RANK alone, or as model/jobs/ownranks.h has found out */
};

struct role_input {
	struct span comm;
	struct span command; /* arguments joined by blanks (proc_command_read); empty: unknown */
	struct span environ; /* NUL-separated block (proc_environ_read); empty: unreadable */
	/* The parent, when it belongs to the same job; NULL: this process is the job's root. */
	const struct role_info *parent;
	struct span parent_comm, parent_command;
};

/*
 * Judge parents before children. A process whose environment cannot be read
 * takes its parent's rank. Launchers have no rank of their own: the variables
 * they inherit (SLURM_PROCID) number the node, not a rank.
 */
void role_of(const struct role_input *in, struct role_info *ret);

const char *role_name(enum role r); /* "main", "loader", "ray_worker" … */
