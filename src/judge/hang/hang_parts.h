/*
 * Shared by the parts of the hang judge. Each part looks at one kind of proof; true when it has decided, else the
 * verdict is as it was (but for evidence). Only hang*.c include this.
 */
#pragma once

#include "base/buf.h"
#include "judge/hang/hang.h"

/* How long nothing may move before a verdict, by what the verdict rests on. */
enum hang_proof {
	HANG_CERTAIN, /* proved by itself: a dead rank, a lock without an owner */
	HANG_FIRM, /* seen in the stacks of all ranks */
	HANG_EXPLAINED, /* who is waited for is known, but it may still come */
	HANG_VAGUE, /* nothing moves, and no more is known */
	HANG_DOUBTFUL, /* likewise, but its stack changed between the looks, or anybody may come */
};

struct hang_work {
	const struct hang_settings *s;
	const struct hang_history *m;
	const struct hang_case *c;
	const struct liveness_set *p;
	bool has_stacks;
	struct stackgroups g;
	bool stepping, counting; /* enough steps were seen to miss the next one; it counted up to the standstill */
	double gap_ns; /* between two of them; 0: neither */
	bool first_step; /* no step was seen, and the job is young */
	bool many; /* more than one rank */
	const struct liveness *stalled_rank; /* it alone stands, while the others step on; NULL: none */
	bool dead; /* the graph proves that it cannot go on, but the stacks say more about why */
	/* Something moves: only the log, which was regular, or what uses Ray does not; or a child is started anew. */
	bool log_silent, ray_still, made_anew;
	double usual_line_s;
	uint64_t standstill_ns;
	/* Ranks that do not wait for others, as indexes into g.rank. */
	size_t blocking[STACKGROUP_RANKS];
	size_t n_blocking;
	bool benign[STACKGROUP_RANKS]; /* parallel to blocking: may stand there */
	int32_t unseen[STACKGROUP_RANKS]; /* ranks that live, but whose stacks could not be read */
	size_t n_unseen;
	struct hang_verdict *v;
	const char *advice; /* static text: the row of advice that is for the verdict; NULL: that of its id */
};

/* Settings with their defaults. */
uint64_t hang_time(uint64_t given_ns, uint64_t usual_ns);
#define HANG_FIRST_STEP_NS (20 * 60 * NS_PER_S)
#define HANG_COMPILE_NS (30 * 60 * NS_PER_S)
#define HANG_CHECKPOINT_NS (30 * 60 * NS_PER_S)
#define HANG_EVALUATION_NS (2 * 3600 * NS_PER_S)
#define HANG_DOWNLOAD_NS (2 * 3600 * NS_PER_S)
#define HANG_SLEEP_NS (5 * 60 * NS_PER_S)
/* A sleep that goes on for so long is told before its excuse is over: the time-outs of the others come earlier. */
#define HANG_SLEEP_SURE_NS (30 * 60 * NS_PER_S)
#define HANG_IO_GPU_NS (30 * 60 * NS_PER_S)
#define HANG_UTIL_WINDOW_NS (60 * NS_PER_S)
#define HANG_STRAGGLER_RATIO 0.10
#define HANG_SLOWDOWN_RATIO 0.20

/* Since when the job stands; 0: it does not. text: the reason. */
uint64_t hang_since(const struct hang_settings *s, const struct liveness_set *p, char *text, size_t cap);
/* Since when the log, which was regular, is silent while other signs move, if hang_since has no reason; 0: not so. */
uint64_t hang_log_silent(const struct hang_settings *s, const struct liveness_set *p, double *ret_usual_s);
/* The time without a step after which one is missed. */
uint64_t hang_missed_ns(const struct hang_settings *s, const struct liveness_set *p);
/* The number of ranks that live and do not only serve others. ret_ended: some rank has ended. */
size_t hang_live_ranks(const struct liveness_set *p, bool *ret_ended);
/* gap_ns * n, without overflow. */
uint64_t hang_gap_times(double gap_ns, double n);
/* True when steps are known and the last one is limit_ns or more ago; text says so. */
bool hang_no_step_for(const struct liveness_set *p, uint64_t limit_ns, char *text, size_t cap);
/* A rank that has fallen silent while others, which do not depend on it, step on; NULL: none. */
const struct liveness *hang_stalled_rank(const struct liveness_set *p);
/* Since when the job stands by the rule io-gpu; keeps its windows in the history. */
uint64_t hang_io_gpu(struct hang_history *m, const struct hang_settings *s, const struct liveness_set *p, char *text,
		     size_t cap);
void hang_io_gpu_judge(struct hang_work *w);

