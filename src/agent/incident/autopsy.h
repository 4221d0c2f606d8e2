/*
 * Finds out why a process of a job died: reads the counters at the start, collects the facts after a death
 * (agent/incident/deathfacts), has them judged (judge/death/postmortem) and returns an incident without id and retry.
 */
#pragma once

#include "judge/death/postmortem.h"
#include "model/incident/incident.h"
#include "sense/memory/cgroup.h"
#include "sense/proc/proc.h"
#include "sense/world.h"
#include "tell/store/store.h"

struct autopsy;
struct sigfeed; /* see agent/incident/sigfeed.h */

struct autopsy_subject {
	const char *job;
	uint32_t attempt;
	pid_t pid;
	int32_t rank;
	uint64_t start_ticks;
	const char *name, *command;
	bool has_status;
	int wait_status;
	int after_signal; /* without a status: a signal to it that was seen shortly before its end; 0: none */
	int64_t start_unix_ms, end_unix_ms;
	bool stopping;
	int stop_signal;
	const char *log_out, *log_err; /* paths; NULL: none */
	const struct streamorder *order; /* of both; NULL: not known */
	const char *rules; /* the user's files of rules, with ',' between; NULL */
	const char *error_dir; /* of the ranks' error files; NULL: none */
	uint32_t n_ranks;
	const char *cgroup; /* the job's group as the kernel names it; "" unknown */
	bool own_group; /* the group was made for this job alone */
	const struct death_former *former; /* processes that were the job's when last seen */
	size_t n_former;
	bool has_limits; /* its resource limits at its end */
	uint64_t soft_limit[PROCESS_LIMITS], hard_limit[PROCESS_LIMITS];
	bool has_cpu;
	uint64_t cpu_ns;
	const struct death_rank *ranks; /* the ranks of the job that have ended */
	size_t n_ended;
	/* They have what was sent from the page; NULL: not known */
	struct store *store;
	const char *job_dir;
	const struct killer_line *told; /* what a killer wrote elsewhere of having ended it; NULL: nothing */
};

/*
 * Open the sources and note the counters; cheap. NULL without memory. feed: who sends signals; borrowed, may be shared
 * by many, and must outlive it; NULL: unknown.
 */
struct autopsy *autopsy_new(const struct world *w, const struct cgroup_place *place, struct sigfeed *feed);
/*
 * How the last child of a process that did not end well has ended, in words: "process 812 (python3) was ended by
 * SIGKILL, which process 77 (bash) sent". *ret_unix_ms: when. False: none was seen, or ends are not watched.
 */
bool autopsy_child_end(struct autopsy *a, pid_t parent, char *dst, size_t cap, int64_t *ret_unix_ms);
/* The same of any process of the job, from one time to another (Unix milliseconds). */
bool autopsy_end_between(struct autopsy *a, int64_t from_ms, int64_t to_ms, char *dst, size_t cap,
			 int64_t *ret_unix_ms);
/* As deathfacts_ended_before. */
bool autopsy_ended_before(struct autopsy *a, const struct proc_id *one, const struct proc_id *other);
/* As deathfacts_ended_unix_ms, of what was handed on by the feed so far; a may be NULL. */
int64_t autopsy_ended_unix_ms(const struct autopsy *a, const struct proc_id *who);
/* As deathfacts_signal_next, of what was handed on by the feed so far. */
const struct signal_sent *autopsy_signal_next(const struct autopsy *a, uint64_t *at);
struct autopsy *autopsy_free(struct autopsy *a);
void autopsy_of(struct autopsy *a, const struct autopsy_subject *who, struct incident *ret);
