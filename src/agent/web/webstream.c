#include "agent/web/webstream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/jobs/livefollows.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/vec.h"
#include "tell/jobs/job_json.h"

#define STREAMS_MOST 1100
#define QUEUE_MOST 24
#define HEARTBEAT_NS (15 * NS_PER_S)
#define TICK_NS (1 * NS_PER_S)
/* Looking takes at most a hundredth of the time. */
#define TICK_SHARE 100
/* Events that one stream catches up with in one turn. */
#define CATCH_UP 16
#define RANKS_MOST 5000
#define JOBS_MOST 50
#define NO_ID UINT64_MAX

enum topic { TOPIC_JOBS, TOPIC_HEALTH, TOPIC_RANKS, TOPIC_MEMORY, TOPIC_EVENTS, TOPIC_PROFILES, TOPIC_MAX };

static const char *const topic_names[] = {"jobs", "health", "ranks", "memory", "events", "profiles"};

/* One message as it goes out, shared by all streams that send it. */
struct message {
	uint32_t users;
	size_t len;
	char text[];
};

struct stream {
	struct web *web;
	struct httpd_call *call;
	struct stream *before, *after;
	char job[64]; /* empty: all jobs */
	unsigned topics; /* bits */
	bool owed; /* it has not seen the whole state yet, or missed a part of it */
	uint64_t sent_seq; /* events up to here were handed to it */
	uint64_t wrote_ns;
	struct message *queue[QUEUE_MOST];
	size_t first, n, at; /* at: bytes of the first that were sent */
};

/* What was told last of a job that somebody watches. */
struct watched {
	char job[64];
	bool used;
	uint64_t health_hash;
	int64_t memory_unix_ms;
	uint64_t *row_hash; /* of its ranks; of all jobs: of the list of jobs */
	size_t n_rows, cap_rows;
	struct message *whole[TOPIC_MAX]; /* of this turn; NULL: nothing is known */
	struct message *news[TOPIC_MAX]; /* of this turn; NULL: nothing is new */
};

struct event_message {
	uint64_t seq;
	char job[64];
	struct message *m;
};

struct webstreams {
	struct stream ring; /* head */
	size_t n;
	uint64_t due_ns; /* of the next turn */
	uint64_t seen_seq, turn;
	struct watched *watched;
	size_t n_watched, cap_watched;
	struct event_message *events; /* of this turn */
	size_t n_events, cap_events;
};

/* ---- messages ---- */

/* seq: the message's id; NO_ID: it has none. */
static struct message *message_make(const char *event, uint64_t seq, struct js *o)
{
	cleanup(freep) char *text = js_text(o, 0);
	char head[64];
	js_free(o);
	if (!text)
		return NULL;
	if (seq != NO_ID)
		TEXT_FORMAT(head, "id: %llu\nevent: %s\ndata: ", (unsigned long long)seq, event);
	else
		TEXT_FORMAT(head, "event: %s\ndata: ", event);
	size_t head_len = strlen(head), len = strlen(text);
	struct message *m = malloc(sizeof(*m) + head_len + len + 3);
	if (!m)
		return NULL;
	m->users = 1;
	m->len = head_len + len + 2;
	memcpy(m->text, head, head_len);
	memcpy(m->text + head_len, text, len); /* JSON on one line has no newline */
	memcpy(m->text + head_len + len, "\n\n", 3);
	return m;
}

static void message_drop(struct message **m)
{
	if (*m && --(*m)->users == 0)
		free(*m);
	*m = NULL;
}

/* False: there is no room. */
static bool stream_put(struct stream *s, struct message *m)
{
	if (!m)
		return true;
	if (s->n == QUEUE_MOST)
		return false;
	m->users++;
	s->queue[(s->first + s->n++) % QUEUE_MOST] = m;
	return true;
}

/* ---- one stream ---- */

static void catch_up(struct stream *s);

static ssize_t stream_out(void *ctx, char *dst, size_t cap)
{
	struct stream *s = ctx;
	size_t done = 0;
	while (done < cap && s->n > 0) {
		struct message *m = s->queue[s->first];
		size_t n = MIN(cap - done, m->len - s->at);
		memcpy(dst + done, m->text + s->at, n);
		done += n;
		s->at += n;
		if (s->at < m->len)
			break;
		message_drop(&s->queue[s->first]);
		s->first = (s->first + 1) % QUEUE_MOST;
		s->n--;
		s->at = 0;
	}
	if (s->n == 0)
		catch_up(s);
	if (done > 0)
		s->wrote_ns = clock_mono_ns();
	/* what catch_up has queued is asked for again at once, because something was given */
	return done == 0 && s->n > 0 ? stream_out(ctx, dst, cap) : (ssize_t)done;
}

