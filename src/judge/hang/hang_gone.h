/*
 * What the hang judge's parts say of processes of the job that have left: that one ended is seen, that it was its part
 * which is missing is concluded. And of processes beside the ranks, of visitors, and of
 * ranks that are alike. Only hang*.c include this.
 */
#pragma once

#include "judge/hang/hang_parts.h"

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
/*
 * A rank whose main process ends and is made anew again and again since the job came to a stand: nobody comes to the
 * others in its place.
 */
bool hang_restarts(struct hang_work *w);
/* Adds that it did, and that this may be the cause; false: none did. */
bool hang_says_who_left_then(struct hang_work *w);
/* True of a rank that ended then; whether any did; and in words. */
bool hang_is_left_then(const struct hang_work *w, const struct liveness *l);
bool hang_rank_left_then(const struct hang_work *w);
void hang_says_ranks_left_then(struct hang_work *w);
/*
 * The end is a call without a time limit whose answer has no connection to come by, and its process is refused where it
 * tries to connect: the server has gone.
 */
bool hang_call_refused(struct hang_work *w);
/*
 * Of three ranks and more in a circle of messages: names the one to which far less has come than to each of the others.
 */
void hang_heard_least(struct hang_work *w, const struct waitgraph_sink *s);
/* Likewise: names the one whose connection another one does not read from any more, and that one. False: none. */
bool hang_not_listened_to(struct hang_work *w, const struct waitgraph_sink *s);
/* Since when a child fails and is started anew, again and again; 0: none, or not for long. text: in words. */
uint64_t hang_made_anew(const struct hang_settings *s, const struct liveness_set *p, char *text, size_t cap);
/* True if that is all that says that the job stands. Other signs move, so it only asks for a look. */
bool hang_only_made_anew(const struct hang_settings *s, const struct liveness_set *p);
/* Such a child whose errors, or faults, say that it fails: what it is started for is never done. */
bool hang_child_fails(struct hang_work *w);
/* The same of one that may ask for something each time; for when nothing else explains the standstill. */
bool hang_child_asks(struct hang_work *w);
/* True of a rank that is refused where it connects, or looks for one of several files that is not there. */
bool hang_tries_in_vain(const struct hang_work *w, const struct stackgroup_rank *r);
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
bool hang_nobody_acts_but(const struct hang_work *w, const struct waitgraph_node *but); /* this one may; NULL: none */
/*
 * True if the ranks of a job of steps, of which some are missing, all wait for each other in one circle, be its arrows
 * sure or not, and nobody acts.
 */
bool hang_all_wait_in_circle(const struct hang_work *w);
/* Of such a circle: which rank alone is in another call. */
void hang_elsewhere_says(struct hang_work *w);
/* True if it looks for a file that is for the job itself to make, and all others wait or look for such ones as well. */
bool hang_awaits_own_file(const struct hang_work *w, const struct stackgroup_rank *r);
/* True if it looks for a missing file in a job of steps in which nobody acts, and a child of it failed then. */
bool hang_awaits_file_of_failed(const struct hang_work *w, const struct stackgroup_rank *r);
/*
 * True if the variables of the function that the rank is in had the same values at each look. Of a program without
 * Python this is known only while it runs, by its registers and its frame.
 */
bool hang_same_variables(const struct hang_work *w, const struct stackgroup_rank *r);
/* True of a rank that naps so: it looks at memory alone. */
bool hang_looks_at_memory(const struct hang_work *w, const struct stackgroup_rank *r);
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
 * that naps, and none is known to run Python: none changes what another one looks at. 0: not so, or it is one alone.
 */
size_t hang_all_look(const struct hang_work *w);
/* Adds who they are, and that each waits for another one of them. */
void hang_all_look_says(struct hang_work *w);
/* So long, and so many usual steps, may one nap that looks at memory alone which nobody changes. */
uint64_t hang_looks_most_ns(const struct hang_work *w);
/*
 * True of a rank that is refused where it connects while another one waits for visitors, at another address, and nobody
 * else of a job of steps acts: nobody in it will listen where this one tries.
 */
bool hang_dials_elsewhere(const struct hang_work *w, const struct stackgroup_rank *r);
/*
 * True of an end that waits for another thread of its own, in a job that has made steps, if nobody of the job acts: no
 * thread makes what it waits for. Of a FIFO that it has open for both ways only if somebody left as the job came to a
 * stand, as who opens it next may be anybody.
 */
