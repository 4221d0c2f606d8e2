#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "agent/incident/ending.h"
#include "agent/incident/story.h"
#include "agent/jobs/jobran.h"
#include "agent/jobs/past.h"
#include "agent/web/web.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/jsonpart.h"
#include "judge/health/health.h"
#include "tell/incident/report.h"
#include "tell/jobs/health_json.h"
#include "tell/jobs/job_json.h"

/* What was gathered of a job is kept, because to gather it takes parsing its reports: of so many jobs. */
#define KEPT 256
/* Of a job that runs it is gathered anew after this time. */
#define FRESH_NS (900 * NS_PER_MS)

struct kept {
	char job[64];
	/* what it was gathered from */
	enum job_state state;
	uint32_t attempt, deaths;
	char last_incident[64];
	uint64_t turn, events_seq, gathered_ns, used;
	struct health_facts facts; /* .job is of no use here */
	struct steppace pace;
	struct js *steps; /* {"steps", "steps_unix_ms"}; NULL: none */
};

struct webhealths {
	struct kept of[KEPT];
	uint64_t used;
};

static struct kept *kept_find(struct web *w, const char *job)
{
	if (!w->healths && !(w->healths = calloc(1, sizeof(*w->healths))))
		return NULL;
	struct webhealths *h = w->healths;
	struct kept *oldest = &h->of[0];
	for (size_t i = 0; i < KEPT; i++) {
		if (strcmp(h->of[i].job, job) == 0) {
			h->of[i].used = ++h->used;
			return &h->of[i];
		}
		oldest = h->of[i].used < oldest->used ? &h->of[i] : oldest;
	}
	js_free(oldest->steps);
	*oldest = (struct kept){.used = ++h->used};
	TEXT_COPY(oldest->job, job);
	return oldest;
}

void web_healths_free(struct web *w)
{
	for (size_t i = 0; w->healths && i < KEPT; i++)
		js_free(w->healths->of[i].steps);
	free(w->healths);
	w->healths = NULL;
}

/* ---- facts ---- */

static void list_take(const struct js *list, char *dst, size_t each, size_t most, size_t *n)
{
	for (size_t i = 0; i < js_len(list) && *n < most; i++) {
		const struct js *one = js_at(list, i);
		const char *text = js_as_text(one, js_get_text(one, "text", ""));
		if (text[0])
			text_copy(dst + each * (*n)++, each, text);
	}
}

static void trouble_take(const struct js *j, struct health_facts *f)
{
	const struct js *cause = js_get(j, "cause"), *culprits = js_get(j, "culprit_ranks");
	f->trouble.kind = incident_kind_of(js_get_text(j, "kind", ""));
	TEXT_COPY(f->trouble.id, js_get_text(j, "id", ""));
	TEXT_COPY(f->trouble.summary, js_get_text(j, "summary", ""));
	TEXT_COPY(f->trouble.why, js_get_text(cause, "text", ""));
	f->trouble.time_unix_ms = js_get_i64(j, "time_unix_ms", 0);
	f->trouble.attempt = (uint32_t)MAX(js_get_i64(j, "attempt", 0), (int64_t)0);
	f->trouble.resolved = js_get_bool(js_get(j, "hang"), "resolved", false);
	if (f->trouble.kind == INCIDENT_HANG && killer_of(js_get_text(j, "killer", "")) == KILLER_VIGIL)
		TEXT_COPY(f->trouble.ended_by, js_get_text(j, "killer_text", ""));
	f->trouble.lasts = health_lasts(js_get_text(cause, "id", ""));
	f->trouble.asked = f->trouble.kind == INCIDENT_KILLED_BY && incident_asked(js_get_text(cause, "id", ""));
	f->trouble.stood_ms = (uint64_t)MAX(js_get_i64(js_get(j, "hang"), "standstill_ms", 0), (int64_t)0);
	f->trouble.retry_ms = (uint64_t)MAX(js_get_i64(js_get(j, "retry"), "delay_ms", 0), (int64_t)0);
	list_take(js_get(cause, "advice"), f->trouble.advice[0], sizeof(f->trouble.advice[0]), HEALTH_ADVICE,
		  &f->trouble.n_advice);
	list_take(js_get(j, "evidence"), f->trouble.evidence[0], sizeof(f->trouble.evidence[0]), HEALTH_EVIDENCE,
		  &f->trouble.n_evidence);
	for (size_t i = 0; i < js_len(culprits) && i < INCIDENT_CULPRITS; i++)
		f->trouble.culprit[f->trouble.n_culprits++] = (int32_t)js_as_i64(js_at(culprits, i), -1);
}

static int trouble_gather(struct store *s, const struct job *j, struct health_facts *f)
{
	/* of trouble_take; of hundreds of lines of evidence it shows a few */
	static const struct jsonpart parts[] = {{"kind", 0},
						{"id", 0},
						{"summary", 0},
						{"time_unix_ms", 0},
						{"attempt", 0},
						{"culprit_ranks", 0},
						{"cause", 0},
						{"hang", 0},
						{"retry", 0},
						{"killer", 0},
						{"killer_text", 0},
						{"evidence", 4 * HEALTH_EVIDENCE}};
	static struct incident made; /* too large for the stack */
	cleanup(job_story_done) struct job_story story = {.json = NULL};
	cleanup(js_freep) struct js *lead = NULL;
	memset(&f->trouble, 0, sizeof(f->trouble));
	int r = job_story_read(s, j, &story);
	if (r < 0)
		return r;
	if (job_story_leads(j, &story)) {
		if (jsonpart_parse(story.json, strlen(story.json), parts, ARRAY_SIZE(parts), &lead) < 0)
			return 0; /* 'vigil why' reports the damage */
	} else if (job_ending(j, &made)) {
		lead = report_json(&made);
	}
	if (lead)
		trouble_take(lead, f);
	return 0;
}

