/* The inside of agent/run/supervise, shared by its files only: what each of them does for the others. */
#pragma once

#include "agent/run/super_state.h"

/* ---- super_ranks.c: signalling and ending the ranks ---- */
/* Poll fd under this key; -1 is passed over. */
void super_poll_add(struct super *s, int fd, uint64_t key);
void super_attempt_signal(struct super *s, int signal);
/*
 * Ask every rank that still runs, or what they left behind, to end; phase ENDING. ended_for: of model/jobs/job.h; why:
 * in words.
 */
void super_end_others(struct super *s, const char *ended_for, const char *why);
/* Descendants that are left when all ranks have ended. Returns their number, which may exceed cap. */
size_t super_leftovers(struct super *s, pid_t *pids, size_t cap);
bool super_any_running(const struct super *s);

/* ---- super_attempt.c: starting the ranks of one attempt, and their end ---- */
int super_attempt_start(struct super *s, int *ret_status);
/* Say that it cannot be done, with the limit that it may have been and its value here. error: -errno. */
void super_cannot(const char *what, int error);
/* Put a rank's process into the store, once that is open. */
void super_rank_record(struct super *s, struct rank *r);
/* Read the process's name again before it is reaped: a shell that became a Python (a shim) has ended as a Python. */
void super_rank_last_facts(struct super *s, struct rank *r);
void super_rank_ended(struct super *s, struct rank *r, int wait_status);

/* ---- super_guard.c: the guard as the supervisor sees it ---- */
/* The guard's row of the job, as it is before the first attempt. */
void super_guard_job(struct super *s);
/* The pids of vigil's own processes have changed: pass them on to the guard. */
void super_not_ours(struct super *s);
struct killreport super_killreport(struct super *s);
/* services_ops.killed: the report waits for the attempt's end. */
void super_killed(struct super *s, struct guard_case *c);
/* Write the report of a kill. retry NULL: not decided, the job lives on or ends for another reason. */
void super_finish_case(struct super *s, struct guard_case *c, const struct retry_decision *retry);

/* ---- super_output.c: our own stdout and stderr, and their readers ---- */
int must_check super_output_open(struct super *s);
/* An attempt begins: the channels of the last one are forgotten. */
void super_output_forget(struct super *s);
/* A rank has been started: pass its output on and keep it. */
void super_output_begin(struct super *s, struct rank *r);
/* A rank has ended: read what it wrote before, and where it failed have it in the kept copy. */
void super_output_drain(struct super *s, struct rank *r, bool failed);
/* The attempt has ended: all that is on its way is passed on and kept. again: another attempt may follow. */
void super_output_finish(struct super *s, bool again);
/* Say what happened to the kept copy. */
void super_output_news(struct super *s);
/* The last line that a rank has written, "" if none, by preference to stderr. True: it was to stderr. */
bool super_last_line(const struct rank *r, char dst[static TEE_LAST_LINE]);
/* The job is over: wait until everything is read, or a request to end comes. */
void super_output_end(struct super *s);

/* ---- super_sample.c: what the ranks use, for the timeline ---- */
void super_sample_begin(struct super *s);
void super_sample(struct super *s);
/* A rank has ended and is not reaped yet: read its last numbers. */
void super_sample_last(struct super *s);
/* The attempt's ranks have ended, and their output is kept: how far they came. */
void super_sample_attempt_end(struct super *s);
void super_sample_end(struct super *s);
/* The most memory that the job was seen with: by its group, or the sum of what its processes had of their own. */
uint64_t super_peak_bytes(const struct super *s);

/* ---- super_steps.c: how far the ranks had come ---- */
/* What the watcher has seen last, and what the ends of the kept output say beyond. The ranks have ended. */
void super_steps_last(const struct super *s, struct hang_steps *ret);

/* ---- super_hang.c: what follows from messages of the hang watcher ---- */
/* Pass the ranks on to the watcher as they are now. */
void super_hang_jobs(struct super *s);
/* A process of the job has ended: counts it if it is a child that failed (model/jobs/respawns). */
void super_hang_end(void *super, const struct process_end *e, struct span command);
struct hangreport super_hangreport(struct super *s);
/* services_ops.hang_incident: report it, and end the job if that was asked for. */
void super_hang_incident(struct super *s, const struct hang_message *m);
/* A rank has failed and the others are about to be ended: if it had waited for too long, take the others' stacks. */
void super_hang_last_look(struct super *s, const struct rank *failed);
/* Complete the report of an end during a suspicion by what the first look saw. */
void super_hang_ended(struct super *s, struct incident *in, struct attachments *parts);
void super_hang_forget(struct super *s);
/* Add to the report of a job that was ended as hung what becomes of it. */
void super_hang_retry(struct super *s, const struct retry_decision *d);

/* ---- super_live.c: those who read the live socket ---- */
void super_live_begin(struct super *s);
/* Tells readers what is new, where there are any and it is time. */
void super_live_turn(struct super *s);
/* When super_live_turn wants to be called; UINT64_MAX: not by time. */
uint64_t super_live_due_ns(const struct super *s);
/* Tells them how the job ended, and removes the socket. */
void super_live_end(struct super *s);

/* ---- super_signal.c: signals and children ---- */
int must_check super_signals_take(struct super *s);
void super_signals_read(struct super *s);
void super_children_reap(struct super *s);

/* ---- super_loop.c ---- */
/* Run until phase OVER. */
void super_loop(struct super *s);

/* ---- super_end.c: what an attempt's end means ---- */
void super_attempt_ended(struct super *s);
/* over: "the last time period" or "the whole run". */
void super_summary(struct super *s, const char *over);
