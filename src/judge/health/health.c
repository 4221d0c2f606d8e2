#include "judge/health/health.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "base/units.h"

static void trouble_tell(const struct health_facts *f, enum health_level level, struct health *h)
{
	h->level = level;
	TEXT_COPY(h->sentence, f->trouble.summary);
	TEXT_COPY(h->why, f->trouble.why);
	TEXT_COPY(h->incident, f->trouble.id);
	h->since_unix_ms = f->trouble.time_unix_ms;
	memcpy(h->culprit, f->trouble.culprit, sizeof(h->culprit));
	h->n_culprits = f->trouble.n_culprits;
	memcpy(h->advice, f->trouble.advice, sizeof(h->advice));
	h->n_advice = f->trouble.n_advice;
	memcpy(h->evidence, f->trouble.evidence, sizeof(h->evidence));
	h->n_evidence = f->trouble.n_evidence;
}

/* A job stands longer than it did when that was judged. Told in tens of seconds, so that it is not new each second. */
static void standing_until(const struct health_facts *f, int64_t until_unix_ms, struct health *h)
{
	static const char says[] = "standing still for ";
	char then[24], now[24];
	uint64_t since_ms = (uint64_t)MAX(until_unix_ms - f->trouble.time_unix_ms, (int64_t)0);
	uint64_t stands_ms = add_cap(f->trouble.stood_ms, since_ms - since_ms % 10000);
	const char *at = strstr(f->trouble.summary, says);
	struct buf b = BUF_ON(h->sentence);
	if (f->trouble.stood_ms == 0 || h->since_unix_ms < 0 || f->trouble.stood_ms > (uint64_t)h->since_unix_ms)
		return;
	h->since_unix_ms -= (int64_t)f->trouble.stood_ms;
	size_t head = at ? (size_t)(at - f->trouble.summary) + strlen(says) : 0;
	(void)duration_format(f->trouble.stood_ms * NS_PER_MS, then);
	if (!at || !span_starts(span_of(at + strlen(says)), then))
		return;
	buf_printf(&b, "%.*s%s%s", (int)head, f->trouble.summary, duration_format(stands_ms * NS_PER_MS, now),
		   at + strlen(says) + strlen(then));
}

/* What was said of a job that stood is over: "has been standing still for 5 m." */
static void stood_tell(const struct health_facts *f, struct health *h)
{
	static const char says[] = "has been standing still";
	char text[sizeof(h->sentence)];
	TEXT_COPY(text, h->sentence);
	const char *at = strstr(text, says);
	size_t len = strlen(text);
	if (!at || text[len - 1] != '.')
		return;
	text[len - 1] = '\0';
	struct buf b = BUF_ON(h->sentence);
	buf_printf(&b, "%.*shad%s, when ", (int)(at - text), text, at + strlen("has"));
	if (f->trouble.ended_by[0])
		buf_printf(&b, "vigil ended it (%s).", f->trouble.ended_by);
	else
		buf_add(&b, "it ended.");
}

static void ended_tell(const struct health_facts *f, struct health *h)
{
	const struct job *j = f->job;
	bool well = j->state == JOB_DONE;
	if (f->trouble.summary[0] && f->trouble.kind != INCIDENT_CLEAN_EXIT &&
	    !(well && f->trouble.attempt < j->attempt)) {
		trouble_tell(f, well ? HEALTH_ENDED : HEALTH_DIED, h);
		h->stopped = j->state == JOB_FAILED && f->trouble.asked;
		if (f->trouble.kind == INCIDENT_HANG && !f->trouble.resolved && f->trouble.attempt == j->attempt &&
		    j->ended_unix_ms > 0) {
			standing_until(f, j->ended_unix_ms, h);
			stood_tell(f, h);
		}
		if (well && (f->trouble.kind == INCIDENT_SLOWDOWN || f->trouble.kind == INCIDENT_STRAGGLER))
			TEXT_FORMAT(h->sentence, "ended as it should, after %s; it was slow on the way", f->ran);
	} else if (well)
		TEXT_FORMAT(h->sentence, "ended as it should, after %s", f->ran);
	else if (j->has_exit)
		TEXT_FORMAT(h->sentence, "ended with exit status %d, after %s", j->exit_status, f->ran);
	else
		TEXT_FORMAT(h->sentence, "failed, after %s", f->ran);
	h->level = j->state == JOB_LOST ? HEALTH_LOST : well ? HEALTH_ENDED : HEALTH_DIED;
	h->since_unix_ms = j->ended_unix_ms > 0 ? j->ended_unix_ms : h->since_unix_ms;
}

