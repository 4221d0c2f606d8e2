#include <string.h>

#include "base/units.h"
#include "judge/hang/hang_parts.h"
#include "judge/pace/hang_own_pace.h"
#include "model/hang/steptrend.h"

/* A step is late after this part of the time after which it is missed. */
static const uint64_t late_part = 2;
static const uint32_t want_dumps = 3;
static const uint64_t want_gap_ns = 2 * NS_PER_S;
/* Gathering takes so long: where a verdict is due soon, it begins that much earlier. */
static const uint64_t gather_ns = (3 - 1) * 2 * NS_PER_S, soon_ns = 45 * NS_PER_S;
/* Pause between two rounds of evidence at the least. */
static const uint64_t again_least_ns = NS_PER_S;

/* A job recovers after moving for this long, which is longer than a silence needs to be noticed. */
static const uint64_t recover_ns = 40 * NS_PER_S;
static const uint64_t again_benign_ns = 30 * NS_PER_S, again_most_ns = 10 * 60 * NS_PER_S;
/* Stragglers are sampled for once steps run, and then every 10 minutes. */
static const uint64_t shares_first_steps = 10, shares_every_ns = 10 * 60 * NS_PER_S;
/* Sooner where steps have become longer lately; each such round takes twice as long to come as the one before. */
static const uint64_t shares_early_ns = 20 * NS_PER_S;
#define SHARES_DOUBLINGS 5
/* Pause before a rank that seems slow by its own steps is looked at again; it doubles where that was its own work. */
static const uint64_t own_again_ns = 10 * NS_PER_S;
#define OWN_DOUBLINGS 6
static const uint32_t share_samples = 250;
static const uint64_t share_least_ns = 5 * NS_PER_S, share_most_ns = 20 * NS_PER_S;
static const uint64_t report_again_ns = 30 * 60 * NS_PER_S;

/* A step is late, but not missed yet: its stacks are taken before a time-out of the framework may end the ranks. */
static void check_late(const struct hang_settings *s, const struct liveness_set *p, struct hang_step *ret)
{
	bool ended;
	ret->late = s->rule == HANG_RULE_EVIDENCE && hang_live_ranks(p, &ended) > 0 &&
		    hang_no_step_for(p, hang_missed_ns(s, p) / late_part, ret->text, sizeof(ret->text));
	if (ret->late)
		ret->since_ns = p->step_ns;
}

static void ask_shares(struct hang_history *m, const struct liveness_set *p, struct hang_step *ret)
{
	uint64_t twenty = hang_gap_times(p->step_time_ns, 20), length = MAX(share_least_ns, MIN(twenty, share_most_ns));
	ret->sample_gap_ns = length / share_samples;
	ret->samples = share_samples;
	m->shares_asked = true;
	m->asked_ns = p->now_ns;
	m->shares_steps = p->n_steps;
}

static bool shares_early(struct hang_history *m, const struct liveness_set *p)
{
	uint64_t least_ns = shares_early_ns << MIN(m->shares_early, (uint32_t)SHARES_DOUBLINGS);
	if (p->now_ns - m->shares_ns < least_ns || !steptrend_slower_lately(p, &m->shares_slower))
		return false;
	m->shares_early++;
	return true;
}

/* Without a standstill: asks for samples when one rank may be slower than the others, or the job slower than before. */
static void check_pace(struct hang_history *m, const struct hang_settings *s, const struct liveness_set *p,
		       struct hang_step *ret)
{
	struct steptrend pace;
	bool ended, due = false, early = false;
	if (m->asked_ns)
		return;
	m->shares_slower = 0;
	bool steps = !s->no_straggler && p->has_step_time && p->n_steps >= shares_first_steps;
	if (steps && !p->has_ranks) /* once, for what a slowdown is compared with */
		due = m->shares_ns == 0;
	else if (steps && hang_live_ranks(p, &ended) > 1)
		due = m->shares_ns == 0 || p->now_ns - m->shares_ns > shares_every_ns;
	early = steps && !due && p->has_ranks && hang_live_ranks(p, &ended) > 1 && shares_early(m, p);
	bool alone = steps && m->slow_usual_per_s <= 0 && hang_own_pace_slow(p);
	if (!alone)
		m->own_rounds = 0;
	alone = alone && p->now_ns - m->shares_ns >= own_again_ns << m->own_rounds;
	bool slow = (m->slowdown_ns == 0 || p->now_ns - m->slowdown_ns > report_again_ns) &&
		    steptrend_slower(p, s->slowdown_ratio > 0 ? s->slowdown_ratio : HANG_SLOWDOWN_RATIO, &pace) &&
		    !hang_own_pace_alone(p);
	m->shares_calm = due && !slow && !alone;
	if (!due && !early && !slow && !alone)
		return;
	if (slow)
		ret->want |= HANG_WANT_BOOK;
	if (!s->no_straggler)
		ret->want |= HANG_WANT_SHARES;
	if (ret->want)
		ask_shares(m, p, ret);
}

