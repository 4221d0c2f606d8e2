/*
 * What a Python process has to do with Ray at one look: which actor it is, what it runs, and for which results its
 * threads wait (sense/pylib/raycall). Nothing is stopped. A thread that wakes up for a moment, to look for signals,
 * cannot be read just then, so a process is asked a few times.
 */
#pragma once

#include "agent/inspect/procview.h"
#include "sense/pylib/rayhandle.h"

struct raylook_wait {
	pid_t tid;
	struct raycall_get get;
	bool awaits; /* not the thread, but a coroutine of its event loop, which awaits one reference */
	char place[120]; /* " at search.py:30 in main": the program's own code; "": unknown */
};

struct raylook {
	bool worker; /* its main thread runs a worker's loop */
	bool idle; /* likewise, and has no call */
	bool is_actor;
	struct raycall_actor actor;
	bool runs; /* what it runs is known, of several calls at once one of them */
	struct raycall_task task;
	struct raylook_wait *wait; /* owned */
	size_t n, cap;
	bool endless; /* the main thread waits without a time limit */
	size_t loops; /* threads beside the main one that run an event loop */
	pid_t working; /* a thread beside the main one that runs calls or their event loop; 0: none */
	bool others; /* a thread is free, runs a call that waits for something else, or cannot be read */
};

/* False: it has no Python, or none of its threads can be read. Free it with raylook_done in both cases. */
bool raylook_read(const struct world *w, pid_t pid, struct raylook *ret);
void raylook_done(struct raylook *l);
/* A hash of what it runs and waits for. */
uint64_t raylook_hash(const struct raylook *l);
/*
 * What a worker is called: "preprocess", of an actor its class, "Learner", and the name that the program gave it,
 * "critic (Learner)". a: which actor it is; NULL: it runs a task. "": unknown, or it is idle. Of an actor its memory is
 * searched, which takes a tenth of a second. Without control characters.
 */
void raylook_name(const struct world *w, pid_t pid, const struct raycall_actor *a, char *dst, size_t cap);
/* The name alone that the program gave the actor; "": none, not found, or the process is no actor. As costly. */
void raylook_given_name(const struct world *w, pid_t pid, char dst[static RAYHANDLE_NAME]);