static bool is_slow(const struct health_facts *f)
{
	bool kind = f->trouble.kind == INCIDENT_STRAGGLER || f->trouble.kind == INCIDENT_SLOWDOWN;
	return kind && !f->trouble.resolved && f->trouble.attempt == f->job->attempt &&
	       (f->trouble.lasts || f->now_unix_ms - f->trouble.time_unix_ms < HEALTH_SLOW_MS);
}

/* Adds to the steps whether their rate is usual: "step 812 of 5000, 1.9/s, as usual, 36 m left". */
static void steps_add(const struct health_facts *f, struct buf *b)
{
	const char *rate = strstr(f->steps, "/s");
	const double chance = 1000.0 / (double)STEPPACE_NOW_MS;
	char usual[24];
	int head = rate ? (int)(rate + strlen("/s") - f->steps) : 0;
	if (!rate || !f->has_rate || f->usual_per_s <= 0) {
		buf_add(b, f->steps);
		return;
	}
	buf_printf(b, "%.*s", head, f->steps);
	if (f->per_s + chance < HEALTH_SLOWER * f->usual_per_s)
		buf_printf(b, ", slower than usual (%s)", rate_format(f->usual_per_s, usual));
	else if (f->per_s - chance > HEALTH_FASTER * f->usual_per_s)
		buf_printf(b, ", faster than usual (%s)", rate_format(f->usual_per_s, usual));
	else
		buf_add(b, ", as usual");
	buf_add(b, f->steps + head);
}

/* "has run for 3 m 10 s"; a later attempt is told with its own time. */
static void ran_add(const struct health_facts *f, struct buf *b)
{
	char time[24];
	if (f->attempt_unix_ms <= 0) {
		buf_printf(b, "has run for %s", f->ran);
		return;
	}
	uint64_t ran_ms = (uint64_t)MAX(f->now_unix_ms - f->attempt_unix_ms, (int64_t)0);
	buf_printf(b, "attempt %u has run for %s", f->job->attempt, duration_format(ran_ms * NS_PER_MS, time));
}

static void steps_tell(const struct health_facts *f, struct health *h)
{
	char time[24];
	struct buf b = BUF_ON(h->sentence);
	int64_t age_ms = f->now_unix_ms - f->steps_unix_ms;
	double usual_ms = f->has_rate && f->per_s > 0 ? 100 * 1000.0 / f->per_s : 0;
	h->level = HEALTH_QUIET;
	if (!f->steps[0]) {
		ran_add(f, &b); /* of a later attempt, the one before may have printed steps */
		buf_add(&b, f->attempt_unix_ms > 0 ? " and has printed no step so far"
						   : " and prints no steps that vigil knows");
	} else if (age_ms > HEALTH_QUIET_MS && (double)age_ms > usual_ms) {
		TEXT_FORMAT(h->sentence, "%s; none since %s", f->steps,
			    duration_format((uint64_t)age_ms * NS_PER_MS, time));
	} else {
		h->level = HEALTH_WELL;
		steps_add(f, &b);
	}
}

/* What an event of this time said still holds: no step came since, and it was not long ago. */
static bool is_fresh(const struct health_facts *f, int64_t said_unix_ms)
{
	return said_unix_ms > f->steps_unix_ms && f->now_unix_ms - said_unix_ms < HEALTH_SUSPICION_MS;
}

/* That it moves again is told by steps only: so what was seen is told, not what is. */
static void standing_tell(const struct health_facts *f, struct health *h)
{
	struct buf b = BUF_ON(h->sentence);
	h->level = HEALTH_QUIET;
	h->since_unix_ms = f->standing_unix_ms;
	if (f->steps[0])
		buf_printf(&b, "%s", f->steps);
	else
		ran_add(f, &b);
	buf_printf(&b, "; seen to stand still, which is expected (%s)", f->standing);
}

