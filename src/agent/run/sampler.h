/*
 * Samples a job's processes, and writes what they use, and which came and went, into the job's series file
 * (tell/store/series).
 *
 * How often: every second in the first minute, every 2 s until ten minutes, every 5 s from then on. While the job is
 * idle half as often each time, down to every 5 s (later 10 s). Rarer where a sample costs more than its share (0.5 %
 * of a core at first, 0.005 % later, and a thousandth of what the job itself uses), but at least every five minutes.
 * While somebody reads the live socket every second, for at most 0.5 % of a core.
 */
#pragma once

#include "agent/hang/hangshm.h"
#include "agent/incident/autopsy.h"
#include "agent/jobs/jobpids.h"
#include "base/base.h"
#include "model/jobs/role.h"
#include "sense/memory/cgroup.h"
#include "sense/proc/proc.h"
#include "tell/jobs/live.h"

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
	/* ranks that the program has started itself, as far as they are known; NULL: none */
	const struct hang_own *own;
	const struct hang_steps *steps; /* how far the ranks are; NULL: not known */
	const struct hang_devices *devices; /* what their GPUs do; NULL: not known */
	const struct autopsy *autopsy; /* knows when processes ended; NULL: nobody does */
	uint64_t node_used_bytes, node_total_bytes; /* 0: not known */
	/*
	 * What the job's group held when the guard looked last, some seconds ago at most; 0: not known. While the own
	 * memory of the processes changes, the group (pids.cgroup) is read at the same instant as these.
	 */
	uint64_t job_bytes;
	enum cgroup_version group_version;
};

struct sampler;

/*
 * dir: the job's folder. since_boot_ns: processes started later are the job's from their first moment on. NULL without
 * memory.
 */
struct sampler *sampler_new(const struct world *w, const char *dir, uint64_t since_boot_ns);
struct sampler *sampler_free(struct sampler *s);
/* True if a living process that the last sample found is not in the job's group. */
bool sampler_saw_leaver(const struct sampler *s);
/* True if the last sample has this process. */
bool sampler_has(const struct sampler *s, pid_t pid);
/* A process of this role that the last sample has; 0: none. */
pid_t sampler_one_of(const struct sampler *s, enum role role);
struct sampler_gone {
	struct proc_id id;
	pid_t parent;
	int64_t started_unix_ms;
	char name[16];
};
/* The process at this place of the last sample. False: it has no more. */
bool sampler_process(const struct sampler *s, size_t place, struct sampler_gone *ret, int32_t *ret_rank);
/* Processes of this role that the sample before the last one had and the last one has not. Returns their number. */
size_t sampler_gone(const struct sampler *s, enum role role, struct sampler_gone *ret, size_t cap);
/* The same of one process that the last sample or the one before had in this role. False: neither had. */
bool sampler_had(const struct sampler *s, struct proc_id id, enum role role, struct sampler_gone *ret);
/* When the next sample is due, monotonic. */
uint64_t sampler_due_ns(const struct sampler *s);
/* Somebody watches, or nobody does any more: from now on samples are to be fresh. */
void sampler_attend(struct sampler *s, bool attended);
/* The next attempt has begun: samples are as frequent again as at a job's begin. s may be NULL. */
void sampler_attempt(struct sampler *s);
/* The living processes of the last sample, its time, and the steps of this attempt. s may be NULL. -ENOMEM. */
int must_check sampler_show(const struct sampler *s, uint32_t attempt, struct live_state *ret);
/* Sample now. The first error of the file is returned, once; what could not be written is lost, sampling goes on. */
int must_check sampler_look(struct sampler *s, const struct sampler_want *want);
struct sampler_memory {
	uint64_t own_bytes, rss_bytes; /* at the last sample at which it had any */
	uint64_t peak_own_bytes; /* the most in any sample */
};
/* The memory of one process, alive or just ended. False: it was never sampled. */
bool sampler_recall(const struct sampler *s, pid_t pid, uint64_t start_ticks, struct sampler_memory *ret);
/* The most that all processes had of their own in any sample; s may be NULL. */
uint64_t sampler_peak_bytes(const struct sampler *s);
/* The attempt has ended: writes how far its ranks are, if that has changed. Nothing if nothing was ever sampled. */
int must_check sampler_steps_last(struct sampler *s, const struct sampler_want *want);
/* A process has ended and is about to be reaped: sample, unless that was just done or nothing was ever sampled. */
int must_check sampler_look_before_end(struct sampler *s, const struct sampler_want *want);
