#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jobs/past.h"
#include "agent/web/web.h"
#include "base/json.h"
#include "base/vec.h"
#include "sense/rank.h"
#include "tell/jobs/bulklife.h"
#include "tell/jobs/killpoint.h"
#include "tell/jobs/seriesjson.h"
#include "tell/store/series.h"

#define LANES_SHOWN 40
#define LARGE_SHOWN 16

/* Points of a job's series between two times, thinned to a number. */
struct points {
	struct series_sample *of; /* owned */
	size_t n, cap;
	struct series_steps *steps; /* owned, of each point; NULL: they are not asked for */
	size_t cap_steps;
	struct series_bulk *bulk; /* owned, of each point; NULL: they are not asked for */
	size_t cap_bulk;
	struct bulklife *large; /* owned, the largest processes of a job without ranks */
	size_t n_large;
	int64_t from, to;
	struct killpoints kills; /* of a picture of memory */
};

static void points_done(struct points *p)
{
	free(p->of);
	free(p->steps);
	free(p->bulk);
	free(p->large);
}

static uint64_t sample_bytes(const struct series_sample *s)
{
	uint64_t own_bytes = 0;
	for (uint32_t i = 0; i < s->n_lanes; i++)
		own_bytes += s->lane[i].own_bytes;
	return MAX(s->job_bytes, own_bytes);
}

/* Each part of the time is told by its last look, or by the one with most memory, so that no peak is lost. */
static int point_take(struct points *p, const struct series_sample *s, uint64_t slot, uint64_t *last_slot, bool peaks,
		      bool *ret_taken)
{
	*ret_taken = true;
	if (p->n > 0 && slot == *last_slot) {
		struct series_sample *last = &p->of[p->n - 1];
		*ret_taken = !peaks || sample_bytes(s) > sample_bytes(last);
		if (*ret_taken)
			*last = *s;
		return 0;
	}
	*last_slot = slot;
	if (vec_room(&p->of, &p->cap, p->n + 1) < 0)
		return -ENOMEM;
	p->of[p->n++] = *s;
	return 0;
}

/* The time that has samples, within what is wanted. Pure of what clocks did: an end before its begin is one part. */
static void range_narrow(struct span text, struct points *p)
{
	static struct series_record record;
	struct series_reader reader;
	int64_t first = INT64_MAX, last = INT64_MIN;
	if (series_reader_init(&reader, text) < 0)
		return;
	while (series_next(&reader, &record)) {
		if (record.kind != SERIES_SAMPLE)
			continue;
		first = MIN(first, record.sample.time_unix_ms);
		last = MAX(last, record.sample.time_unix_ms);
	}
	if (p->kills.n > 0 && last != INT64_MIN)
		last = MAX(last, p->kills.of[p->kills.n - 1].freed_unix_ms);
	p->from = MAX(p->from, first);
	p->to = MIN(p->to, last);
}

/* Samples are denser the newer they are: parts are of time, not of numbers of samples. */
static uint64_t webseries_slot(const struct points *p, int64_t time_unix_ms, uint64_t most)
{
	double whole = (double)p->to - (double)p->from + 1;
	return (uint64_t)(((double)time_unix_ms - (double)p->from) / whole * (double)most);
}

/* Steps are written behind the look that they belong to. */
static void point_steps(struct points *p, const struct series_steps *s)
{
	if (p->steps && p->n > 0 && p->of[p->n - 1].mono_ns == s->mono_ns)
		p->steps[p->n - 1] = *s;
}

/* So are large processes. */
static void point_bulk(struct points *p, const struct series_bulk *s)
{
	if (p->bulk && p->n > 0 && p->of[p->n - 1].mono_ns == s->mono_ns)
		p->bulk[p->n - 1] = *s;
}

static bool is_ranked(const struct points *p)
{
	for (size_t i = 0; i < p->n; i++)
		for (uint32_t k = 0; k < p->of[i].n_lanes; k++)
			if (p->of[i].lane[k].rank != NO_RANK)
				return true;
	return false;
}

