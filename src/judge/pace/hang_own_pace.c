#include "judge/pace/hang_own_pace.h"

#include <string.h>

#include "base/stats.h"
#include "base/units.h"

/* It must be slower than the others by this ratio as well. */
static const double apart_ratio = 1.5, over_ratio = 1.2;
/* A step of the timed rank must take longer by this part for the others to be compared with it. */
static const double lost_least = 0.2;

struct own_paces {
	struct {
		int32_t rank;
		struct ownpace_rates rates;
	} of[LIVENESS_RANKS];
	size_t n, n_slower, n_keep;
	size_t worst; /* the slowest of those that became slower; SIZE_MAX: none */
	double others; /* steps a second of the middle one of the others */
};

static void paces_of(const struct liveness_set *p, struct own_paces *ret)
{
	double others[LIVENESS_RANKS];
	size_t n = 0;
	*ret = (struct own_paces){.worst = SIZE_MAX};
	for (size_t i = 0; i < p->n; i++) {
		struct ownpace_rates rates;
		const struct liveness *l = &p->rank[i];
		if (l->serves || l->seen.exited || !ownpace_rates(&l->pace, p->now_ns, &rates))
			continue;
		ret->of[ret->n].rank = l->rank;
		ret->of[ret->n].rates = rates;
		ret->n_slower += rates.slower;
		ret->n_keep += rates.keeps;
		if (rates.slower && (ret->worst == SIZE_MAX || rates.now < ret->of[ret->worst].rates.now))
			ret->worst = ret->n;
		if (rates.keeps)
			others[n++] = rates.now;
		ret->n++;
	}
	ret->others = stats_median(others, n);
}

/* Those that became slower are few, the others are as fast as they were, and faster than those. */
static bool is_slow(const struct own_paces *x)
{
	return x->worst != SIZE_MAX && x->n_slower * 2 <= x->n && x->n_keep * 2 >= x->n &&
	       x->of[x->worst].rates.now * apart_ratio < x->others;
}

bool hang_own_pace_slow(const struct liveness_set *p)
{
	struct own_paces x;
	paces_of(p, &x);
	return is_slow(&x);
}

/* Its steps began later than those of another rank that keeps its pace: it is in another loop. */
static bool counts_anew(const struct liveness_set *p, const struct liveness *timed)
{
	const uint64_t later_ns = 10 * NS_PER_S;
	for (size_t i = 0; i < p->n; i++) {
		const struct ownpace *other = &p->rank[i].pace;
		struct ownpace_rates rates;
		if (ownpace_rates(other, p->now_ns, &rates) && rates.keeps &&
		    ownpace_began_ns(&timed->pace) > ownpace_began_ns(other) + later_ns)
			return true;
	}
	return false;
}

/* The rank whose steps are timed has lost speed, and the middle one of the others less than half as much. */
static bool others_lost_less(const struct liveness_set *p, const struct own_paces *x)
{
	double lost[LIVENESS_RANKS], own = 0;
	size_t n = 0;
	for (size_t i = 0; i < x->n; i++) {
		const double more = x->of[i].rates.oldest / x->of[i].rates.now - 1;
		if (x->of[i].rank == p->step_rank)
			own = more;
		else
			lost[n++] = more;
	}
	return n > 0 && own >= lost_least && stats_median(lost, n) < own / 2;
}

/*
 * True if all other ranks that made steps have stopped, and the timed one goes on: whatever it counts, as the batches
 * of an evaluation for which the others wait, it is not the job's steps.
 */
static bool others_stand(const struct liveness_set *p)
{
	const double last_s = p->n_step_times ? (double)p->step_s[(p->n_step_times - 1) % LIVENESS_STEPS] : 0;
	const uint64_t limit_ns = 5 * (NS_PER_S + MAX((uint64_t)(last_s * 1e9), (uint64_t)p->gap_ns));
	size_t n = 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct liveness *l = &p->rank[i];
		if (l->serves || l->seen.exited || !l->stepping || l->rank == p->step_rank)
			continue;
		if (sub_floor(p->step_ns, l->step_ns) < limit_ns)
			return false;
		n++;
	}
	return n > 0;
}

bool hang_own_pace_alone(const struct liveness_set *p)
{
	struct own_paces x;
	paces_of(p, &x);
	bool timed = false;
	const struct liveness *l = liveness_find(p, p->step_rank);
	for (size_t i = 0; i < x.n; i++)
		timed |= x.of[i].rank == p->step_rank && !x.of[i].rates.slower && !counts_anew(p, l);
	return others_stand(p) || others_lost_less(p, &x) || (!timed && x.n_keep > 0 && x.n_keep * 2 >= x.n);
}

