/*
 * The guard's memory monitor: keeps the files of every memory level open, reads them into one ledger, and registers for
 * the events by which the kernel wakes the guard earlier than a timer would. After memwatch_open nothing allocates.
 *
 * Levels: the node; every limited control group above a job; a job's own limit. Each level knows which jobs lie below
 * it, because only their processes can relieve it.
 */
#pragma once

#include "agent/guard/guardshm.h"
#include "agent/guard/memmark.h"
#include "model/memory/ledger.h"
#include "sense/proc/tasks.h"

#define MEMWATCH_GROUPS (LEDGER_MAX_LEVELS - 2)
#define MEMWATCH_EVENTS 96

enum memwatch_event_kind { MEMWATCH_THRESHOLD, MEMWATCH_OOM, MEMWATCH_EVENTS_FILE, MEMWATCH_PSI };

struct memwatch_event {
	int fd; /* -1: a free place */
	enum memwatch_event_kind kind;
	int16_t group; /* index of the group, -1: none */
};

struct memwatch_group {
	struct cgroup g;
	uint64_t jobs; /* bit per job below it */
	bool own; /* a job's own group, made by us */
	uint16_t job; /* index of that job, if own */
	bool armed; /* v1: usage thresholds are set */
	uint32_t mark[2]; /* tickets of them */
	uint64_t armed_limit_bytes;
	struct cgroup_memory last;
	uint64_t full_ns; /* when memory.stat and the rest were last read; 0: read them at the next sample */
	bool readable;
};

struct memwatch {
	const struct world *w;
	int meminfo_fd;
	struct meminfo meminfo;
	struct memwatch_group group[MEMWATCH_GROUPS];
	size_t n_groups;
	struct memwatch_event event[MEMWATCH_EVENTS];
	size_t n_events;
	struct memmarks marks;
	int epoll_fd; /* borrowed: events are added there, data.u32 = MEMWATCH_EVENT_BASE + index */
	uint64_t jobs_of[LEDGER_MAX_LEVELS]; /* bit per job, by ledger level, after memwatch_look */
	int16_t group_of[LEDGER_MAX_LEVELS]; /* -1: no group */
	uint64_t clamps; /* number of implausible values that were clamped */
	uint64_t away; /* bit per job with processes outside of its own group: job_used counts as well */
	uint64_t unwatched; /* number of limited groups that did not fit into the table */
};

#define MEMWATCH_EVENT_BASE 1000

int must_check memwatch_open(struct memwatch *e, const struct world *w, int epoll_fd);
/* Wake on memory pressure (PSI) of the machine too, if that is permitted. */
void memwatch_watch_pressure(struct memwatch *e);
void memwatch_close(struct memwatch *e);
/* Open the groups of job j: those of its main process (adopted) or our own (started by us). */
void memwatch_add_job(struct memwatch *e, const struct guard_job *job, size_t j);
/* The job is over: close groups that no other job lies below, and free their places. */
void memwatch_drop_job(struct memwatch *e, size_t j);
/*
 * job_used: by job, bytes held by the processes of jobs that have a limit and no group of their own, or processes
 * outside of it. *ret_covered: see judge/memory/guard.
 */
int must_check memwatch_look(struct memwatch *e, const struct guard_job *jobs, size_t n_jobs, const uint64_t *job_used,
			     struct ledger *ret, uint32_t *ret_covered, const struct guard_settings *s);
/* An event fired: acknowledge it. */
void memwatch_event_take(struct memwatch *e, uint32_t index);
/* A level in words: "the machine's memory (62.8 GiB)", "control group /docker/ab12 (limit 4.0 GiB)". */
void memwatch_level_name(const struct memwatch *e, const struct ledger *l, size_t level, char *dst, size_t cap);
