#include "judge/memory/guard.h"

/* Minimum time between two reads, even when the limit is close. */
static const uint64_t read_min_ns = 1 * NS_PER_MS;
/* Maximum time between two reads while a level is more than three quarters full. */
static const uint64_t read_near_ns = 250 * NS_PER_MS;
/* Maximum time otherwise: the history needs a point of the job's footprint now and then. */
static const uint64_t read_far_ns = 2 * NS_PER_S;
static const uint64_t read_covered_ns = 2 * NS_PER_S;
/* The guard warns when the threshold would be reached within this time. */
static const uint64_t warn_ahead_ns = 2 * NS_PER_S;
/* The next read comes in time to warn, but is not planned sooner than this. */
static const uint64_t read_warn_ns = 100 * NS_PER_MS;
/* The window of the steady rate, and the distance of the points that are kept for it. */
static const uint64_t steady_ns = 2 * NS_PER_S;
static const uint64_t past_step_ns = 125 * NS_PER_MS;
/* The buffer freed beyond the deficit: Ray's min(5 % of total, 3 GiB). */
static const double buffer_ratio = 0.05;
static const uint64_t buffer_max_bytes = 3 * GIB;

uint64_t guard_threshold(const struct guard_settings *s, uint64_t total_bytes)
{
	uint64_t by_ratio = (uint64_t)((double)total_bytes * s->threshold_ratio);
	if (!s->has_min_free)
		return by_ratio;
	return MAX(by_ratio, sub_floor(total_bytes, s->min_free_bytes));
}

static void guard_point_add(struct guard_history *m, const struct ledger *now)
{
	struct guard_point *p = &m->point[m->head];
	p->mono_ns = now->mono_ns;
	for (size_t i = 0; i < now->n; i++)
		p->used_bytes[i] = now->level[i].used_bytes;
	m->head = (m->head + 1) % GUARD_POINTS;
	if (m->n == 0)
		m->past_n = 0; /* its owner began anew */
	if (m->n < GUARD_POINTS)
		m->n++;
	const struct guard_point *past = &m->past[(m->past_head + GUARD_PAST - 1) % GUARD_PAST];
	if (m->past_n > 0 && now->mono_ns - past->mono_ns < past_step_ns)
		return;
	m->past[m->past_head] = *p;
	m->past_head = (m->past_head + 1) % GUARD_PAST;
	if (m->past_n < GUARD_PAST)
		m->past_n++;
}

/* The newest point of a ring that is at least window_ns older than the time, else its oldest one. NULL: it is empty. */
static const struct guard_point *point_before(const struct guard_point *ring, size_t cap, size_t head, size_t n,
					      uint64_t mono_ns, uint64_t window_ns)
{
	const struct guard_point *p = NULL;
	for (size_t back = 1; back <= n; back++) {
		p = &ring[(head + cap - back) % cap];
		if (mono_ns - p->mono_ns >= window_ns)
			break;
	}
	return p;
}

/* The slope over a window that ends with the last point; over less where nothing is as old. */
static uint64_t slope_over(const struct guard_history *m, size_t level, uint64_t window_ns)
{
	const struct guard_point *last = &m->point[(m->head + GUARD_POINTS - 1) % GUARD_POINTS];
	const struct guard_point *p = point_before(m->point, GUARD_POINTS, m->head, m->n, last->mono_ns, window_ns);
	const struct guard_point *past =
		point_before(m->past, GUARD_PAST, m->past_head, m->past_n, last->mono_ns, window_ns);
	if (p && past && last->mono_ns - p->mono_ns < window_ns && past->mono_ns < p->mono_ns)
		p = past;
	uint64_t dt = p ? last->mono_ns - p->mono_ns : 0;
	uint64_t grown = p ? sub_floor(last->used_bytes[level], p->used_bytes[level]) : 0;
	if (dt == 0 || grown == 0)
		return 0;
	return (uint64_t)((double)grown * 1e9 / (double)dt);
}

/* The fill rate of a level: the worst over windows of 50 ms, 250 ms and 2 s. */
static uint64_t guard_rate(const struct guard_history *m, size_t level)
{
	static const uint64_t windows[] = {50 * NS_PER_MS, 250 * NS_PER_MS};
	uint64_t worst = slope_over(m, level, steady_ns);
	for (size_t i = 0; i < ARRAY_SIZE(windows); i++)
		worst = MAX(worst, slope_over(m, level, windows[i]));
	return worst;
}

