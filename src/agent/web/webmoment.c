#include <string.h>

#include "agent/jobs/past.h"
#include "agent/web/web.h"
#include "base/buf.h"
#include "sense/rank.h"
#include "tell/jobs/bulklife.h"
#include "tell/jobs/job_json.h"
#include "tell/store/series.h"

/* Events so long before and after are told. */
#define AROUND_MS (INT64_C(5) * 60 * 1000)
#define EVENTS_MOST 200
/* Attempts whose last event is known; of a job with more, that of the latest ones. */
#define ATTEMPTS_MOST 64

struct moment {
	int64_t at_unix_ms;
	struct js *processes, *events;
	/* the report with stacks that lies nearest */
	char incident[64];
	int64_t distance_ms;
	const struct job *job;
	int64_t last_ms[ATTEMPTS_MOST]; /* by attempt, modulo: of its events */
	struct js *hang; /* that stood then; NULL: none */
	int64_t hang_since_ms;
};

static int moment_process(void *ctx, const struct job_process *p)
{
	struct moment *m = ctx;
	bool began = p->started_unix_ms <= m->at_unix_ms;
	bool gone = p->ended_unix_ms > 0 && p->ended_unix_ms < m->at_unix_ms;
	if (!began || (gone && p->rank == NO_RANK))
		return 0;
	struct js *o = js_object();
	js_put_i64(o, "pid", p->pid);
	if (p->rank != NO_RANK)
		js_put_i64(o, "rank", p->rank);
	js_put_text_if(o, "role", p->role);
	js_put_text_if(o, "name", p->name);
	js_put_u64(o, "attempt", p->attempt);
	js_put_text(o, "state", gone ? "ended" : "running");
	js_add(m->processes, o);
	return 0;
}

static int moment_event(void *ctx, const struct job_event *e)
{
	struct moment *m = ctx;
	m->last_ms[e->attempt % ATTEMPTS_MOST] = e->time_unix_ms;
	if (e->time_unix_ms < m->at_unix_ms - AROUND_MS || e->time_unix_ms > m->at_unix_ms + AROUND_MS ||
	    js_len(m->events) == EVENTS_MOST)
		return 0;
	struct js *o = event_json(e);
	js_put_text(o, "severity", event_severity(e));
	js_add(m->events, o);
	return 0;
}

/* When a hang was over: it moved again, or its attempt ended; INT64_MAX: not yet. */
static int64_t hang_until(const struct moment *m, const struct js *report)
{
	const struct js *hang = js_get(report, "hang");
	const uint32_t attempt = (uint32_t)js_get_i64(report, "attempt", 0);
	if (js_get_bool(hang, "resolved", false))
		return js_get_i64(hang, "resolved_unix_ms", 0);
	if (attempt < m->job->attempt)
		return m->last_ms[attempt % ATTEMPTS_MOST];
	return m->job->ended_unix_ms > 0 ? m->job->ended_unix_ms : INT64_MAX;
}

/* Keeps the last hang that stood at that moment, from its beginning on, which was told later. */
static void moment_hang(struct moment *m, const char *id, const struct js *report)
{
	const char *kind = js_get_text(report, "kind", "");
	const int64_t stood_ms = js_get_i64(js_get(report, "hang"), "standstill_ms", 0);
	const int64_t since_ms = js_get_i64(report, "time_unix_ms", 0) - stood_ms, until_ms = hang_until(m, report);
	if (strcmp(kind, "hang") != 0 || since_ms > m->at_unix_ms || until_ms < m->at_unix_ms ||
	    (m->hang && since_ms < m->hang_since_ms))
		return;
	js_freep(&m->hang);
	m->hang_since_ms = since_ms;
	m->hang = js_object();
	js_put_text(m->hang, "incident", id);
	js_put_i64(m->hang, "since_unix_ms", since_ms);
	if (until_ms != INT64_MAX)
		js_put_i64(m->hang, "until_unix_ms", until_ms);
	js_put_text_if(m->hang, "text", js_get_text(js_get(report, "cause"), "text", ""));
	if (js_get(report, "culprit_ranks"))
		js_put(m->hang, "culprit_ranks", js_copy(js_get(report, "culprit_ranks")));
}

