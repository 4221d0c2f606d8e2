/*
 * The asyncio tasks of a process, read from outside: their names, the coroutines that they are in, what each awaits,
 * and which task awaits which.
 *
 *  - 3.8 to 3.13: asyncio.tasks has a weak set of all tasks; where the fields of a task are is known by version and
 *    checked by the size of its type.
 *  - 3.14 and later: _asyncio describes itself (section .AsyncioDebug), and each thread has a list of its tasks.
 *
 * A task's coroutine keeps what it awaits on its evaluation stack, so the chain of frames leads to the future at its
 * end. It has to be the one that the task names, and all has to be the same when it is read a second time; else the
 * task is told without frames. Tasks that are written in Python (asyncio's debug classes, other libraries' own) and
 * free-threaded builds are left out. The process is not stopped.
 */
#pragma once

#include "sense/python/pyslots.h"

#define PYTASKS_MAX 1024 /* tasks of a process; more are left out */
#define PYTASK_FRAMES 32
#define PYTASKS_LINKS 4096
#define PYTASKS_FAILED 4

struct pytask {
	uint64_t addr, loop;
	char name[64]; /* UTF-8, shortened; control characters unchanged */
	struct pyframe *frame; /* innermost first; owned */
	size_t n;
	bool cut; /* there are more, further in */
	bool ready; /* it awaits nothing: it runs, or will as soon as its loop comes to it */
	bool moved; /* it changed while it was read; it has no frames */
	uint64_t future; /* that it awaits; 0: none */
	/*
	 * It awaits a future of the program's own, or a queue, event or semaphore, to which nothing refers but the
	 * frames of tasks that wait for this one: nobody can end its wait.
	 */
	bool forsaken;
	/* What the library does for it: "Queue.get", "sleep"; "": it awaits the future itself. */
	char on[96];
	size_t place; /* index of the innermost frame that is not asyncio's own; n: none */
	bool timed; /* sleep, wait_for: it ends by itself */
	uint64_t work; /* the concurrent future, as of a pool of threads, whose result it awaits; 0: none */
	int fd; /* descriptor of the connection or pipe that it waits for; -1: none, or unknown */
	bool to_write;
};

/* A task that has ended by an exception at which nobody has looked yet. */
struct pytask_failed {
	uint64_t loop;
	char name[64]; /* as of a task */
	char type[64]; /* of the exception, without its module; printable */
	struct pyframe frame; /* where it was raised; code 0: unknown */
};

/*
 * One task awaits another one, itself or through gather, wait, shield, wait_for or a group, or the lock that it holds.
 * Indexes in pytasks.task.
 */
struct pytasks_link {
	uint32_t waiter, awaited;
	bool lock; /* `awaited` holds it by an `async with` that has not ended */
};

struct pytasks {
	struct pytask *task; /* owned */
	size_t n, cap;
	struct pytasks_link *link; /* owned */
	size_t n_links, cap_links;
	bool cut; /* there are more tasks */
	struct pytask_failed failed[PYTASKS_FAILED]; /* of those that something still refers to, the first ones */
	size_t n_failed;
};

/*
 * threads: all of them, of which the lists are read. n 0: asyncio was not imported, there are no tasks, or they cannot
 * be read in this Python. WORLD_GONE, WORLD_DENIED, -ENOMEM.
 */
int must_check pytasks_read(const struct world *w, const struct pyrt *rt, struct remote *r, struct pycodes *codes,
			    const struct pythread *threads, size_t n_threads, struct pytasks *ret);
void pytasks_done(struct pytasks *t);

/* The event loop that a thread runs, by its frames: asyncio's own, or uvloop's below asyncio.run(). */
struct pytasks_loop {
	uint64_t loop; /* 0: it runs none, or, with `until`, it is the loop of that task */
	bool idle; /* it waits for descriptors: none of its tasks runs */
	uint64_t until; /* the future that the loop runs for (asyncio.run: the main task); 0: it runs for ever */
};
int must_check pytasks_loop_of(const struct pyrt *rt, struct remote *r, const struct pyframe *frames, size_t n,
			       struct pytasks_loop *ret);
