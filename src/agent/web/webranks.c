#include <stdlib.h>
#include <string.h>

#include "agent/jobs/past.h"
#include "agent/web/web.h"
#include "base/buf.h"
#include "base/vec.h"
#include "model/incident/incident.h"
#include "sense/proc/proc.h"
#include "sense/rank.h"
#include "tell/jobs/bulklife.h"
#include "tell/jobs/job_json.h"
#include "tell/jobs/seriesjson.h"
#include "tell/store/series.h"

/* Two looks of 64 ranks are a tenth of it. */
#define TAIL_BYTES (128 * KIB)
/* Ranks of one answer. */
#define GRID_MOST 5000

/* The main processes of a job's newest attempt, by rank; of a job without ranks its one. */
struct ranks {
	struct job_process *of;
	size_t n, cap;
	uint32_t attempt;
	pid_t main_pid;
	struct series_sample last, before; /* looks; n_lanes 0: there are none */
	struct series_devices devices; /* n 0: none are known */
	struct series_bulk bulk; /* of the last look */
	struct bulklife large[SERIES_BULK_MAX]; /* of these, with their names */
	struct job_steps steps;
	int32_t culprit[INCIDENT_CULPRITS];
	size_t n_culprits;
};

static int rank_take(void *ctx, const struct job_process *p)
{
	struct ranks *all = ctx;
	/* of an ended job it is not known any more which process was the first */
	bool is_main = strcmp(p->role, "main") == 0 && (p->rank != NO_RANK || all->main_pid == 0);
	if (p->attempt != all->attempt || (!is_main && p->pid != all->main_pid))
		return 0;
	if (vec_room(&all->of, &all->cap, all->n + 1) < 0)
		return -ENOMEM;
	all->of[all->n++] = *p;
	return 0;
}

/* By rank, of one rank the process that was started last first. */
static int by_rank(const void *a, const void *b)
{
	const struct job_process *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank > y->rank ? 1 : -1;
	return (x->started_unix_ms < y->started_unix_ms) - (x->started_unix_ms > y->started_unix_ms);
}

/* One process for each rank. */
static void ranks_sort(struct ranks *all)
{
	size_t n = 0;
	if (all->n > 0)
		qsort(all->of, all->n, sizeof(*all->of), by_rank);
	for (size_t i = 0; i < all->n; i++)
		if (n == 0 || all->of[n - 1].rank != all->of[i].rank)
			all->of[n++] = all->of[i];
	/* a launcher beside its ranks is none: NO_RANK is the lowest */
	if (n > 1 && all->of[0].rank == NO_RANK)
		memmove(all->of, all->of + 1, --n * sizeof(*all->of));
	all->n = n;
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
			all->bulk.n = 0;
		}
		if (record.kind == SERIES_BULK && record.bulk.mono_ns == all->last.mono_ns)
			all->bulk = record.bulk;
		if (record.kind == SERIES_DEVICES && record.devices.attempt == j->attempt)
			all->devices = record.devices;
	}
	bulklife_of(&all->bulk, (struct span){text, len}, all->large);
}

static int ranks_read(struct web *w, const struct job *j, struct ranks *all)
{
	all->attempt = j->attempt;
	all->main_pid = j->pid;
	int r = past_each_process(w->store, j, rank_take, all);
	ranks_sort(all);
	all->n_culprits = web_health_culprits(w, j, all->culprit);
	return r;
}

