/* Since when a job stands still, by its steps, its counters and its log. */
#include <string.h>

#include "base/units.h"
#include "judge/standstill/hang_ask.h"

/* A step is missed after this time, and after this number of usual gaps between steps. */
static const uint64_t step_least_ns = 10 * NS_PER_S;
static const double step_gaps = 3;
/* Silence: where no step can be missed, and once a rank has ended. With the sample that sees it, 20 s at most. */
static const uint64_t silence_ns = 13 * NS_PER_S, silence_after_end_ns = 10 * NS_PER_S;
/*
 * A framework ends its ranks after a time-out: after this part of it stacks are asked for, with time left to take them.
 */
static const uint64_t timeout_part = 3, timeout_least_ns = 4 * NS_PER_S;
/* Of a job with Ray, whose own programs are always awake, the same. */
static const uint64_t ray_still_ns = 25 * NS_PER_S;
/* A rank is stalled when its steps stay behind by this while others go on. */
static const uint64_t stalled_rank_least_ns = 60 * NS_PER_S;
static const double stalled_rank_gaps = 10;

uint64_t hang_time(uint64_t given_ns, uint64_t usual_ns)
{
	return given_ns ? given_ns : usual_ns;
}

uint64_t hang_gap_times(double gap_ns, double n)
{
	return gap_ns * n >= 1e18 ? UINT64_MAX / 2 : (uint64_t)(gap_ns * n);
}

size_t hang_live_ranks(const struct liveness_set *p, bool *ret_ended)
{
	size_t n = 0;
	*ret_ended = false;
	for (size_t i = 0; i < p->n; i++) {
		if (p->rank[i].serves)
			continue;
		n += !p->rank[i].seen.exited;
		*ret_ended |= p->rank[i].seen.exited;
	}
	return n;
}

/* When a rank last showed life other than processor time, which a spinning wait spends as well. */
static uint64_t alive_without_cpu_ns(const struct liveness *l)
{
	uint64_t alive = l->first_ns;
	for (size_t i = LIVENESS_READ; i <= LIVENESS_NET_RECEIVED; i++)
		if (l->trace[i].known)
			alive = MAX(alive, l->trace[i].moved_ns);
	return l->gpu_known ? MAX(alive, l->gpu_alive_ns) : alive;
}

/*
 * Since when nothing but the log moves. Processor time counts as life only in a job of one rank, and if it is much: in
 * a larger one it may be a spinning wait for others, and a little of it is what a loop of short sleeps takes. That the
 * whole job ceased to run, which it had done all along, is an end of life: a standstill does not begin before it.
 */
static uint64_t silent_since(const struct liveness_set *p, size_t live)
{
	uint64_t since = MAX(MAX(p->first_ns, p->step_ns), p->stilled_ns);
	for (size_t i = 0; i < p->n; i++) {
		const struct liveness *l = &p->rank[i];
		if (l->serves || l->seen.exited)
			continue;
		since = MAX(since, alive_without_cpu_ns(l));
		since = live > 1 ? since : MAX(since, l->works_ns);
	}
	return p->rdma.known ? MAX(since, p->rdma.moved_ns) : since;
}

const struct liveness *hang_stalled_rank(const struct liveness_set *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct liveness *l = &p->rank[i];
		if (l->serves || l->seen.exited || !l->stepping || !p->has_gap)
			continue;
		uint64_t limit = MAX(stalled_rank_least_ns, hang_gap_times(p->gap_ns, stalled_rank_gaps));
		bool done = l->seen.progress.has_total && l->seen.progress.step >= l->seen.progress.total;
		if (!done && p->now_ns - l->step_ns > limit &&
		    p->now_ns - liveness_alive_ns(l) > stalled_rank_least_ns && p->now_ns - p->step_ns < limit)
			return l;
	}
	return NULL;
}

/* Suspicion comes earlier where a framework ends its ranks early: it only means that stacks are taken. */
static uint64_t early_ns(const struct liveness_set *p, uint64_t usual_ns)
{
	return p->timeout_ns > 0 ? MIN(usual_ns, MAX(p->timeout_ns / timeout_part, timeout_least_ns)) : usual_ns;
}

uint64_t hang_missed_ns(const struct hang_settings *s, const struct liveness_set *p)
{
	return MAX(s->has_after ? s->after_ns : early_ns(p, step_least_ns), hang_gap_times(p->gap_ns, step_gaps));
}

/* The log is looked at now and then, so the time between two looks with steps may be that of several steps. */
double hang_usual_step_ns(const struct liveness_set *p)
{
	double longest_s = 0; /* while too few were measured */
	for (size_t i = 0; i < (size_t)MIN(p->n_gaps, LIVENESS_GAPS); i++)
		longest_s = MAX(longest_s, p->gap_step_s[i] > 0 ? (double)p->gap_step_s[i] : p->gap_ns / 1e9);
	const double step_ns = p->has_step_time && p->step_time_ns > 0 ? p->step_time_ns : longest_s * 1e9;
	return step_ns > 0 ? MIN(step_ns, p->gap_ns) : p->gap_ns;
}

bool hang_no_step_for(const struct liveness_set *p, uint64_t limit_ns, char *text, size_t cap)
{
	char stood[24], usual[24];
	uint64_t stands_ns = sub_floor(p->now_ns, p->step_ns);
	if (!p->progress_known || !p->has_gap || stands_ns < limit_ns)
		return false;
	text_format(text, cap, "no step for %s (usual: one in %s)", duration_format(stands_ns, stood),
		    duration_format((uint64_t)hang_usual_step_ns(p), usual));
	return true;
}

