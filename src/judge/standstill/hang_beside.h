/*
 * Questions about processes beside the ranks, about who may still act, and about who has left: that one ended is seen,
 * that it was its part which is missing is concluded.
 */
#pragma once

#include "judge/standstill/hang_work.h"

/* ---- who may act (hang_beside.c) ---- */

/* True if somebody in the job may have stopped this end for a while and let it go on. */
bool hang_stopper_lives(const struct hang_work *w, const struct waitgraph_sink *s);
/* True if it is stopped, and a helper makes a long sleep: a shell that lets it go on after that, most likely. */
bool hang_stopper_sleeps(const struct hang_work *w, const struct waitgraph_sink *s);
/*
 * A helper in one long sleep that ends before the job has stood for most_ns: it may let this stopped process go on
 * then. NULL: none.
 */
const struct waitgraph_node *hang_pauser(const struct hang_work *w, pid_t stopped, uint64_t most_ns);
/* Of an end that waits for a datagram within a limit: a helper that may owe it, as it reads such, or runs; or NULL. */
const struct waitgraph_node *hang_may_answer(const struct hang_work *w, const struct waitgraph_sink *s);
/* True if the threads beside the end, a main thread, are services that each rank has: none of them works for it. */
bool hang_only_services_beside(const struct hang_work *w, const struct waitgraph_sink *s);
/* True if another thread of its process runs, or sleeps. */
bool hang_worker_beside(const struct hang_work *w, const struct waitgraph_sink *s);
/*
 * True of a job without steps and ranks in which a process waits for a child that sleeps, as a shell does: that is no
 * more known to be a hang than if the process slept itself. Or for a change of a file that nobody of the job has open
 * to write: whoever follows a log waits for lines that may come from anywhere.
 */
bool hang_by_design(const struct hang_work *w, const struct waitgraph_sink *s);
/*
 * True if no thread of the job may act by itself: each waits for another one, for a request, or for nobody that is
 * left. Launchers look at their children all the time and do not count. Who sleeps, naps, waits within a limit or
 * stands where it is not known for what may act; not so a main thread that naps and makes no system call in between,
 * nor a heartbeat that each rank has, of which nobody waits for anything.
 */
bool hang_nobody_acts(const struct hang_work *w);
/* True if it may act by itself: not so who waits for another one, as said above. */
bool hang_may_act(const struct hang_work *w, const struct waitgraph_node *n);
bool hang_nobody_acts_but(const struct hang_work *w, const struct waitgraph_node *but); /* this one may; NULL: none */
/*
 * (hang_ticks.c) True of a thread that only wakes up by its own clock, again and again, and does next to nothing, while
 * no thread of the job takes in anything of others. It may still count how often, up to an end of its own.
 */
bool hang_ticks(const struct hang_work *w, const struct waitgraph_node *n);
/*
 * (hang_ticks.c) True of a thread that waits for work of the JVM itself, as its collectors and compilers do: it runs no
 * code of the program, and ends no wait of it.
 */
bool hang_keeps_house(const struct hang_work *w, const struct waitgraph_node *n);
/* Keeps which threads wake up soon, so that the next look sees whether they wait for the same time. */
void hang_armed_keep(struct hang_work *w);
/* True of a job of steps if nobody acts, but by that. */
bool hang_only_ticks(const struct hang_work *w);
/*
 * True if the ranks of a job of steps, of which some are missing, all wait for each other in one circle, be its arrows
 * sure or not, and nobody acts.
 */
bool hang_all_wait_in_circle(const struct hang_work *w);
/* True if it looks for a file that is for the job itself to make, and all others wait or look for such ones as well. */
bool hang_awaits_own_file(const struct hang_work *w, const struct stackgroup_rank *r);
/*
 * The same, if the file is of a kind that other processes of the job have made so far, and nobody else, or one to which
 * a link points that was made since the job began. Of any process of the job, by its main thread.
 */
bool hang_end_awaits_own_file(const struct hang_work *w, const struct waitgraph_node *n);
/*
 * True of a child that makes one short sleep for a loop, as of a shell, that goes on so since before the job of steps
 * came to a stand, if somebody waits for the end of the loop and nobody else acts: a monitor, most likely, that no step
 * has needed.
 */
bool hang_loops_on(const struct hang_work *w, const struct waitgraph_node *n);
/*
 * The same of a file in a folder that was made for this run, or in which the job alone has made files: that the job has
 * to make it is no more than likely. Of a rank, one of several or beside another process that naps, and of any end.
 */