static void stream_closed(void *ctx)
{
	struct stream *s = ctx;
	while (s->n > 0) {
		message_drop(&s->queue[s->first]);
		s->first = (s->first + 1) % QUEUE_MOST;
		s->n--;
	}
	s->before->after = s->after;
	s->after->before = s->before;
	s->web->streams->n--;
	free(s);
}

struct catching {
	struct stream *stream;
	uint64_t until;
	uint64_t passed; /* numbers that were looked at */
	size_t n;
};

static int catch_event(void *ctx, const struct job_event *e)
{
	struct catching *c = ctx;
	if (e->seq > c->until || c->n == CATCH_UP || c->stream->n == QUEUE_MOST)
		return 1;
	struct js *o = event_json(e);
	js_put_text(o, "severity", event_severity(e));
	struct message *m = message_make("event", e->seq, o);
	(void)stream_put(c->stream, m);
	message_drop(&m);
	c->stream->sent_seq = e->seq;
	c->n++;
	return 0;
}

/* Events that this stream alone has still to see, because it was away or slow. */
static void catch_up(struct stream *s)
{
	struct webstreams *all = s->web->streams;
	struct catching c = {.stream = s, .until = all->seen_seq};
	if (!(s->topics & (1u << TOPIC_EVENTS)) || s->sent_seq >= all->seen_seq || !s->web->store)
		return;
	int r = store_each_event(s->web->store, s->job[0] ? s->job : NULL, s->sent_seq, catch_event, &c);
	if (r == 0 && c.n < CATCH_UP)
		s->sent_seq = all->seen_seq;
}

/* ---- one turn: what is new, once for all ---- */

static struct watched *watched_find(struct webstreams *all, const char *job)
{
	for (size_t i = 0; i < all->n_watched; i++)
		if (strcmp(all->watched[i].job, job) == 0)
			return &all->watched[i];
	if (vec_room(&all->watched, &all->cap_watched, all->n_watched + 1) < 0)
		return NULL;
	struct watched *v = &all->watched[all->n_watched++];
	*v = (struct watched){.n_rows = 0};
	TEXT_COPY(v->job, job);
	return v;
}

static void watched_reset(struct watched *v)
{
	for (size_t t = 0; t < TOPIC_MAX; t++) {
		message_drop(&v->whole[t]);
		message_drop(&v->news[t]);
	}
}

static void watched_drop_unused(struct webstreams *all)
{
	for (size_t i = 0; i < all->n_watched; i++)
		if (!all->watched[i].used) {
			watched_reset(&all->watched[i]);
			free(all->watched[i].row_hash);
			all->watched[i--] = all->watched[--all->n_watched];
		}
}

static uint64_t json_hash(const struct js *o)
{
	cleanup(freep) char *text = js_text(o, 0);
	return text ? hash_bytes(HASH_START, text, strlen(text)) : 0;
}

static void whole_set(struct watched *v, enum topic t, const char *event, struct js *o, bool is_new)
{
	v->whole[t] = message_make(event, NO_ID, o);
	if (is_new && v->whole[t]) {
		v->whole[t]->users++;
		v->news[t] = v->whole[t];
	}
}

static void health_look(struct web *w, const struct job *j, struct watched *v)
{
	struct js *o = web_health_json(w, j);
	js_put_text(o, "job", j->id);
	js_put_text(o, "state", job_state_name(j->state));
	uint64_t hash = json_hash(o);
	whole_set(v, TOPIC_HEALTH, "health", o, hash != v->health_hash);
	v->health_hash = hash;
}

static void memory_look(const struct web *w, const struct job *j, struct watched *v)
{
	int64_t time_unix_ms = 0;
	struct js *o = web_memory_point(w, j, &time_unix_ms);
	if (!o)
		return;
	whole_set(v, TOPIC_MEMORY, "memory", o, time_unix_ms != v->memory_unix_ms);
	v->memory_unix_ms = time_unix_ms;
}

