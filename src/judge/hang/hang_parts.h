/*
 * Shared by the rules of the hang judge. Each looks at one kind of proof or explanation; true when it has decided, else
 * the verdict is as it was (but for evidence). What they ask is in judge/standstill. Only hang*.c include this.
 */
#pragma once

#include "judge/hang/hang.h"
#include "judge/pace/hang_pace.h"
#include "judge/standstill/hang_ask.h"

/* ---- what may stand, and loops of naps ---- */

/* True for a short sleep that was made again and again for longer than is benign: a loop that waits for something. */
bool hang_polls(const struct hang_work *w, const struct stackgroup_rank *r);
/* The same, sooner than by its time, as nothing of the job goes on but naps and clocks of its own. */
bool hang_polls_by_ticks(const struct hang_work *w, const struct stackgroup_rank *r);
bool hang_polls_by_file(const struct hang_work *w, const struct stackgroup_rank *r); /* as hang_awaits_file_of_run */
const struct waithint *hang_retries(const struct hang_work *w, const struct stackgroup_rank *r); /* NULL: nothing */
bool hang_is_stale(const struct hang_work *w, const struct waithint *retry); /* its file was there before the job */
bool hang_stopped(struct hang_work *w), hang_asks_itself(struct hang_work *w);
bool hang_benign(struct hang_work *w);
/* True of a rank that is refused where it connects, or looks for one of several files that is not there. */
bool hang_tries_in_vain(const struct hang_work *w, const struct stackgroup_rank *r);
/* So long, and so many usual steps, may one nap that looks at what nobody changes, or a job only tick. */
uint64_t hang_looks_most_ns(const struct hang_work *w), hang_ticks_most_ns(const struct hang_work *w);
bool hang_outsleeps(const struct hang_work *w, const struct stackgroup_rank *r); /* others wait for it, too long */
/* The same of a process beside the ranks that some wait for, likely at least. */
bool hang_end_outsleeps(const struct hang_work *w, const struct waitgraph_sink *s, uint64_t excuse_ns);
bool hang_long_sleep(struct hang_work *w), hang_never_comes(struct hang_work *w); /* others wait for a long sleep */

/* ---- proofs ---- */

bool hang_dead(struct hang_work *w);
bool hang_not_started(struct hang_work *w);
/* The interpreter's lock, of a thread that waits for something else; others try for it with a limit, which is none. */
bool hang_gil_blocked(struct hang_work *w);
bool hang_gil(struct hang_work *w);
bool hang_disk(struct hang_work *w);
bool hang_lock_proofs(struct hang_work *w); /* fork, OpenMP, threads that wait for each other */
bool hang_lock_kept(struct hang_work *w); /* of a file, over a call for which the others are needed */
bool hang_python_fork_locks(struct hang_work *w); /* locks without owners that were held over a fork */
bool hang_python_locks(struct hang_work *w); /* two threads that want different ones */
/* Since when the job stands by the rule io-gpu; keeps its windows in the history. */
uint64_t hang_io_gpu(struct hang_history *m, const struct hang_settings *s, const struct liveness_set *p, char *text,
		     size_t cap);
void hang_io_gpu_judge(struct hang_work *w);
void hang_kernel_is(struct hang_work *w, const struct stackgroup_rank *r);
bool hang_goroutines(struct hang_work *w); /* a main goroutine that nobody is left to wake */
bool hang_ray_circle(struct hang_work *w); /* actors of Ray that wait for calls of each other */
bool hang_ray_async(struct hang_work *w); /* a call of an asynchronous actor that only another call could end */
bool hang_ray_ranks(struct hang_work *w); /* ranks that Ray Train started, by the threads that run the program */
bool hang_ray_places(struct hang_work *w); /* tasks, actors or groups of Ray for which no place comes free */

/* ---- the graph of waits ---- */

