/*
 * The guard as its supervisor sees it: a small process of its own, forked before anything else is started, so that no
 * log, store or network can delay it. What runs in it: agent/guard/guardloop.
 *
 * The supervisor watches it by its pidfd and replays the shared mapping when it dies (agent/run/services). When the
 * supervisor dies, the guard ends the jobs that vigil started, since their output has nowhere to go, and leaves adopted
 * ones alone.
 */
#pragma once

#include "agent/guard/guardshm.h"
#include "sense/world.h"

struct guardproc {
	pid_t pid;
	int pidfd;        /* readable when it died */
	int to_guard_fd;  /* eventfd: jobs changed, or stop */
	int from_guard_fd; /* eventfd: a case moved on */
	uint64_t started_ns;
	struct guard_shm *shm;
};

/* The shared mapping, zeroed, with defaults. NULL on lack of memory. */
struct guard_shm *guardproc_shm_new(void);
/* Fork the guard. link_fd: BPF iterator, or -1. */
int must_check guardproc_start(struct guardproc *g, struct guard_shm *shm, const struct world *w);
/* Change jobs between these two; the guard sees all of it or nothing. */
void guardproc_jobs_begin(struct guardproc *g);
void guardproc_jobs_end(struct guardproc *g);
void guardproc_wake(struct guardproc *g);
/* It could not even start (shm->start_error): tell the person why, once. */
void guardproc_say_start_error(const struct guardproc *g);
/* It is dead and reaped: close what belonged to it. pidfd is -1 afterwards, pid 0. */
void guardproc_forget(struct guardproc *g);
/* Ask it to leave and wait for it at most 200 ms. */
void guardproc_stop(struct guardproc *g);
