/*
 * Who holds Python's own locks, which store no owner, and who could still release them: read from outside, without
 * code inside the process.
 *
 *  - A frame inside `with lock:` keeps the lock's bound `__exit__` on its evaluation stack; the exception table of its
 *    code (CPython: InternalDocs/exception_handling.md) says how deep the stack is there. Up to 3.10 it is the block
 *    stack of the frame (f_blockstack). threading.Lock, RLock, Condition.
 *  - threading.RLock and multiprocessing's locks have fields that tell owner and count. Of the latter all but an RLock
 *    may be given back by others, so they count only where a `with` waits.
 *  - The lock that a thread waits for: up to 3.12 the futex lies in the lock, in 3.13 its address is in the lock
 *    object, from 3.14 on the thread parks and the parking entry has the lock's address.
 *  - An object (queue.Queue, Event, Condition, Lock) with no more references than the waiting thread's own frames and
 *    the object's own parts have cannot be reached by any other thread: nobody is left who could wake it.
 *
 * Each finding is made twice in the same state, or left out. Of running threads nothing is claimed.
 */
#pragma once

#include "sense/python/pyslots.h"

enum {
	PYLOCKS_NONE = 50, /* it waits for nothing of Python's that is known, or what it waits for cannot be told */
};

/* A lock that a thread holds by a `with` that has not ended. */
struct pylock_held {
	uint64_t object; /* address of the Python object */
	uint64_t word; /* address that waiters sleep on, where the version has one in the lock; 0: none */
	size_t frame; /* index of the frame whose `with` it is */
	uint64_t instr; /* instruction of the `with` line; see pycode_line */
	bool may_release; /* the function also calls something named release: it may have let the lock go */
	char type[32]; /* "lock", "RLock", "Condition" */
};

/* What a thread that waits in the interpreter waits for. */
struct pylock_wait {
	uint64_t object; /* the lock itself; 0: unknown */
	uint64_t word;
	uint64_t outer; /* the object of the program's that it belongs to (Queue, Event, Condition …); 0: none */
	char type[32]; /* type of outer, else of the lock */
	/* index of the outermost frame of the library, so that frame + 1 is the program's own; SIZE_MAX: none */
	size_t frame;
	pid_t owner; /* thread that the object itself names (RLock, multiprocessing, Thread.join); 0: none */
	bool anybody; /* others than the owner may release it: only its open `with` proves that it is held */
	bool owner_likely; /* another process may hold it instead: the name is inherited over fork */
	bool joins; /* it waits for owner to end */
	bool timed; /* the wait ends by itself */
	/* Of a Barrier: for how many it is, and as which of them this one came, from 1 on; parties 0: it is none. */
	uint32_t parties, place;
};

/* Reader of one process, for one look at it: what it reads is kept. Free-threaded builds are refused. */
struct pylocks;

/* Borrows its arguments. *ret NULL: nothing can be told of this Python. -ENOMEM. */
int must_check pylocks_new(const struct pyrt *rt, struct remote *r, struct pylocks **ret);
struct pylocks *pylocks_free(struct pylocks *p);
static inline void pylocks_freep(struct pylocks **p)
{
	*p = pylocks_free(*p);
}

/* The frames of a thread, innermost first, which must not run while they are looked at. */
struct pylocks_frames {
	const struct pyframe *frame;
	size_t n;
	bool cut; /* there are more, further out */
};

#define PYLOCKS_HELD 64 /* of one thread */

/*
 * The locks that a thread holds by `with`, innermost first. Frames that cannot be read are left out. WORLD_GONE,
 * WORLD_DENIED, -errno.
 */
int must_check pylocks_held(struct pylocks *p, const struct pylocks_frames *f,
			    struct pylock_held ret[static PYLOCKS_HELD], size_t *ret_n);
/* A system call that waits on a futex. */
struct pylocks_futex {
	uint64_t addr;
	bool timed; /* the wait ends by itself */
};
/*
 * What a thread waits for. threads: those of the process, to find owners by their number. PYLOCKS_NONE, WORLD_GONE,
 * WORLD_DENIED, -errno.
 */
int must_check pylocks_wait(struct pylocks *p, const struct pylocks_frames *f, const struct pylocks_futex *futex,
			    const struct pythread *threads, size_t n_threads, struct pylock_wait *ret);
/*
 * *ret: no other thread has a reference to what the thread waits for, so nobody can wake it. Never of a wait that ends
 * by itself, or whose object names its owner. It costs the reading of all frames. Errors as pylocks_held.
 */
int must_check pylocks_unreachable(struct pylocks *p, const struct pylocks_frames *f, const struct pylock_wait *w,
				   bool *ret);
/*
 * The future that a worker of a thread pool computes; 0: it is none, or idle. A thread that waits for this object waits
 * for this worker. Errors as pylocks_held.
 */
int must_check pylocks_future(struct pylocks *p, const struct pylocks_frames *f, uint64_t *ret);
/* The kind of library that a frame belongs to, by its file: locks and queues of Python itself. */
bool pylocks_is_library(const struct pyframe *f);
/* True: it is this function (without its class) of this file of the library ("threading.py"). */
bool pylocks_is_function(const struct pyframe *f, const char *name, const char *file);
