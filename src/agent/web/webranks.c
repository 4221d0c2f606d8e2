#include <stdlib.h>
#include <string.h>

#include "agent/jobs/past.h"
#include "agent/web/web.h"
#include "base/vec.h"
#include "sense/proc/proc.h"
#include "sense/rank.h"
#include "tell/jobs/job_json.h"
#include "tell/jobs/seriesjson.h"
#include "tell/store/series.h"

/* Two looks of 64 ranks are a tenth of it. */
#define TAIL_BYTES (128 * KIB)

/* The main processes of a job's newest attempt, by rank; of a job without ranks its one. */
struct ranks {
	struct job_process *of;
	size_t n, cap;
	uint32_t attempt;
	pid_t main_pid;
	struct series_sample last, before; /* looks; n_lanes 0: there are none */
	struct series_devices devices; /* n 0: none are known */
	struct job_steps steps;
};

static int rank_take(void *ctx, const struct job_process *p)
{
	struct ranks *all = ctx;
	/* of an ended job it is not known any more which process was the first */
	bool is_main = strcmp(p->role, "main") == 0 && (p->rank != NO_RANK || all->main_pid == 0);
	if (p->attempt != all->attempt || (!is_main && p->pid != all->main_pid))
		return 0;
	for (size_t i = 0; i < all->n; i++)
		if (all->of[i].rank == p->rank) {
			if (p->started_unix_ms >= all->of[i].started_unix_ms)
				all->of[i] = *p;
			return 0;
		}
	if (vec_room(&all->of, &all->cap, all->n + 1) < 0)
		return -ENOMEM;
	all->of[all->n++] = *p;
	return 0;
}

