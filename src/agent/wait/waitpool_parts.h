/* Shared by the files that implement agent/wait/waitpool.h. */
#pragma once

#include "agent/wait/waitpool.h"
#include "agent/inspect/standstill.h"
#include "sense/pylib/pypool.h"

#define WAITPOOL_WORKERS 256 /* processes that are looked into */
#define WAITPOOL_HINTS 16 /* of one thread */

/* A thread of the process that has the pool. */
struct pooled_thread {
	pid_t tid;
	char token[STANDSTILL_TOKEN];
	struct pypool_wait wait;
	struct pypool_thread pool; /* one of the pool's own */
	struct pypool_worker worker; /* of a ThreadPool */
	char text[120]; /* "Pool.map at train.py:20 in main"; of one that waits */
	char place[120]; /* " at data.py:7 in load"; "": unknown */
};

/* A process that may be a worker. */
struct pooled_worker {
	pid_t pid, inner; /* inner: its number in its own pid namespace */
	uint64_t start_ticks;
	bool still; /* it did not run while it was looked at */
	bool held; /* stopped, frozen or held by a debugger: what it would do now it cannot */
	char token[STANDSTILL_TOKEN];
	struct pypool_worker worker;
	char place[120];
};

struct pooling {
	const struct waitpool_in *in;
	struct procview *v;
	struct pooled_thread *own; /* those that stand still; owned */
	size_t n_own, n_waits;
	size_t n_unread; /* other threads of the process: they run, or cannot be read */
	size_t n_pools; /* threads of pools' own */
	struct pooled_worker *worker; /* owned */
	size_t n_workers, cap_workers;
};

struct waitpool_found {
	struct waithint hint[WAITPOOL_HINTS];
	bool runs[WAITPOOL_HINTS]; /* who is named did not stand still */
	size_t n;
};

/* ---- waitpool_decide.c: whom one thread waits for; none where it cannot be read ---- */
void waitpool_decide(const struct pooling *x, const struct pooled_thread *t, struct waitpool_found *ret);