/* The largest processes of the time that is told; a job with ranks has lanes for these. */
static int points_large(struct span text, struct points *p)
{
	size_t n = 0;
	if (p->n == 0 || is_ranked(p))
		return 0;
	int r = bulklife_read(text, p->from, p->to, &p->large, &n);
	if (r < 0)
		return r;
	p->n_large = bulklife_largest(p->large, n, LARGE_SHOWN);
	bulklife_name(text, p->large, p->n_large);
	return 0;
}

enum points_what { POINTS_LANES, POINTS_STEPS, POINTS_MEMORY };

/* What belongs to the newest point beside the look itself. */
static int point_extend(struct points *p, enum points_what what, const struct series_steps *latest)
{
	int r = 0;
	if (what == POINTS_STEPS) {
		r = vec_room(&p->steps, &p->cap_steps, p->n);
		if (r == 0)
			p->steps[p->n - 1] = *latest;
	} else if (what == POINTS_MEMORY) {
		r = vec_room(&p->bulk, &p->cap_bulk, p->n);
		if (r == 0)
			p->bulk[p->n - 1].n = 0;
	}
	return r;
}

/* The records of a series as they become points. */
struct points_reading {
	struct points *to;
	enum points_what what;
	uint64_t most, slot;
	struct series_steps steps; /* the latest */
	struct killwalk kills;
};

static int webseries_sample_take(struct points_reading *g, const struct series_sample *s)
{
	struct points *p = g->to;
	bool taken = false;
	if (s->time_unix_ms < p->from || s->time_unix_ms > p->to)
		return 0;
	/* a clock that was set back does not make more points */
	uint64_t at = MAX(webseries_slot(p, s->time_unix_ms, g->most), g->slot);
	int r = point_take(p, s, at, &g->slot, g->what == POINTS_MEMORY, &taken);
	return r == 0 && taken ? point_extend(p, g->what, &g->steps) : r;
}

/* What was seen at kills since the latest look, before the next one. */
static int kills_put(struct points_reading *g, int64_t until_unix_ms)
{
	struct killwalk *w = &g->kills;
	int r = 0;
	while (r == 0 && killwalk_next(w, until_unix_ms)) {
		r = webseries_sample_take(g, &w->at);
		point_bulk(g->to, &w->bulk_at);
		if (r == 0 && w->has_after) {
			r = webseries_sample_take(g, &w->after);
			point_bulk(g->to, &w->bulk_after);
		}
	}
	return r;
}

static int points_record_take(struct points_reading *g, const struct series_record *record)
{
	int r = 0;
	if (record->kind == SERIES_STEPS) {
		g->steps = record->steps;
		point_steps(g->to, &g->steps);
	}
	if (record->kind == SERIES_BULK)
		point_bulk(g->to, &record->bulk);
	if (record->kind == SERIES_SAMPLE)
		r = kills_put(g, record->sample.time_unix_ms);
	killwalk_record(&g->kills, record);
	return r == 0 && record->kind == SERIES_SAMPLE ? webseries_sample_take(g, &record->sample) : r;
}

static int points_read(const struct job *j, uint64_t most, enum points_what what, struct points *p)
{
	static struct series_record record;
	static struct points_reading g;
	struct series_reader reader;
	size_t len = 0;
	int error = 0, r = 0;
	g = (struct points_reading){.to = p, .what = what, .most = most, .kills = {.kills = &p->kills}};
	cleanup(freep) char *text = past_read(j, &len, &error);
	struct span all = {text, len};
	if (!text || series_reader_init(&reader, all) < 0)
		return -error;
	range_narrow(all, p);
	while (r == 0 && series_next(&reader, &record))
		r = points_record_take(&g, &record);
	if (r == 0)
		r = kills_put(&g, INT64_MAX);
	return r == 0 && what == POINTS_MEMORY ? points_large(all, p) : r;
}

static bool range_want(const struct webcall *c, struct points *p, uint64_t *ret_points)
{
	struct fault f = {.text = ""};
	uint64_t from, to;
	int r = weburl_u64(&c->url, "from", 0, 0, INT64_MAX, &from, &f);
	if (r == 0)
		r = weburl_u64(&c->url, "to", INT64_MAX, 0, INT64_MAX, &to, &f);
	if (r == 0)
		r = weburl_u64(&c->url, "points", 600, 2, 2000, ret_points, &f);
	if (r == 0 && to < from)
		r = fault_set(&f, -EINVAL, "to is before from");
	if (r < 0) {
		web_fault(c, &f);
		return false;
	}
	p->from = (int64_t)from;
	p->to = (int64_t)to;
	return true;
}