bool hang_awaits_file_of_run(const struct hang_work *w, const struct stackgroup_rank *r);
bool hang_end_awaits_file_of_run(const struct hang_work *w, const struct waitgraph_node *n);
/*
 * True of the only main process of a job of steps that looks for a file, be it the first of its kind, in a folder in
 * which the job alone has made files so far, if whoever else may act looks for a change of a file that the job makes:
 * each waits for another one of them. Somebody outside may still make it.
 */
bool hang_looks_in_circle(const struct hang_work *w, const struct stackgroup_rank *r);
/*
 * True if it waits for a file to go that a process of the job has made, which ended badly before it could remove it, if
 * nobody has removed such a file so far but who had made it, and nobody else acts.
 */
bool hang_awaits_orphan(const struct hang_work *w, const struct stackgroup_rank *r);
bool hang_knows_maker(const struct hang_work *w, const struct stackgroup_rank *r);
/* Likewise of ranks, of which no step is known either, if each of them looks for such a file. */
bool hang_ranks_make_none(const struct hang_work *w, const struct stackgroup_rank *r);
/* True if it looks for a missing file in a job of steps in which nobody acts, and a child of it failed then. */
bool hang_awaits_file_of_failed(const struct hang_work *w, const struct stackgroup_rank *r);
/*
 * True if the variables of the function that the rank is in had the same values at each look. Of a program without
 * Python this is known only while it runs, by its registers and its frame.
 */
bool hang_same_variables(const struct hang_work *w, const struct stackgroup_rank *r);
/* True of a rank that naps and makes no other system call in between: it looks at memory alone. */
bool hang_looks_at_memory(const struct hang_work *w, const struct stackgroup_rank *r);
/* True if a process that descends from this one sleeps, other than in naps: it may bring what that one waits for. */
bool hang_sleeper_below(const struct hang_work *w, pid_t pid);
/* Asks for the next look soon, where this one has met a main thread awake that makes no other call than naps. */
void hang_look_again(struct hang_work *w);
/*
 * The same in a job of steps in which nobody acts, if other ranks wait, and all who could write that memory wait for
 * this one, or if all ranks look so and one of them is elsewhere: nobody changes what it looks at. A loop in Python
 * whose variables change may count its naps, up to an end of its own.
 */
bool hang_looks_in_vain(const struct hang_work *w, const struct stackgroup_rank *r);
/*
 * How many main threads nap so in a job of steps in which nobody acts, if each of them shares memory with another one
 * that naps: none changes what another one looks at. In Python this holds after two minutes, and where no variables
 * change. 0: not so, or it is one alone.
 */
size_t hang_all_look(const struct hang_work *w);
/* Adds who they are, and that each waits for another one of them. */
void hang_all_look_says(struct hang_work *w);
/* The same of the only main process of a job of steps, in a program without Python: nothing beside it acts either. */
bool hang_looks_alone(const struct hang_work *w, const struct stackgroup_rank *r);
/*
 * True of an end that waits for another thread of its own, in a job that has made steps, if nobody of the job acts: no
 * thread makes what it waits for. Of a FIFO that it has open for both ways only if somebody left as the job came to a
 * stand, as who opens it next may be anybody.
 */
bool hang_none_could_bring(const struct hang_work *w, const struct waitgraph_sink *s);

/* ---- who has left (hang_gone.c) ---- */

/* Adds which children left, of an end whose processes wait for them by what they have from their parent. */
void hang_says_who_left(struct hang_work *w, const struct waitgraph_sink *s);
/* True of a moment (0: none) at which the job came to a stand, or so. */
bool hang_then(const struct hang_work *w, uint64_t at_ns);
/* The rank, or launcher, of which a process ended then, where few do; NULL: none. */
const struct liveness *hang_left_then(const struct hang_work *w);
/* The same, if it did not end well. */
bool hang_failed_then(const struct hang_work *w);
/*
 * True of a helper that naps, in a job of steps, if another child of its parent, which has not asked for that one's
 * end, crashed or was killed then: it may look for what that one has taken along.
 */
bool hang_sibling_crashed(const struct hang_work *w, const struct waitgraph_node *n);
/* Adds which process ended then, and that this may be the cause; false: none did. */
bool hang_says_who_left_then(struct hang_work *w);
/* True of a rank that ended then; whether any did; and in words. */
bool hang_is_left_then(const struct hang_work *w, const struct liveness *l);
bool hang_rank_left_then(const struct hang_work *w);
void hang_says_ranks_left_then(struct hang_work *w);
