/* What a reading command knows of a job from its series file: its steps, and the processes it had. */
#pragma once

#include "base/json.h"
#include "model/jobs/job.h"
#include "sense/world.h"
#include "tell/jobs/jobpast.h"
#include "tell/store/store.h"

/* A series file may pass its bound for a while when writing fails, but stays below twice of it. */
#define PAST_READ_MAX (2 * SERIES_MAX_BYTES + MIB)

/* The series of the job, malloc'ed; NULL: it has none, or, with an errno in *ret_error, it cannot be read. */
char *past_read(const struct job *j, size_t *ret_len, int *ret_error);
/* The job's steps in its last attempt; n 0: none are known. */
void past_steps(const struct job *j, struct job_steps *ret);
/* The steps in words, for a job that runs with its rate; empty: none are known. */
void past_steps_text(const struct job *j, const struct job_steps *s, char *dst, size_t cap);
/* Of the rank that is behind, from the end of the series. */
void past_step_cells(const struct job *j, struct job_step_cells *ret);
/* The step of a process that is its rank's main one, in the attempt of s; NULL: it is none, or nothing is known. */
const struct job_step *past_step_of(const struct job_steps *s, const struct job_process *p);
/* "steps" of vigil.job/1. Nothing if none are known. */
void past_steps_put(struct js *o, const struct job_steps *s);

typedef int past_process_fn(void *ctx, const struct job_process *p);
/*
 * The main processes, launchers and Ray workers of a job, running and ended: those of the store, with the rank and role
 * that they were last known by, then those that only the series has. 0, what fn returned, or a negative errno.
 */
int must_check past_each_process(struct store *s, const struct job *j, past_process_fn *fn, void *ctx);
/* The same for who has read the series already: that of a month takes a third of an answer's time. */
int must_check past_each_process_of(struct store *s, const struct job *j, struct span series, past_process_fn *fn,
				    void *ctx);
/*
 * The same, and all others that the job's vigil has seen: of those that the series alone has, as many as `most`, that
 * lived longest. With the most memory that is known of each. *ret_left_out: how many were not told.
 */
int must_check past_each_seen(struct store *s, const struct job *j, size_t most, past_process_fn *fn, void *ctx,
			      uint64_t *ret_left_out);
/*
 * A process of any role that the job's vigil has seen and that runs now, with the name and the start by which it was
 * seen. False: it is none.
 */
bool past_find_running(const struct world *w, const struct job *j, pid_t pid, struct job_process *ret);
/* The job's steps as past_steps has them, from the end of the file only: enough for what is going on now. */
void past_steps_tail(const struct job *j, struct job_steps *ret);
/* How fast its steps usually go, from the end of the file only. */
void past_pace_tail(const struct job *j, struct steppace *ret);
/* The beginning of the series (what makes it one) and its last bytes, malloc'ed; NULL: there is none. */
char *past_read_tail(const struct job *j, size_t most, size_t *ret_len);
