/*
 * Who waits for whom in a job: a graph of threads, made of two looks at their waits, and where the waiting ends.
 *
 * Every thread that waits has arrows to those who could end its wait. The graph is used twice:
 *
 *  - Proof. A thread may go on if it runs, if a clock or somebody outside of the job may wake it, or if anybody who
 *    could wake it may go on. What is left when this has spread is dead: none of these threads can ever run again.
 *    One missing fact (an unreadable process, a list of holders that is not whole) makes a thread live, so an error
 *    hides a proof and never makes one.
 *  - Naming. Arrows are narrowed to those who are meant: the owner of a lock, the process at the other end of a
 *    connection. Following them from the ranks' main threads leads to ends: threads, or circles of threads, that wait
 *    for nobody else in the job. The end that most ranks reach is what the job waits for.
 *
 * A look is one instant, so a thread that is not in the same wait in both looks counts as running. Waits with a time
 * limit may end by themselves: such a thread is never dead, and its arrows hold.
 *
 * Pure. Results point into the facts, which must outlive them. Free with waitgraph_done.
 */
#pragma once

#include "base/base.h"
#include "base/buf.h"
#include "model/hang/waithint.h"
#include "sense/wait/waitfacts.h"

#define WAITGRAPH_NONE UINT32_MAX
#define WAITGRAPH_RANKS 64

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
	bool calls; /* it waits for the answer of another process, which another thread of its process reads */
	bool wants; /* it waits for a result that another process makes */
	bool idle; /* it waits for requests or work, and ends nobody's wait meanwhile */
	bool shows; /* idle: it wakes up now and then to show how far others are, and nothing else */
	bool handles; /* it works on the call or request of another process */
	bool within; /* likewise, and what it waits for comes from its own process or by another request */
	bool streams; /* a handler that waits for the next message of its caller, or a thread that brings such ones */
	bool only_sleeps; /* it makes no other call than its sleeps, so that it looks at memory alone */
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

/* An end: one node, or a circle. */
struct waitgraph_sink {
	uint32_t node; /* its most telling node: a rank's main thread, a main thread, any */
	uint32_t n_nodes;
	enum waitgraph_end end;
	enum waitgraph_quality quality; /* of the weakest arrow on the best way to it; PROOF where nobody waits */
	bool dead; /* all its nodes are */
	/*
	 * Proved to hold up the job: it is dead, and so is a main process's main thread in it, or one that comes to it.
	 * Who is not may wait for any of several of whom another one lives.
	 */
	bool holds;
	bool closed; /* WAITEND_CIRCLE: each thread waits for exactly one other, and none by history alone */
	enum waitgraph_quality circle; /* of the weakest arrow within it */
	/* Ranks to whom its processes belong. */
	int32_t rank[WAITGRAPH_RANKS];
	size_t n_ranks;
	size_t n_followers; /* main processes that come to it by arrows, those in it not counted */
	bool of_waiters; /* it belongs to no rank, or is outside: rank[] are those that wait for it directly */
	bool outside; /* it is none of the job's */
	bool one_process; /* all its threads are of one process */
	bool of_main; /* a main process's main thread is in it */
	bool all_wait; /* the main thread of each rank, of several, is in it or comes to it, without a time limit */
};

struct waitgraph {
	struct waitgraph_node *node; /* owned */
	size_t n_nodes, cap_nodes;
	struct waitgraph_edge *edge; /* owned */
	size_t n_edges, cap_edges;
	struct waitgraph_sink *sink; /* that most ranks reach first; owned */
	size_t n_sinks, cap_sinks;
	size_t n_mains; /* main processes in the facts */
	size_t n_dead; /* threads */
	bool one_look, closed; /* no second look: nothing is proved; WAITHINT_CLOSED */
	bool by_history; /* an arrow leads to another process because of who usually ended such waits */
	bool by_polling; /* ranks that poll have arrows to the end of the others */
	bool by_absence; /* a rank waits for visitors, and has arrows to the ranks that do not come to it */
};

struct waitgraph_in {
	const struct waitfacts *before; /* at least 2 s older; NULL: none */
	const struct waitfacts *now;
	const struct waitgraph_who *who;
	size_t n_who;
	const struct waithint *hint;
	size_t n_hints;
};

int must_check waitgraph_make(const struct waitgraph_in *in, struct waitgraph *ret);
void waitgraph_done(struct waitgraph *g);

/* The node of a thread; tid 0: the main one. NULL: not in the graph. */
const struct waitgraph_node *waitgraph_thread(const struct waitgraph *g, pid_t pid, pid_t tid);
/* The end to which the arrows of this main process lead, itself included; NULL: it is no main process, or unknown. */
const struct waitgraph_sink *waitgraph_end_of(const struct waitgraph *g, pid_t pid);
/* True if this main process waits, in the end, for another rank: neither for itself nor for something of its own. */
bool waitgraph_waits(const struct waitgraph *g, pid_t pid);
/*
 * True if a thread waits for another rank, itself or through threads and processes of its own rank: in the end or not,
 * and also where all wait for each other.
 */
bool waitgraph_leads_to_rank(const struct waitgraph *g, uint32_t node);
/* True of an event loop whose task waits for something of its own process: which connection leads to it is a guess. */
bool waitgraph_awaits_its_own(const struct waitgraph_node *n);
/*
 * True if the only thread of a process waits for the other end of a connection, and that is its own process's too: a
 * server that asks itself.
 */
bool waitgraph_waits_for_itself(const struct waitgraph_node *n);
/* A thread that writes to a terminal which takes no output: somebody stopped it, or does not read. */
bool waitgraph_writes_terminal(const struct waitgraph_node *n);
/*
 * The way to an end, from the ranks that wait: "ranks 1, 3 → rank 0 (recv, tcp …) → rank 2 (queue.Queue.get at
 * data.py:25)". At most 5 steps; ranks that go the same way share a word.
 */
void waitgraph_way_text(const struct waitgraph *g, const struct waitgraph_sink *s, char *dst, size_t cap);
/* "rank 2", "loader 812 of rank 2", "process 812 (python)", "host 10.0.0.7:443". */
void waitgraph_who_text(const struct waitgraph *g, uint32_t node, char *dst, size_t cap);
/* Adds "thread 812" or "goroutine 7", and what follows it. */
void waitgraph_thread_text(const struct waitfact_thread *t, const char *more, struct buf *b);
/* "recv, tcp 10.0.0.3:4000 -> 10.0.0.7:29500", "queue.Queue.get at data.py:25", "nobody is left who could end it". */
void waitgraph_wait_text(const struct waitgraph_node *n, char *dst, size_t cap);
const char *waitgraph_end_text(enum waitgraph_end e); /* "sleeps", "nobody is left who could end the wait" */
const char *waitgraph_quality_name(enum waitgraph_quality q); /* "proof", "likely", "possible" */