static struct js *rows_message(const char *schema, const char *job, const char *name, struct js *rows, uint64_t total)
{
	struct js *o = js_object();
	js_put_text(o, "schema", schema);
	js_put_text_if(o, "job", job);
	js_put(o, name, rows);
	js_put_u64(o, "total", total);
	return o;
}

/* Those rows that were not so in the turn before; NULL: none. */
static struct js *rows_news(struct watched *v, const struct js *rows)
{
	struct js *news = js_array();
	if (vec_room(&v->row_hash, &v->cap_rows, js_len(rows)) < 0)
		return news;
	for (size_t i = 0; i < js_len(rows); i++) {
		cleanup(freep) char *text = js_text(js_at(rows, i), 0);
		struct js *copy = NULL;
		uint64_t hash = text ? hash_bytes(HASH_START, text, strlen(text)) : 0;
		if ((i >= v->n_rows || v->row_hash[i] != hash) && text &&
		    js_parse(text, strlen(text), &copy, NULL) == 0)
			js_add(news, copy);
		v->row_hash[i] = hash;
	}
	v->n_rows = js_len(rows);
	return news;
}

static void rows_look(struct watched *v, enum topic t, const char *schema, struct js *rows, uint64_t total)
{
	const char *name = topic_names[t];
	struct js *news = rows_news(v, rows);
	v->whole[t] = message_make(name, NO_ID, rows_message(schema, v->job, name, rows, total));
	if (js_len(news) > 0)
		v->news[t] = message_make(name, NO_ID, rows_message(schema, v->job, name, news, total));
	else
		js_free(news);
}

static void ranks_look(struct web *w, const struct job *j, struct watched *v)
{
	struct js *rows = NULL;
	uint64_t total = 0;
	if (web_ranks_rows(w, j, 0, RANKS_MOST, &rows, &total) == 0)
		rows_look(v, TOPIC_RANKS, "vigil.ranks/1", rows, total);
}

struct webjobs_list {
	struct web *web;
	struct js *jobs;
	uint64_t total;
};

static int jobs_list_take(void *ctx, const struct job *stored)
{
	struct webjobs_list *l = ctx;
	struct job j = *stored;
	web_job_refresh(l->web, &j);
	js_add(l->jobs, web_job_json(l->web, &j));
	return 0;
}

static void jobs_look(struct web *w, struct watched *v)
{
	struct webjobs_list l = {w, js_array(), 0};
	if (w->store && store_each_job(w->store, JOBS_MOST, jobs_list_take, &l) == 0 &&
	    web_jobs_total(w, &l.total) == 0)
		rows_look(v, TOPIC_JOBS, "vigil.jobs/1", l.jobs, l.total);
	else
		js_free(l.jobs);
}

/* What of a job (or with an empty name of all) the streams want to know. */
static void watched_look(struct web *w, struct watched *v, unsigned topics)
{
	struct job j;
	if (!v->job[0]) {
		if (topics & (1u << TOPIC_JOBS))
			jobs_look(w, v);
		return;
	}
	if (!w->store || store_find_job(w->store, v->job, &j) != 0)
		return;
	web_job_now(w, &j);
	if (topics & (1u << TOPIC_HEALTH))
		health_look(w, &j, v);
	if (topics & (1u << TOPIC_RANKS))
		ranks_look(w, &j, v);
	if (topics & (1u << TOPIC_MEMORY))
		memory_look(w, &j, v);
}

static int event_new(void *ctx, const struct job_event *e)
{
	struct webstreams *all = ctx;
	if (vec_room(&all->events, &all->cap_events, all->n_events + 1) < 0 || all->n_events == 1000)
		return 1; /* the rest in the next turn */
	struct js *o = event_json(e);
	js_put_text(o, "severity", event_severity(e));
	struct event_message *m = &all->events[all->n_events++];
	m->seq = e->seq;
	TEXT_COPY(m->job, e->job);
	m->m = message_make("event", e->seq, o);
	return 0;
}

static void events_give(struct webstreams *all, struct stream *s, uint64_t seen_before)
{
	if (!(s->topics & (1u << TOPIC_EVENTS)))
		return;
	if (s->sent_seq == seen_before) {
		size_t i = 0;
		for (; i < all->n_events; i++) {
			const struct event_message *m = &all->events[i];
			if ((!s->job[0] || strcmp(m->job, s->job) == 0) && !stream_put(s, m->m))
				break;
			s->sent_seq = m->seq;
		}
		if (i == all->n_events)
			s->sent_seq = all->seen_seq;
	}
	if (s->n == 0)
		catch_up(s);
}