/* ---- what is written: numbers in many arrays, so text is made at once ---- */

static int64_t point_time(const void *ctx, size_t i)
{
	const struct points *p = ctx;
	return p->of[i].time_unix_ms;
}

static void times_write(const struct points *p, FILE *to)
{
	seriesjson_times(point_time, p, p->n, to);
}

static const struct series_lane *lane_of(const struct series_sample *s, int32_t rank)
{
	for (uint32_t i = 0; i < s->n_lanes; i++)
		if (s->lane[i].rank == rank)
			return &s->lane[i];
	return NULL;
}

struct lane_peak {
	int32_t rank;
	uint64_t bytes;
};

static int by_peak(const void *a, const void *b)
{
	const struct lane_peak *x = a, *y = b;
	return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : (x->rank > y->rank) - (x->rank < y->rank);
}

/* The lanes of all points, the largest first. */
static size_t lanes_of(const struct points *p, struct lane_peak lanes[static SERIES_LANES])
{
	size_t n = 0;
	for (size_t i = 0; i < p->n; i++)
		for (uint32_t k = 0; k < p->of[i].n_lanes; k++) {
			const struct series_lane *l = &p->of[i].lane[k];
			size_t at = 0;
			while (at < n && lanes[at].rank != l->rank)
				at++;
			if (at == n && n == SERIES_LANES)
				continue;
			if (at == n)
				lanes[n++] = (struct lane_peak){.rank = l->rank};
			lanes[at].bytes = MAX(lanes[at].bytes, l->own_bytes);
		}
	if (n > 0)
		qsort(lanes, n, sizeof(*lanes), by_peak);
	return n;
}

static void own_write(const struct points *p, const struct lane_peak *lanes, size_t n, FILE *to)
{
	for (size_t i = 0; i < p->n; i++) {
		uint64_t bytes = 0;
		bool known = false;
		for (size_t k = 0; k < n; k++) {
			const struct series_lane *l = lane_of(&p->of[i], lanes[k].rank);
			bytes += l ? l->own_bytes : 0;
			known |= l != NULL;
		}
		if (known)
			fprintf(to, "%s%llu", i ? "," : "", (unsigned long long)bytes);
		else
			fprintf(to, "%snull", i ? "," : "");
	}
}

static void memory_lanes_write(const struct points *p, FILE *to)
{
	struct lane_peak lanes[SERIES_LANES];
	size_t n = lanes_of(p, lanes), shown = n <= LANES_SHOWN ? n : LANES_SHOWN - 1;
	fputs(",\"series\":[", to);
	for (size_t i = 0; i < shown; i++) {
		if (lanes[i].rank == NO_RANK)
			fprintf(to, "%s{\"name\":\"no rank\",\"own\":[", i ? "," : "");
		else
			fprintf(to, "%s{\"rank\":%d,\"own\":[", i ? "," : "", lanes[i].rank);
		own_write(p, &lanes[i], 1, to);
		fputs("]}", to);
	}
	if (n > shown) {
		fputs(",{\"name\":\"others\",\"own\":[", to);
		own_write(p, &lanes[shown], n - shown, to);
		fputs("]}", to);
	}
	fputc(']', to);
}

/* What the large ones have is a part of what the lane without a rank has. */
static void large_write(const struct points *p, FILE *to)
{
	fputs(",\"processes\":[", to);
	for (size_t i = 0; i < p->n_large; i++) {
		cleanup(js_freep) struct js *o = bulklife_json(&p->large[i]);
		cleanup(freep) char *text = js_text(o, 0);
		if (!text)
			continue;
		size_t len = strlen(text);
		while (len > 0 && text[len - 1] != '}')
			len--;
		fprintf(to, "%s%.*s,\"own\":[", i ? "," : "", (int)(len > 0 ? len - 1 : 0), text);
		for (size_t k = 0; k < p->n; k++) {
			const struct series_bulk_process *had = bulklife_at(&p->bulk[k], &p->large[i]);
			if (had)
				fprintf(to, "%s%llu", k ? "," : "", (unsigned long long)had->own_bytes);
			else
				fprintf(to, "%snull", k ? "," : "");
		}
		fputs("]}", to);
	}
	fputc(']', to);
}

