/* Shared by the files that implement model/hang/waitgraph.h. */
#pragma once

#include "model/hang/waitgraph.h"

/* Processor time between two looks above which a thread works rather than wakes up now and then. */
#define WAITGRAPH_WORKING_TICKS 5

/* A thread that waits on something, by what it is; sorted by id. */
struct waiting_on {
	uint64_t id;
	uint32_t node;
	enum waitfact_kind kind;
	bool to_write;
};

/* An end that several threads share: a host, a process outside of the job. */
struct outside {
	uint32_t node;
	pid_t pid; /* 0: what the text says */
	const char *text;
};

struct build {
	const struct waitgraph_in *in;
	struct waitgraph *g;
	const struct waithint **hint; /* those of the input, sorted by thread */
	uint32_t *first_node; /* of each process of the facts; WAITGRAPH_NONE: no threads */
	struct waiting_on *on;
	size_t n_on, cap_on;
	struct outside *outside;
	size_t n_outside, cap_outside;
};

/* ---- waitgraph.c: nodes ---- */
/* A shell's loop around `sleep`: it waits for a child that sleeps, at each look for another one. */
bool waitgraph_sleeps_by_children(const struct waitgraph_in *in, const struct waitfact_thread *t);
/* The child that such a loop waits for now. */
bool waitgraph_is_sleep_of_a_loop(const struct waitgraph_in *in, const struct waitfact_thread *t);

/* True if it took less than a tenth of a processor between the looks. */
bool waitgraph_is_light(const struct waitgraph_in *in, const struct waitfact_thread *t);

/* ---- waitgraph_arrows.c: to whom the arrows of a node lead ---- */
int must_check waitgraph_arrows(struct build *b, uint32_t node);
/* Draws one arrow; of two to the same node the better one is kept. f, h: either may be NULL. */
int must_check waitgraph_arrow(struct build *b, uint32_t from, uint32_t to, enum waitgraph_quality q,
			       const struct waitfact *f, const struct waithint *h);
/*
 * The event loop of a side thread for which no thread of its process waits has nothing to do until its main thread
 * gives it something: its arrows to the other ends of idle connections give way to one. After all arrows are drawn.
 */
void waitgraph_idle_loop(struct build *b, uint32_t node);
/*
 * A thread that waits for any of its process, and could still be woken, though all that it has arrows to can never run
 * again: those that sleep for long are asked in their place. After the dead are known. -ENOMEM.
 */
int must_check waitgraph_ask_the_living(struct build *b, uint32_t node);
/*
 * Draws an arrow to a process: to its main thread, unless that only sleeps in a loop while others do the work, or
 * others of its threads have taken the request. -ENOMEM.
 */
int must_check waitgraph_to_process(struct build *b, uint32_t from, pid_t pid, enum waitgraph_quality q,
				    const struct waitfact *f);
/* The facts of a node's thread; n 0: none. */
const struct waitfact *waitgraph_facts(const struct build *b, const struct waitgraph_node *n, size_t *ret_n);
uint32_t waitgraph_first_node(const struct build *b, const struct waitfact_process *p);
uint32_t waitgraph_node_of(const struct build *b, pid_t pid, pid_t tid); /* WAITGRAPH_NONE: not in the graph */
/* The hints of a thread; n 0: none. */
const struct waithint *const *waitgraph_hints(const struct build *b, pid_t pid, pid_t tid, size_t *ret_n);
const struct waitgraph_who *waitgraph_who_of(const struct waitgraph_in *in, pid_t pid);

/* ---- waitgraph_meant.c: who is meant, of all who could end a wait ---- */
/* Holders of one thing that are told apart; of more, each one is only possible. */
#define WAITGRAPH_HOLDERS 64
/* True if its process has the listening socket that has not accepted its connection yet. */
bool waitgraph_has_the_door(const struct build *b, const struct waitgraph_node *n, const struct waitfact *f);
/* The same of a process with one thread, where nobody else accepts there but who started it, or who waits likewise. */
bool waitgraph_knocks_at_its_own(const struct build *b, const struct waitgraph_node *n, const struct waitfact *f);
/* Leaves, of the n processes that have what a thread waits for, those that use it; their number, 1 at least. */
size_t waitgraph_meant(const struct build *b, const struct waitfact *f, pid_t *pids, size_t n);
/* True if it has what the fact is of as a copy, from another holder that it descends from: that one uses it. */
bool waitgraph_has_a_copy(const struct build *b, const struct waitfact *f, pid_t pid);
/*
 * Of the n processes that share memory with a thread which waits at a word there: the one that is left without parents
 * that only wait for the end of their children, unless it wants the same. Returns their number.
 */
size_t waitgraph_other_than_parents(const struct build *b, const struct waitfact *f, pid_t *pids, size_t n);
/* Its only thread waits for the ends of its children. */
bool waitgraph_waits_for_children(const struct build *b, pid_t pid);
/*
 * Of one that writes to a process: an arrow to the thread of that one which waits for the writer's end, if no other one
 * of it does more than wait for its own process. It will not read before that, and who should is unknown. The number,
 * or -ENOMEM.
 */
int must_check waitgraph_to_reaper(struct build *b, uint32_t from, const struct waitfact_process *p,
				   const struct waitfact *f);
/*
 * An arrow to the tracer of a thread, if that is one of the job's and waits itself: it will not let go before that is
 * over. Of one that works, sleeps or waits for children or a person there is none. The number, or -ENOMEM.
 */
