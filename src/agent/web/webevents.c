#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/web/web.h"
#include "base/buf.h"
#include "tell/incident/report.h"
#include "tell/jobs/job_json.h"

#define KINDS_MOST 16
/* So many events are looked at for those of a kind; the answer says where to go on. */
#define LOOKED_AT_MOST 20000

struct events {
	uint64_t limit, before; /* before UINT64_MAX: no end */
	char kinds[400];
	const char *kind[KINDS_MOST];
	size_t n_kinds;
	bool newest_first;
	uint64_t after;
	/* the newest `limit` that were taken, a ring; or the first ones */
	struct js **ring;
	uint64_t taken, last_seq;
	uint64_t newest; /* of the newest: the last event of all when looking began */
	uint64_t looked_at, from; /* from: of the newest, where looking began */
	bool more;
};

static bool kind_is_wanted(const struct events *l, const char *kind)
{
	for (size_t i = 0; i < l->n_kinds; i++)
		if (strcmp(l->kind[i], kind) == 0)
			return true;
	return l->n_kinds == 0;
}

static int webevents_take(void *ctx, const struct job_event *e)
{
	struct events *l = ctx;
	if (e->seq >= l->before)
		return 1;
	if (!l->newest_first && (l->taken == l->limit || l->looked_at == LOOKED_AT_MOST)) {
		l->more = true;
		return 1;
	}
	l->looked_at++;
	l->last_seq = e->seq;
	if (!kind_is_wanted(l, e->kind))
		return 0;
	struct js *o = event_json(e);
	js_put_text(o, "severity", event_severity(e));
	js_free(l->ring[l->taken % l->limit]);
	l->ring[l->taken % l->limit] = o;
	l->taken++;
	return 0;
}

static int events_want(const struct webcall *c, struct events *l, struct fault *f)
{
	static const char *const orders[] = {"asc", "desc", NULL};
	const char *kinds = weburl_get(&c->url, "kind");
	size_t order = 0;
	int r = weburl_u64(&c->url, "limit", 200, 1, 1000, &l->limit, f);
	if (r == 0)
		r = weburl_u64(&c->url, "after", 0, 0, INT64_MAX, &l->after, f);
	if (r == 0)
		r = weburl_u64(&c->url, "before", UINT64_MAX, 1, INT64_MAX, &l->before, f);
	if (r == 0)
		r = weburl_choice(&c->url, "order", orders, 0, &order, f);
	l->newest_first = order == 1;
	if (r == 0 && kinds && strlen(kinds) >= sizeof(l->kinds))
		r = fault_set(f, -EINVAL, "kind: at most %zu bytes are taken", sizeof(l->kinds) - 1);
	TEXT_COPY(l->kinds, r == 0 && kinds ? kinds : "");
	for (char *p = l->kinds, *comma; r == 0 && *p; p = comma) {
		comma = p + strcspn(p, ",");
		if (*comma)
			*comma++ = '\0';
		if (l->n_kinds == KINDS_MOST)
			return fault_set(f, -EINVAL, "kind: at most %d kinds are taken", KINDS_MOST);
		if (*p)
			l->kind[l->n_kinds++] = p;
	}
	return r;
}

/*
 * The newest: the store lists from an event on, so it is begun some events before the end, and earlier ones if that was
 * not enough.
 */
static int newest_read(struct store *s, const char *job, struct events *l)
{
	uint64_t last = 0;
	int r = web_last_event(s, &last);
	l->newest = last;
	uint64_t end = MIN(last, l->before - 1);
	for (uint64_t back = 4 * l->limit; r == 0; back *= 8) {
		l->from = MAX(sub_floor(end, MIN(back, (uint64_t)LOOKED_AT_MOST)), l->after);
		l->taken = 0;
		r = store_each_event(s, job, l->from, webevents_take, l);
		r = r > 0 ? 0 : r;
		if (l->taken >= l->limit || l->from == l->after || back >= LOOKED_AT_MOST)
			break;
	}
	return r;
}

static void events_show(const struct webcall *c, struct events *l)
{
	struct js *o = js_object(), *list = js_array();
	uint64_t n = MIN(l->taken, l->limit);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = l->newest_first ? l->taken - 1 - i : i;
		js_add(list, l->ring[at % l->limit]);
		l->ring[at % l->limit] = NULL;
	}
	js_put_text(o, "schema", "vigil.events/1");
	/* where to go on: after= of the next page, or before= where the newest come first */
	bool full = l->newest_first && n == l->limit;
	if (!l->newest_first)
		js_put_u64(o, "next", l->looked_at > 0 ? l->last_seq : l->after);
	else if (full)
		js_put_i64(o, "next", js_get_i64(js_at(list, n - 1), "seq", 0));
	else if (l->from > l->after)
		js_put_u64(o, "next", l->from + 1);
	if (l->newest_first)
		js_put_u64(o, "newest", l->newest);
	js_put_bool(o, "more", l->newest_first ? full || l->from > l->after : l->more);
	js_put(o, "events", list);
	web_json(c, 200, o);
}