void hang_is(struct hang_work *w, const char *id, enum confidence c);
void hang_says(struct hang_work *w, const char *fmt, ...) printf_like(2, 3);
void hang_advise(struct hang_work *w, const char *fmt, ...) printf_like(2, 3);
void hang_evidence(struct hang_work *w, const char *kind, const char *source, const char *fmt, ...) printf_like(4, 5);
void hang_accuse(struct hang_work *w, int32_t rank);
/* Writes "rank 3", or "the job". */
#define HANG_WHO 48
const char *hang_who(int32_t rank, char dst[static HANG_WHO]);
/* Writes "ranks 0-2 and 5" for ascending ranks. */
void hang_ranks_text(const int32_t *ranks, size_t n, char *dst, size_t cap);
/* Writes what a rank does and where, with the text of the source line where that is known. */
void hang_doing(const struct hang_work *w, const struct stackgroup_rank *r, char *dst, size_t cap);
/*
 * The longest time that it sleeps at a time: by the system call, by a sleep that was made again since the dump before,
 * or by the number in sleep(N) of the line at which it stands. 0: unknown.
 */
uint64_t hang_sleep_ns_of(const struct hang_work *w, const struct stackgroup_rank *r);
/* The longest by sleeps that were made again, in the dumps and since the last verdict. 0: unknown. */
uint64_t hang_sleep_made_again(const struct hang_work *w, const struct stackgroup_rank *r);
/* True for a short sleep that was made again and again for longer than is benign: a loop that waits for something. */
bool hang_polls(const struct hang_work *w, const struct stackgroup_rank *r);
const struct waithint *hang_retries(const struct hang_work *w, const struct stackgroup_rank *r); /* NULL: nothing */
bool hang_is_stale(const struct hang_work *w, const struct waithint *retry); /* its file was there before the job */
/* True if the others wait for a rank whose sleep, by the kernel, ends after the time for which one is excused. */
bool hang_outsleeps(const struct hang_work *w, const struct stackgroup_rank *r);
/* The same of a process beside the ranks that some wait for, likely at least. */
bool hang_end_outsleeps(const struct hang_work *w, const struct waitgraph_sink *s, uint64_t excuse_ns);
/* Adds "Ranks 0-2 wait for the others: all_reduce at train.py:40 in step.", or nothing where no rank waits. */
void hang_says_who_waits(struct hang_work *w);
void hang_store_key_says(struct hang_work *w); /* "Ranks 0 and 2 wait for key "ready/1" of the store." */
bool hang_waits_for_key(const struct hang_work *w); /* a rank that waits, for a key that is known */

/* ---- questions about ranks ---- */
bool hang_old_enough(struct hang_work *w, enum hang_proof proof); /* false: again_ns is set */
bool hang_waits(const struct hang_work *w, const struct stackgroup_rank *r);
/* True when it does something: processor time, bytes, its GPU. */
bool hang_works(const struct hang_work *w, const struct stackgroup_rank *r);
bool hang_gpu_works(const struct hang_work *w, int32_t rank);
/* The share of its time that it is ready but has no processor. */
double hang_queues(const struct hang_work *w, int32_t rank);
/* True if what the rank's stack shows is a cause of its own: a loader, a checkpoint, its end. */
bool hang_stands_for_a_cause(const struct hang_work *w, int32_t rank);
const struct stackgroup_rank *hang_culprit(const struct hang_work *w); /* the first that may not stand there; NULL */
const struct stackgroup_rank *hang_first_waiting(const struct hang_work *w); /* for others; NULL: none */
bool hang_all_still(const struct hang_work *w); /* every rank has one stack in all dumps, of at least two */

/* Processes and threads of the dumps; NULL: not in there. */
const struct stackdump *hang_newest(const struct hang_work *w);
const struct dump_thread *hang_thread_in(const struct stackdump *d, pid_t pid, pid_t tid);
/* True when it was in this kind of wait in each dump. */
bool hang_all_along(const struct hang_work *w, pid_t pid, pid_t tid, enum wait_kind kind);
/* True for the C library, its loader and the kernel's vdso: no place of the program's own. */
bool hang_c_library(const char *module);
/* Writes "loader 812 of rank 3". */
void hang_process_who(const struct dump_process *p, char *dst, size_t cap);
/* Writes what a thread does and where: "a lock at train.py:40 in step", "in take at queue.c:20". */
void hang_place(const struct hang_work *w, const struct dump_process *p, const struct dump_thread *t, char *dst,
		size_t cap);

