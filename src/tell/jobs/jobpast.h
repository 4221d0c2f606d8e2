/*
 * What a job's series file (tell/store/series) says of it while it runs and after its end: how far its ranks had come,
 * and which processes it had, with the ranks and roles that they had then. Pure; text is the whole file, borrowed.
 */
#pragma once

#include "base/json.h"
#include "model/jobs/steppace.h"
#include "tell/store/series.h"

struct job_step {
	int32_t rank; /* NO_RANK: the job has no ranks */
	bool has_total, has_rate;
	uint64_t step, total;
	double per_s; /* over the last minute, or since the attempt's first step */
};

struct job_steps {
	struct job_step of[SERIES_LANES];
	uint32_t n;
	int64_t time_unix_ms;
	uint32_t attempt;
	double usual_per_s; /* of the rank that is behind (model/jobs/steppace); 0: unknown, or not asked for */
};

/*
 * The steps of an attempt that were written last; n 0: there are none. True if nothing that stands in the file before
 * this text could change them: it has steps, and a record from before the time over which rates are told.
 */
bool job_steps_of(struct span series, uint32_t attempt, struct job_steps *ret);
/* The rank that is behind, of a record. */
void job_pace_take(struct steppace *p, const struct series_steps *s);
/* How fast the steps of an attempt usually go, as far as the text tells. */
void job_pace_of(struct span series, uint32_t attempt, struct steppace *ret);
/*
 * "step 812 of 5000, 1.9/s, 36 m left"; "steps 790 to 812 of 5000, 1.9/s" where ranks differ; "step 812, no other for 3
 * m 20 s". Empty if there are none. now_unix_ms 0: the job has ended, only the step is told.
 */
void job_steps_text(const struct job_steps *s, int64_t now_unix_ms, char *dst, size_t cap);
/* What a table has of a rank: "812/5000", "1.9/s", "36 m 02 s"; "-" for what is not known. */
struct job_step_cells {
	char step[48], rate[24], left[24];
	uint64_t left_ms; /* 0: unknown */
};
/* The rank that is behind; NULL: no steps are known. */
const struct job_step *job_steps_low(const struct job_steps *s);
/* step: one of s, or NULL. Rate and time left are of a job that runs (now_unix_ms not 0) and does not stand. */
void job_step_cells(const struct job_steps *s, const struct job_step *step, int64_t now_unix_ms,
		    struct job_step_cells *ret);
/* [{"rank", "step", "total", "per_s"}, ...]; what is not known is absent. Owned by the caller. */
struct js *job_steps_json(const struct job_steps *s);
/* The step of one rank, NULL: it is not known. */
const struct job_step *job_steps_find(const struct job_steps *s, int32_t rank);

/*
 * The latest record of each process, in the order of their starts. *ret is malloc'ed, *ret_n its length. 0 or
 * -ENOMEM.
 */
int must_check job_processes_of(struct span series, struct series_process **ret, size_t *ret_n);
