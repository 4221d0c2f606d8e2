#include <string.h>

#include "agent/jobs/joblife.h"
#include "agent/jobs/past.h"
#include "agent/web/web.h"
#include "agent/web/webask.h"
#include "base/buf.h"
#include "base/clock.h"
#include "sense/proc/proc.h"
#include "tell/jobs/job_json.h"

#define COUNT_NS (60 * NS_PER_S)
/* Workers of an ended job in one answer. */
#define SEEN_MOST 500

/* ---- the list ---- */

static int newest_take(void *ctx, const struct job *j)
{
	text_copy(ctx, sizeof(j->id), j->id);
	return 1;
}

static int count_take(void *ctx, const struct job *j)
{
	(void)j;
	++*(uint64_t *)ctx;
	return 0;
}

int web_jobs_total(struct web *w, uint64_t *ret)
{
	char newest[64] = "";
	uint64_t n = 0, now_ns = clock_mono_ns();
	int r = store_each_job(w->store, 1, newest_take, newest);
	bool same = strcmp(newest, w->total.newest) == 0 && w->total.turn == w->store_turn &&
		    now_ns - w->total.counted_ns < COUNT_NS;
	if (r >= 0 && !same) {
		r = store_each_job(w->store, 0, count_take, &n);
		TEXT_COPY(w->total.newest, newest);
		w->total.turn = w->store_turn;
		w->total.counted_ns = now_ns;
		w->total.n = n;
	}
	*ret = w->total.n;
	return r < 0 ? r : 0;
}

struct list {
	const struct webcall *call;
	struct js *jobs;
	const char *before; /* NULL: from the newest on */
	bool running, ended, begun;
	uint64_t limit, total;
	char next[64];
	size_t shown;
};

static int jobs_take(void *ctx, const struct job *stored)
{
	struct list *l = ctx;
	struct job j = *stored;
	if (l->running || l->ended) {
		web_job_refresh(l->call->web, &j);
		if (job_is_open(&j) != l->running)
			return 0;
	}
	l->total++;
	if (!l->begun) {
		l->begun = strcmp(j.id, l->before) == 0;
		return 0;
	}
	if (l->shown == l->limit && !l->next[0])
		memcpy(l->next, "more", sizeof("more"));
	if (l->shown >= l->limit)
		return !l->running &&
		       !l->ended; /* the number of others has to be counted only where some are left out */
	l->shown++;
	web_job_refresh(l->call->web, &j);
	js_add(l->jobs, web_job_json(l->call->web, &j));
	return 0;
}

void web_jobs(const struct webcall *c)
{
	struct fault f = {.text = ""};
	const char *running = weburl_get(&c->url, "running");
	struct list l = {.call = c, .before = weburl_get(&c->url, "before")};
	bool flag;
	if (weburl_u64(&c->url, "limit", 50, 1, 500, &l.limit, &f) < 0 ||
	    weburl_flag(&c->url, "running", &flag, &f) < 0)
		return web_fault(c, &f);
	if (l.before && !weburl_is_id(l.before))
		return web_fail(c, 400, "bad_request", "before=%.40s: the id of a job is expected", l.before);
	l.running = running && flag;
	l.ended = running && !flag;
	l.begun = !l.before;
	struct store *s = web_store(c->web);
	if (!s && c->web->store_error)
		return web_fail(c, 503, "store", "%s", c->web->store_text); /* asked again, it could be there now */
	l.jobs = js_array();
	int r = s ? store_each_job(s, 0, jobs_take, &l) : 0;
	if (s && r >= 0 && !running)
		r = web_jobs_total(c->web, &l.total);
	if (r < 0) {
		js_free(l.jobs);
		return web_store_failed(c, r, "the jobs");
	}
	struct js *o = js_object();
	js_put_text(o, "schema", "vigil.jobs/1");
	size_t n = js_len(l.jobs);
	if (l.next[0] && n > 0)
		js_put_text(o, "next", js_get_text(js_at(l.jobs, n - 1), "id", ""));
	js_put_u64(o, "total", l.total);
	js_put(o, "jobs", l.jobs);
	web_json(c, 200, o);
}

void web_job_show(const struct webcall *c)
{
	struct job j;
	if (web_job(c, &j))
		web_json(c, 200, web_job_json(c->web, &j));
}

/* ---- processes ---- */

struct part {
	const struct web *web;
	struct js *list;
};

static int webprocess_take(void *ctx, const struct job_process *stored)
{
	struct part *l = ctx;
	struct job_process p = *stored;
	bool live = p.ended_unix_ms == 0 && joblife_runs(&l->web->world, p.pid, p.start_ticks);
	struct proc_status s;
	/* these numbers are counters of the kernel: reading them waits for no lock of the process */
	if (live && proc_status_read(&l->web->world, p.pid, &s) == 0 && s.has_memory) {
		p.rss_bytes = s.rss_bytes;
		p.shared_bytes = add_cap(s.rss_file_bytes, s.rss_shmem_bytes);
		p.own_bytes = sub_floor(s.rss_bytes, p.shared_bytes);
		p.swap_bytes = s.swap_bytes;
	}
	struct js *o = process_json(&p);
	js_put_bool(o, "running", live);
	js_add(l->list, o);
	return 0;
}

void web_processes(const struct webcall *c)
{
	struct fault f = {.text = ""};
	struct job j;
	bool all;
	if (weburl_flag(&c->url, "all", &all, &f) < 0)
		return web_fault(c, &f);
	if (!web_job(c, &j))
		return;
	if (all && job_is_open(&j))
		return web_processes_now(c, &j);
	struct part l = {c->web, js_array()};
	uint64_t left_out = 0;
	int r = all ? past_each_seen(c->web->store, &j, SEEN_MOST, webprocess_take, &l, &left_out)
		    : past_each_process(c->web->store, &j, webprocess_take, &l);
	struct js *o = js_object();
	js_put_text(o, "schema", "vigil.processes/1");
	js_put_text(o, "job", j.id);
	js_put(o, "processes", l.list);
	if (left_out > 0)
		js_put_u64(o, "left_out", left_out);
	if (r == 0)
		return web_json(c, 200, o);
	js_free(o);
	web_store_failed(c, r, "the processes");
}
