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
#include "model/hang/waitnode.h"

#define WAITGRAPH_RANKS 64

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
	bool asks; /* of closed: its processes ask each other meanwhile */
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
/* Of one that does not: those threads of its own rank that it waits for and that run, at most cap of them. */
size_t waitgraph_own_running(const struct waitgraph *g, uint32_t node, pid_t *ret, size_t cap);
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
/*
 * The other threads of an end's process that could end its wait: "thread 812 (Future.result at a.py:9) and 2 threads
 * (threading.Lock at a.py:20)"; "" if there are none, or of other processes as well.
 */
void waitgraph_own_threads_text(const struct waitgraph *g, const struct waitgraph_sink *s, char *dst, size_t cap);
/* "rank 2", "loader 812 of rank 2", "process 812 (python)", "host 10.0.0.7:443". */
void waitgraph_who_text(const struct waitgraph *g, uint32_t node, char *dst, size_t cap);
/* Adds "thread 812" or "goroutine 7", and what follows it. */
void waitgraph_thread_text(const struct waitfact_thread *t, const char *more, struct buf *b);
/* "recv, tcp 10.0.0.3:4000 -> 10.0.0.7:29500", "queue.Queue.get at data.py:25", "nobody is left who could end it". */
void waitgraph_wait_text(const struct waitgraph_node *n, char *dst, size_t cap);
const char *waitgraph_node_end_text(const struct waitgraph_node *n); /* that of its own end, with what is known of it */
const char *waitgraph_end_text(enum waitgraph_end e); /* "sleeps", "nobody is left who could end the wait" */
const char *waitgraph_quality_name(enum waitgraph_quality q); /* "proof", "likely", "possible" */