static int by_rank(const void *a, const void *b)
{
	const struct job_process *x = a, *y = b;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static void looks_read(const struct job *j, struct ranks *all)
{
	static struct series_record record;
	struct series_reader reader;
	size_t len = 0;
	cleanup(freep) char *text = past_read_tail(j, TAIL_BYTES, &len);
	if (!text || series_reader_init(&reader, (struct span){text, len}) < 0)
		return;
	while (series_next(&reader, &record)) {
		if (record.kind == SERIES_SAMPLE && record.sample.attempt == j->attempt) {
			all->before = all->last;
			all->last = record.sample;
		}
		if (record.kind == SERIES_DEVICES && record.devices.attempt == j->attempt)
			all->devices = record.devices;
	}
}

static int ranks_read(struct web *w, const struct job *j, struct ranks *all)
{
	all->attempt = j->attempt;
	all->main_pid = j->pid;
	int r = past_each_process(w->store, j, rank_take, all);
	/* a launcher beside its ranks is none */
	if (r == 0 && all->n > 1)
		for (size_t i = 0; i < all->n; i++)
			if (all->of[i].rank == NO_RANK)
				all->of[i--] = all->of[--all->n];
	if (all->n > 0)
		qsort(all->of, all->n, sizeof(*all->of), by_rank);
	looks_read(j, all);
	past_steps_tail(j, &all->steps);
	return r;
}

static const struct series_lane *ranks_lane(const struct series_sample *s, int32_t rank)
{
	for (uint32_t i = 0; i < s->n_lanes; i++)
		if (s->lane[i].rank == rank)
			return &s->lane[i];
	return NULL;
}

static double webranks_rate_of(uint64_t now, uint64_t before, double seconds)
{
	return now >= before ? (double)(now - before) / seconds : 0;
}

/* Of a rank that the looks have no lane for: counters of the kernel, of its main process, at this moment. */
static void main_memory_put(const struct web *w, pid_t pid, struct js *o)
{
	struct proc_statm m;
	if (proc_statm_read(&w->world, pid, &m) != 0)
		return;
	js_put_u64(o, "own_bytes", sub_floor(m.resident_pages, m.shared_pages) * w->world.page_bytes);
	js_put_u64(o, "rss_bytes", m.resident_pages * w->world.page_bytes);
	js_put_u64(o, "shared_bytes", m.shared_pages * w->world.page_bytes);
	js_put_bool(o, "main_only", true);
}

static void lane_put(const struct web *w, const struct ranks *all, const struct job_process *p, struct js *o)
{
	const struct series_lane *now = ranks_lane(&all->last, p->rank), *then = ranks_lane(&all->before, p->rank);
	double seconds = (double)sub_floor(all->last.mono_ns, all->before.mono_ns) / 1e9;
	if (!now && all->last.n_lanes > 0)
		main_memory_put(w, p->pid, o);
	if (!now)
		return;
	js_put_u64(o, "own_bytes", now->own_bytes);
	js_put_u64(o, "rss_bytes", now->rss_bytes);
	js_put_u64(o, "shared_bytes", sub_floor(now->rss_bytes, now->own_bytes));
	if (!then || seconds <= 0)
		return;
	js_put_double(o, "cpu_ratio", webranks_rate_of(now->cpu_ns, then->cpu_ns, seconds) / 1e9);
	if (now->has_io && then->has_io) {
		js_put_double(o, "read_bytes_per_s", webranks_rate_of(now->read_bytes, then->read_bytes, seconds));
		js_put_double(o, "write_bytes_per_s",
			      webranks_rate_of(now->written_bytes, then->written_bytes, seconds));
	}
}

static const char *webranks_state(const struct web *w, const struct job_process *p, bool open)
{
	struct proc_stat st;
	if (p->ended_unix_ms > 0 || !open)
		return "ended";
	/* as joblife_runs, with one look for both: a thousand ranks are asked for at once */
	int r = proc_stat_read(&w->world, p->pid, &st);
	if (r == WORLD_DENIED)
		return "unknown";
	if (r != 0 || st.start_ticks != p->start_ticks || proc_is_over(&st))
		return "ended";
	switch (st.state) {
	case 'R':
		return "working";
	case 'D':
		return "waiting";
	case 'T':
	case 't':
		return "stopped";
	case 'Z':
	case 'X':
		return "ended";
	default:
		return "running";
	}
}

static void status_put(const struct job_process *p, struct js *o)
{
	if (!p->has_status)
		return;
	cleanup(js_freep) struct js *row = process_json(p);
	if (js_get(row, "exit_code"))
		js_put_i64(o, "exit_code", js_get_i64(row, "exit_code", 0));
	if (js_get(row, "signal"))
		js_put_i64(o, "signal", js_get_i64(row, "signal", 0));
}

static struct js *rank_json(struct web *w, const struct job *j, const struct ranks *all, const struct job_process *p)
{
	struct js *o = js_object();
	const struct job_step *step = job_steps_find(&all->steps, p->rank);
	const char *state = webranks_state(w, p, job_is_open(j));
	step = step || p->rank > 0 ? step : job_steps_find(&all->steps, NO_RANK);
	if (p->rank != NO_RANK)
		js_put_i64(o, "rank", p->rank);
	js_put_i64(o, "pid", p->pid);
	js_put_text_if(o, "node", j->node);
	js_put_text(o, "state", state);
	if (strcmp(state, "ended") != 0) {
		lane_put(w, all, p, o);
		seriesjson_rank_gpus(&all->devices, p->rank, o);
	}
	if (step) {
		js_put_u64(o, "step", step->step);
		if (step->has_total)
			js_put_u64(o, "total", step->total);
		if (step->has_rate)
			js_put_double(o, "per_s", step->per_s);
	}
	status_put(p, o);
	js_put_bool(o, "culprit", web_health_culprit(w, j, p->rank));
	return o;
}

int web_ranks_rows(struct web *w, const struct job *j, uint64_t from, uint64_t limit, struct js **ret,
		   uint64_t *ret_total)
{
	static struct ranks all; /* large */
	all = (struct ranks){.n = 0};
	int r = ranks_read(w, j, &all);
	struct js *list = js_array();
	for (uint64_t i = from; r == 0 && i < all.n && i - from < limit; i++)
		js_add(list, rank_json(w, j, &all, &all.of[i]));
	*ret_total = all.n;
	free(all.of);
	if (r < 0) {
		js_free(list);
		return r;
	}
	*ret = list;
	return 0;
}

void web_ranks(const struct webcall *c)
{
	struct fault f = {.text = ""};
	struct job j;
	struct js *rows = NULL;
	uint64_t from, limit, total = 0;
	if (weburl_u64(&c->url, "from", 0, 0, UINT32_MAX, &from, &f) < 0 ||
	    weburl_u64(&c->url, "limit", 1000, 1, 5000, &limit, &f) < 0)
		return web_fault(c, &f);
	if (!web_job(c, &j))
		return;
	int r = web_ranks_rows(c->web, &j, from, limit, &rows, &total);
	if (r < 0)
		return web_store_failed(c, r, "the ranks");
	struct js *o = js_object();
	js_put_text(o, "schema", "vigil.ranks/1");
	js_put_text(o, "job", j.id);
	js_put(o, "ranks", rows);
	js_put_u64(o, "total", total);
	web_json(c, 200, o);
}

struct js *web_memory_point(const struct job *j, int64_t *ret_unix_ms)
{
	static struct ranks all;
	all = (struct ranks){.n = 0};
	looks_read(j, &all);
	const struct series_sample *s = &all.last;
	if (s->time_unix_ms == 0)
		return NULL;
	struct js *o = js_object(), *lanes = js_array();
	uint64_t own_bytes = 0;
	js_put_text(o, "schema", "vigil.memory_point/1");
	js_put_text(o, "job", j->id);
	js_put_i64(o, "time_unix_ms", s->time_unix_ms);
	for (uint32_t i = 0; i < s->n_lanes; i++) {
		struct js *lane = js_object();
		if (s->lane[i].rank != NO_RANK)
			js_put_i64(lane, "rank", s->lane[i].rank);
		else
			js_put_text(lane, "name", "no rank");
		js_put_u64(lane, "own", s->lane[i].own_bytes);
		own_bytes += s->lane[i].own_bytes;
		js_add(lanes, lane);
	}
	js_put(o, "series", lanes);
	if (s->job_bytes > 0) {
		js_put_u64(o, "job_bytes", s->job_bytes);
		js_put_u64(o, "shared", sub_floor(s->job_bytes, own_bytes));
	}
	if (s->node_used_bytes > 0)
		js_put_u64(o, "used", s->node_used_bytes);
	*ret_unix_ms = s->time_unix_ms;
	return o;
}
