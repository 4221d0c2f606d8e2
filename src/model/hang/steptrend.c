#include "model/hang/steptrend.h"

#include <string.h>

#include "base/stats.h"

/* Measured step times needed on both sides of a change; fewer prove nothing. */
#define RECENT 16
#define BEFORE_LEAST 32
/* Where steps take four times as long, fewer before do: one look in a second measures several short steps at once. */
#define BEFORE_FEW 10
static const double few_ratio = 3;
/* The last of them must be long still. */
#define LAST 8
#define SIDE 8
/* Steps that grow little by little do so by plan more often than by a fault: they have to double. */
static const double gradual_ratio = 1.0, jump_least = 0.65;
/* The steps of so much time, seen in so many looks, against those of as much time earlier: worth looking into. */
static const double lately_s = 10, lately_ratio = 1.3;
#define LATELY_GAPS 5

static double middle_of(const double *step_s)
{
	double v[SIDE];
	memcpy(v, step_s, sizeof(v));
	return stats_median(v, SIDE);
}

double steptrend_jump(const double *step_s, size_t n)
{
	double most = 0;
	for (size_t i = SIDE; i + SIDE <= n; i++)
		most = MAX(most, middle_of(&step_s[i]) - middle_of(&step_s[i - SIDE]));
	return most;
}

/* Compares the last `recent` of n steps with those before: medians, and quartiles that must not overlap. */
static void steptrend_since(const double *step, size_t n, size_t recent, double ratio, struct steptrend *ret)
{
	double v[LIVENESS_STEPS], base_s, quarter_s, now_s;
	size_t m = n - recent;
	memcpy(v, step, m * sizeof(*v));
	base_s = stats_median(v, m);
	quarter_s = v[m * 3 / 4];
	memcpy(v, step + m, recent * sizeof(*v));
	now_s = stats_median(v, recent);
	if (base_s <= 0 || v[recent / 4] <= quarter_s || now_s / base_s - 1 < MAX(ratio, ret->ratio))
		return;
	*ret = (struct steptrend){.base_s = base_s, .now_s = now_s, .ratio = now_s / base_s - 1, .n_recent = recent};
}

/* Oldest first. */
static size_t steps_copy(const struct liveness_set *p, double v[static LIVENESS_STEPS])
{
	size_t n = (size_t)MIN(p->n_step_times - p->n_other_times, LIVENESS_STEPS);
	for (size_t i = 0; i < n; i++)
		v[i] = (double)p->step_s[(p->n_step_times - n + i) % LIVENESS_STEPS];
	return n;
}

/*
 * When the steps became longer is not known, and they may have been for a while when evidence is there: of several
 * numbers of recent steps the one counts by which they differ most.
 */
bool steptrend_slower(const struct liveness_set *p, double ratio, struct steptrend *ret)
{
	static const size_t recent[] = {RECENT, 24, 32, 48, 64, 96, 128};
	double step[LIVENESS_STEPS];
	size_t n = steps_copy(p, step);
	*ret = (struct steptrend){.ratio = 0};
	for (size_t i = 0; i < ARRAY_SIZE(recent) && n >= recent[i] + BEFORE_FEW; i++)
		steptrend_since(step, n, recent[i],
				n >= recent[i] + BEFORE_LEAST ? ratio : MAX(ratio, few_ratio), ret);
	if (ret->ratio <= 0 || middle_of(&step[n - LAST]) < ret->base_s * (1 + ratio / 2))
		return false;
	ret->gradual = steptrend_jump(step, n) < (ret->now_s - ret->base_s) * jump_least;
	return !ret->gradual || ret->ratio >= MAX(gradual_ratio, ratio);
}

/*
 * Quarters of the steps' times in the gaps from one on, for so much time and so many gaps. One long gap, as for a
 * checkpoint, moves none of them much. False: there are not enough.
 */
static bool gaps_quarters(const struct liveness_set *p, size_t *at, double quarter_s[static 3])
{
	size_t n = (size_t)MIN(p->n_gaps, LIVENESS_GAPS), gaps = 0;
	double time_s = 0, v[LIVENESS_GAPS];
	for (; *at < n && (time_s < lately_s || gaps < LATELY_GAPS); (*at)++) {
		size_t k = (p->n_gaps - 1 - *at) % LIVENESS_GAPS;
		if (p->gap_step_s[k] <= 0)
			continue;
		v[gaps++] = (double)p->gap_step_s[k];
		time_s += (double)p->gap_s[k];
	}
	if (gaps < LATELY_GAPS || time_s < lately_s)
		return false;
	quarter_s[1] = stats_median(v, gaps);
	quarter_s[0] = v[gaps / 4];
	quarter_s[2] = v[gaps * 3 / 4];
	return true;
}

bool steptrend_slower_lately(const struct liveness_set *p, double *ret_ratio)
{
	size_t at = 0;
	double now_s[3], before_s[3];
	if (!gaps_quarters(p, &at, now_s))
		return false;
	while (gaps_quarters(p, &at, before_s))
		if (now_s[1] > before_s[1] * lately_ratio && now_s[0] > before_s[2]) {
			*ret_ratio = now_s[1] / before_s[1] - 1;
			return true;
		}
	return false;
}