void web_events(const struct webcall *c)
{
	struct fault f = {.text = ""};
	struct events l = {.taken = 0};
	struct job j;
	bool of_job = c->route.route == ROUTE_JOB_EVENTS;
	if (events_want(c, &l, &f) < 0)
		return web_fault(c, &f);
	if (of_job && !web_job(c, &j))
		return;
	struct store *s = of_job ? c->web->store : web_store(c->web);
	if (!s && c->web->store_error)
		return web_fail(c, 503, "store", "%s", c->web->store_text); /* asked again, it could be there now */
	cleanup(freep) struct js **ring = calloc(l.limit, sizeof(struct js *));
	if (!ring)
		return web_fail(c, 500, "memory", "no memory for the events; ask for fewer");
	l.ring = ring;
	const char *job = of_job ? j.id : NULL;
	int r = 0;
	if (s)
		r = l.newest_first ? newest_read(s, job, &l) : store_each_event(s, job, l.after, webevents_take, &l);
	if (r >= 0)
		events_show(c, &l);
	else
		web_store_failed(c, r, "the events");
	for (uint64_t i = 0; i < l.limit; i++)
		js_free(ring[i]);
}

/* ---- incidents ---- */

static int incident_list_take(void *ctx, const char *id, const char *text)
{
	cleanup(js_freep) struct js *j = NULL;
	if (js_parse(text, strlen(text), &j, NULL) < 0)
		return 0; /* 'vigil why' reports the damage */
	struct js *o = js_object(), *cause = js_object();
	js_put_text(o, "id", id);
	js_put_text(o, "kind", js_get_text(j, "kind", "none"));
	js_put_i64(o, "time_unix_ms", js_get_i64(j, "time_unix_ms", 0));
	js_put_i64(o, "attempt", js_get_i64(j, "attempt", 0));
	js_put_text_if(o, "summary", js_get_text(j, "summary", ""));
	js_put_text_if(cause, "id", js_get_text(js_get(j, "cause"), "id", ""));
	js_put_text_if(cause, "text", js_get_text(js_get(j, "cause"), "text", ""));
	js_put_text_if(cause, "confidence", js_get_text(js_get(j, "cause"), "confidence", ""));
	js_put(o, "cause", cause);
	js_add(ctx, o);
	return 0;
}

void web_incidents(const struct webcall *c)
{
	struct job j;
	if (!web_job(c, &j))
		return;
	struct js *o = js_object(), *list = js_array();
	int r = store_each_incident(c->web->store, j.id, incident_list_take, list);
	js_put_text(o, "schema", "vigil.incidents/1");
	js_put_text(o, "job", j.id);
	js_put(o, "incidents", list);
	if (r == 0)
		return web_json(c, 200, o);
	js_free(o);
	web_store_failed(c, r, "the incidents");
}

/* As `vigil why` prints it. */
static int incident_text(const struct js *j, char **ret)
{
	static struct incident i; /* too large for the stack */
	size_t len = 0;
	char *text = NULL;
	int r = report_from_json(j, &i);
	FILE *f = r == 0 ? open_memstream(&text, &len) : NULL;
	if (!f)
		return r < 0 ? r : -ENOMEM;
	report_text(&i, REPORT_PLAIN, f);
	report_hang_text(js_get(j, "hang"), REPORT_PLAIN, f);
	report_heap_text(js_get(j, "heap"), REPORT_PLAIN, f);
	report_stacks_text(j, REPORT_PLAIN, f);
	if (fclose(f) != 0) {
		free(text);
		return -ENOMEM;
	}
	*ret = text;
	return 0;
}

static void incident_file(const struct webcall *c, const struct js *j, bool as_text, bool download)
{
	char name[240], *text = NULL;
	const int r = as_text ? incident_text(j, &text) : 0;
	if (r < 0)
		return web_fail(c, 503, "io", "the report cannot be read: %s", strerror(-r));
	text = as_text ? text : js_text(j, 0);
	if (!text)
		return web_fail(c, 503, "io", "there is no memory for the report");
	TEXT_FORMAT(name, "attachment; filename=\"%s.%s\"", c->route.id, as_text ? "txt" : "json");
	struct httpd_answer a = {.status = 200,
				 .type = as_text ? "text/plain; charset=utf-8" : "application/json",
				 .text = text,
				 .fd = -1,
				 .len = strlen(text),
				 .header = {{"Cache-Control", "no-store"}, {"Content-Disposition", name}},
				 .n_headers = download ? 2 : 1};
	httpd_reply(c->request->call, &a);
}

void web_incident(const struct webcall *c)
{
	static const char *const formats[] = {"json", "text", NULL};
	struct fault f = {.text = ""};
	size_t format = 0;
	bool download = false;
	cleanup(freep) char *text = NULL;
	cleanup(js_freep) struct js *j = NULL;
	if (weburl_choice(&c->url, "format", formats, 0, &format, &f) < 0 ||
	    weburl_flag(&c->url, "download", &download, &f) < 0)
		return web_fault(c, &f);
	struct store *s = web_store_or_fail(c);
	if (!s)
		return;
	int r = store_find_incident(s, c->route.id, &text);
	if (r < 0)
		return web_store_failed(c, r, "the report");
	/* a job's name finds its newest report, too; the page asks for one by its id */
	if (r == STORE_NONE || js_parse(text, strlen(text), &j, NULL) < 0)
		return web_fail(c, 404, "absent", "there is no report '%s' in %s", c->route.id,
				c->web->want->state_dir);
	incident_file(c, j, format == 1, download);
}
