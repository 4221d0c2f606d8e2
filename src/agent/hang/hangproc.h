/*
 * The owner's side of the hang watcher (the owner is agent/run/supervise or
 * agent/run/adopt). The watcher is a process of its own, so that it cannot
 * delay the owner or the guard. It is started some time after the job; when it
 * dies, that is reported, and another one is started after a pause. So it is
 * when it has not gone on for five minutes: it is killed then. No function
 * waits.
 */
#pragma once

#include "agent/hang/hangshm.h"
#include "sense/world.h"

struct hangproc {
	const struct world *w;
	struct hang_shm *shm; /* NULL: no hang detection */
	pid_t pid; /* of the watcher; 0: none runs */
	int from_fd; /* eventfd, readable when there are messages */
	uint64_t due_ns; /* when to start the watcher; UINT64_MAX: not */
	uint32_t deaths;
	/* whether it goes on */
	uint64_t beats, beats_ns; /* as of the last look, and when to look next */
	uint32_t stood; /* looks in a row that have found it where it was */
	bool stuck; /* it was killed for that, and that was not told yet */
};

/* -errno. settings NULL: no watcher; all functions below then do nothing. rules: as hang_shm.rules; may be NULL. */
int must_check hangproc_open(struct hangproc *h, const struct world *w, const struct hang_settings *settings,
			     const char *rules);
/* Sets the user's patterns of progress, checked before. Call it before the watcher starts. */
void hangproc_progress(struct hangproc *h, const char *const *patterns, size_t n);
/* Change h->shm->job only between these two. */
void hangproc_jobs_begin(struct hangproc *h);
void hangproc_jobs_end(struct hangproc *h);
/* Lets the watcher start delay_ns from now, unless it runs or has a time already. */
void hangproc_want(struct hangproc *h, uint64_t delay_ns);
/* When to call hangproc_tick; UINT64_MAX: never. */
uint64_t hangproc_due_ns(const struct hangproc *h);
/*
 * Starts the watcher when it is due, and kills one that does not go on. Call it while the process has one thread.
 * True: the pid has changed.
 */
bool hangproc_tick(struct hangproc *h);
/* Call it for each child that was reaped. True if it was the watcher: how is then a sentence about its end. */
bool hangproc_reaped(struct hangproc *h, pid_t pid, int wait_status, char how[static 200]);
/* Ranks that a job's program has started itself; NULL: no watcher. */
const struct hang_own *hangproc_own(const struct hangproc *h, size_t job);
/* How far a job's ranks are, by their output; NULL: no watcher. */
const struct hang_steps *hangproc_steps(const struct hangproc *h, size_t job);
/* What its GPUs do; NULL: no watcher. */
const struct hang_devices *hangproc_devices(const struct hangproc *h, size_t job);
/* The frameworks that the job of that place uses, if it is this one; 0: none that is known, or no watcher. */
uint32_t hangproc_frameworks(const struct hangproc *h, size_t job, const char *id, uint32_t attempt);
/* The oldest message that has not been taken; NULL: none. Valid until hangproc_taken. */
const struct hang_message *hangproc_message(struct hangproc *h);
void hangproc_taken(struct hangproc *h);
/* Kills the watcher and unmaps what was shared with it. */
void hangproc_close(struct hangproc *h);