/* The end that most ranks wait for; NULL: none, or no rank has anything to do with it. */
const struct waitgraph_sink *hang_graph_end(const struct hang_work *w);
/* True while its process serves: another thread of it may still be woken by somebody else than the clock. */
bool hang_serves_beside(const struct hang_work *w, const struct waitgraph_sink *s);
/* The verdict `id` by this end: who is accused, the way to it, and the advice (hang_graph_says.c). */
void hang_graph_is(struct hang_work *w, const struct waitgraph_sink *s, const char *id, enum confidence c);
/* It waits in shared memory for what was made for threads of one process, so that another one wakes it in vain. */
bool hang_is_apart(const struct waitgraph_node *n);
bool hang_graph_proof(struct hang_work *w); /* circles, and waits that nobody is left to end */
/* How sure the graph is that the others wait for this rank; false: it does not say so, or there is no graph. */
bool hang_graph_names(const struct hang_work *w, int32_t rank, enum confidence *ret);
bool hang_graph_stands(const struct hang_work *w); /* a rank that does not work waits for an end that does not run */
bool hang_graph_explains(struct hang_work *w); /* a stopped helper, a silent server */
bool hang_lost(struct hang_work *w); /* it waits for a result that is lost, whatever else moves */
bool hang_end_is_main(const struct hang_work *w, const struct waitgraph_sink *s); /* a rank's main thread */
/* True of an end that only the handler of a signal could wake: whether one comes cannot be seen (hang_signal.c). */
bool hang_awaits_signal(const struct hang_work *w, const struct waitgraph_sink *s);
/* True if a main process that waits for this end has a handler for an alarm, or for what programs send each other. */
bool hang_waiter_handles_signals(const struct hang_work *w, const struct waitgraph_sink *s);
/* Lowers the confidence of a verdict on an end that may be woken so, and says by which signal. */
void hang_signal_joins(struct hang_work *w);
/* True if the job has stood for longer than a helper beside the ranks may sleep; else it is looked at again then. */
bool hang_outlasts_helpers(struct hang_work *w);
/* True where the end waits for visitors, and a helper of the job that may be one sleeps, or asks somebody outside. */
bool hang_sleeper_may_come(const struct hang_work *w, const struct waitgraph_sink *s);
/* True if a timer or a sleeping thread, of the end or of who waits for a child that sleeps, may end the waits. */
bool hang_may_be_woken(const struct hang_work *w, const struct waitgraph_sink *s);
/* True if who waits in this end, or for it, waits for the end of a helper, which another process that acts may end. */
bool hang_is_spared(const struct hang_work *w, const struct waitgraph_sink *s);
/* Adds when its wait may end by itself, where that is after a time that costs more than a look by a person. */
void hang_limit_says(struct hang_work *w, const struct waitgraph_sink *s);
bool hang_graph_benign(struct hang_work *w); /* the others wait for work, a sleep or a time limit */
/* True if its main thread waits for the end of a thread of its own. */
bool hang_joins_thread(const struct stackgroup_rank *r);
/* Adds which thread that is and where it stands, as the graph of waits has it; false: that has no such thread. */
bool hang_thread_of_graph(struct hang_work *w, pid_t pid);
void hang_thread_of_stacks(struct hang_work *w, const struct stackgroup_rank *r); /* where its others stand */
void hang_own_code_says(struct hang_work *w, const struct stackgroup_rank *r);
bool hang_threads_circle(struct hang_work *w); /* of threads beside a main one that only sleeps */
/* True if each of several ranks waits for a thread of its own that sleeps, or naps: they are alike. */
bool hang_each_for_its_own(const struct hang_work *w);
/*
 * All others wait for a server of which a thread wants a lock, and none of its threads has anything in hand: whoever
 * took it has gone on without giving it back.
 */
bool hang_lock_lost(struct hang_work *w);
/* Who of a circle lets lie what it was sent, and waits for more (EPOLLET); NULL: nobody, several, or no rank's. */
const struct waitgraph_node *hang_unread_by(const struct hang_work *w, const struct waitgraph_sink *s);
void hang_unread_says(struct hang_work *w, const struct waitgraph_node *n); /* and accuses it alone */
void hang_visitor_of_none(struct hang_work *w, const struct waitgraph_sink *s); /* no rank is left to come */
/*
 * Of three ranks and more in a circle of messages: names the one to which far less has come than to each of the others.
 */
void hang_heard_least(struct hang_work *w, const struct waitgraph_sink *s);
/* Likewise: names the one whose connection another one does not read from any more, and that one. False: none. */
bool hang_not_listened_to(struct hang_work *w, const struct waitgraph_sink *s);
/*
 * In a circle a server waits for the next message of a stream, which the only rank of it is to send: names that one.
 * False: it is no such circle.
 */
bool hang_stream_says(struct hang_work *w, const struct waitgraph_sink *s);
/*
 * The end waits for somebody to come, in a job that has made steps, and who usually ended this wait has ended. Where
 * that is unknown, or it is a server: a process of the job has when it came to a stand, and steps are missing to the
 * number that it prints.
 */
