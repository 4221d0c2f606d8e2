/*
 * What is known about a job and its attempts, as it is stored and shown. Plain data.
 *
 * A job is what one `vigil run` started or one `vigil watch` adopted; an attempt is one start of it; a rank is one of
 * its main processes.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

enum job_state {
	JOB_STARTING,
	JOB_RUNNING,
	JOB_WAITING, /* between attempts */
	JOB_DONE, /* ended with exit status 0 */
	JOB_FAILED,
	JOB_LOST, /* vigil ended before it could record how the job ended */
	JOB_STATE_MAX,
};

struct job {
	char id[64];
	char name[64];
	char command[1024];
	char cwd[256];
	char node[80];
	char user[48];
	uid_t uid;
	bool adopted; /* by `vigil watch` or the agent, not started by `vigil run` */
	pid_t pid; /* main process of the running attempt; 0: none */
	pid_t supervisor_pid;
	uint64_t supervisor_start_ticks;
	uint32_t nproc;
	uint32_t attempt; /* number of the running or last attempt, from 0 */
	uint32_t max_retries;
	enum job_state state;
	bool stopped; /* with JOB_FAILED: its user stopped it (agent/incident/story) */
	int64_t started_unix_ms, ended_unix_ms; /* ended_unix_ms 0: still running */
	bool has_exit;
	int32_t exit_status; /* exit status of `vigil run` */
	uint64_t peak_bytes; /* highest memory use of the job */
	uint64_t limit_bytes; /* --memory-limit; 0: none */
	uint32_t memory_kills, other_deaths;
	char last_incident[64];
	char log_dir[256];
	char cgroup[512]; /* control group of the job as in /proc/PID/cgroup; empty: it has no group of its own */
};

/* True if the record says that the job starts, runs or waits for a retry. */
static inline bool job_is_open(const struct job *j)
{
	return j->state == JOB_STARTING || j->state == JOB_RUNNING || j->state == JOB_WAITING;
}

/* One process of a job as it was last sampled. */
struct job_process {
	char job[64];
	uint32_t attempt;
	pid_t pid, ppid;
	uint64_t start_ticks;
	int32_t rank; /* NO_RANK: none */
	char role[16];
	char name[32];
	char command[256];
	uint64_t own_bytes, rss_bytes, shared_bytes, swap_bytes, peak_own_bytes;
	int64_t started_unix_ms, ended_unix_ms;
	bool has_status;
	int32_t wait_status; /* status word of wait(2) */
	char ended_for[16]; /* why vigil ended it, or "stop" as the run was to end; "": neither, or not known */
};

/* What stands in ended_for. */
#define ENDED_FOR_RANK "rank_failed"
#define ENDED_FOR_MEMORY "memory"
#define ENDED_FOR_HANG "hang"
#define ENDED_FOR_STOP "stop"

/* An event: one line of `vigil events`. */
struct job_event {
	uint64_t seq; /* increases; 0 before it is stored */
	int64_t time_unix_ms;
	char job[64];
	uint32_t attempt;
	char kind[32]; /* "job_start" "attempt_start" "rank_exit" "freeze" "kill" "retry" "guard" … */
	char text[512];
	char incident[64]; /* id of its incident; empty: none */
};

/* In words that follow the name of a process: "ended by vigil, as another rank failed"; NULL: it is none of these. */
const char *process_ended_words(const char *ended_for);
const char *job_state_name(enum job_state s);
const char *job_state_word(const struct job *j); /* for a person: "stopped" of one that its user stopped */
enum job_state job_state_of(const char *name); /* JOB_STATE_MAX if unknown */
