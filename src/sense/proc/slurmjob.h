/*
 * The processes of a job of Slurm's on this node, found by its number without Slurm's library or commands.
 *
 * Where a cgroup plugin is in use (proctrack/cgroup, task/cgroup), slurmstepd has made a group for the job:
 * ".../slurm/uid_1000/job_7" on v1 ("slurm_NODE" where several slurmd share a machine),
 * ".../slurmstepd.scope/job_7" on v2 ("NODE_slurmstepd.scope"). Its steps and tasks are groups below it.
 * Where there is none, SLURM_JOB_ID in the environment tells. Anybody can set that, so only processes of one owner are
 * believed: the reader's own user, or for root the owner of those below the slurmstepd of the job.
 *
 * Slurm: cgroup.conf(5), src/plugins/cgroup of its source, sbatch(1) "OUTPUT ENVIRONMENT VARIABLES".
 */
#pragma once

#include <sys/types.h>

#include "sense/memory/cgroup.h"
#include "sense/proc/proc.h"

#define SLURMJOB_ROOTS 32

enum {
	SLURMJOB_CLAIMED = 4, /* beside WORLD_…: several users' processes name the job, and none is proved to be its */
};

struct slurmjob {
	char group[CGROUP_PATH_MAX]; /* the job's group, relative to world->cgroup_fd; "": none can be read */
	char group_name[CGROUP_PATH_MAX]; /* the same as /proc/PID/cgroup has it */
	/* Without a group: the outermost of its processes, but for slurmstepd. */
	struct proc_id root[SLURMJOB_ROOTS];
	size_t n_roots;
	size_t n_dropped; /* roots that did not fit */
};

/*
 * True if the group is one of this job, or below it. *ret_len: length of the path down to the job.s own group. Pure.
 */
bool slurmjob_group_parse(struct span group, uint32_t job, size_t *ret_len);
/* uid: of whom vigil works for; 0: for all. WORLD_GONE: no process of that job is here; SLURMJOB_CLAIMED. */
int must_check slurmjob_find(const struct world *w, uint32_t job, uid_t uid, struct slurmjob *ret);
/* True if a process of this name is Slurm's own, which starts and reaps the steps of jobs. */
bool slurmjob_is_stepd(const char *comm);