/* A number of each point; 0 is unknown. */
static void column_write(const struct points *p, const char *name, uint64_t (*of)(const struct series_sample *),
			 FILE *to)
{
	fprintf(to, ",\"%s\":[", name);
	for (size_t i = 0; i < p->n; i++) {
		uint64_t v = of(&p->of[i]);
		if (v > 0)
			fprintf(to, "%s%llu", i ? "," : "", (unsigned long long)v);
		else
			fprintf(to, "%snull", i ? "," : "");
	}
	fputc(']', to);
}

static uint64_t node_used(const struct series_sample *s)
{
	return s->node_used_bytes;
}

static uint64_t job_used(const struct series_sample *s)
{
	return s->job_bytes;
}

/* What the job's group holds beside the own bytes of its processes: shared pages, files, the kernel's. */
static uint64_t job_shared(const struct series_sample *s)
{
	uint64_t own_bytes = 0;
	for (uint32_t i = 0; i < s->n_lanes; i++)
		own_bytes += s->lane[i].own_bytes;
	return sub_floor(s->job_bytes, own_bytes);
}

/* Where the guard acts, as was noted when it began to watch. */
static void acts_at_write(const struct webcall *c, const struct job *j, FILE *to)
{
	char text[32], *end;
	struct store *store = web_store(c->web);
	if (!store || store_get_note(store, j->id, STORE_NOTE_ACTS_AT, text, sizeof(text)) != 0)
		return;
	unsigned long long acts_at = strtoull(text, &end, 10);
	if (end != text && acts_at > 0)
		fprintf(to, ",\"threshold_bytes\":%llu", acts_at);
}

void web_memory(const struct webcall *c)
{
	cleanup(points_done) struct points p = {.n = 0};
	uint64_t most;
	struct job j;
	char *text = NULL;
	size_t len = 0;
	if (!range_want(c, &p, &most) || !web_job(c, &j))
		return;
	/* without the store the picture has the sampler's looks alone */
	if (web_store(c->web))
		ignore(killpoints_read(web_store(c->web), j.id, &p.kills), "the looks are shown");
	FILE *to = points_read(&j, most, POINTS_MEMORY, &p) == 0 ? open_memstream(&text, &len) : NULL;
	if (!to)
		return web_fail(c, 503, "io", "cannot read the series of job %s", j.id);
	fprintf(to, "{\"schema\":\"vigil.memory_series/1\",\"job\":\"%s\",", j.id);
	times_write(&p, to);
	memory_lanes_write(&p, to);
	large_write(&p, to);
	column_write(&p, "shared", job_shared, to);
	column_write(&p, "job_bytes", job_used, to);
	column_write(&p, "used", node_used, to);
	uint64_t total_bytes = p.n > 0 ? p.of[p.n - 1].node_total_bytes : 0;
	if (j.limit_bytes > 0)
		fprintf(to, ",\"limit_bytes\":%llu", (unsigned long long)j.limit_bytes);
	acts_at_write(c, &j, to);
	if (total_bytes > 0)
		fprintf(to, ",\"total_bytes\":%llu", (unsigned long long)total_bytes);
	fputs("}", to);
	(void)fclose(to);
	web_json_text(c->request->call, 200, text);
}

/* ---- rates ---- */

struct rate {
	const char *label, *unit;
	double each; /* divided by this */
	uint64_t (*of)(const struct series_lane *l);
};

static uint64_t lane_cpu(const struct series_lane *l)
{
	return l->cpu_ns;
}

static uint64_t lane_read(const struct series_lane *l)
{
	return l->has_io ? l->read_bytes : 0;
}

static uint64_t lane_written(const struct series_lane *l)
{
	return l->has_io ? l->written_bytes : 0;
}

/* A counter that is smaller than before is that of another attempt. */
static void rate_write(const struct points *p, int32_t rank, const struct rate *r, FILE *to)
{
	fputs("null", to);
	for (size_t i = 1; i < p->n; i++) {
		const struct series_sample *a = &p->of[i - 1], *b = &p->of[i];
		const struct series_lane *x = lane_of(a, rank), *y = lane_of(b, rank);
		if (!x || !y || b->mono_ns <= a->mono_ns || a->attempt != b->attempt || r->of(y) < r->of(x))
			fputs(",null", to);
		else
			fprintf(to, ",%.6g",
				(double)(r->of(y) - r->of(x)) / r->each / ((double)(b->mono_ns - a->mono_ns) / 1e9));
	}
}

