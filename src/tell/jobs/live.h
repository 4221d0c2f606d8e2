/*
 * What the supervisor of a running job knows at this moment, as its live socket tells it: "vigil.live/1"
 * (docs/formats/live.md). The supervisor writes lines with live_json; a reader keeps a struct live_state of its own and
 * gives it each line by live_take. Pure.
 *
 * Bytes and nanoseconds where the name says so; times by the wall clock in milliseconds. A state owns its processes.
 */
#pragma once

#include "base/json.h"
#include "model/jobs/health.h"
#include "model/jobs/job.h"
#include "tell/jobs/jobpast.h"

/* Name of the socket in the job's folder. */
#define LIVE_FILE "live"
/* More processes of one job are not told. */
#define LIVE_PROCESSES 4096
/* No line is longer. */
#define LIVE_LINE_MAX (2 * MIB)

/* One process at the supervisor's last look; all bytes are zero where nothing is set, so that two can be compared. */
struct live_process {
	pid_t pid, ppid;
	uint64_t start_ticks;
	int32_t rank; /* NO_RANK: none */
	uint32_t attempt;
	char state; /* as proc_pid_stat(5) has it; '\0': not known */
	char role[16], name[16];
	uint64_t own_bytes, rss_bytes, peak_own_bytes, cpu_ns;
	int64_t started_unix_ms;
};

struct live_memory {
	uint64_t used_bytes, total_bytes; /* of the level that is nearest to its limit */
	uint64_t node_used_bytes, node_total_bytes, job_bytes, job_peak_bytes;
	char guard[16]; /* "ok", "warn", "act", "emergency" (judge/memory/guard); "": not known */
};

struct live_state {
	uint64_t seq; /* grows with each line; 0: nothing was told yet */
	int64_t time_unix_ms;
	int64_t sampled_unix_ms; /* when the processes were looked at; 0: never */
	char phase[16]; /* "running", "ending", "lingering", "waiting", "over" */
	struct job job;
	struct live_memory memory;
	struct job_steps steps;
	struct health health;
	struct live_process *process; /* by pid; owned */
	size_t n, cap;
};

void live_done(struct live_state *s);
/* A process with a higher pid than those that are there. -ENOMEM; those beyond LIVE_PROCESSES are passed over. */
int must_check live_add(struct live_state *s, const struct live_process *p);
/* NULL: it is none of the job's. */
const struct live_process *live_find(const struct live_state *s, pid_t pid, uint64_t start_ticks);

/* Owned by the caller. was NULL: the whole state; else what has changed since. */
struct js *live_json(const struct live_state *was, const struct live_state *now);
/*
 * Takes a line over. -EBADMSG: it is none, or it is news of something that is not known; s is then what it was, or may
 * have parts of the line.
 */
int must_check live_take(struct live_state *s, const struct js *line);
/* Brings a stored job up to date. */
void live_job(const struct live_state *s, struct job *j);
