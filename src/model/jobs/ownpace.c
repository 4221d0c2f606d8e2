#include "model/jobs/ownpace.h"

#include "base/stats.h"
#include "base/units.h"

static const uint64_t gap_least_ns = 2 * NS_PER_S;
/* The present: the newest gaps of at least so much time. The past: at least so much time, and so many gaps. */
static const uint64_t now_least_ns = 14 * NS_PER_S, before_least_ns = 12 * NS_PER_S;
#define NOW_GAPS 5
#define BEFORE_GAPS 5
/* Slower: each gap of the present is slower than nearly all of the past, and the middle one by this ratio. */
static const double slower_ratio = 1.5, keeps_ratio = 1.2;
static const size_t nearly_all = 10; /* all but one in so many */

void ownpace_take(struct ownpace *p, uint64_t at_ns, uint64_t step)
{
	if (at_ns <= p->last_ns && step == p->last_step)
		return;
	if (p->n == 0 || step < p->last_step) {
		p->n = 1;
		p->of[0] = (struct ownpace_mark){at_ns, step};
	} else if (at_ns >= p->of[(p->n - 1) % OWNPACE_MARKS].at_ns + gap_least_ns) {
		p->of[p->n++ % OWNPACE_MARKS] = (struct ownpace_mark){at_ns, step};
	}
	p->last_ns = at_ns;
	p->last_step = step;
}

/* Of the gap that ends at the mark so many before the newest. */
static double gap_rate(const struct ownpace *p, size_t back)
{
	const struct ownpace_mark *to = &p->of[(p->n - 1 - back) % OWNPACE_MARKS];
	const struct ownpace_mark *from = &p->of[(p->n - 2 - back) % OWNPACE_MARKS];
	return (double)(to->step - from->step) * 1e9 / (double)(to->at_ns - from->at_ns);
}

static uint64_t mark_ns(const struct ownpace *p, size_t back)
{
	return p->of[(p->n - 1 - back) % OWNPACE_MARKS].at_ns;
}

/* The middle rate of the gaps from one on. */
static double middle_from(const struct ownpace *p, size_t from, size_t gaps)
{
	double v[OWNPACE_MARKS];
	size_t n = 0;
	for (size_t i = from; i < gaps; i++)
		v[n++] = gap_rate(p, i);
	return stats_median(v, n);
}

uint64_t ownpace_began_ns(const struct ownpace *p)
{
	return p->n > 0 ? mark_ns(p, (size_t)MIN(p->n, OWNPACE_MARKS) - 1) : 0;
}

bool ownpace_rates(const struct ownpace *p, uint64_t now_ns, struct ownpace_rates *ret)
{
	double now[OWNPACE_MARKS], before[OWNPACE_MARKS];
	size_t n = (size_t)MIN(p->n, OWNPACE_MARKS), gaps = n > 0 ? n - 1 : 0, n_now = 0, n_before = 0;
	while (n_now < gaps && (n_now < NOW_GAPS || mark_ns(p, 0) - mark_ns(p, n_now) < now_least_ns)) {
		now[n_now] = gap_rate(p, n_now);
		n_now++;
	}
	/* what is as slow already belongs to it */
	for (double usual = middle_from(p, n_now, gaps); n_now < gaps && gap_rate(p, n_now) * slower_ratio < usual;) {
		now[n_now] = gap_rate(p, n_now);
		n_now++;
	}
	for (size_t i = n_now + 1; i < gaps; i++) /* in the gap between the two it may have changed */
		before[n_before++] = gap_rate(p, i);
	if (n_now < NOW_GAPS || n_before < BEFORE_GAPS || mark_ns(p, n_now + 1) - mark_ns(p, gaps) < before_least_ns)
		return false;
	ret->since_ns = mark_ns(p, n_now);
	ret->now = stats_median(now, n_now);
	ret->before = stats_median(before, n_before);
	ret->oldest = middle_from(p, gaps - MAX(gaps / 4, (size_t)BEFORE_GAPS), gaps);
	if (ret->now <= 0 || (double)sub_floor(now_ns, p->last_ns) * ret->now > 3e9)
		return false;
	const double low = before[n_before / nearly_all];
	ret->keeps = ret->now * keeps_ratio >= ret->before;
	ret->slower = now[n_now - 1] < low && ret->now * keeps_ratio < low && ret->now * slower_ratio < ret->before;
	return true;
}
