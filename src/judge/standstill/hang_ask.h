/*
 * Questions about ranks, places, and loops that try in vain. None of them decides.
 */
#pragma once

#include "judge/standstill/hang_beside.h"

/* ---- ranks (hang_relations.c, hang_nap.c) ---- */

bool hang_old_enough(struct hang_work *w, enum hang_proof proof); /* false: again_ns is set */
bool hang_waits(const struct hang_work *w, const struct stackgroup_rank *r);
/* True when it does something: processor time, bytes, its GPU. */
bool hang_works(const struct hang_work *w, const struct stackgroup_rank *r);
bool hang_gpu_works(const struct hang_work *w, int32_t rank);
/* The share of its time that it is ready but has no processor. */
double hang_queues(const struct hang_work *w, int32_t rank);
const struct stackgroup_rank *hang_culprit(const struct hang_work *w); /* the first that may not stand there; NULL */
const struct stackgroup_rank *hang_first_waiting(const struct hang_work *w); /* for others; NULL: none */
bool hang_all_still(const struct hang_work *w); /* every rank has one stack in all dumps, of at least two */
const struct waitgraph_sink *hang_message_circle(const struct hang_work *w); /* of sends and receives; NULL: none */
/* The rank that its send or receive names; NULL: it is in none, or that is not known. */
const struct stackgroup_rank *hang_peer(const struct hang_work *w, const struct stackgroup_rank *r);
/* True if it is one of several ranks that have not come to a call: where the ranks stand names them all. */
bool hang_several_missing(const struct hang_work *w, const struct waitgraph_sink *s);
/*
 * False of a rank that stands at a lock, if no thread of its process is in a call that moves bytes: whatever function
 * it is in, no store, disk or network is slow.
 */
bool hang_may_await_bytes(const struct stackgroup_rank *r);
bool hang_awaits_kernel(const struct hang_work *w, const struct stackgroup_rank *r); /* one that does not end */
/* Of a circle of all ranks (hang_all_wait_in_circle): which rank alone is in another call. */
void hang_elsewhere_says(struct hang_work *w);
/* The same function of the same file, at whatever line. */
bool hang_same_code(const struct dump_frame *a, const struct dump_frame *b);
/*
 * Of a circle of three ranks or more that are named one alone may not be in the call in which the others are: then it
 * is named in their place.
 */
void hang_one_elsewhere(struct hang_work *w, const struct waitgraph_sink *s);
/* Where all ranks nap, three and more: the one that is not in the call that all others are in. NULL: there is none. */
const struct stackgroup_rank *hang_naps_elsewhere(const struct hang_work *w, const struct dump_frame **ret_call);
/* Accuses it. */
void hang_naps_elsewhere_is(struct hang_work *w, const struct stackgroup_rank *odd, const struct dump_frame *call);
/* Of the ranks that print how many steps there will be, of which there is one, all have made them, or none has. */
bool hang_steps_are(const struct hang_work *w, bool made);
/*
 * True if two processes of the job or more nap between looks, nothing of it runs, sleeps for longer or waits for
 * somebody outside: none of them does what another one may look for.
 */
bool hang_all_nap(const struct hang_work *w);
/*
 * A process beside this main one, which only naps, that can never go on, which is proved, while nothing else of the job
 * acts; NULL: there is none. Whether it is what the loop waits for is not known.
 */
const struct waitgraph_node *hang_dead_beside(const struct hang_work *w, const struct stackgroup_rank *r);
/* A thread that waits for a lock, while the main thread of the same process naps again and again; NULL: none. */
const struct waitgraph_node *hang_lock_waiter(const struct hang_work *w, const struct stackgroup_rank *r);
/* Adds that either is so: who can never go on, or what others than this one look for. */
void hang_says_who_naps(struct hang_work *w, const struct stackgroup_rank *r);

/* ---- processes, threads and places (hang_places.c) ---- */

/* Processes and threads of the dumps; NULL: not in there. */
const struct stackdump *hang_newest(const struct hang_work *w);
const struct dump_process *hang_process_in(const struct stackdump *d, pid_t pid);
const struct dump_thread *hang_thread_in(const struct stackdump *d, pid_t pid, pid_t tid);
/* True when it was in this kind of wait in each dump. */
bool hang_all_along(const struct hang_work *w, pid_t pid, pid_t tid, enum wait_kind kind);
/* The acting thread of a rank at a look; NULL: it was not there. */
const struct dump_thread *hang_acting_at(const struct stackdump *d, const struct stackgroup_rank *r);
/* The program's own function that a thread, or the rank at a look, is in; NULL: it is in a library, or not known. */
const struct dump_frame *hang_own_top(const struct dump_thread *t);
const struct dump_frame *hang_own_top_at(const struct stackdump *d, const struct stackgroup_rank *r);
/* True for the C library, its loader and the kernel's vdso: no place of the program's own. */
bool hang_c_library(const char *module);
/* Writes "loader 812 of rank 3". */
void hang_process_who(const struct dump_process *p, char *dst, size_t cap);
/* Writes what a thread does and where: "a lock at train.py:40 in step", "in take at queue.c:20". */
void hang_place(const struct hang_work *w, const struct dump_process *p, const struct dump_thread *t, char *dst,
		size_t cap);

/* ---- loops that try in vain (hang_refused.c, hang_anew.c) ---- */

bool hang_is_refused(const struct hang_work *w, int32_t rank); /* it tries to connect in vain, again and again */
bool hang_says_refused(struct hang_work *w, int32_t rank); /* adds to which address; false: it does not */
void hang_refused_evidence(struct hang_work *w);
/*
 * True of a rank that is refused where it connects while another one waits for visitors, at another address, and nobody
 * else of a job of steps acts: nobody in it will listen where this one tries.
 */
bool hang_dials_elsewhere(const struct hang_work *w, const struct stackgroup_rank *r);
/* It still tries, and how that ends each time: "it was refused: nobody listens there". */
bool hang_refused_goes_on(const struct hang_work *w, const struct hang_refused *r);
const char *hang_refused_why(const struct hang_refused *r);
/* Children that fail and are started anew (hang_anew.c): of one, since when, whether it still does, whether it errs. */
uint64_t hang_child_since_ns(const struct liveness_set *p, const struct respawn *r);
bool hang_child_goes_on(const struct liveness_set *p, const struct respawn *r);
bool hang_child_errs(const struct respawn *r);
/* How long it may go on before a verdict, if it errs and if it may ask for something. */
uint64_t hang_child_due_ns(const struct hang_settings *s, const struct liveness_set *p, bool errs);
/* The one that errs, else any, the longest so; NULL: none. */
const struct respawn *hang_child_of(const struct liveness_set *p);
/* Writes what starts it, how often, and how it ended each time. */
void hang_child_text(const struct hang_work *w, const struct respawn *r, char *dst, size_t cap);
void hang_child_evidence(struct hang_work *w);
/* Since when a child fails and is started anew, again and again; 0: none, or not for long. text: in words. */
uint64_t hang_made_anew(const struct hang_settings *s, const struct liveness_set *p, char *text, size_t cap);
