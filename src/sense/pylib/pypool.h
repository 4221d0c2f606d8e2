/*
 * What the objects of Python's process pools say, read from outside: for which task a thread waits, which task a worker
 * has, and what the pool's own threads do. multiprocessing.Pool (multiprocessing/pool.py: the job's number is in the
 * result and in the loop of the worker that has it; numbers are one process's, of all its pools),
 * concurrent.futures.ProcessPoolExecutor (concurrent/futures/process.py: the manager thread's dict leads from the
 * number of a task to its future) and joblib's loky, which is made after the latter. No code of the process runs.
 *
 * Frames are those of a thread, innermost first. A function of the program that has the same name in a file of the same
 * name is told apart by its variables. All functions: WORLD_GONE, WORLD_DENIED; what cannot be read says nothing.
 */
#pragma once

#include "sense/python/pyobj.h"
#include "sense/python/pystack.h"

enum pypool_of {
	PYPOOL_NONE,
	PYPOOL_POOL, /* multiprocessing.Pool, or its ThreadPool */
	PYPOOL_EXECUTOR, /* concurrent.futures.ProcessPoolExecutor, loky's; of a wait: any executor's future */
};

/* For what a thread waits. */
struct pypool_wait {
	enum pypool_of of;
	uint64_t job; /* of a Pool: its number */
	bool in_turn; /* of a Pool: only the part with the number `part` is waited for (imap) */
	uint64_t part;
	bool either; /* the end of any of the tasks would do: imap_unordered, as_completed, maybe wait */
	uint64_t pool; /* of a Pool: its object */
	uint64_t cache; /* of a Pool: the dict by which its own threads know it */
	uint64_t future; /* of an executor */
	uint64_t futures; /* of executors: the set of those that are waited for, in place of `future`; 0: none */
	bool any; /* it waits for the end of the pool, and so for each task that it has */
	uint64_t pending; /* of `any` of an executor: its dict of tasks */
	size_t frame; /* of the library's that waits; the outermost of the library's may be further out */
};

enum pypool_state {
	PYPOOL_UNKNOWN,
	PYPOOL_STARTS, /* it has not come to its loop yet */
	PYPOOL_INITS, /* it runs the pool's initializer */
	PYPOOL_IDLE, /* it waits for its turn to read the pool's tasks */
	PYPOOL_READS, /* it waits for a task: there is none to read if it sleeps */
	PYPOOL_HAS, /* it has a task */
};

/* What a worker does. */
struct pypool_worker {
	enum pypool_of of; /* NONE: it is no worker, or none yet (state STARTS) */
	enum pypool_state state;
	uint64_t job, part; /* of HAS; of an executor only job, the number of the task */
	bool ends; /* it ends after a number of tasks: maxtasksperchild */
	size_t frame; /* outermost frame of the task or of the initializer; SIZE_MAX: none */
};

enum pypool_role {
	PYPOOL_NO_ROLE,
	PYPOOL_HANDS_OUT, /* of a Pool: passes the tasks on to the workers */
	PYPOOL_TAKES_IN, /* of a Pool: takes the results */
	PYPOOL_MANAGES, /* of an executor: does both */
};

/* One of the pool's own threads. */
struct pypool_thread {
	enum pypool_role role;
	bool busy; /* it does not wait for tasks or results: it runs code of the program, or waits to write */
	uint64_t cache; /* of a Pool, as in struct pypool_wait; 0: unknown */
	uint64_t pending, processes; /* of an executor: its dicts of tasks and of workers; processes 0: unknown */
	size_t frame; /* outermost frame of what it is busy with; SIZE_MAX: none */
};

/* A worker as the pool knows it. */
struct pypool_member {
	pid_t pid; /* in the process's own pid namespace */
	uint64_t number; /* of all processes that the process has started; 0: unknown */
};

#define PYPOOL_MEMBERS 256
#define PYPOOL_TASKS 64 /* for which one thread waits at the same time */

/* Of multiprocessing, threading, queue, concurrent.futures, joblib or loky. */
bool pypool_is_library(const struct pyframe *f);

int must_check pypool_wait_read(const struct pyrt *rt, struct remote *r, const struct pyframe *frames, size_t n,
				struct pypool_wait *ret);
int must_check pypool_worker_read(const struct pyrt *rt, struct remote *r, const struct pyframe *frames, size_t n,
				  struct pypool_worker *ret);
int must_check pypool_thread_read(const struct pyrt *rt, struct remote *r, const struct pyframe *frames, size_t n,
				  struct pypool_thread *ret);
/* The futures that are waited for. *ret_n 0: they cannot be told. */
int must_check pypool_futures(const struct pyrt *rt, struct remote *r, const struct pypool_wait *w,
			      uint64_t ret[static PYPOOL_TASKS], size_t *ret_n);
/* The numbers of the tasks that set these futures. *ret_n 0: this executor has none of them. */
int must_check pypool_tasks(const struct pyrt *rt, struct remote *r, const struct pypool_thread *manager,
			    const uint64_t *futures, size_t n, uint64_t ret[static PYPOOL_TASKS], size_t *ret_n);
/*
 * The numbers of the threads of a Pool that pass on the tasks and take the results, as the process itself has them, be
 * they alive or not. 0: unknown, or it is no Pool.
 */
int must_check pypool_handlers(const struct pyrt *rt, struct remote *r, const struct pypool_wait *w, uint64_t *ret_out,
			       uint64_t *ret_in);
/* The workers of the pool that is waited for. *ret_n 0: they cannot be told, or are more than PYPOOL_MEMBERS. */
int must_check pypool_members(const struct pyrt *rt, struct remote *r, const struct pypool_wait *w,
			      struct pypool_member ret[static PYPOOL_MEMBERS], size_t *ret_n);
/* The same of an executor; their numbers are unknown. */
int must_check pypool_executor_members(const struct pyrt *rt, struct remote *r, const struct pypool_thread *manager,
				       struct pypool_member ret[static PYPOOL_MEMBERS], size_t *ret_n);