bool hang_none_could_bring(const struct hang_work *w, const struct waitgraph_sink *s);
/* The same function of the same file, at whatever line. */
bool hang_same_code(const struct dump_frame *a, const struct dump_frame *b);
/*
 * Of a circle of three ranks or more that are named one alone may not be in the call in which the others are: then it
 * is named in their place.
 */
void hang_one_elsewhere(struct hang_work *w, const struct waitgraph_sink *s);
/*
 * True if two processes of the job or more nap between looks, nothing of it runs, sleeps for longer or waits for
 * somebody outside: none of them does what another one may look for.
 */
bool hang_all_nap(const struct hang_work *w);
/* Where all ranks nap, three and more: the one that is not in the call that all others are in. NULL: there is none. */
const struct stackgroup_rank *hang_naps_elsewhere(const struct hang_work *w, const struct dump_frame **ret_call);
/* Accuses it. */
void hang_naps_elsewhere_is(struct hang_work *w, const struct stackgroup_rank *odd, const struct dump_frame *call);
/* Adds that, and what others than this one look for. */
void hang_says_who_naps(struct hang_work *w, const struct stackgroup_rank *r);
/*
 * The end waits for somebody to come, in a job that has made steps, and who usually ended this wait has ended. Where
 * that is unknown, or it is a server: a process of the job has when it came to a stand, and steps are missing to the
 * number that it prints.
 */
bool hang_visitor_left(const struct hang_work *w, const struct waitgraph_sink *s);
/* Of the ranks that print how many steps there will be, of which there is one, all have made them, or none has. */
bool hang_steps_are(const struct hang_work *w, bool made);
/* Names that one instead of the ranks that wait. */
void hang_visitor_left_says(struct hang_work *w);
/*
 * A script reads the output, to its end, of a process that waits for somebody to come, and who started that one has
 * ended: a service that was left in the background with the script's pipe. Its process id; 0: not so.
 */
pid_t hang_reads_what_was_left(const struct hang_work *w, const struct waitgraph_sink *s);
/* Who waits for the end of this server and for nothing else, though it ignores SIGTERM; 0: nobody. */
pid_t hang_waits_for_the_deaf(const struct hang_work *w, const struct waitgraph_sink *s);
/*
 * Who waits for the lock of a file that the end of a script's job, which is at its door, has inherited with a
 * descriptor; NULL: nobody.
 */
const struct waitgraph_node *hang_locked_out(const struct hang_work *w, const struct waitgraph_sink *s);
void hang_locked_out_says(struct hang_work *w, const struct waitgraph_sink *s, const struct waitgraph_node *n);
/* True if each of several ranks waits for a thread of its own that sleeps, or naps: they are alike. */
bool hang_each_for_its_own(const struct hang_work *w);
/*
 * The only main process of the job waits, again and again within a limit, for a pipe of which it has the only end to
 * write itself, and a process that failed as the job came to a stand may have been the one that wrote.
 */
bool hang_writer_failed(struct hang_work *w);
/* It waits for a result that is lost, whatever else moves. */
bool hang_lost(struct hang_work *w);
/* Every rank waits for one process beside them, and that one for them. */
bool hang_server_of_all(struct hang_work *w);
/*
 * All others wait for a server of which a thread wants a lock, and none of its threads has anything in hand: whoever
 * took it has gone on without giving it back.
 */
bool hang_lock_lost(struct hang_work *w);
bool hang_ray_circle(struct hang_work *w); /* actors of Ray that wait for calls of each other */
bool hang_ray_places(struct hang_work *w); /* tasks, actors or groups of Ray for which no place comes free */
/*
 * Since when nothing but Ray's own programs does anything, where neither steps, counters nor the log say that the job
 * stands; 0: not so, or there is no Ray. Tasks may be asleep, so it only asks whether something waits for a place.
 */
uint64_t hang_ray_still(const struct hang_settings *s, const struct liveness_set *p);
/* All of the job waits on memory that its own processes share, or for FIFOs that they open. */
bool hang_closed_job(struct hang_work *w);
/* Accuses each rank that does not wait for others, and may not stand there. */
void hang_accuse_all(struct hang_work *w);
