#include <string.h>

#include "base/units.h"
#include "judge/hang/hang_parts.h"

/* Steps are missed after this, or after three usual gaps between them. */
static const uint64_t step_least_ns = 10 * NS_PER_S;
static const double step_gaps = 3;
/* Late after half of that. */
static const uint64_t late_part = 2;
/* Silence: without steps that could be missed, and once a rank has ended. With the look that sees it, 20 s at most. */
static const uint64_t silence_ns = 18 * NS_PER_S, silence_after_end_ns = 10 * NS_PER_S;
/* A framework that ends its ranks after a while: at this part of it there is a look, with time left to take it. */
static const uint64_t timeout_part = 3, timeout_least_ns = 4 * NS_PER_S;
/* A rank whose steps stay behind while others go on. */
static const uint64_t lonely_least_ns = 60 * NS_PER_S;
static const double lonely_gaps = 10;
static const uint32_t want_dumps = 3;
static const uint64_t want_gap_ns = 2 * NS_PER_S;

/* Longer than silence takes to be one. */
static const uint64_t recover_ns = 40 * NS_PER_S;
static const uint64_t again_benign_ns = 30 * NS_PER_S, again_most_ns = 10 * 60 * NS_PER_S;
/* Stragglers are looked for once steps run, and then now and then. */
static const uint64_t shares_first_steps = 10, shares_every_ns = 10 * 60 * NS_PER_S;
static const uint32_t share_samples = 250;
static const uint64_t share_least_ns = 5 * NS_PER_S, share_most_ns = 20 * NS_PER_S;
static const uint64_t told_again_ns = 30 * 60 * NS_PER_S;

uint64_t hang_time(uint64_t given_ns, uint64_t usual_ns)
{
	return given_ns ? given_ns : usual_ns;
}

static uint64_t times(double gap_ns, double n)
{
	return gap_ns * n >= 1e18 ? UINT64_MAX / 2 : (uint64_t)(gap_ns * n);
}

static size_t live_ranks(const struct liveness_set *p, bool *ret_ended)
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

/* Latest life of a rank other than processor time, which a wait can spend as well. */
static uint64_t alive_without_cpu_ns(const struct liveness *l)
{
	uint64_t alive = l->first_ns;
	for (size_t i = LIVENESS_READ; i <= LIVENESS_NET_RECEIVED; i++)
		if (l->trace[i].known)
			alive = MAX(alive, l->trace[i].moved_ns);
	return l->gpu_known ? MAX(alive, l->gpu_alive_ns) : alive;
}

/*
 * Since when nothing but the log moves. Processor time alone is life where it
 * cannot be a wait for others that spins: in a job of one.
 */
static uint64_t silent_since(const struct liveness_set *p, size_t live)
{
	uint64_t since = MAX(p->first_ns, p->step_ns);
	for (size_t i = 0; i < p->n; i++) {
		const struct liveness *l = &p->rank[i];
		if (l->serves || l->seen.exited)
			continue;
		since = MAX(since, live > 1 ? alive_without_cpu_ns(l) : liveness_alive_ns(l));
	}
	return p->rdma.known ? MAX(since, p->rdma.moved_ns) : since;
}

const struct liveness *hang_lonely(const struct liveness_set *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct liveness *l = &p->rank[i];
		if (l->serves || l->seen.exited || !l->stepping || !p->has_gap)
			continue;
		uint64_t limit = MAX(lonely_least_ns, times(p->gap_ns, lonely_gaps));
		bool done = l->seen.progress.has_total && l->seen.progress.step >= l->seen.progress.total;
		if (!done && p->now_ns - l->step_ns > limit && p->now_ns - liveness_alive_ns(l) > lonely_least_ns &&
		    p->now_ns - p->step_ns < limit)
			return l;
	}
	return NULL;
}

/* Suspected in time for a framework that ends its ranks early: it says no more than that they are looked at. */
static uint64_t early_ns(const struct liveness_set *p, uint64_t usual_ns)
{
	return p->timeout_ns > 0 ? MIN(usual_ns, MAX(p->timeout_ns / timeout_part, timeout_least_ns)) : usual_ns;
}

uint64_t hang_missed_ns(const struct hang_settings *s, const struct liveness_set *p)
{
	return MAX(s->has_after ? s->after_ns : early_ns(p, step_least_ns), times(p->gap_ns, step_gaps));
}

static bool no_step_for(const struct liveness_set *p, uint64_t limit_ns, char *text, size_t cap)
{
	char stood[24], usual[24];
	uint64_t stands_ns = sub_floor(p->now_ns, p->step_ns);
	if (!p->progress_known || !p->has_gap || stands_ns < limit_ns)
		return false;
	text_format(text, cap, "no step for %s (usual: one in %s)", duration_format(stands_ns, stood),
		    duration_format((uint64_t)p->gap_ns, usual));
	return true;
}