int must_check waitgraph_to_tracer(struct build *b, uint32_t from, const struct waitfact *f);

/* ---- waitgraph_calls.c: calls of other processes whose answers another thread reads ---- */
/* Arrows of a thread that waits for an answer, to who works on calls in the servers; their number, or -ENOMEM. */
int must_check waitgraph_calls(struct build *b, uint32_t node);
/*
 * Of a handler that waits for the next message of a stream: to the threads of its clients that bring such ones. Their
 * number, or -ENOMEM; 0: it is none, or these are not known.
 */
int must_check waitgraph_streams(struct build *b, uint32_t node);
/* True of a thread that works on a call and waits for something that only its own process could bring. */
bool waitgraph_waits_for_calls(const struct build *b, uint32_t node);
/*
 * Of a server with threads for its clients: to those that may be at work on a request that was taken. Their number, or
 * -ENOMEM; 0: it is no such server, or all its threads wait for requests.
 */
int must_check waitgraph_to_takers(struct build *b, uint32_t from, const struct waitfact_process *p,
				   enum waitgraph_quality q, const struct waitfact *f);
/*
 * To the threads of a process that have the connection of f in hand, which are meant: their number, or -ENOMEM. 0: none
 * is known to.
 */
int must_check waitgraph_to_hands(struct build *b, uint32_t from, const struct waitfact_process *p,
				  enum waitgraph_quality q, const struct waitfact *f);
/* A wait for something that only the process itself brings, by whichever thread. */
static inline bool waitgraph_is_own(const struct waitfact *f)
{
	return f->kind == WAITFACT_FUTEX || f->kind == WAITFACT_OBJECT;
}
/* True of a goroutine whose wait a clock may end, nobody knows when. */
bool waitgraph_has_a_limit(const struct waitgraph_node *n);
/*
 * Arrows of a goroutine that waits for an object of its process: to those that come to it, or, where these only wait
 * for requests of a server themselves, to clients. Their number, or -ENOMEM.
 */
int must_check waitgraph_to_object(struct build *b, uint32_t from, const struct waitfact *f);
/* True of a goroutine that reads from a client while another one has taken a request of that one, to whom f leads. */
bool waitgraph_was_taken(const struct build *b, uint32_t node, const struct waitfact *f);
/* True of a goroutine of a server that another request has to wake. */
bool waitgraph_waits_for_requests(const struct build *b, uint32_t node);
/* Of a thread of such a server that waits to be woken: to the clients, whose requests may do so. As above. */
int must_check waitgraph_to_clients(struct build *b, uint32_t from, const struct waitfact *f);
/* True of a side thread of such a server that wants a lock of its process: a handler that ended may have kept it. */
bool waitgraph_wants_a_lock_of_handlers(const struct build *b, uint32_t node);
/* True of a side thread that wakes up by itself now and then. waitgraph_arrows.c. */
bool waitgraph_ticks(const struct waitgraph_node *n);

/* ---- waitgraph_queue.c: who uses a message queue ---- */
/*
 * Arrows to the threads of other processes that wait at the same queue for something else than this one does: to send,
 * or to receive another type. Their number, or -ENOMEM.
 */
int must_check waitgraph_queue_users(struct build *b, uint32_t from, const struct waitfact *f);
/* Whoever knows its name may come to it: nobody is known to be the one. */
bool waitgraph_has_a_name(const struct waitfact *f);
/* True of memory that no other process has any more, if one that may have had it, a child or a sibling, has ended. */
bool waitgraph_left_alone(const struct waitfacts *now, const struct waitgraph_node *n, const struct waitfact *f);
/*
 * True if nobody is known who could end a wait at a thing with a name: nobody is told, or the process alone, whose only
 * thread waits itself.
 */
bool waitgraph_nobody_known(const struct waitfacts *now, const struct waitgraph_node *n, const struct waitfact *f);

/* ---- waitgraph_usual.c: one arrow in place of several, by who usually ended such a wait ---- */
/* 1: there is one. -ENOMEM. */
int must_check waitgraph_usual(struct build *b, uint32_t node);

/* ---- waitgraph_polled.c: whom a thread waits for that looks again and again, between short sleeps ---- */
/* Arrows to who has locked a file that it has open; their number, or -ENOMEM. */
int must_check waitgraph_polled_locks(struct build *b, uint32_t node);
/*
 * Arrows to the processes that could write the memory at which it may be looking, if none of them can go on. To be
 * called when all others are drawn and the dead are marked.
 */
int must_check waitgraph_polled_memory(const struct waitgraph_in *in, struct waitgraph *g);

/* ---- waitgraph_dead.c: which threads can never run again ---- */
int must_check waitgraph_mark_dead(struct build *b);

/* ---- waitgraph_all.c: waits that end when all of several holders have let go ---- */
/* Leaves, of the arrows of such waits, those to whom it is that they can never end. After the dead are marked. */
int must_check waitgraph_narrow_all(struct waitgraph *g);

/* ---- waitgraph_guess.c: arrows by what the ends together say; *ret: there are new ones ---- */
int must_check waitgraph_guess(const struct waitgraph_in *in, struct waitgraph *g, bool *ret);

/* ---- waitgraph_ends.c: where the arrows end ---- */
int must_check waitgraph_find_ends(const struct waitgraph_in *in, struct waitgraph *g);