/* True if its main thread waits for the end of a thread of its own. */
bool hang_joins_thread(const struct stackgroup_rank *r);
/* Adds which thread that is and where it stands, as the graph of waits has it; false: that has no such thread. */
bool hang_thread_of_graph(struct hang_work *w, pid_t pid);
/* Adds where its other threads stand. */
void hang_thread_of_stacks(struct hang_work *w, const struct stackgroup_rank *r);

/* ---- parts, in order ---- */
bool hang_stopped(struct hang_work *w);
bool hang_dead(struct hang_work *w);
bool hang_not_started(struct hang_work *w);
bool hang_lock_proofs(struct hang_work *w); /* fork, OpenMP, threads that wait for each other */
bool hang_graph_proof(struct hang_work *w); /* circles, and waits that nobody is left to end */
bool hang_threads_circle(struct hang_work *w); /* of threads beside a main one that only sleeps */
bool hang_goroutines(struct hang_work *w); /* a main goroutine that nobody is left to wake */
bool hang_graph_benign(struct hang_work *w); /* the others wait for work, a sleep or a time limit */
bool hang_benign(struct hang_work *w);
bool hang_long_sleep(struct hang_work *w); /* all others wait for a sleep that outlasts its excuse */
/* How sure the graph is that the others wait for this rank; false: it does not say so, or there is no graph. */
bool hang_graph_names(const struct hang_work *w, int32_t rank, enum confidence *ret);
bool hang_graph_stands(const struct hang_work *w); /* a rank that does not work waits for an end that does not run */
/* True if somebody in the job may have stopped this end for a while and let it go on. */
bool hang_stopper_lives(const struct hang_work *w, const struct waitgraph_sink *s);
/* True if the threads beside the end, a main thread, are services that each rank has: none of them works for it. */
bool hang_only_services_beside(const struct hang_work *w, const struct waitgraph_sink *s);
/* True if another thread of its process runs, or sleeps. */
bool hang_worker_beside(const struct hang_work *w, const struct waitgraph_sink *s);
const struct waitgraph_sink *hang_message_circle(const struct hang_work *w); /* of sends and receives; NULL: none */
/* True if it is one of several ranks that have not come to a call: where the ranks stand names them all. */
bool hang_several_missing(const struct hang_work *w, const struct waitgraph_sink *s);
bool hang_graph_explains(struct hang_work *w); /* a stopped helper, a silent server */
/* Who of a circle lets lie what it was sent, and waits for more (EPOLLET); NULL: nobody, several, or no rank's. */
const struct waitgraph_node *hang_unread_by(const struct hang_work *w, const struct waitgraph_sink *s);
void hang_unread_says(struct hang_work *w, const struct waitgraph_node *n); /* and accuses it alone */
void hang_visitor_of_none(struct hang_work *w, const struct waitgraph_sink *s); /* no rank is left to come */
bool hang_lock_kept(struct hang_work *w); /* of a file, over a call for which the others are needed */
bool hang_python_fork_locks(struct hang_work *w); /* locks without owners that were held over a fork */
bool hang_python_locks(struct hang_work *w); /* two threads that want different ones */
/* The interpreter's lock, of a thread that waits for something else; others try for it with a limit, which is none. */
bool hang_gil_blocked(struct hang_work *w);
bool hang_gil(struct hang_work *w);
bool hang_disk(struct hang_work *w);
bool hang_busy(struct hang_work *w); /* works, but makes no step */
bool hang_silent_log(struct hang_work *w); /* works, but prints nothing any more */
bool hang_shared_error(struct hang_work *w); /* of the one rank that is at its end, in an output without names */
bool hang_awaits_kernel(const struct hang_work *w, const struct stackgroup_rank *r); /* one that does not end */
void hang_kernel_is(struct hang_work *w, const struct stackgroup_rank *r);
bool hang_one_stands(struct hang_work *w); /* a rank that others wait for, or a job without ranks */
bool hang_all_wait(struct hang_work *w);
bool hang_by_counters(struct hang_work *w); /* without stacks */
void hang_unknown(struct hang_work *w);
/* What logs and the collective library add to a verdict, or are in place of one. */
bool hang_collective_says(struct hang_work *w);
bool hang_collective_alone(struct hang_work *w); /* the same where stacks have said nothing */
void hang_collective_joins(struct hang_work *w);
void hang_book_joins(struct hang_work *w);
bool hang_is_refused(const struct hang_work *w, int32_t rank); /* it tries to connect in vain, again and again */
bool hang_says_refused(struct hang_work *w, int32_t rank); /* adds to which address; false: it does not */
void hang_refused_evidence(struct hang_work *w);
void hang_groups(struct hang_work *w);
void hang_common_evidence(struct hang_work *w);
void hang_pace_judge(struct hang_work *w);