static int moment_incident(void *ctx, const char *id, const char *text)
{
	struct moment *m = ctx;
	cleanup(js_freep) struct js *j = NULL;
	if (js_parse(text, strlen(text), &j, NULL) < 0)
		return 0;
	moment_hang(m, id, j);
	if (js_len(js_get(j, "stacks")) == 0)
		return 0;
	int64_t away_ms = js_get_i64(j, "time_unix_ms", 0) - m->at_unix_ms;
	away_ms = away_ms < 0 ? -away_ms : away_ms;
	if (m->incident[0] && away_ms >= m->distance_ms)
		return 0;
	text_copy(m->incident, sizeof(m->incident), id);
	m->distance_ms = away_ms;
	return 0;
}

struct look {
	struct series_sample sample;
	struct series_bulk bulk; /* of a job without ranks; n 0: nobody was told apart */
	struct bulklife large[SERIES_BULK_MAX]; /* of these, with their names */
};

/* The last look at or before that time. */
static bool look_find(struct span series, int64_t at_unix_ms, struct look *ret)
{
	static struct series_record record;
	struct series_reader reader;
	bool found = false;
	if (!series.p || series_reader_init(&reader, series) < 0)
		return false;
	ret->bulk.n = 0;
	while (series_next(&reader, &record)) {
		if (record.kind == SERIES_SAMPLE && record.sample.time_unix_ms <= at_unix_ms) {
			ret->sample = record.sample;
			ret->bulk.n = 0;
			found = true;
		}
		if (record.kind == SERIES_BULK && found && record.bulk.mono_ns == ret->sample.mono_ns)
			ret->bulk = record.bulk;
	}
	bulklife_of(&ret->bulk, series, ret->large);
	return found;
}

static struct js *large_json(const struct look *l)
{
	struct js *list = js_array();
	for (uint32_t i = 0; i < l->bulk.n; i++) {
		struct js *o = bulklife_json(&l->large[i]);
		js_put_u64(o, "own_bytes", l->bulk.of[i].own_bytes);
		js_add(list, o);
	}
	return list;
}

static struct js *look_json(const struct look *l)
{
	const struct series_sample *s = &l->sample;
	struct js *o = js_object(), *lanes = js_array();
	js_put_i64(o, "time_unix_ms", s->time_unix_ms);
	js_put_u64(o, "attempt", s->attempt);
	for (uint32_t i = 0; i < s->n_lanes; i++) {
		struct js *lane = js_object();
		if (s->lane[i].rank != NO_RANK)
			js_put_i64(lane, "rank", s->lane[i].rank);
		js_put_u64(lane, "own_bytes", s->lane[i].own_bytes);
		js_put_u64(lane, "rss_bytes", s->lane[i].rss_bytes);
		js_put_u64(lane, "processes", s->lane[i].processes);
		js_add(lanes, lane);
	}
	js_put(o, "ranks", lanes);
	if (s->n_lanes <= 1 && l->bulk.n > 0)
		js_put(o, "processes", large_json(l));
	if (s->job_bytes > 0)
		js_put_u64(o, "job_bytes", s->job_bytes);
	if (s->node_used_bytes > 0)
		js_put_u64(o, "node_used_bytes", s->node_used_bytes);
	return o;
}

void web_moment(const struct webcall *c)
{
	static struct look look;
	struct fault f = {.text = ""};
	uint64_t at;
	struct job j;
	if (weburl_u64(&c->url, "time", 0, 1, INT64_MAX / 2, &at, &f) < 0)
		return web_fault(c, &f);
	if (at == 0)
		return web_fail(c, 400, "bad_request", "time: unix milliseconds are expected");
	if (!web_job(c, &j))
		return;
	struct moment m = {.at_unix_ms = (int64_t)at, .processes = js_array(), .events = js_array(), .job = &j};
	size_t len;
	int error;
	cleanup(freep) char *text = past_read(&j, &len, &error);
	const struct span series = {text, len};
	int r = past_each_process_of(c->web->store, &j, series, moment_process, &m);
	if (r == 0)
		r = store_each_event(c->web->store, j.id, 0, moment_event, &m);
	if (r == 0)
		r = store_each_incident(c->web->store, j.id, moment_incident, &m);
	struct js *o = js_object();
	js_put_text(o, "schema", "vigil.moment/1");
	js_put_text(o, "job", j.id);
	js_put_i64(o, "time_unix_ms", m.at_unix_ms);
	if (look_find(series, m.at_unix_ms, &look))
		js_put(o, "memory", look_json(&look));
	js_put(o, "processes", m.processes);
	js_put(o, "events", m.events);
	if (m.hang)
		js_put(o, "hang", m.hang);
	js_put_text_if(o, "stacks_incident", m.incident);
	if (r == 0)
		return web_json(c, 200, o);
	js_free(o);
	web_store_failed(c, r, "that moment");
}
