/*
 * Who holds Python's own locks, which store no owner, and who could still release them: read from outside, without
 * code inside the process.
 *
 *  - A frame inside `with lock:` keeps the lock's bound `__exit__` on its evaluation stack; the exception table of its
 *    code (CPython: InternalDocs/exception_handling.md) says how deep the stack is there. Up to 3.10 it is the block
 *    stack of the frame (f_blockstack). threading.Lock, RLock, Condition, Semaphore, multiprocessing's locks.
 *  - threading.RLock and multiprocessing's locks have fields that tell owner and count.
 *  - The lock that a thread waits for: up to 3.12 the futex lies in the lock, in 3.13 its address is in the lock
 *    object, from 3.14 on the thread parks and the parking entry has the lock's address.
 *  - An object (queue.Queue, Event, Condition, Lock) with no more references than the waiting thread's own frames and
 *    the object's own parts have cannot be reached by any other thread: nobody is left who could wake it.
 *
 * Each finding is made twice in the same state, or left out. Of running threads nothing is claimed.
 */
#pragma once

#include "sense/python/pystack.h"

/* A lock that a thread holds by a `with` that has not ended. */
struct pylock_held {
	uint64_t object; /* address of the Python object */
	uint64_t word; /* address that waiters sleep on, where the version has one in the lock; 0: none */
	size_t frame; /* index of the frame whose `with` it is */
	char type[32]; /* "lock", "RLock", "Condition", "SemLock" */
};

/* What a thread that waits in the interpreter waits for. */
struct pylock_wait {
	uint64_t object; /* the lock itself; 0: unknown */
	uint64_t word;
	uint64_t outer; /* the object of the program's that it belongs to (Queue, Event, Condition …); 0: none */
	char type[32]; /* type of outer, else of the lock */
	size_t frame; /* index of the outermost frame of the library, so that frame + 1 is the program's own */
	pid_t owner; /* thread that the object itself names (RLock, multiprocessing); 0: none */
	bool unreachable; /* no other thread has a reference to it: nobody can wake this thread */
};
