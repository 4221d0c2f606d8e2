/*
 * One thread in the graph of who waits for whom (model/hang/waitgraph.h): what is known of it, whom it waits for, and,
 * where it waits for nobody else, why the waiting ends there.
 */
#pragma once

#include "base/base.h"
#include "model/hang/waithint.h"
#include "sense/wait/waitfacts.h"

#define WAITGRAPH_NONE UINT32_MAX

enum waitgraph_quality {
	WAITGRAPH_POSSIBLE, /* one of several that could */
	WAITGRAPH_LIKELY, /* one fact says so that may mislead: a descriptor that other processes have too */
	WAITGRAPH_PROOF, /* the kernel or the object itself names it */
};

/* Why the waiting ends at a thread. */
enum waitgraph_end {
	WAITEND_NONE, /* it waits for somebody else */
	WAITEND_RUNS, /* it runs: the others wait for its work */
	WAITEND_CLOCK, /* it sleeps */
	WAITEND_NOBODY, /* nobody is left who could end its wait */
	WAITEND_GONE, /* who should have ended its wait has ended */
	WAITEND_CIRCLE, /* the threads of the circle wait for each other */
	WAITEND_STOPPED,
	WAITEND_TRACED,
	WAITEND_FROZEN,
	WAITEND_OUTSIDE, /* another machine, or a process that is not of the job */
	WAITEND_VISITOR, /* anybody may come: a listening socket, a FIFO, a signal */
	WAITEND_STORAGE, /* a file system or its server */
	WAITEND_DEVICE,
	WAITEND_PERSON, /* input at a terminal */
	WAITEND_OWN, /* another thread of its process, which one is unknown */
	WAITEND_ANY, /* one of several processes: it waits on memory that they share */
	WAITEND_UNKNOWN,
};

/* What is known of a process from elsewhere. */
struct waitgraph_who {
	pid_t pid;
	int32_t rank; /* NO_RANK */
	bool main; /* the main process of its rank, or of a job without ranks */
	bool launcher; /* it starts and serves the ranks (torchrun, vigil's own child) */
	char role[16]; /* "loader" */
};

struct waitgraph_edge {
	uint32_t to; /* node */
	enum waitgraph_quality quality;
	const struct waitfact *fact; /* NULL: of a hint */
	const struct waithint *hint; /* NULL: of a fact alone; with a fact: which of those who could it usually is */
};

struct waitgraph_node {
	const struct waitfact_thread *thread; /* NULL: a process outside of the job, or what `fact` says */
	const struct waitfact_process *process; /* NULL: none */
	const struct waitgraph_who *who; /* NULL: unknown */
	bool main; /* the main thread of its process */
	bool timed;
	bool dead; /* proved: it can never run again */
	bool dead_within; /* the same if nobody outside has its shared memory, opens its FIFOs, or sends it signals */
	bool signalled; /* not dead, if for nothing else than that a signal's handler of its process may wake it */
	/*
	 * Whoever acts beside it may end its wait by ending the process that it waits for, as a watchdog or a limit
	 * does, or its handler is told of the end of a child that lives. It need not be live for that alone.
	 */
	bool spared;
	bool doubtful; /* not dead, if for nothing else than that an end may come of which nothing tells: an alarm's */
	bool calls; /* it waits for the answer of another process, which another thread of its process reads */
	bool wants; /* it waits for a result that another process makes */
	bool idle; /* it waits for requests or work, and ends nobody's wait meanwhile */
	bool shows; /* idle: it wakes up now and then to show how far others are, and nothing else */
	bool handles; /* it works on the call or request of another process */
	bool within; /* likewise, and what it waits for comes from its own process or by another request */
	bool streams; /* a handler that waits for the next message of its caller, or a thread that brings such ones */
	bool only_sleeps; /* it makes no other call than its sleeps, so that it looks at memory alone */
	bool spins; /* it waits in a call of ranks by the counters of its collective library, whether it runs or not */
	bool light; /* of one that runs: a look met it asleep, and it took less than a tenth of a processor meanwhile */
	bool naps; /* it woke up between the looks, did next to nothing, and waits for a second or so at most again */
	bool glances; /* it naps, and is awake for no longer each time than a look at something takes */
	uint64_t ran_ns; /* between the looks; UINT64_MAX: unknown */
	bool woke, lightly; /* between the looks; awake each time no longer than a look at something takes */
	enum waitgraph_end end; /* WAITEND_NONE: it has arrows */
	const struct waitfact *fact; /* what it waits for, of an end too; NULL: nothing, or unknown */
	const struct waithint *hint; /* what Python says of the wait; NULL: nothing */
	const struct waithint *place; /* where it stands; NULL: unknown */
	const struct waithint *odd; /* what it has called otherwise than all other ranks; NULL: nothing */
	const struct waithint *usual; /* who usually ended such a wait; NULL: unknown */
	/* An event loop's listening socket, where all else that it waits for is of its own process; NULL: none. */
	const struct waitfact *door;
	bool knocks; /* it waits for its own process, which has no other thread, to accept a connection */
	/* It looks at this again and again, between short sleeps, and its arrows are of it; NULL: they are not. */
	const struct waitfact *polled;
	/* It naps, shares memory with others, and all who could write that wait for this very thread. */
	bool deserted;
	bool beside_nap; /* it naps, and so does the main thread of another process that could write memory of it */
	/* What has come over one of the connections that it reads from, the most of these; 0: none, or unknown. */
	uint64_t heard_bytes;
	bool watches; /* it naps between looks at its children, none of whom can go on: its arrows lead to them */
	/*
	 * Of one that runs: the main thread of the only process that shares memory with it which that one could write,
	 * and which does not run; WAITGRAPH_NONE: none, or several.
	 */
	uint32_t beside;
	uint32_t first_edge, n_edges;
	uint32_t component;
	uint32_t sink; /* of a main process's main thread: index of the end that it comes to; else WAITGRAPH_NONE */
};