static void state_give(struct webstreams *all, struct stream *s)
{
	bool missed = false;
	for (size_t t = 0; t < TOPIC_MAX; t++) {
		const struct watched *v = watched_find(all, t == TOPIC_JOBS ? "" : s->job);
		if (!v || !(s->topics & (1u << t)))
			continue;
		missed |= !stream_put(s, s->owed ? v->whole[t] : v->news[t]);
	}
	s->owed = missed;
}

static void heartbeat(struct stream *s, struct message *beat, uint64_t now_ns)
{
	if (s->n == 0 && now_ns - s->wrote_ns >= HEARTBEAT_NS)
		(void)stream_put(s, beat);
}

static unsigned topics_of(const struct webstreams *all, const char *job)
{
	unsigned topics = 0;
	for (const struct stream *s = all->ring.after; s != &all->ring; s = s->after)
		if (!*job || strcmp(s->job, job) == 0)
			topics |= s->topics;
	return topics;
}

static void all_look(struct web *w, struct webstreams *all)
{
	struct store *store = web_store(w);
	bool other = all->turn != w->store_turn;
	all->turn = w->store_turn;
	for (size_t i = 0; i < all->n_watched; i++)
		all->watched[i].used = false;
	for (struct stream *s = all->ring.after; s != &all->ring; s = s->after) {
		struct watched *v = watched_find(all, s->job), *list = watched_find(all, "");
		if (v && list) {
			v = watched_find(all, s->job);
			v->used = true;
			watched_find(all, "")->used = true;
		}
		if (other)
			s->sent_seq = 0; /* the numbers of another store begin anew */
	}
	watched_drop_unused(all);
	if (other)
		all->seen_seq = 0;
	all->n_events = 0;
	if (store && store_each_event(store, NULL, all->seen_seq, event_new, all) < 0)
		web_store_close(w);
	for (size_t i = 0; i < all->n_watched; i++)
		watched_look(w, &all->watched[i], topics_of(all, all->watched[i].job));
}

static void all_give(struct webstreams *all, uint64_t now_ns)
{
	uint64_t before = all->seen_seq;
	struct message *beat = malloc(sizeof(*beat) + 4);
	if (all->n_events > 0)
		all->seen_seq = all->events[all->n_events - 1].seq;
	if (beat) {
		*beat = (struct message){.users = 1, .len = 3};
		memcpy(beat->text, ":\n\n", 4);
	}
	for (struct stream *s = all->ring.after; s != &all->ring; s = s->after) {
		events_give(all, s, before);
		state_give(all, s);
		heartbeat(s, beat, now_ns);
		if (s->n > 0)
			httpd_wake(s->call);
	}
	message_drop(&beat);
	for (size_t i = 0; i < all->n_events; i++)
		message_drop(&all->events[i].m);
	all->n_events = 0;
	for (size_t i = 0; i < all->n_watched; i++)
		watched_reset(&all->watched[i]);
}

int webstream_turn(struct web *w)
{
	struct webstreams *all = w->streams;
	const int lives_ms = livefollows_turn(w->lives);
	if (!all || all->n == 0)
		return lives_ms;
	uint64_t now_ns = clock_mono_ns();
	if (now_ns >= all->due_ns) {
		all_look(w, all);
		all_give(all, now_ns);
		uint64_t took_ns = clock_mono_ns() - now_ns;
		all->due_ns = now_ns + MAX(TICK_NS, took_ns * TICK_SHARE);
		now_ns = clock_mono_ns();
	}
	return (int)(sub_floor(all->due_ns, now_ns) / NS_PER_MS) + 1;
}

bool webstream_look_now(struct web *w)
{
	struct webstreams *all = w->streams;
	if (all)
		all->due_ns = 0;
	return all && all->n > 0;
}

void webstream_tell(struct web *w, const char *job, const char *event, struct js *o)
{
	struct webstreams *all = w->streams;
	struct message *m = message_make(event, NO_ID, o);
	for (struct stream *s = all ? all->ring.after : NULL; s && s != &all->ring; s = s->after)
		if ((s->topics & (1u << TOPIC_PROFILES)) && (!s->job[0] || strcmp(s->job, job) == 0) &&
		    stream_put(s, m))
			httpd_wake(s->call);
	message_drop(&m);
}

