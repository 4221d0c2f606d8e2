/*
 * What waits for a place in a Ray node (sense/framework/rayplaces), and what each of the job's Ray processes does
 * meanwhile: who could give a place back, or not, and which actors and tasks wait for each other. The names of Ray's
 * functions are those of Ray 2.60. Pure.
 */
#pragma once

#include "model/stacks/stackdump.h"
#include "sense/framework/rayplaces.h"
#include "sense/pylib/raycall.h"

/* Why a demand has no place. */
enum raystand_lack {
	RAYSTAND_UNKNOWN, /* a part of it cannot be told */
	RAYSTAND_FITS, /* there is room */
	RAYSTAND_TOO_LARGE, /* for all that the node has */
	RAYSTAND_TAKEN, /* others have what it wants */
};

enum raystand_does {
	RAYSTAND_SOMETHING, /* it works, or that cannot be told */
	RAYSTAND_GETS, /* it waits in ray.get() or ray.wait() without a time limit, and nothing else of it runs */
	RAYSTAND_IDLE, /* a worker that nobody calls */
};

#define RAYSTAND_AWAITS 8

struct raystand_process {
	pid_t pid;
	bool worker; /* else a program that uses Ray */
	enum raystand_does does;
	bool awaits_call; /* SOMETHING, and raystand_awaits_call() says so */
	bool waits; /* in ray.wait(), which goes on with some of the results; else in ray.get() */
	char place[120]; /* "train.py:40 in main", of one that waits; "": unknown */
	char name[96]; /* of the task that it runs; of an actor the class, "critic (Learner)"; "": unknown */
	bool is_actor;
	struct raycall_actor actor; /* which one */
	bool runs; /* it is no actor, and runs this task */
	struct raycall_task task;
	/*
	 * Each thread of it that runs calls waits in ray.get() or ray.wait(), without a limit, for what these make: a
	 * call of an actor, without the 8 bytes of its own, or a task that a process runs. Each once.
	 */
	struct raycall_task awaits[RAYSTAND_AWAITS];
	size_t n_awaits; /* 0: not so, or not known */
	bool partly; /* and for others, of which some may be there already */
	size_t calls; /* threads that wait so */
	bool stuck; /* by raystand_stuck */
};

#define RAYSTAND_PROCESSES 128

struct raystand {
	struct rayplaces places;
	struct raystand_process process[RAYSTAND_PROCESSES]; /* workers and programs */
	size_t n;
	bool cut; /* there are more */
	bool others; /* a raylet beside this one, so which has what is not known */
};

/* 0: it is not in there. */
double raystand_amount(const struct rayplaces_set *s, const char *name);
/*
 * For a node that is alone. ret_kind: the resource of which there is too little, and how much of it is wanted; borrowed
 * from d. NULL: nothing, or what is too little are nodes (STRICT_SPREAD).
 */
enum raystand_lack raystand_lack(const struct rayplaces *p, const struct rayplaces_demand *d,
				 const struct rayplaces_kind **ret_kind);
/* By the frames of all its threads. SOMETHING: also one that is no Python, or no process that uses Ray. */
enum raystand_does raystand_does(const struct dump_process *p);
/*
 * True of a worker of Ray's, an asynchronous actor, whose event loop rests: whatever its calls await, neither a
 * connection nor a timer of the loop brings it, and no other thread of it is in the program's code.
 */
bool raystand_awaits_call(const struct dump_process *p);
/* How many of its threads wait in ray.get() or ray.wait(). */
size_t raystand_gets(const struct dump_process *p);
/* Where the program's own code stands in the first of them; "": unknown. */
void raystand_place(const struct dump_process *p, char *dst, size_t cap);
/* Once, in the form in which a process awaits it. False: there is no room for it. */
bool raystand_await(struct raystand_process *p, const struct raycall_task *maker);
/*
 * Marks the actors and tasks that wait for each other, or an actor for itself, and those that wait for them alone: the
 * largest set of which each waits for members only, or in ray.get() for a member's task that runs. A call of an actor
 * would begin or go on only when one of the set had ended its own. Returns how many there are.
 */
size_t raystand_stuck(struct raystand *s);
/* Who is that actor, or runs that task; NULL: nobody that was read, or several say so. */
const struct raystand_process *raystand_maker(const struct raystand *s, const struct raycall_task *maker);
/* True: it waits for what the stuck ones make. */
bool raystand_awaits_stuck(const struct raystand *s, const struct raystand_process *p);
/* Of those for whom it waits the first one that is stuck; NULL: none. */
const struct raystand_process *raystand_next(const struct raystand *s, const struct raystand_process *p);
const struct raystand_process *raystand_find(const struct raystand *s, pid_t pid);
