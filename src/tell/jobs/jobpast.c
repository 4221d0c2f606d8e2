#include "tell/jobs/jobpast.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/units.h"
#include "base/vec.h"
#include "model/jobs/health.h" /* NO_RANK */

/* The time over which a rate is told. */
static const uint64_t rate_ns = 60 * NS_PER_S;
/*
 * A job stands, and its last step is told with its age, after so many steps' time, within these bounds.
 * The series has steps every 10 s at least.
 */
static const double still_steps = 20;
static const int64_t still_least_ms = 20000, still_most_ms = 60000;

static const struct series_step *step_of(const struct series_steps *s, int32_t rank)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->of[i].rank == rank)
			return &s->of[i];
	return NULL;
}

/* The next record of steps of this attempt. */
static bool steps_next(struct series_reader *r, uint32_t attempt, struct series_record *rec)
{
	while (series_next(r, rec))
		if (rec->kind == SERIES_STEPS && rec->steps.attempt == attempt)
			return true;
	return false;
}

/* The rates from a record to the last one, of ranks that have none yet. */
static void rates_fill(const struct series_steps *from, const struct series_steps *last, struct job_steps *ret)
{
	double s = (double)sub_floor(last->mono_ns, from->mono_ns) / (double)NS_PER_S;
	for (uint32_t i = 0; s >= 0.5 && i < ret->n; i++) {
		const struct series_step *then = step_of(from, ret->of[i].rank);
		if (ret->of[i].has_rate || !then || then->step >= ret->of[i].step)
			continue;
		ret->of[i].per_s = (double)(ret->of[i].step - then->step) / s;
		ret->of[i].has_rate = true;
	}
}

bool job_steps_of(struct span series, uint32_t attempt, struct job_steps *ret)
{
	static struct series_record rec;
	static struct series_steps last;
	struct series_reader r;
	bool reaches = false;
	*ret = (struct job_steps){.attempt = attempt};
	if (series_reader_init(&r, series) < 0)
		return false;
	last.n = 0;
	while (steps_next(&r, attempt, &rec))
		last = rec.steps;
	ret->time_unix_ms = last.n ? last.time_unix_ms : 0;
	for (uint32_t i = 0; i < last.n; i++)
		ret->of[ret->n++] = (struct job_step){.rank = last.of[i].rank,
						      .has_total = last.of[i].has_total && last.of[i].total > 0,
						      .step = last.of[i].step,
						      .total = last.of[i].total};
	if (ret->n == 0 || series_reader_init(&r, series) < 0)
		return false;
	while (steps_next(&r, attempt, &rec) && rec.steps.mono_ns < last.mono_ns)
		if (last.mono_ns - rec.steps.mono_ns <= rate_ns)
			rates_fill(&rec.steps, &last, ret);
		else
			reaches = true;
	return reaches;
}

void job_pace_take(struct steppace *p, const struct series_steps *s)
{
	uint64_t low = UINT64_MAX;
	for (uint32_t i = 0; i < s->n; i++)
		low = MIN(low, s->of[i].step);
	if (s->n > 0)
		steppace_take(p, s->attempt, s->time_unix_ms, low);
}

void job_pace_of(struct span series, uint32_t attempt, struct steppace *ret)
{
	static struct series_record rec;
	struct series_reader r;
	*ret = (struct steppace){.n = 0};
	if (series_reader_init(&r, series) < 0)
		return;
	while (steps_next(&r, attempt, &rec))
		job_pace_take(ret, &rec.steps);
}

const struct job_step *job_steps_find(const struct job_steps *s, int32_t rank)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->of[i].rank == rank)
			return &s->of[i];
	return NULL;
}

const struct job_step *job_steps_low(const struct job_steps *s)
{
	const struct job_step *low = s->n > 0 ? &s->of[0] : NULL;
	for (uint32_t i = 1; i < s->n; i++)
		low = s->of[i].step < low->step ? &s->of[i] : low;
	return low;
}

/* 0: nobody can tell. */
static uint64_t left_s_of(const struct job_step *s)
{
	double left_s = s->has_total && s->total > s->step ? (double)(s->total - s->step) / s->per_s : 0;
	return left_s >= 1 && left_s < 1e8 ? (uint64_t)left_s : 0;
}

/* False: nobody can tell. */
static bool left_text(const struct job_step *s, char dst[static 24])
{
	const uint64_t left_s = left_s_of(s);
	if (left_s > 0)
		(void)duration_format(left_s * NS_PER_S, dst);
	return left_s > 0;
}

static void rate_add(struct buf *b, const struct job_step *s)
{
	char text[24];
	buf_add(b, rate_format(s->per_s, text));
}