/* True when the sign of any rank has moved since then. */
static bool sign_moved(const struct liveness_set *p, enum liveness_counter sign, uint64_t since_ns)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct liveness_trace *t = &p->rank[i].trace[sign];
		if (!p->rank[i].serves && t->known && t->ever_moved && t->moved_ns > since_ns)
			return true;
	}
	return false;
}

/* Names what moved without counting as life. */
static const char *what_moved(const struct liveness_set *p, uint64_t since_ns)
{
	bool log = sign_moved(p, LIVENESS_LOG_BYTES, since_ns) || sign_moved(p, LIVENESS_LOG_LINES, since_ns);
	bool cpu = sign_moved(p, LIVENESS_CPU, since_ns);
	return log && cpu ? "nothing but the log and processor time"
	       : log	  ? "nothing but the log"
	       : cpu	  ? "nothing but processor time"
			  : "nothing";
}

/*
 * Where no steps are known: ranks that printed regularly are silent for much longer than ever. Something else moves, so
 * this only asks for a check. 0: not so.
 */
static uint64_t log_silent_since(const struct hang_settings *s, const struct liveness_set *p, double *ret_usual_s)
{
	uint64_t last_ns = 0;
	double usual_s, missed_s, most_s = 0;
	if (s->rule != HANG_RULE_EVIDENCE || (p->progress_known && p->has_gap))
		return 0;
	for (size_t i = 0; i < p->n; i++)
		last_ns = p->rank[i].seen.exited ? last_ns : MAX(last_ns, p->rank[i].log.last_ns);
	if (p->now_ns - last_ns < CADENCE_LEAST_NS) /* the usual case, in which nothing has to be sorted */
		return 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct liveness *l = &p->rank[i];
		if (l->seen.exited)
			continue;
		if (!cadence_known(&l->log, &usual_s, &missed_s) || missed_s < most_s)
			continue;
		most_s = missed_s;
		*ret_usual_s = usual_s;
	}
	uint64_t limit = MAX((uint64_t)(most_s * 1e9), s->has_after ? s->after_ns : 0);
	return most_s > 0 && p->now_ns - last_ns >= limit ? last_ns : 0;
}

/* Since when the job stands by its steps, and by whatever else counts as life; 0: it does not. */
static uint64_t stands_since(const struct hang_settings *s, const struct liveness_set *p, char *text, size_t cap)
{
	char stood[24];
	bool ended;
	size_t live = hang_live_ranks(p, &ended);
	text_copy(text, cap, "");
	if (live == 0)
		return 0;
	if (hang_no_step_for(p, hang_missed_ns(s, p), text, cap))
		return p->step_ns;
	uint64_t since = silent_since(p, live), limit = early_ns(p, ended ? silence_after_end_ns : silence_ns);
	if (s->has_after) /* a time that was given holds, be it short or long */
		limit = s->after_ns;
	if (p->now_ns - since >= limit) {
		text_format(text, cap, "%s moved for %s", what_moved(p, since),
			    duration_format(p->now_ns - since, stood));
		return since;
	}
	const struct liveness *l = hang_stalled_rank(p);
	if (l && (!s->has_after || p->now_ns - l->step_ns >= s->after_ns)) {
		text_format(text, cap, "rank %d has made no step for %s, others have", l->rank,
			    duration_format(p->now_ns - l->step_ns, stood));
		return l->step_ns;
	}
	return 0;
}

uint64_t hang_log_silent(const struct hang_settings *s, const struct liveness_set *p, double *ret_usual_s)
{
	char text[200];
	bool ended;
	*ret_usual_s = 0;
	return hang_live_ranks(p, &ended) > 0 && stands_since(s, p, text, sizeof(text)) == 0
		       ? log_silent_since(s, p, ret_usual_s)
		       : 0;
}

uint64_t hang_ray_still(const struct hang_settings *s, const struct liveness_set *p)
{
	char text[200];
	double usual_s;
	uint64_t since = MAX(p->ray_busy_ns, p->step_ns);
	if (s->rule != HANG_RULE_EVIDENCE || p->ray_busy_ns == 0 || stands_since(s, p, text, sizeof(text)) > 0 ||
	    hang_log_silent(s, p, &usual_s) > 0)
		return 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct liveness *l = &p->rank[i];
		since = MAX(since, l->gpu_known ? MAX(l->first_ns, l->gpu_alive_ns) : l->first_ns);
	}
	return p->now_ns - since >= (s->has_after ? s->after_ns : ray_still_ns) ? since : 0;
}

bool hang_only_made_anew(const struct hang_settings *s, const struct liveness_set *p)
{
	char text[200];
	double usual_s;
	return s->rule == HANG_RULE_EVIDENCE && hang_made_anew(s, p, text, sizeof(text)) > 0 &&
	       stands_since(s, p, text, sizeof(text)) == 0 && hang_log_silent(s, p, &usual_s) == 0 &&
	       hang_ray_still(s, p) == 0;
}

uint64_t hang_since(const struct hang_settings *s, const struct liveness_set *p, char *text, size_t cap)
{
	char stood[24], usual[24];
	double usual_s;
	uint64_t since = stands_since(s, p, text, cap);
	if (since)
		return since;
	uint64_t log_silent = hang_log_silent(s, p, &usual_s);
	if (log_silent)
		text_format(text, cap, "no line for %s (usual: one in %s), and no steps are known",
			    duration_format(p->now_ns - log_silent, stood),
			    duration_format((uint64_t)(usual_s * 1e9), usual));
	if (log_silent)
		return log_silent;
	const uint64_t ray_still = hang_ray_still(s, p);
	if (ray_still)
		text_format(text, cap, "nothing but Ray's own programs did anything for %s",
			    duration_format(p->now_ns - ray_still, stood));
	return ray_still ? ray_still : hang_made_anew(s, p, text, cap);
}