static int health_event_take(void *ctx, const struct job_event *e)
{
	struct kept *k = ctx;
	k->events_seq = e->seq;
	health_event(&k->facts, e);
	return 0;
}

/* What was there before this server, or while nobody looked at the page, is read from the series. */
static double usual_of(const struct job *j, const struct job_steps *s, struct steppace *p)
{
	if (!job_is_open(j))
		return 0;
	if (p->n == 0 || p->attempt != j->attempt || s->time_unix_ms - p->last_ms > STEPPACE_NOW_MS)
		past_pace_tail(j, p);
	steppace_take(p, j->attempt, s->time_unix_ms, job_steps_low(s)->step);
	return steppace_usual(p);
}

static void steps_gather(const struct job *j, struct kept *k)
{
	static struct job_steps s; /* large */
	struct health_facts *f = &k->facts;
	past_steps_tail(j, &s);
	f->steps[0] = '\0';
	f->steps_unix_ms = 0;
	f->has_rate = false;
	js_free(k->steps);
	k->steps = NULL;
	if (s.n == 0)
		return;
	past_steps_text(j, &s, f->steps, sizeof(f->steps));
	f->steps_unix_ms = s.time_unix_ms;
	const struct job_step *low = job_steps_low(&s);
	f->has_rate = low->has_rate;
	f->per_s = low->per_s;
	f->usual_per_s = usual_of(j, &s, &k->pace);
	k->steps = js_object();
	past_steps_put(k->steps, &s);
}

static bool is_the_same(const struct kept *k, const struct web *w, const struct job *j)
{
	return k->gathered_ns > 0 && k->turn == w->store_turn && k->state == j->state && k->attempt == j->attempt &&
	       k->deaths == j->memory_kills + j->other_deaths && strcmp(k->last_incident, j->last_incident) == 0;
}

static void kept_note(struct kept *k, const struct web *w, const struct job *j, uint64_t now_ns)
{
	k->turn = w->store_turn;
	k->state = j->state;
	k->attempt = j->attempt;
	k->deaths = j->memory_kills + j->other_deaths;
	TEXT_COPY(k->last_incident, j->last_incident);
	k->gathered_ns = now_ns;
}

/* Reads what can have changed. A store that fails now leaves what was known. */
static void kept_gather(struct web *w, const struct job *j, struct kept *k)
{
	uint64_t now_ns = clock_mono_ns();
	bool same = is_the_same(k, w, j);
	if (same && (!job_is_open(j) || now_ns - k->gathered_ns < FRESH_NS))
		return;
	if (k->turn != w->store_turn) {
		k->events_seq = 0;
		k->facts = (struct health_facts){.job = NULL};
	}
	uint64_t seen = k->events_seq;
	if (w->store)
		ignore(store_each_event(w->store, j->id, k->events_seq, health_event_take, k), "told later");
	/* a report that is stored or resolved comes with an event */
	if (w->store && (!same || seen != k->events_seq))
		ignore(trouble_gather(w->store, j, &k->facts), "told later");
	steps_gather(j, k);
	kept_note(k, w, j, now_ns);
}

static int js_put_copy(void *ctx, const char *key, const struct js *value)
{
	js_put(ctx, key, js_copy(value));
	return 0;
}

struct js *web_health_json(struct web *w, const struct job *j)
{
	static struct health h; /* large */
	struct kept *k = kept_find(w, j->id);
	if (!k)
		return js_object();
	kept_gather(w, j, k);
	struct health_facts *f = &k->facts;
	f->job = j;
	f->now_unix_ms = clock_unix_ms();
	(void)job_ran(j, f->now_unix_ms, f->ran);
	health_judge(f, &h);
	f->job = NULL;
	return health_json(&h);
}

size_t web_health_culprits(struct web *w, const struct job *j, int32_t *dst)
{
	struct kept *k = kept_find(w, j->id);
	if (!k)
		return 0;
	kept_gather(w, j, k);
	/* of a running job only what lasts: who failed in the attempt before is none */
	if (job_is_open(j) && (k->facts.trouble.attempt != j->attempt || k->facts.trouble.resolved))
		return 0;
	memcpy(dst, k->facts.trouble.culprit, sizeof(k->facts.trouble.culprit));
	return k->facts.trouble.n_culprits;
}

struct js *web_job_json(struct web *w, const struct job *j)
{
	struct js *o = job_json(j);
	struct js *health = web_health_json(w, j);
	if (js_get_bool(health, "stopped", false))
		js_put_bool(o, "stopped", true);
	js_put(o, "health", health);
	const struct kept *k = kept_find(w, j->id);
	if (k && k->steps)
		(void)js_each(k->steps, js_put_copy, o);
	return o;
}
