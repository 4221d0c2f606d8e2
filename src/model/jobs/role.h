/*
 * The role of a process of a job and its rank, recognised from its name, command line, environment and parent.
 * Frameworks do not announce roles, so visible traits are used: the variables of torchrun, MPI and Slurm, the process
 * titles of Ray, the command lines of CPython's multiprocessing module, and the fact that a forked child keeps the
 * command line of its parent.
 *
 * Pure, allocates nothing, takes a few microseconds: fit for the guard's path. Variables that a program sets for
 * itself after its start are not in /proc/PID/environ and are not visible.
 */
#pragma once

#include "base/text.h"
#include "sense/rank.h"

enum role {
	ROLE_OTHER, /* unknown: kernel thread, zombie, unreadable */
	ROLE_MAIN, /* the program itself: a rank, or the whole job */
	ROLE_LOADER, /* a data loader's worker that names itself so (torch: pt_data_worker) */
	ROLE_WORKER, /* serves its parent: a fork of it, a child of multiprocessing; maybe an older torch's loader */
	ROLE_COMPILER, /* torch inductor worker, cc, nvcc, ptxas … */
	ROLE_LAUNCHER, /* starts ranks and waits: torchrun, mpirun, srun, accelerate … */
	ROLE_RAY_WORKER, /* a Ray task, actor or idle worker */
	ROLE_RAY_SYSTEM, /* raylet, gcs_server, dashboard … */
	ROLE_HELPER, /* resource tracker, fork server, any other program that the job called */
	ROLE_SHELL, /* a shell or a wrapper such as timeout, sudo, tini */
	ROLE_MAX,
};

/*
 * How far a process is what its name says. Shells, launchers and daemons are spared while others are left to end, and
 * anybody may call a program "raylet".
 */
enum role_proof {
	ROLE_UNPROVEN, /* nothing but the name */
	ROLE_LIKELY, /* a script of that name in a Python, or a program of the user's own, who named it */
	ROLE_PROVEN, /* the program file is of that name and its owner is to be trusted with it */
};

/* rank, local_rank: NO_RANK if unknown; world_size: 0 if unknown. */
struct role_info {
	int32_t rank, local_rank, world_size;
	enum role role;
	enum role_proof proof; /* of a shell, a launcher or a daemon */
	bool forked; /* it has its parent's command line: it began with its parent's pages, shared copy-on-write */
	uint8_t wish; /* enum wish (model/memory/wish), where the reader of the role asks for it */
	bool own_number; /* the program gave the number: LOCAL_RANK alone, or found by model/jobs/ownranks.h */
	/* Its command line, which is not its parent's, has "--rank 3": no rank before ownranks.h says so. */
	bool has_option;
	int32_t option;
};

/* What a launcher has written into the environment of a process. */
struct role_numbers {
	bool known; /* an environment was there to be read */
	bool own_number; /* as in struct role_info */
	int32_t rank, local_rank, world_size;
};

/* The numbers in an environment, a NUL-separated block (proc_environ_read); empty: none are known. */
struct role_numbers role_numbers_of(struct span environ);

struct role_input {
	struct span comm;
	struct span command; /* arguments joined by blanks (proc_command_read); empty: unknown */
	struct role_numbers numbers;
	enum role_proof proof; /* role_proof_of; callers that do not ask leave it */
	/* The parent if it belongs to the same job; NULL: this process is the root of the job. */
	const struct role_info *parent;
	struct span parent_comm, parent_command;
};

/*
 * Call it for parents before children. A process with an unreadable environment takes the rank of its parent.
 * Launchers have no rank: the variables they inherit (SLURM_PROCID) number the node, not a rank.
 */
void role_of(const struct role_input *in, struct role_info *ret);
/*
 * True for Ray's own programs, by the 15 bytes of a name that the kernel keeps: where the command line, which role_of
 * goes by, is not known yet. A task or actor may have such a name.
 */
bool role_is_ray_system(struct span comm);

/* The file that a process runs. path: as the kernel shows it (/proc/PID/exe); empty: unknown. */
struct role_program {
	struct span path;
	bool of_root; /* root owns the file */
	bool of_user; /* whoever runs the process does */
	bool of_ours; /* whoever runs vigil does */
};
enum role_proof role_proof_of(struct span comm, struct span command, const struct role_program *program);

/* A process that does part of its parent's work: ROLE_LOADER or ROLE_WORKER, and by name. */
static inline bool role_serves(enum role r)
{
	return r == ROLE_LOADER || r == ROLE_WORKER;
}
bool role_name_serves(const char *name);
const char *role_name(enum role r); /* "main", "loader", "ray_worker" … */