/* Not missed yet, but on its way there: before a time-out of the framework's own may end the ranks. */
static void look_at_late(const struct hang_settings *s, const struct liveness_set *p, struct hang_step *ret)
{
	bool ended;
	ret->late = s->rule == HANG_RULE_EVIDENCE && live_ranks(p, &ended) > 0 &&
		    no_step_for(p, hang_missed_ns(s, p) / late_part, ret->text, sizeof(ret->text));
	if (ret->late)
		ret->since_ns = p->step_ns;
}

/* Of all ranks: has it moved since then? */
static bool sign_moved(const struct liveness_set *p, enum liveness_sign sign, uint64_t since_ns)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct liveness_trace *t = &p->rank[i].trace[sign];
		if (!p->rank[i].serves && t->known && t->ever_moved && t->moved_ns > since_ns)
			return true;
	}
	return false;
}

/* What does not count as life, but moved all the same. */
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
 * Where no steps are known: who has printed regularly prints no more, for much longer than ever. Something moves all the same,
 * so this asks for a look, and for no more. 0: not so.
 */
static uint64_t hushed_since(const struct hang_settings *s, const struct liveness_set *p, double *ret_usual_s)
{
	uint64_t last_ns = 0;
	double usual_s, missed_s, most_s = 0;
	if (s->rule != HANG_RULE_EVIDENCE || (p->progress_known && p->has_gap))
		return 0;
	for (size_t i = 0; i < p->n; i++)
		last_ns = p->rank[i].seen.exited ? last_ns : MAX(last_ns, p->rank[i].log.last_ns);
	if (p->now_ns - last_ns < CADENCE_LEAST_NS) /* as a rule, and then nothing has to be sorted */
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

/* By steps, and by whatever is life. */
static uint64_t stands_since(const struct hang_settings *s, const struct liveness_set *p, char *text, size_t cap)
{
	char stood[24];
	bool ended;
	size_t live = live_ranks(p, &ended);
	text_copy(text, cap, "");
	if (live == 0)
		return 0;
	if (no_step_for(p, hang_missed_ns(s, p), text, cap))
		return p->step_ns;
	uint64_t since = silent_since(p, live), limit = early_ns(p, ended ? silence_after_end_ns : silence_ns);
	if (s->has_after) /* who gives a time means it, be it short or long */
		limit = s->after_ns;
	if (p->now_ns - since >= limit) {
		text_format(text, cap, "%s moved for %s", what_moved(p, since),
			    duration_format(p->now_ns - since, stood));
		return since;
	}
	const struct liveness *l = hang_lonely(p);
	if (l && (!s->has_after || p->now_ns - l->step_ns >= s->after_ns)) {
		text_format(text, cap, "rank %d has made no step for %s, others have", l->rank,
			    duration_format(p->now_ns - l->step_ns, stood));
		return l->step_ns;
	}
	return 0;
}

uint64_t hang_hushed(const struct hang_settings *s, const struct liveness_set *p, double *ret_usual_s)
{
	char text[200];
	bool ended;
	*ret_usual_s = 0;
	return live_ranks(p, &ended) > 0 && stands_since(s, p, text, sizeof(text)) == 0 ? hushed_since(s, p, ret_usual_s) : 0;
}

uint64_t hang_since(const struct hang_settings *s, const struct liveness_set *p, char *text, size_t cap)
{
	char stood[24], usual[24];
	double usual_s;
	uint64_t since = stands_since(s, p, text, cap);
	if (since)
		return since;
	uint64_t hushed = hang_hushed(s, p, &usual_s);
	if (hushed)
		text_format(text, cap, "no line for %s (usual: one in %s), and no steps are known",
			    duration_format(p->now_ns - hushed, stood), duration_format((uint64_t)(usual_s * 1e9), usual));
	return hushed;
}

static void ask_shares(struct hang_history *m, const struct liveness_set *p, struct hang_step *ret)
{
	uint64_t twenty = times(p->step_time_ns, 20), length = MAX(share_least_ns, MIN(twenty, share_most_ns));
	ret->sample_gap_ns = length / share_samples;
	ret->samples = share_samples;
	m->shares_asked = true;
	m->asked_ns = p->now_ns;
	m->shares_steps = p->n_steps;
}

/* While all is well: is one rank slower than the others, or the job than it was? */
static void look_at_pace(struct hang_history *m, const struct hang_settings *s, const struct liveness_set *p,
			 struct hang_step *ret)
{
	struct hang_pace pace;
	bool ended, due = false;
	if (m->asked_ns)
		return;
	if (!s->no_straggler && p->has_ranks && live_ranks(p, &ended) > 1 && p->has_step_time &&
	    p->n_steps >= shares_first_steps)
		due = m->shares_ns == 0 || p->now_ns - m->shares_ns > shares_every_ns;
	bool slow = hang_slower(p, s->slowdown_ratio > 0 ? s->slowdown_ratio : HANG_SLOWDOWN_RATIO, &pace) &&
		    (m->slowdown_ns == 0 || p->now_ns - m->slowdown_ns > told_again_ns);
	if (!due && !slow)
		return;
	if (slow)
		ret->want |= HANG_WANT_BOOK;
	if (p->has_ranks && !s->no_straggler)
		ret->want |= HANG_WANT_SHARES;
	if (ret->want)
		ask_shares(m, p, ret);
}

/* It stood, and moves: at once if that is a step, else when it has gone on for a while. A flush is no recovery. */
static bool recovers(struct hang_history *m, const struct liveness_set *p)
{
	if (m->state != HANG_HUNG || p->step_ns > m->hung_step_ns)
		return true;
	if (m->moves_ns == 0)
		m->moves_ns = p->now_ns;
	return p->now_ns - m->moves_ns >= recover_ns;
}

static void moves(struct hang_history *m, struct hang_step *ret)
{
	ret->resolved = m->state == HANG_HUNG;
	m->moves_ns = 0;
	/* evidence that is under way is still to be told of */
	m->state = HANG_WELL;
	m->since_ns = 0;
	m->again_ns = 0;
	m->rounds = 0;
	m->text[0] = '\0';
	m->sleep_until_ns = m->sleep_ns = 0;
}

void hang_look(struct hang_history *m, const struct hang_settings *s, const struct liveness_set *p,
	       struct hang_step *ret)
{
	char text[sizeof(ret->text)];
	*ret = (struct hang_step){.state = HANG_WELL};
	uint64_t since = s->rule == HANG_RULE_IO_GPU ? hang_io_gpu(m, s, p, text, sizeof(text))
						     : hang_since(s, p, text, sizeof(text));
	ret->closely = s->rule == HANG_RULE_IO_GPU && m->util_ns != 0; /* the window in which their use is compared */
	if (since == 0 && !recovers(m, p)) {
		ret->state = HANG_HUNG;
		ret->since_ns = m->since_ns;
		TEXT_COPY(ret->text, m->text);
		return;
	}
	if (since == 0) {
		moves(m, ret);
		look_at_late(s, p, ret);
		look_at_pace(m, s, p, ret);
		return;
	}
	m->moves_ns = 0;
	m->since_ns = since;
	ret->since_ns = since;
	ret->state = m->state == HANG_WELL ? HANG_SUSPECT : m->state;
	TEXT_COPY(ret->text, m->state != HANG_WELL && m->text[0] ? m->text : text);
	if (m->state == HANG_HUNG || m->asked_ns || p->now_ns < m->again_ns)
		return;
	m->asked_ns = p->now_ns;
	m->shares_asked = false;
	if (m->state == HANG_WELL)
		m->state = HANG_SUSPECT;
	ret->want = HANG_WANT_STACKS | HANG_WANT_BOOK;
	if (p->has_ranks && p->n > 1)
		ret->want |= HANG_WANT_COLLECTIVE;
	ret->dumps = want_dumps;
	ret->gap_ns = want_gap_ns;
}

/* Later and later: what was found nothing wrong with is looked at less often. */
static uint64_t patience_ns(const struct hang_history *m)
{
	uint64_t wait = again_benign_ns << MIN(m->rounds, 5);
	return MIN(wait, again_most_ns);
}

static void told_pace(struct hang_history *m, const struct hang_verdict *v, const struct liveness_set *p)
{
	bool again = v->again_ns > 0 && !m->shares_again;
	m->shares_ns = again ? 0 : p->now_ns;
	m->shares_again = again;
	m->shares_asked = false;
	if (v->kind == HANG_SLOWDOWN) {
		m->slowdown_ns = p->now_ns;
		m->slowdown_steps = p->n_steps;
	} else if (v->kind == HANG_STRAGGLER) {
		m->straggler_ns = p->now_ns;
		m->straggler_rank = v->n_culprits > 0 ? v->culprits[0] : NO_RANK;
		if (v->ratio > 0)
			m->slowdown_ns = p->now_ns;
	}
}

void hang_slept(struct hang_history *m, uint64_t until_ns)
{
	if (until_ns == 0 || m->sleep_until_ns == 0 || until_ns <= m->sleep_until_ns)
		return;
	uint64_t apart = until_ns - m->sleep_until_ns;
	m->sleep_ns = m->sleep_ns ? MIN(m->sleep_ns, apart) : apart;
	m->sleep_until_ns = until_ns;
}

void hang_told(struct hang_history *m, const struct hang_verdict *v, const struct liveness_set *p)
{
	m->asked_ns = 0;
	if (m->shares_asked) {
		told_pace(m, v, p);
		return;
	}
	if (m->since_ns == 0) /* it moved meanwhile */
		return;
	TEXT_COPY(m->text, v->text);
	m->sleep_rank = v->sleep_rank;
	m->sleep_tid = v->sleep_tid;
	m->sleep_until_ns = v->sleep_until_ns;
	m->sleep_ns = v->sleep_ns;
	m->hung_step_ns = p->step_ns;
	uint64_t patience = patience_ns(m);
	m->again_ns = p->now_ns + (v->again_ns ? MIN(v->again_ns, patience) : patience);
	m->state = v->kind == HANG_HANG ? HANG_HUNG : v->benign ? HANG_BENIGN : HANG_SUSPECT;
	if (v->again_ns == 0 || v->again_ns > patience)
		m->rounds++;
}
