/* What the files of judge/speed share. */
#pragma once

#include "judge/speed/speed.h"

/* What costs less is not worth a person's time. */
#define SPEED_LEAST_COST 0.10

/* Part of the sweeps in which the thread's letter is one of `letters`. */
double speed_share(const struct speedfacts *f, const struct speed_thread *t, const char *letters);
/* True if a thread of the process runs, or wants to, at this sweep. */
bool speed_runs_at(const struct speedfacts *f, size_t process, size_t sweep);
/* Part of the sweeps in which one of its threads runs or wants to. */
double speed_busy(const struct speedfacts *f, size_t process);
/* Sum of the processor time of its threads, in cores. */
double speed_run_of(const struct speedfacts *f, size_t process);
/* The main thread; NULL if it is not watched. */
const struct speed_thread *speed_lead_thread(const struct speedfacts *f, size_t process);
/* Runnable threads outside the job on the whole machine. */
double speed_others_counted(const struct speedview *v);
/*
 * True if others leave the job less than half of what it may use. Whoever wakes up is then seen waiting for a processor
 * most of the time, so how many threads want one says nothing of how many there should be.
 */
bool speed_starved(const struct speedview *v);
/* Cores that `want` threads get on the processors of the job, beside those of others. */
double speed_fair(const struct speedview *v, double want);
/*
 * Cores that `have` runnable threads of the job get now. Beside others that is what they were seen to get; alone they
 * would get all that there is.
 */
double speed_has(const struct speedview *v, double have);
/* Part of the sweeps in which no thread of the job but `except` runs or wants to, while except is in `letters`. */
double speed_alone(const struct speedfacts *f, const struct speed_thread *except, const char *letters);

/*
 * How many times as fast a job is without a wait of this thread, in which it does nothing for `part` of the time. What
 * it then does one after another it did with waits for a processor as well, longer ones than a thread has that goes on
 * running.
 */
double speed_without_wait(const struct speedview *v, const struct speed_thread *t, double part);

/*
 * Adds a finding with its gain, unless it costs less than v says (NULL: SPEED_LEAST_COST): cost follows from speedup.
 * NULL then. speedup 0: not known, and cost counts as it is given; below 0 it
 * is not known either, and only says where in the order the finding stands.
 */
struct finding *speed_add(const struct speedview *v, struct findings *all, const char *id, const char *confidence,
			  double speedup, double cost, const char *fmt, ...) printf_like(7, 8);

#define SPEED_WHO 160
/* "process 812"; "actor critic (Learner) (process 812)". Returns dst. */
const char *speed_who(const struct speed_process *p, char dst[static SPEED_WHO]);

/* True: there is such a finding already. */
bool speed_found(const struct findings *all, const char *id);

void speed_ask_rules(const struct speedview *v, struct findings *all);
void speed_bandwidth_rules(const struct speedview *v, struct findings *all);
void speed_machine_rules(const struct speedview *v, struct findings *all);
void speed_memory_rules(const struct speedview *v, struct findings *all);
void speed_thread_rules(const struct speedview *v, struct findings *all);
void speed_wait_rules(const struct speedview *v, struct findings *all);
void speed_call_rules(const struct speedview *v, struct findings *all);
void speed_pool_rules(const struct speedview *v, struct findings *all);
/* True: it found something, which then is what a pool of workers has too. */
bool speed_ray_rules(const struct speedview *v, struct findings *all);
void speed_loader_rules(const struct speedview *v, struct findings *all);
void speed_step_rules(const struct speedview *v, struct findings *all);