bool hang_visitor_left(const struct hang_work *w, const struct waitgraph_sink *s);
/* Names that one instead of the ranks that wait. ended_its_waits: it is known to have ended this wait as a rule. */
void hang_visitor_left_says(struct hang_work *w, bool ended_its_waits);
/*
 * A script reads the output, to its end, of a process that waits for somebody to come, and who started that one has
 * ended: a service that was left in the background with the script's pipe. Its process id; 0: not so.
 */
pid_t hang_reads_what_was_left(const struct hang_work *w, const struct waitgraph_sink *s);
/* Who waits for the end of this server and for nothing else, though it ignores SIGTERM; 0: nobody. */
pid_t hang_waits_for_the_deaf(const struct hang_work *w, const struct waitgraph_sink *s);
/*
 * Who goes round in a loop of naps, in a job of steps in which nobody else acts, and connects again and again to a
 * server of the job that is at its door: this one, or any (NULL). NULL: nobody is seen to.
 */
const struct hang_asked *hang_asks_in_vain(const struct hang_work *w, const struct waitgraph_node *door);
void hang_asks_in_vain_says(struct hang_work *w, const struct hang_asked *a);
/*
 * Who waits for the lock of a file that the end of a script's job, which is at its door, has inherited with a
 * descriptor; NULL: nobody.
 */
const struct waitgraph_node *hang_locked_out(const struct hang_work *w, const struct waitgraph_sink *s);
void hang_locked_out_says(struct hang_work *w, const struct waitgraph_sink *s, const struct waitgraph_node *n);
/*
 * More ranks wait for calls of one server than it has threads for calls, each of which waits for another call: one call
 * has no thread.
 */
bool hang_calls_fill(struct hang_work *w);
/* Every rank waits for one process beside them, and that one for them. */
bool hang_server_of_all(struct hang_work *w);

/* ---- what has left, and what is tried in vain ---- */

/*
 * A rank whose main process ends and is made anew again and again since the job came to a stand: nobody comes to the
 * others in its place.
 */
bool hang_restarts(struct hang_work *w);
/*
 * The only main process of the job waits, again and again within a limit, for a pipe of which it has the only end to
 * write itself, and a process that failed as the job came to a stand may have been the one that wrote.
 */
bool hang_writer_failed(struct hang_work *w);
/* All of the job waits on memory that its own processes share, or for FIFOs that they open. */
bool hang_closed_job(struct hang_work *w);
bool hang_barrier_short(struct hang_work *w); /* all are at a barrier, for more than there are */
/*
 * The end is a call without a time limit whose answer has no connection to come by, and its process is refused where it
 * tries to connect: the server has gone.
 */
bool hang_call_refused(struct hang_work *w);
/* A child is started anew again and again, and errs each time: what it is started for is never done. */
bool hang_child_fails(struct hang_work *w);
/* The same of one that may ask for something each time; for when nothing else explains the standstill. */
bool hang_child_asks(struct hang_work *w);

/* ---- where ranks stand ---- */

/* True if what the rank's stack shows is a cause of its own: a loader, a checkpoint, its end. */
bool hang_stands_for_a_cause(const struct hang_work *w, int32_t rank);
bool hang_busy(struct hang_work *w); /* works, but makes no step */
bool hang_silent_log(struct hang_work *w); /* works, but prints nothing any more */
bool hang_shared_error(struct hang_work *w); /* of the one rank that is at its end, in an output without names */
bool hang_one_stands(struct hang_work *w); /* a rank that others wait for, or a job without ranks */
/* Accuses each rank that does not wait for others, and may not stand there. */
void hang_accuse_all(struct hang_work *w);
bool hang_all_wait(struct hang_work *w);
/* Ranks without Python that go round in one call, or have no processor to leave it (hang_round.c). */
bool hang_stays_in_call(const struct hang_work *w, const struct stackgroup_rank *r);
bool hang_is_starved(const struct hang_work *w, const struct stackgroup_rank *r);
void hang_goes_round_says(struct hang_work *w); /* late and low, or not at all: so do many short calls look */
bool hang_by_counters(struct hang_work *w); /* without stacks */
void hang_unknown(struct hang_work *w);

/* ---- what logs and the collective library say ---- */

/* What logs and the collective library add to a verdict, or are in place of one. */
bool hang_collective_says(struct hang_work *w);
bool hang_collective_alone(struct hang_work *w); /* the same where stacks have said nothing */
void hang_collective_joins(struct hang_work *w), hang_book_joins(struct hang_work *w);
