#include "judge/map/admit.h"

#include <math.h>

/* Of the room: below the first, tasks are suspended; below the second, they are ended. */
#define SHORT_SHARE 20
#define CRITICAL_SHARE 50
/* Of the machine: left to others and to the kernel. */
#define RESERVE_SHARE 20
/* What may be thrown away so that a processor is used, over what the oldest that runs has done. */
#define LOSS_TIMES 2

/* A sum of needs stays below its mean and so many standard deviations in nine of ten cases. */
static const double nine_in_ten = 1.28;

struct sums {
	uint64_t own_bytes, expected_bytes; /* expected: on average, never less than is held */
	double variance;
	size_t n, n_running, n_suspended, n_ending;
	size_t n_growing; /* and may be suspended: the oldest may not */
	size_t oldest_suspended, newest_suspended, oldest_running, newest_running, newest_growing, only;
};

/* What it will hold on average, or holds already. */
static uint64_t expected_of(const struct admit_state *s, const struct admit_task *t)
{
	return MAX(t->own_bytes, (uint64_t)((double)t->expected_bytes * s->share_ratio));
}

static double variance_of(const struct admit_state *s, const struct admit_task *t)
{
	double spread = (double)t->spread_bytes * s->share_ratio;
	return spread * spread;
}

/* True if one more, or a suspended one, fits beside those that run: up to where memory would count as short. */
static bool admit_fits(const struct admit_state *s, const struct sums *v, const struct admit_task *t)
{
	double spread = nine_in_ten * sqrt(v->variance + variance_of(s, t));
	uint64_t growth_bytes = sub_floor(expected_of(s, t), t->suspended ? t->own_bytes : 0);
	return add_cap(add_cap(v->expected_bytes, growth_bytes), (uint64_t)spread) <=
	       s->room_bytes - s->room_bytes / SHORT_SHARE;
}

static struct sums sums_of(const struct admit_state *s)
{
	struct sums v = {.n = 0};
	for (size_t i = 0; i < s->n; i++) {
		const struct admit_task *t = &s->task[i];
		v.own_bytes = add_cap(v.own_bytes, t->own_bytes);
		if (t->ending) {
			v.n_ending++;
			continue;
		}
		v.n++;
		v.only = i;
		v.expected_bytes = add_cap(v.expected_bytes, t->suspended ? t->own_bytes : expected_of(s, t));
		v.variance += t->suspended ? 0 : variance_of(s, t);
		if (t->suspended) {
			v.oldest_suspended = v.n_suspended++ == 0 ? i : v.oldest_suspended;
			v.newest_suspended = i;
		} else {
			v.oldest_running = v.n_running++ == 0 ? i : v.oldest_running;
			v.newest_running = i;
			if (t->growing && v.n > 1) {
				v.n_growing++;
				v.newest_growing = i;
			}
		}
	}
	return v;
}

bool admit_start(const struct admit_state *s, const struct admit_task *next)
{
	struct sums v = sums_of(s);
	if (v.n == 0)
		return v.n_ending == 0;
	if (v.n_suspended > 0 || v.n_ending > 0)
		return false;
	return admit_fits(s, &v, next);
}

static struct admit_verdict when_critical(const struct admit_state *s, const struct sums *v, uint64_t left_bytes)
{
	bool filling = s->ahead_bytes > 0 || left_bytes == 0;
	if (v->n_growing > 0)
		return (struct admit_verdict){ADMIT_SUSPEND, v->newest_growing};
	if (!filling || v->n_ending > 0)
		return (struct admit_verdict){ADMIT_NOTHING, 0}; /* memory comes back in a moment */
	if (v->n_running >= 1 && v->n_suspended > 0)
		return (struct admit_verdict){ADMIT_KILL, v->newest_suspended};
	if (v->n_running >= 2)
		return (struct admit_verdict){ADMIT_SUSPEND, v->newest_running};
	if (v->n == 1 && v->own_bytes >= s->room_bytes)
		return (struct admit_verdict){ADMIT_TOO_BIG, v->only};
	return (struct admit_verdict){ADMIT_NOTHING, 0};
}

/*
 * True if processors are idle while suspended tasks hold what the oldest of them needs to go on, and the newest ones
 * that have to give it back have not done much.
 */
static bool idle_for_suspended(const struct admit_state *s, struct sums v)
{
	if (v.n_running == 0 || v.n_running >= s->n_processors || v.n_ending > 0)
		return false;
	double lost_ns = 0, may_ns = LOSS_TIMES * (double)s->task[v.oldest_running].lived_ns;
	for (size_t i = s->n - 1; i > v.oldest_suspended && lost_ns <= may_ns; i--) {
		if (!s->task[i].suspended)
			continue;
		lost_ns += (double)s->task[i].lived_ns;
		v.expected_bytes -= s->task[i].own_bytes;
		if (admit_fits(s, &v, &s->task[v.oldest_suspended]))
			return lost_ns <= may_ns;
	}
	return false;
}

struct admit_verdict admit_judge(const struct admit_state *s)
{
	struct sums v = sums_of(s);
	uint64_t left_bytes = sub_floor(s->room_bytes, v.own_bytes);
	/* nothing runs: the oldest goes on, however short memory is, and may then be found too big */
	if (v.n_running == 0 && v.n_suspended > 0)
		return (struct admit_verdict){ADMIT_RESUME, v.oldest_suspended};
	if (left_bytes <= add_cap(s->room_bytes / CRITICAL_SHARE, s->ahead_bytes))
		return when_critical(s, &v, left_bytes);
	const bool is_short = left_bytes <= s->room_bytes / SHORT_SHARE;
	if (is_short && v.n_growing > 0)
		return (struct admit_verdict){ADMIT_SUSPEND, v.newest_growing};
	if (!is_short && v.n_suspended > 0 && v.n_ending == 0 && admit_fits(s, &v, &s->task[v.oldest_suspended]))
		return (struct admit_verdict){ADMIT_RESUME, v.oldest_suspended};
	if (v.n_suspended > 1 && idle_for_suspended(s, v))
		return (struct admit_verdict){ADMIT_KILL, v.newest_suspended};
	return (struct admit_verdict){ADMIT_NOTHING, 0};
}

uint64_t admit_more(uint64_t own_bytes, uint64_t expected_bytes)
{
	return MAX(add_cap(own_bytes, own_bytes / 2), expected_bytes);
}

uint64_t admit_room(uint64_t limit_bytes, uint64_t own_bytes, uint64_t available_bytes, uint64_t total_bytes)
{
	return MIN(limit_bytes, add_cap(own_bytes, sub_floor(available_bytes, total_bytes / RESERVE_SHARE)));
}