static uint64_t time_for(uint64_t bytes, uint64_t bytes_per_s)
{
	if (bytes_per_s == 0)
		return UINT64_MAX;
	double ns = (double)bytes / (double)bytes_per_s * 1e9;
	return ns >= 1e18 ? UINT64_MAX : (uint64_t)ns;
}

/* The guard may act earlier, by at most one more headroom, when memory fills faster than it can react. */
static uint64_t early_threshold(const struct guard_settings *s, uint64_t total, uint64_t threshold, uint64_t rate)
{
	uint64_t headroom = sub_floor(total, threshold);
	uint64_t needed = (uint64_t)((double)rate * (double)s->reaction_ns / 1e9);
	if (needed <= headroom)
		return threshold;
	return sub_floor(threshold, MIN(needed - headroom, headroom));
}

static void judge_level(const struct guard_history *m, const struct guard_settings *s, const struct ledger_level *v,
			size_t index, bool covered, struct guard_step *ret)
{
	uint64_t threshold = guard_threshold(s, v->total_bytes);
	uint64_t rate = guard_rate(m, index);
	uint64_t early = early_threshold(s, v->total_bytes, threshold, rate);
	uint64_t to_threshold = sub_floor(early, v->used_bytes);
	struct guard_step step = {
		.level = index,
		.threshold_bytes = threshold,
		.rate_bytes_per_s = rate,
		.time_to_limit_ns = time_for(v->available_bytes, rate),
		/* who filled fast until a second ago and does no more has time, too */
		.steady_bytes_per_s = MIN(slope_over(m, index, steady_ns), slope_over(m, index, steady_ns / 2)),
		.early = v->used_bytes > early && v->used_bytes <= threshold,
	};
	step.steady_time_ns = time_for(v->available_bytes, step.steady_bytes_per_s);
	uint64_t headroom = sub_floor(v->total_bytes, threshold);
	if (v->used_bytes > early) {
		bool last_moment = v->available_bytes < headroom / 4 || step.time_to_limit_ns < 2 * s->reaction_ns;
		step.state = last_moment ? GUARD_EMERGENCY : GUARD_ACT;
		uint64_t buffer = MIN((uint64_t)((double)v->total_bytes * buffer_ratio), buffer_max_bytes);
		step.deficit_bytes = sub_floor(v->used_bytes, threshold) + buffer;
		step.next_ns = read_min_ns;
		*ret = step;
		return;
	}
	bool near = to_threshold < headroom || time_for(to_threshold, rate) < warn_ahead_ns;
	step.state = near ? GUARD_WARN : GUARD_OK;
	bool far = v->available_bytes > v->total_bytes / 4;
	uint64_t most = !far ? read_near_ns : covered ? read_covered_ns : read_far_ns;
	uint64_t fastest = MAX(s->fastest_bytes_per_s, 2 * rate);
	if (!near) /* the next read comes when it is time to warn, if it goes on like this */
		most = MIN(most, MAX(read_warn_ns, time_for(to_threshold, rate) - warn_ahead_ns));
	uint64_t wait = covered && !near ? most : time_for(to_threshold, fastest);
	step.next_ns = MAX(read_min_ns, MIN(wait, most));
	*ret = step;
}

void guard_judge(struct guard_history *m, const struct guard_settings *s, const struct ledger *now, uint32_t covered,
		 struct guard_step *ret)
{
	guard_point_add(m, now);
	struct guard_step worst = {
		.next_ns = read_far_ns, .time_to_limit_ns = UINT64_MAX, .steady_time_ns = UINT64_MAX};
	uint64_t next = UINT64_MAX;
	for (size_t i = 0; i < now->n && s->threshold_ratio > 0; i++) {
		if (now->level[i].total_bytes == 0)
			continue;
		struct guard_step step;
		judge_level(m, s, &now->level[i], i, covered >> i & 1, &step);
		next = MIN(next, step.next_ns);
		bool worse = step.state > worst.state ||
			     (step.state == worst.state && step.deficit_bytes > worst.deficit_bytes) ||
			     (step.state == worst.state && step.deficit_bytes == worst.deficit_bytes &&
			      step.time_to_limit_ns < worst.time_to_limit_ns) ||
			     worst.threshold_bytes == 0;
		if (worse)
			worst = step;
	}
	if (next != UINT64_MAX)
		worst.next_ns = next;
	*ret = worst;
}