static void running_tell(const struct health_facts *f, struct health *h)
{
	if (f->job->state == JOB_WAITING) {
		trouble_tell(f, HEALTH_DIED, h);
		TEXT_FORMAT(h->sentence, "waits for attempt %u%s%s", f->job->attempt + 1,
			    f->trouble.summary[0] ? ": " : "", f->trouble.summary);
		if (f->retry_unix_ms > 0 && f->trouble.retry_ms < HEALTH_RETRY_MOST_MS)
			h->next_unix_ms = f->retry_unix_ms + (int64_t)f->trouble.retry_ms;
	} else if (f->trouble.kind == INCIDENT_HANG && !f->trouble.resolved && f->trouble.attempt == f->job->attempt) {
		trouble_tell(f, HEALTH_HUNG, h);
		standing_until(f, f->now_unix_ms, h);
	} else if (f->warning_unix_ms > 0 && f->now_unix_ms - f->warning_unix_ms < HEALTH_WARNING_MS) {
		h->level = HEALTH_MEMORY;
		TEXT_COPY(h->sentence, f->warning);
		h->since_unix_ms = f->warning_unix_ms;
	} else if (is_fresh(f, f->suspicion_unix_ms)) {
		h->level = HEALTH_SUSPECTED;
		TEXT_COPY(h->sentence, f->suspicion);
		h->since_unix_ms = f->suspicion_unix_ms;
	} else if (is_slow(f)) {
		trouble_tell(f, HEALTH_SLOW, h);
		h->nobody_waits = f->trouble.lasts;
	} else if (is_fresh(f, f->standing_unix_ms)) {
		standing_tell(f, h);
	} else {
		steps_tell(f, h);
		h->since_unix_ms = f->attempt_unix_ms > 0 ? f->attempt_unix_ms : f->job->started_unix_ms;
	}
}

void health_judge(const struct health_facts *f, struct health *ret)
{
	*ret = (struct health){.level = HEALTH_UNKNOWN};
	if (job_is_open(f->job))
		running_tell(f, ret);
	else
		ended_tell(f, ret);
}

void health_event(struct health_facts *f, const struct job_event *e)
{
	if (strcmp(e->kind, "attempt_start") == 0) {
		f->attempt_unix_ms = e->time_unix_ms;
		f->retry_unix_ms = 0;
	}
	if (strcmp(e->kind, "retry") == 0)
		f->retry_unix_ms = e->time_unix_ms;
	if (strcmp(e->kind, "attempt_start") == 0 || strcmp(e->kind, "hang_resolved") == 0)
		f->suspicion_unix_ms = f->standing_unix_ms = f->warning_unix_ms = 0;
	if (strcmp(e->kind, "suspected") == 0) {
		f->suspicion_unix_ms = e->time_unix_ms;
		f->standing_unix_ms = 0;
		TEXT_COPY(f->suspicion, e->text);
	}
	if (strcmp(e->kind, "standstill") == 0) {
		f->standing_unix_ms = e->time_unix_ms;
		f->suspicion_unix_ms = 0;
		TEXT_COPY(f->standing, e->text);
	}
	if (strcmp(e->kind, "memory_warning") == 0) {
		f->warning_unix_ms = e->time_unix_ms;
		TEXT_COPY(f->warning, e->text);
	}
}

bool health_lasts(const char *cause)
{
	return strcmp(cause, "slow_rank") == 0;
}

void health_trouble(struct health_facts *f, const struct incident *in)
{
	memset(&f->trouble, 0, sizeof(f->trouble));
	f->trouble.kind = in->kind;
	TEXT_COPY(f->trouble.id, in->id);
	TEXT_COPY(f->trouble.summary, in->summary);
	TEXT_COPY(f->trouble.why, in->cause.text);
	f->trouble.time_unix_ms = in->time_unix_ms;
	f->trouble.attempt = in->attempt;
	f->trouble.resolved = in->hang_over;
	f->trouble.lasts = health_lasts(in->cause.id);
	f->trouble.asked = in->kind == INCIDENT_KILLED_BY && incident_asked(in->cause.id);
	f->trouble.retry_ms = in->retry.delay_ms;
	f->trouble.stood_ms = in->stood_ms;
	if (in->kind == INCIDENT_HANG && in->killer == KILLER_VIGIL)
		TEXT_COPY(f->trouble.ended_by, in->killer_text);
	for (size_t i = 0; i < MIN(in->cause.n_advice, (size_t)HEALTH_ADVICE); i++)
		TEXT_COPY(f->trouble.advice[f->trouble.n_advice++], in->cause.advice[i]);
	for (size_t i = 0; i < MIN(in->n_evidence, (size_t)HEALTH_EVIDENCE); i++)
		TEXT_COPY(f->trouble.evidence[f->trouble.n_evidence++], in->evidence[i].text);
	f->trouble.n_culprits = MIN(in->n_culprits, ARRAY_SIZE(f->trouble.culprit));
	memcpy(f->trouble.culprit, in->culprit_ranks, f->trouble.n_culprits * sizeof(f->trouble.culprit[0]));
}