static void rates_write(const struct points *p, const struct rate *rates, size_t n_rates, FILE *to)
{
	struct lane_peak lanes[SERIES_LANES];
	size_t n = p->n > 0 ? MIN(lanes_of(p, lanes), (size_t)LANES_SHOWN) : 0;
	fputs(",\"series\":[", to);
	for (size_t i = 0; i < n * n_rates; i++) {
		const struct rate *r = &rates[i % n_rates];
		fprintf(to, "%s{", i ? "," : "");
		if (lanes[i / n_rates].rank != NO_RANK)
			fprintf(to, "\"rank\":%d,", lanes[i / n_rates].rank);
		fprintf(to, "\"label\":\"%s\",\"unit\":\"%s\",\"values\":[", r->label, r->unit);
		rate_write(p, lanes[i / n_rates].rank, r, to);
		fputs("]}", to);
	}
	fputc(']', to);
}

static int steps_write(const struct points *p, FILE *to)
{
	const struct series_steps *last = &p->steps[p->n - 1];
	int r = 0;
	fputs(",\"series\":[", to);
	for (uint32_t i = 0; r == 0 && i < last->n && i < LANES_SHOWN; i++) {
		fprintf(to, "%s{", i ? "," : "");
		if (last->of[i].rank != NO_RANK)
			fprintf(to, "\"rank\":%d,", last->of[i].rank);
		fputs("\"label\":\"steps\",\"unit\":\"1/s\",\"values\":[", to);
		r = seriesjson_step_rates(p->of, p->steps, p->n, last->of[i].rank, to);
		fputs("]}", to);
	}
	fputc(']', to);
	return r;
}

static int gpus_write(const struct job *j, const struct seriesjson_want *want, FILE *to)
{
	size_t len = 0;
	int error = 0;
	cleanup(freep) char *text = past_read(j, &len, &error);
	return error ? -error : seriesjson_gpus((struct span){text, len}, want, to);
}

void web_series(const struct webcall *c)
{
	static const char *const whats[] = {"cpu", "io", "step", "gpu", NULL};
	static const struct rate cpu[] = {{"cpu", "cores", 1e9, lane_cpu}};
	static const struct rate io[] = {{"read", "bytes/s", 1, lane_read}, {"written", "bytes/s", 1, lane_written}};
	cleanup(points_done) struct points p = {.n = 0};
	struct fault f = {.text = ""};
	uint64_t most;
	size_t what, len = 0;
	struct job j;
	char *text = NULL;
	if (weburl_choice(&c->url, "what", whats, 0, &what, &f) < 0)
		return web_fault(c, &f);
	if (!range_want(c, &p, &most) || !web_job(c, &j))
		return;
	int r = what == 3 ? 0 : points_read(&j, most, what == 2 ? POINTS_STEPS : POINTS_LANES, &p);
	FILE *to = r == 0 ? open_memstream(&text, &len) : NULL;
	if (!to)
		return web_fail(c, 503, "io", "cannot read the series of job %s", j.id);
	fprintf(to, "{\"schema\":\"vigil.series/1\",\"job\":\"%s\",\"what\":\"%s\",", j.id, whats[what]);
	if (what == 3)
		r = gpus_write(&j, &(struct seriesjson_want){.from = p.from, .to = p.to, .most = most}, to);
	else
		times_write(&p, to);
	if (p.n > 0 && what == 0)
		rates_write(&p, cpu, ARRAY_SIZE(cpu), to);
	else if (p.n > 0 && what == 1)
		rates_write(&p, io, ARRAY_SIZE(io), to);
	else if (p.n > 0 && what == 2)
		r = steps_write(&p, to);
	else if (what != 3)
		fputs(",\"series\":[]", to);
	fputs("}", to);
	(void)fclose(to);
	if (r < 0) {
		free(text);
		return web_fail(c, 503, "io", "cannot read the series of job %s", j.id);
	}
	web_json_text(c->request->call, 200, text);
}