bool hang_own_pace_over(struct hang_history *m, const struct liveness_set *p, char *text, size_t cap)
{
	struct ownpace_rates rates;
	const struct liveness *l = m->slow_usual_per_s > 0 ? liveness_find(p, m->slow_rank) : NULL;
	if (!l)
		return false;
	if (l->seen.exited)
		text_format(text, cap, "rank %d has ended", l->rank);
	else if (ownpace_rates(&l->pace, p->now_ns, &rates) && rates.now * over_ratio >= m->slow_usual_per_s)
		text_format(text, cap, "rank %d is as fast as it was: %.2g steps/s", l->rank, rates.now);
	else
		return false;
	m->slow_usual_per_s = 0;
	return true;
}

/* "12:37:03 UTC" */
static const char *clock_of(const struct hang_work *w, uint64_t at_ns, char dst[static 32])
{
	char time[32];
	const int64_t ago_ms = (int64_t)(sub_floor(w->p->now_ns, at_ns) / NS_PER_MS);
	const char *clock = strchr(time_format_utc(w->c->now_unix_ms - ago_ms, time), 'T');
	text_format(dst, 32, "%.8s UTC", clock ? clock + 1 : "");
	return dst;
}

/* NULL: it was not. */
static const struct waitshare_rank *sampled(const struct hang_work *w, int32_t rank)
{
	const struct waitshare *s = w->c->shares;
	for (size_t i = 0; s && i < s->n; i++)
		if (s->rank[i].rank == rank && s->rank[i].n > 0)
			return &s->rank[i];
	return NULL;
}

/* What it spends its time on, where that was sampled. */
static void spent_says(struct hang_work *w, const struct ownpace_rates *rates)
{
	const struct waitshare_rank *r = sampled(w, w->v->culprits[0]);
	if (r)
		hang_pace_split(w, w->c->shares, (size_t)(r - w->c->shares->rank), 1 - rates->now / rates->before);
}

/*
 * Something else than its own work takes the time. Larger batches, longer inputs and naps look the same as whatever
 * makes work slow: of them nobody can tell that anything is wrong.
 */
static bool is_held_up(const struct hang_work *w)
{
	static const char *const by_others[] = {"loader", "gpu", "stopped", "quota", "host", "memory", "lock"};
	for (size_t i = 0; i < ARRAY_SIZE(by_others); i++)
		if (strcmp(w->v->split, by_others[i]) == 0)
			return true;
	const struct waitshare_rank *r = sampled(w, w->v->culprits[0]);
	const struct waitshare_whom *whom = r ? waitshare_usual_whom(r, WAITSHARE_OTHER) : NULL;
	return strcmp(w->v->split, "wait") == 0 && whom && whom->named;
}

/* No verdict: a line for the events. */
static void own_work_says(struct hang_work *w)
{
	struct hang_verdict *v = w->v;
	const bool sleeps = strcmp(v->split, "sleep") == 0, waits = strcmp(v->split, "wait") == 0;
	char pace[sizeof(v->pace)];
	TEXT_FORMAT(pace, "%s It %s for longer in each step, as with more work a step.", v->headline,
		    sleeps ? "sleeps"
		    : waits ? "waits"
			    : "computes");
	*v = (struct hang_verdict){.kind = HANG_NONE};
	v->own_work = true;
	if (w->m->own_rounds == 0)
		TEXT_COPY(v->pace, pace);
}

bool hang_own_pace_judge(struct hang_work *w)
{
	struct own_paces x;
	char since[32], ranks[200];
	paces_of(w->p, &x);
	if (!is_slow(&x))
		return false;
	const struct ownpace_rates *slow = &x.of[x.worst].rates;
	hang_is(w, "slow_rank", CONFIDENCE_MEDIUM);
	w->v->kind = HANG_STRAGGLER;
	w->v->ratio = x.others / slow->now - 1;
	w->v->usual_per_s = slow->before;
	hang_accuse(w, x.of[x.worst].rank);
	for (size_t i = 0; i < x.n; i++) {
		if (x.of[i].rates.slower && i != x.worst)
			hang_accuse(w, x.of[i].rank);
		w->v->known_already |= w->m->slow_usual_per_s > 0 && x.of[i].rank == w->m->slow_rank &&
				       x.of[i].rates.slower;
	}
	hang_ranks_text(w->v->culprits, w->v->n_culprits, ranks, sizeof(ranks));
	TEXT_FORMAT(w->v->headline, "%s %s slow: %.2g steps/s where the others do %.2g, since %s.", ranks,
		    w->v->n_culprits == 1 ? "is" : "are", slow->now, x.others, clock_of(w, slow->since_ns, since));
	if (w->v->headline[0] == 'r')
		w->v->headline[0] = 'R';
	hang_says(w, "%s Before, it made %.2g steps/s. Nobody waits for it.", w->v->headline, slow->before);
	spent_says(w, slow);
	if (!is_held_up(w)) {
		own_work_says(w);
		return false;
	}
	w->v->confidence = MIN(w->v->confidence, CONFIDENCE_MEDIUM);
	for (size_t i = 0; i < MIN(x.n, (size_t)8); i++)
		hang_evidence(w, "progress", "log", "rank %d: %.2g steps/s now, %.2g before", x.of[i].rank,
			      x.of[i].rates.now, x.of[i].rates.before);
	return true;
}
