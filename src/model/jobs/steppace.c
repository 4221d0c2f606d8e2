#include "model/jobs/steppace.h"

#include <stdlib.h>

static const int64_t gap_least_ms = 10000;
/* The start counts where it was so much faster than the median. */
static const double start_ratio = 2;

static double rate_between(const struct steppace_mark *from, const struct steppace_mark *to)
{
	return (double)(to->made - from->made) * 1000 / (double)(to->unix_ms - from->unix_ms);
}

static void marks_thin(struct steppace *p)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->n; i += 2)
		p->of[n++] = p->of[i];
	p->n = n;
	p->gap_ms *= 2;
}

void steppace_take(struct steppace *p, uint32_t attempt, int64_t unix_ms, uint64_t step)
{
	if (p->last_ms == 0 || attempt != p->attempt)
		*p = (struct steppace){.attempt = attempt, .gap_ms = gap_least_ms, .step = step};
	if (unix_ms <= p->last_ms)
		return;
	p->last_ms = unix_ms;
	const uint64_t before = p->made;
	p->made += step >= p->step ? step - p->step : step;
	p->step = step;
	if (p->n > 0 && (p->made == before || unix_ms - p->of[p->n - 1].unix_ms < p->gap_ms))
		return;
	if (p->n == STEPPACE_MARKS)
		marks_thin(p);
	p->of[p->n++] = (struct steppace_mark){unix_ms, p->made};
	if (p->n == 1 && p->gap_ms == gap_least_ms)
		p->first_ms = unix_ms;
	else if (p->n == 2 && p->gap_ms == gap_least_ms && p->of[1].made - p->of[0].made >= STEPPACE_LEAST_STEPS)
		p->start_per_s = rate_between(&p->of[0], &p->of[1]);
}

static int rate_order(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

double steppace_usual(const struct steppace *p)
{
	double rate[STEPPACE_MARKS];
	uint32_t n = 0;
	while (n + 1 < p->n && p->of[n + 1].unix_ms <= p->last_ms - STEPPACE_NOW_MS) {
		rate[n] = rate_between(&p->of[n], &p->of[n + 1]);
		n++;
	}
	if (n == 0 || p->of[n].unix_ms - p->of[0].unix_ms < STEPPACE_LEAST_MS ||
	    p->of[n].made - p->of[0].made < STEPPACE_LEAST_STEPS)
		return 0;
	qsort(rate, n, sizeof(rate[0]), rate_order);
	const double median = n % 2 ? rate[n / 2] : (rate[n / 2 - 1] + rate[n / 2]) / 2;
	const bool started = p->last_ms - p->first_ms < STEPPACE_START_MS;
	return started && p->start_per_s >= start_ratio * median ? p->start_per_s : median;
}