/* A job that stood still recovers at once by a step, else when it has moved for a while: a flush is no recovery. */
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
	/* Evidence that is being gathered still has to be reported. */
	m->state = HANG_OK;
	m->since_ns = 0;
	m->again_ns = 0;
	m->rounds = 0;
	m->text[0] = '\0';
	m->sleep_until_ns = m->sleep_ns = m->limit_until_ns = 0;
	m->n_armed = 0;
}

void hang_check(struct hang_history *m, const struct hang_settings *s, const struct liveness_set *p,
		struct hang_step *ret)
{
	char text[sizeof(ret->text)];
	*ret = (struct hang_step){.state = HANG_OK};
	uint64_t since = s->rule == HANG_RULE_IO_GPU ? hang_io_gpu(m, s, p, text, sizeof(text))
						     : hang_since(s, p, text, sizeof(text));
	/* the window in which the use of the devices is compared */
	ret->closely = s->rule == HANG_RULE_IO_GPU && m->util_ns != 0;
	if (since == 0 && !recovers(m, p)) {
		ret->state = HANG_HUNG;
		ret->since_ns = m->since_ns;
		TEXT_COPY(ret->text, m->text);
		return;
	}
	if (since == 0) {
		moves(m, ret);
		check_late(s, p, ret);
		ret->fast_again = hang_own_pace_over(m, p, ret->text, sizeof(ret->text));
		check_pace(m, s, p, ret);
		return;
	}
	m->moves_ns = 0;
	m->since_ns = since;
	ret->since_ns = since;
	ret->state = m->state == HANG_OK ? HANG_SUSPECT : m->state;
	ret->unsaid = ret->state == HANG_SUSPECT && s->rule == HANG_RULE_EVIDENCE &&
		      (hang_ray_still(s, p) > 0 || hang_only_made_anew(s, p));
	TEXT_COPY(ret->text, m->state != HANG_OK && m->text[0] ? m->text : text);
	bool final = m->state == HANG_HUNG && (m->proved || s->rule == HANG_RULE_IO_GPU);
	if (final || m->asked_ns || p->now_ns < m->again_ns)
		return;
	m->asked_ns = p->now_ns;
	m->shares_asked = false;
	if (m->state == HANG_OK)
		m->state = HANG_SUSPECT;
	ret->want = HANG_WANT_STACKS | HANG_WANT_BOOK;
	if (p->has_ranks && p->n > 1)
		ret->want |= HANG_WANT_COLLECTIVE;
	ret->dumps = want_dumps;
	ret->gap_ns = want_gap_ns;
}

/* The time until the next check grows with each check that found nothing wrong. */
static uint64_t patience_ns(const struct hang_history *m)
{
	uint64_t wait = again_benign_ns << MIN(m->rounds, 5);
	return MIN(wait, again_most_ns);
}

static void pace_kept(struct hang_history *m, const struct hang_verdict *v, const struct liveness_set *p)
{
	bool again = v->again_ns > 0 && !m->shares_again;
	m->shares_ns = again ? 0 : p->now_ns;
	m->shares_again = again;
	m->shares_asked = false;
	if (v->kind == HANG_NONE && v->spent.valid && m->shares_calm)
		m->spent = v->spent;
	if (v->own_work)
		m->own_rounds = MIN(m->own_rounds + 1, OWN_DOUBLINGS);
	if (v->kind == HANG_SLOWDOWN) {
		m->slowdown_ns = p->now_ns;
		m->slowdown_steps = p->n_steps;
	} else if (v->kind == HANG_STRAGGLER && v->usual_per_s > 0) {
		m->slow_rank = v->culprits[0];
		m->slow_usual_per_s = v->usual_per_s;
		m->slowdown_ns = p->now_ns;
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

void hang_keep_verdict(struct hang_history *m, const struct hang_verdict *v, const struct liveness_set *p)
{
	m->asked_ns = 0;
	if (m->shares_asked) {
		pace_kept(m, v, p);
		return;
	}
	if (m->since_ns == 0) /* it moved meanwhile */
		return;
	m->sleep_rank = v->sleep_rank;
	m->sleep_tid = v->sleep_tid;
	m->sleep_until_ns = v->sleep_until_ns;
	m->sleep_ns = v->sleep_ns;
	m->limit_until_ns = v->limit_until_ns;
	m->n_armed = v->n_armed;
	memcpy(m->armed, v->armed, sizeof(m->armed));
	uint64_t patience = patience_ns(m);
	if (m->state == HANG_HUNG && (v->kind != HANG_HANG || v->known_already)) {
		m->again_ns = p->now_ns + patience;
		m->rounds++;
		return;
	}
	TEXT_COPY(m->text, v->text);
	m->proved = v->proved;
	m->confidence = v->confidence;
	m->hung_step_ns = p->step_ns;
	uint64_t due = v->again_ns ? MIN(v->again_ns, patience) : patience;
	if (v->again_ns && due <= soon_ns)
		due = MAX(sub_floor(due, gather_ns), again_least_ns);
	m->again_ns = p->now_ns + due;
	m->state = v->kind == HANG_HANG ? HANG_HUNG : v->benign ? HANG_BENIGN : HANG_SUSPECT;
	if (v->again_ns == 0 || v->again_ns > patience)
		m->rounds++;
}
