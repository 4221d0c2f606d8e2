#include "model/hang/cadence.h"

#include <string.h>

/* Minimum number of gaps to judge a rhythm; number of gaps after which the start of a job is over. */
static const uint64_t gaps_least = 24, gaps_old = 60;
/* Lines are regular if 9 of 10 gaps are at most 3 medians long, plus 1.5 s because samples are about 1 s apart. */
static const double regular_times = 3, sample_s = 1.5;
/* A silence is abnormal after 20 medians, and after 4 times the longest gap seen. */
static const double missed_times = 20, missed_most = 4;

void cadence_lines(struct cadence *c, uint64_t now_ns)
{
	if (c->last_ns > 0 && now_ns > c->last_ns) {
		float gap = (float)((double)(now_ns - c->last_ns) / 1e9);
		c->gap_s[c->n_gaps++ % CADENCE_GAPS] = gap;
		c->most_s = MAX(c->most_s, gap);
	}
	c->last_ns = now_ns;
}

bool cadence_known(const struct cadence *c, double *ret_usual_s, double *ret_missed_s)
{
	float v[CADENCE_GAPS];
	size_t n = (size_t)MIN(c->n_gaps, (uint64_t)CADENCE_GAPS);
	if (c->n_gaps < gaps_least)
		return false;
	memcpy(v, c->gap_s, n * sizeof(v[0]));
	for (size_t i = 1; i < n; i++) {
		float x = v[i];
		size_t k = i;
		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
	double usual = (double)v[n / 2], long_one = (double)v[n * 9 / 10];
	if (long_one > usual * regular_times + sample_s)
		return false;
	*ret_usual_s = usual;
	double missed_s = MAX(usual * missed_times, (double)c->most_s * missed_most);
	*ret_missed_s = MAX((double)(CADENCE_LEAST_NS / NS_PER_S), missed_s);
	return true;
}

bool cadence_is_old(const struct cadence *c)
{
	return c->n_gaps >= gaps_old;
}