static bool is_still(const struct job_steps *s, const struct job_step *step, int64_t now_unix_ms)
{
	int64_t still_ms = still_most_ms;
	if (step->has_rate && step->per_s * (double)still_most_ms > still_steps * 1000)
		still_ms = MAX(still_least_ms, (int64_t)(still_steps * 1000 / step->per_s));
	return now_unix_ms - s->time_unix_ms > still_ms;
}

void job_step_cells(const struct job_steps *s, const struct job_step *step, int64_t now_unix_ms,
		    struct job_step_cells *ret)
{
	*ret = (struct job_step_cells){.step = "-", .rate = "-", .left = "-"};
	if (step && step->has_total)
		TEXT_FORMAT(ret->step, "%llu/%llu", (unsigned long long)step->step, (unsigned long long)step->total);
	else if (step)
		TEXT_FORMAT(ret->step, "%llu", (unsigned long long)step->step);
	if (!step || !step->has_rate || now_unix_ms == 0 || is_still(s, step, now_unix_ms))
		return;
	struct buf b = BUF_ON(ret->rate);
	rate_add(&b, step);
	ignore(left_text(step, ret->left), "then it stays a dash");
	ret->left_ms = left_s_of(step) * (NS_PER_S / NS_PER_MS);
}

void job_steps_text(const struct job_steps *s, int64_t now_unix_ms, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	const struct job_step *low = &s->of[0], *high = &s->of[0];
	for (uint32_t i = 1; i < s->n; i++) {
		low = s->of[i].step < low->step ? &s->of[i] : low;
		high = s->of[i].step > high->step ? &s->of[i] : high;
	}
	if (s->n == 0)
		return;
	if (low->step == high->step)
		buf_printf(&b, "step %llu", (unsigned long long)low->step);
	else
		buf_printf(&b, "steps %llu to %llu", (unsigned long long)low->step, (unsigned long long)high->step);
	if (low->has_total)
		buf_printf(&b, " of %llu", (unsigned long long)low->total);
	char left[24];
	if (is_still(s, low, now_unix_ms)) {
		buf_printf(&b, ", no other for %s",
			   duration_format((uint64_t)(now_unix_ms - s->time_unix_ms) * NS_PER_MS, left));
		return;
	}
	if (now_unix_ms == 0 || !low->has_rate)
		return;
	buf_add(&b, ", ");
	rate_add(&b, low);
	if (left_text(low, left))
		buf_printf(&b, ", %s left", left);
}

/* ---- processes ---- */

struct written {
	struct series_process p;
	size_t order;
};

static int process_order(const void *a, const void *b)
{
	const struct written *x = a, *y = b;
	if (x->p.pid != y->p.pid)
		return x->p.pid < y->p.pid ? -1 : 1;
	if (x->p.start_ticks != y->p.start_ticks)
		return x->p.start_ticks < y->p.start_ticks ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int start_order(const void *a, const void *b)
{
	const struct series_process *x = a, *y = b;
	if (x->started_unix_ms != y->started_unix_ms)
		return x->started_unix_ms < y->started_unix_ms ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static bool same_process(const struct series_process *a, const struct series_process *b)
{
	return a->pid == b->pid && a->start_ticks == b->start_ticks;
}

static int processes_read(struct span series, struct written **list, size_t *n)
{
	static struct series_record rec;
	struct series_reader r;
	size_t cap = 0;
	if (series_reader_init(&r, series) < 0)
		return 0;
	while (series_next(&r, &rec)) {
		if (rec.kind != SERIES_PROCESS)
			continue;
		int e = vec_room(list, &cap, *n + 1);
		if (e < 0)
			return e;
		(*list)[*n] = (struct written){.p = rec.process, .order = *n};
		(*n)++;
	}
	return 0;
}

int job_processes_of(struct span series, struct series_process **ret, size_t *ret_n)
{
	cleanup(freep) struct written *list = NULL;
	size_t n = 0, kept = 0;
	int r = processes_read(series, &list, &n);
	if (r < 0)
		return r;
	struct series_process *all = calloc(n ? n : 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	if (n)
		qsort(list, n, sizeof(*list), process_order);
	for (size_t i = 0; i < n; i++)
		if (i + 1 == n || !same_process(&list[i].p, &list[i + 1].p))
			all[kept++] = list[i].p;
	if (kept)
		qsort(all, kept, sizeof(*all), start_order);
	*ret = all;
	*ret_n = kept;
	return 0;
}

struct js *job_steps_json(const struct job_steps *s)
{
	struct js *all = js_array();
	for (uint32_t i = 0; i < s->n; i++) {
		struct js *one = js_object();
		if (s->of[i].rank != NO_RANK)
			js_put_i64(one, "rank", s->of[i].rank);
		js_put_u64(one, "step", s->of[i].step);
		if (s->of[i].has_total)
			js_put_u64(one, "total", s->of[i].total);
		if (s->of[i].has_rate)
			js_put_double(one, "per_s", s->of[i].per_s);
		js_add(all, one);
	}
	return all;
}