static bool is_culprit(const struct ranks *all, int32_t rank)
{
	for (size_t i = 0; i < all->n_culprits; i++)
		if (all->culprit[i] == rank)
			return true;
	return false;
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

static void memory_put(struct js *o, uint64_t own_bytes, uint64_t rss_bytes, uint64_t shared_bytes)
{
	js_put_u64(o, "own_bytes", own_bytes);
	js_put_u64(o, "rss_bytes", rss_bytes);
	js_put_u64(o, "shared_bytes", shared_bytes);
}

/* Of a rank that the looks have no lane for: counters of the kernel, of its main process, at this moment. */
static void main_memory_put(const struct web *w, pid_t pid, struct js *o)
{
	struct proc_statm m;
	if (proc_statm_read(&w->world, pid, &m) != 0)
		return;
	memory_put(o, sub_floor(m.resident_pages, m.shared_pages) * w->world.page_bytes,
		   m.resident_pages * w->world.page_bytes, m.shared_pages * w->world.page_bytes);
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
	memory_put(o, now->own_bytes, now->rss_bytes, sub_floor(now->rss_bytes, now->own_bytes));
	if (!then || seconds <= 0)
		return;
	js_put_double(o, "cpu_ratio", webranks_rate_of(now->cpu_ns, then->cpu_ns, seconds) / 1e9);
	if (now->has_io && then->has_io) {
		js_put_double(o, "read_bytes_per_s", webranks_rate_of(now->read_bytes, then->read_bytes, seconds));
		js_put_double(o, "write_bytes_per_s",
			      webranks_rate_of(now->written_bytes, then->written_bytes, seconds));
	}
}

enum rank_state {
	RANK_WORKING,
	RANK_RUNNING,
	RANK_WAITING,
	RANK_STOPPED,
	RANK_ENDED,
	RANK_FAILED,
	RANK_TOLD,
	RANK_UNKNOWN
};

static const struct {
	const char *name;
	char letter; /* in a grid */
} rank_states[] = {
	[RANK_WORKING] = {"working", 'R'}, [RANK_RUNNING] = {"running", 'S'}, [RANK_WAITING] = {"waiting", 'D'},
	[RANK_STOPPED] = {"stopped", 'T'}, [RANK_ENDED] = {"ended", 'e'},     [RANK_FAILED] = {"ended", 'x'},
	[RANK_TOLD] = {"ended", 'v'},	   [RANK_UNKNOWN] = {"unknown", '?'},
};

static enum rank_state state_of_ended(const struct job_process *p)
{
	if (!p->has_status || p->wait_status == 0)
		return RANK_ENDED;
	return p->ended_for[0] ? RANK_TOLD : RANK_FAILED;
}

static enum rank_state webranks_state(const struct web *w, const struct job *j, const struct job_process *p)
{
	struct proc_stat st;
	if (p->ended_unix_ms > 0 || !job_is_open(j))
		return state_of_ended(p);
	/* as joblife_runs, with one look for both: a thousand ranks are asked for at once */
	int r = proc_stat_read(&w->world, p->pid, &st);
	if (r == WORLD_DENIED)
		return RANK_UNKNOWN;
	if (r != 0 || st.start_ticks != p->start_ticks || proc_is_over(&st))
		return state_of_ended(p);
	switch (st.state) {
	case 'R':
		return RANK_WORKING;
	case 'D':
		return RANK_WAITING;
	case 'T':
	case 't':
		return RANK_STOPPED;
	case 'Z':
	case 'X':
		return state_of_ended(p);
	default:
		return RANK_RUNNING;
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
	js_put_text_if(o, "ended_for", p->ended_for);
}

static struct js *rank_json(const struct web *w, const struct job *j, const struct ranks *all,
			    const struct job_process *p)
{
	struct js *o = js_object();
	const struct job_step *step = job_steps_find(&all->steps, p->rank);
	const enum rank_state state = webranks_state(w, j, p);
	step = step || p->rank > 0 ? step : job_steps_find(&all->steps, NO_RANK);
	if (p->rank != NO_RANK)
		js_put_i64(o, "rank", p->rank);
	js_put_i64(o, "pid", p->pid);
	js_put_text_if(o, "node", j->node);
	js_put_text(o, "state", rank_states[state].name);
	if (state != RANK_ENDED && state != RANK_FAILED && state != RANK_TOLD) {
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
	js_put_bool(o, "culprit", is_culprit(all, p->rank));
	return o;
}

/* Rows of the ranks from a place on; they are released. */
static struct js *rows_json(const struct web *w, const struct job *j, struct ranks *all, uint64_t from, uint64_t limit)
{
	struct js *list = js_array();
	looks_read(j, all);
	past_steps_tail(j, &all->steps);
	for (uint64_t i = from; i < all->n && i - from < limit; i++)
		js_add(list, rank_json(w, j, all, &all->of[i]));
	return list;
}

int web_ranks_rows(struct web *w, const struct job *j, uint64_t from, uint64_t limit, struct js **ret,
		   uint64_t *ret_total)
{
	static struct ranks all; /* large */
	all = (struct ranks){.n = 0};
	int r = ranks_read(w, j, &all);
	if (r >= 0) {
		*ret = rows_json(w, j, &all, from, limit);
		*ret_total = all.n;
	}
	free(all.of);
	return r < 0 ? r : 0;
}

/* What a grid shows of each rank: a thousandth of its row. */
static struct js *grid_json(const struct web *w, const struct job *j, const struct ranks *all, uint64_t from,
			    uint64_t limit)
{
	char states[GRID_MOST + 1];
	struct js *o = js_object(), *spans = js_array(), *culprits = js_array();
	const size_t first = MIN(from, all->n), n = MIN(MIN(limit, GRID_MOST), all->n - first);
	const struct job_process *p = all->of + first;
	for (size_t i = 0, begin = 0; i < n; i++) {
		states[i] = rank_states[webranks_state(w, j, &p[i])].letter;
		if (is_culprit(all, p[i].rank))
			js_add_i64(culprits, p[i].rank);
		if (i + 1 < n && p[i + 1].rank == p[i].rank + 1)
			continue;
		struct js *span = js_array();
		js_add_i64(span, p[begin].rank);
		js_add_i64(span, p[i].rank);
		js_add(spans, span);
		begin = i + 1;
	}
	states[n] = '\0';
	js_put(o, "ranks", spans);
	js_put_text(o, "states", states);
	js_put(o, "culprits", culprits);
	return o;
}

struct ranks_want {
	uint64_t from, limit, grid_over;
};

static int ranks_answer(struct web *w, const struct job *j, const struct ranks_want *want, struct js *o)
{
	static struct ranks all; /* large */
	all = (struct ranks){.n = 0};
	int r = ranks_read(w, j, &all);
	if (r >= 0 && all.n > want->grid_over && all.of[0].rank != NO_RANK) {
		js_put(o, "ranks", js_array());
		js_put(o, "grid", grid_json(w, j, &all, want->from, want->limit));
	} else if (r >= 0) {
		js_put(o, "ranks", rows_json(w, j, &all, want->from, want->limit));
	}
	js_put_u64(o, "total", all.n);
	free(all.of);
	return r;
}

void web_ranks(const struct webcall *c)
{
	struct fault f = {.text = ""};
	struct job j;
	struct ranks_want want;
	if (weburl_u64(&c->url, "from", 0, 0, UINT32_MAX, &want.from, &f) < 0 ||
	    weburl_u64(&c->url, "limit", 1000, 1, GRID_MOST, &want.limit, &f) < 0 ||
	    weburl_u64(&c->url, "grid_over", UINT32_MAX, 0, UINT32_MAX, &want.grid_over, &f) < 0)
		return web_fault(c, &f);
	if (!web_job(c, &j))
		return;
	struct js *o = js_object();
	js_put_text(o, "schema", "vigil.ranks/1");
	js_put_text(o, "job", j.id);
	int r = ranks_answer(c->web, &j, &want, o);
	if (r >= 0)
		return web_json(c, 200, o);
	js_free(o);
	web_store_failed(c, r, "the ranks");
}

/* What was told of it lies before the end of the series that is read: then it is asked for its name. */
static struct js *large_json(const struct web *w, const struct series_bulk *bulk, struct bulklife *large)
{
	struct js *list = js_array();
	for (uint32_t i = 0; i < bulk->n; i++) {
		struct proc_stat st;
		if (!large[i].name[0] && proc_stat_read(&w->world, large[i].pid, &st) == 0 &&
		    st.start_ticks == large[i].start_ticks)
			TEXT_COPY(large[i].name, proc_known_as(st.comm));
		struct js *o = bulklife_json(&large[i]);
		js_put_u64(o, "own", bulk->of[i].own_bytes);
		js_add(list, o);
	}
	return list;
}

struct js *web_memory_point(const struct web *w, const struct job *j, int64_t *ret_unix_ms)
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
	if (s->n_lanes <= 1 && all.bulk.n > 0)
		js_put(o, "processes", large_json(w, &all.bulk, all.large));
	if (s->job_bytes > 0) {
		js_put_u64(o, "job_bytes", s->job_bytes);
		js_put_u64(o, "shared", sub_floor(s->job_bytes, own_bytes));
	}
	if (s->node_used_bytes > 0)
		js_put_u64(o, "used", s->node_used_bytes);
	*ret_unix_ms = s->time_unix_ms;
	return o;
}