void webstream_free(struct web *w)
{
	struct webstreams *all = w->streams;
	if (!all)
		return;
	for (size_t i = 0; i < all->n_watched; i++) {
		watched_reset(&all->watched[i]);
		free(all->watched[i].row_hash);
	}
	free(all->watched);
	free(all->events);
	free(all);
	w->streams = NULL;
}

/* ---- the route ---- */

static int topics_parse(const char *text, unsigned *ret, struct fault *f)
{
	unsigned topics = 0;
	struct span rest = text ? span_of(text) : (struct span){NULL, 0};
	if (!text) {
		*ret = (1u << TOPIC_MAX) - 1;
		return 0;
	}
	while (rest.len > 0) {
		struct span one = span_before(rest, ","), after = span_after(rest, ",");
		size_t t = 0;
		while (t < TOPIC_MAX && !span_eq(one, topic_names[t]))
			t++;
		if (t == TOPIC_MAX)
			return fault_set(f, -EINVAL,
					 "topics: '%.*s' is none; jobs, health, ranks, memory, events and profiles are",
					 (int)MIN(one.len, (size_t)40), one.p);
		topics |= 1u << t;
		rest = after.p ? after : (struct span){NULL, 0};
	}
	*ret = topics;
	return 0;
}

static struct webstreams *streams_get(struct web *w)
{
	if (!w->streams && (w->streams = calloc(1, sizeof(*w->streams))))
		w->streams->ring.before = w->streams->ring.after = &w->streams->ring;
	return w->streams;
}

/* Where a stream begins: behind what its browser saw last, else now. */
static int stream_place(const struct webcall *c, struct webstreams *all, struct stream *s)
{
	const char *last = c->request->last_event_id;
	uint64_t seq = 0, newest = 0;
	struct store *store = web_store(c->web);
	if (all->n == 0 && store) { /* nobody looked for a while */
		int r = web_last_event(store, &newest);
		if (r < 0)
			return r;
		all->seen_seq = newest;
		all->turn = c->web->store_turn;
		all->due_ns = 0;
	}
	s->sent_seq = all->seen_seq;
	if (last && span_u64(span_of(last), &seq) == 0)
		s->sent_seq = MIN(seq, all->seen_seq);
	return 0;
}

static void hello(struct stream *s, uint64_t now_seq)
{
	struct js *o = js_object();
	js_put_text(o, "schema", "vigil.hello/1");
	js_put_text(o, "version", VIGIL_VERSION);
	js_put_i64(o, "now_unix_ms", clock_unix_ms());
	js_put_u64(o, "seq", now_seq);
	/* without an id a browser that is cut off before the first event would miss those in between */
	struct message *m = message_make("hello", s->sent_seq, o);
	(void)stream_put(s, m);
	message_drop(&m);
}

void web_stream(const struct webcall *c)
{
	struct fault f = {.text = ""};
	unsigned topics = 0;
	const char *job = weburl_get(&c->url, "job");
	struct webstreams *all = streams_get(c->web);
	struct job j = {.id = ""};
	if (topics_parse(weburl_get(&c->url, "topics"), &topics, &f) < 0)
		return web_fault(c, &f);
	if (job && !weburl_is_id(job))
		return web_fail(c, 400, "bad_request", "job: the id of a job is expected");
	if (!all || all->n >= STREAMS_MOST)
		return web_fail(c, 429, "busy", "%d streams are open; close pages that nobody looks at", STREAMS_MOST);
	struct webcall of_job = *c;
	of_job.route.id = job;
	if (job && !web_job(&of_job, &j))
		return;
	struct stream *s = calloc(1, sizeof(*s));
	if (!s)
		return web_fail(c, 500, "memory", "no memory for a stream");
	*s = (struct stream){.web = c->web, .call = c->request->call, .topics = topics, .owed = true};
	TEXT_COPY(s->job, j.id);
	int r = stream_place(c, all, s);
	if (r < 0) {
		free(s);
		return web_store_failed(c, r, "the events");
	}
	s->wrote_ns = clock_mono_ns();
	s->after = all->ring.after;
	s->before = &all->ring;
	s->after->before = s->before->after = s;
	all->n++;
	hello(s, all->seen_seq);
	const struct httpd_stream out = {.read = stream_out, .gone = stream_closed, .ctx = s};
	httpd_stream_begin(c->request->call, &out);
}
