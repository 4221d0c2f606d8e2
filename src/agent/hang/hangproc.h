/*
 * The hang watcher as its owner (agent/run/supervise, agent/run/adopt) sees it: a
 * process of its own, so that nothing it does can delay the owner or the
 * guard. It is started late, when a job has shown that it lives; when it dies,
 * that is said, and another one is started after a while. Nothing here waits.
 */
#pragma once

#include "agent/hang/hangshm.h"
#include "sense/world.h"

struct hangproc {
	const struct world *w;
	struct hang_shm *shm; /* NULL: no hang detection */
	pid_t pid; /* 0: none runs */
	int from_fd; /* eventfd: there are messages */
	uint64_t due_ns; /* when to start it; UINT64_MAX: never */
	uint32_t deaths;
};

/* -errno; with settings NULL nothing is watched, and all below do nothing. */
int must_check hangproc_open(struct hangproc *h, const struct world *w, const struct hang_settings *settings,
			     const char *rules);
/* The user's patterns of progress, which have been checked; before anything is started. */
void hangproc_progress(struct hangproc *h, const char *const *patterns, size_t n);
/* Change jobs between the two. */
void hangproc_jobs_begin(struct hangproc *h);
void hangproc_jobs_end(struct hangproc *h);
/* From here on it may be started, `delay_ns` from now. */
void hangproc_want(struct hangproc *h, uint64_t delay_ns);
/* When to call hangproc_tick; UINT64_MAX: no need. */
uint64_t hangproc_due_ns(const struct hangproc *h);
/* Starts it when it is time to. Call it while the process has one thread. True if its pid has changed. */
bool hangproc_tick(struct hangproc *h);
/* A child of ours was reaped. True if it was the watcher: `how` says in words what became of it. */
bool hangproc_reaped(struct hangproc *h, pid_t pid, int wait_status, char how[static 200]);
/* The oldest message that has not been taken; NULL: none. Valid until hangproc_taken. */
/* Ranks that a job's program has started itself; NULL: nobody watches. */
const struct hang_own *hangproc_own(const struct hangproc *h, size_t job);
const struct hang_message *hangproc_message(struct hangproc *h);
void hangproc_taken(struct hangproc *h);
void hangproc_close(struct hangproc *h);
