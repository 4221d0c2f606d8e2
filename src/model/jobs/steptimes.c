#include "model/jobs/steptimes.h"

const double step_bounds_s[STEP_BUCKETS] = {0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 600, 1800};

void step_histogram_add(struct step_histogram *h, uint64_t took_ns, uint64_t n)
{
	double seconds = (double)took_ns / (double)n / (double)NS_PER_S;
	size_t i = 0;
	while (i < STEP_BUCKETS && seconds > step_bounds_s[i])
		i++;
	h->bucket[i] += n;
	h->count += n;
	h->sum_ns = add_cap(h->sum_ns, took_ns);
}

bool step_times_begin(struct step_times *t, uint32_t attempt, uint64_t mono_ns)
{
	if (mono_ns <= t->until_ns)
		return false;
	if (attempt != t->attempt)
		t->n = 0;
	t->attempt = attempt;
	t->until_ns = mono_ns;
	return true;
}

void step_times_take(struct step_times *t, int32_t rank, uint64_t step)
{
	uint32_t i = 0;
	while (i < t->n && t->of[i].rank != rank)
		i++;
	if (i == STEP_TIMES_RANKS)
		return;
	if (i < t->n && t->of[i].step == step)
		return;
	/* a step that goes back is an epoch that begins: its first step has no beginning */
	if (i < t->n && step > t->of[i].step)
		step_histogram_add(&t->times, sub_floor(t->until_ns, t->of[i].moved_ns), step - t->of[i].step);
	t->n = MAX(t->n, i + 1);
	t->of[i].rank = rank;
	t->of[i].step = step;
	t->of[i].moved_ns = t->until_ns;
}
