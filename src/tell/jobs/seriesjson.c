#include "tell/jobs/seriesjson.h"

#include <stdlib.h>

#include "base/vec.h"

/* Without a look for so long, and for four times the distance before, nothing is known in between. */
#define GAP_MS (INT64_C(60) * 1000)
#define GAP_TIMES 4
#define NEIGHBOURS 6

/*
 * How far points are from each other before the i-th: the second largest of some distances, so that one gap does not
 * hide the next. Older points are never denser; of the first ones, those that follow tell.
 */
static int64_t distance_at(seriesjson_time_fn *time_of, const void *ctx, size_t n, size_t i)
{
	size_t low = i > NEIGHBOURS ? i - NEIGHBOURS : 1, high = MIN(low + NEIGHBOURS, n - 1);
	int64_t most = 0, second = 0;
	for (size_t k = low; k <= high; k++) {
		int64_t d = k == i ? 0 : time_of(ctx, k) - time_of(ctx, k - 1);
		second = MAX(second, MIN(d, most));
		most = MAX(most, d);
	}
	return second;
}

void seriesjson_times(seriesjson_time_fn *time_of, const void *ctx, size_t n, FILE *to)
{
	fputs("\"times\":[", to);
	for (size_t i = 0; i < n; i++)
		fprintf(to, "%s%lld", i ? "," : "", (long long)time_of(ctx, i));
	fputs("],\"gaps\":[", to);
	bool any = false;
	for (size_t i = 1; i < n; i++) {
		int64_t a = time_of(ctx, i - 1), b = time_of(ctx, i);
		if (b - a <= MAX(GAP_MS, GAP_TIMES * distance_at(time_of, ctx, n, i)))
			continue;
		fprintf(to, "%s[%lld,%lld]", any ? "," : "", (long long)a, (long long)b);
		any = true;
	}
	fputc(']', to);
}

/* ---- steps ---- */

static const uint64_t rate_ns = 3 * NS_PER_S, rate_least_ns = NS_PER_S * 9 / 10;
/* For so long the first step of an attempt may be the only one: programs warm up. */
static const uint64_t first_ns = 30 * NS_PER_S;

static const struct series_step *step_of_rank(const struct series_steps *s, int32_t rank)
{
	for (uint32_t k = 0; k < s->n; k++)
		if (s->of[k].rank == rank)
			return &s->of[k];
	return NULL;
}

/* The latest steps may be of the attempt before: none of this one is known then. */
static const struct series_step *step_at(const struct series_sample *look, const struct series_steps *s, int32_t rank)
{
	return look->attempt == s->attempt ? step_of_rank(s, rank) : NULL;
}

/* A look that found another step than the one before. */
struct step_turn {
	size_t look;
	uint64_t mono_ns, step;
	bool begins; /* it cannot be compared with the one before: another attempt, or steps that went back */
};

/* Turns of a rank in n looks, into turn[n]; their number. */
static size_t turns_find(const struct series_sample *looks, const struct series_steps *steps, size_t n, int32_t rank,
			 struct step_turn *turn)
{
	size_t n_turns = 0;
	bool begins = true;
	for (size_t i = 0; i < n; i++) {
		const struct series_step *now = step_at(&looks[i], &steps[i], rank);
		const struct step_turn *last = n_turns > 0 ? &turn[n_turns - 1] : NULL;
		if (!now || (i > 0 && steps[i].attempt != steps[i - 1].attempt) ||
		    (last && (now->step < last->step || looks[i].mono_ns <= last->mono_ns)))
			begins = true;
		if (!now || (last && !begins && now->step == last->step))
			continue;
		turn[n_turns++] = (struct step_turn){i, looks[i].mono_ns, now->step, begins};
		begins = false;
	}
	return n_turns;
}

/* From the newest turn before `to` that is far enough away. < 0: nobody can tell. */
static double rate_until(const struct step_turn *turn, size_t to)
{
	size_t from = to;
	while (!turn[from].begins && turn[to].mono_ns - turn[from].mono_ns < rate_ns)
		from--;
	uint64_t ns = turn[to].mono_ns - turn[from].mono_ns;
	return ns >= rate_least_ns ? (double)(turn[to].step - turn[from].step) / ((double)ns / 1e9) : -1;
}

/* Nothing has come since this turn. For a while that is usual. */
static double rate_since(const struct step_turn *turn, size_t at, uint64_t now_ns)
{
	uint64_t usual_ns = turn[at].begins ? first_ns / 2 : turn[at].mono_ns - turn[at - 1].mono_ns;
	return now_ns > turn[at].mono_ns && now_ns - turn[at].mono_ns >= MAX(rate_ns, 2 * usual_ns) ? 0 : -1;
}

int seriesjson_step_rates(const struct series_sample *looks, const struct series_steps *steps, size_t n, int32_t rank,
			  FILE *to)
{
	cleanup(freep) struct step_turn *turn = calloc(n + 1, sizeof(*turn));
	if (!turn)
		return -ENOMEM;
	size_t n_turns = turns_find(looks, steps, n, rank, turn), next = 0;
	for (size_t i = 0; i < n; i++) {
		double rate = -1;
		while (next < n_turns && turn[next].look < i)
			next++;
		bool here = next < n_turns && turn[next].look == i, within = next < n_turns && !turn[next].begins;
		if (here || within)
			rate = rate_until(turn, next);
		else if (next > 0 && step_at(&looks[i], &steps[i], rank))
			rate = rate_since(turn, next - 1, looks[i].mono_ns);
		if (rate < 0)
			fprintf(to, "%snull", i ? "," : "");
		else
			fprintf(to, "%s%.6g", i ? "," : "", rate);
	}
	return 0;
}

/* ---- GPUs ---- */

/* A device within a part of the time. */
struct cell {
	double busy_sum, memory_ratio; /* memory: the most */
	uint32_t n_busy;
	bool has_memory;
};

struct row {
	int64_t time_unix_ms;
	struct cell of[SERIES_DEVICES_MAX];
};

struct table {
	struct row *row; /* owned */
	size_t n, cap;
	int32_t rank[SERIES_DEVICES_MAX]; /* the last one that used it */
	bool seen[SERIES_DEVICES_MAX];
};

static void table_done(struct table *t)
{
	free(t->row);
}

static void row_take(struct table *t, struct row *row, const struct series_devices *d)
{
	for (uint32_t i = 0; i < d->n; i++) {
		const struct series_device *g = &d->of[i];
		if (g->index >= SERIES_DEVICES_MAX)
			continue;
		struct cell *c = &row->of[g->index];
		t->seen[g->index] = true;
		t->rank[g->index] = g->rank;
		if (g->has & SERIES_HAS_BUSY) {
			c->busy_sum += MIN(g->busy_percent, 100U) / 100.0;
			c->n_busy++;
		}
		if (g->has & SERIES_HAS_USED && g->has & SERIES_HAS_TOTAL && g->total_bytes > 0) {
			double ratio = (double)g->used_bytes / (double)g->total_bytes;
			c->memory_ratio = MAX(c->memory_ratio, MIN(ratio, 1.0));
			c->has_memory = true;
		}
	}
}

/* The part of the time that has looks. */
static void range_narrow(struct span text, struct seriesjson_want *w)
{
	static struct series_record rec;
	struct series_reader r;
	int64_t first = INT64_MAX, last = INT64_MIN;
	if (series_reader_init(&r, text) < 0)
		return;
	while (series_next(&r, &rec))
		if (rec.kind == SERIES_DEVICES) {
			first = MIN(first, rec.devices.time_unix_ms);
			last = MAX(last, rec.devices.time_unix_ms);
		}
	w->from = MAX(w->from, first);
	w->to = MIN(w->to, last);
}

/* Of each part of the time: the mean of what they worked, the most memory. */
static int table_read(struct span text, const struct seriesjson_want *asked, struct table *t)
{
	static struct series_record rec;
	struct series_reader r;
	struct seriesjson_want w = *asked;
	uint64_t slot = 0;
	if (series_reader_init(&r, text) < 0)
		return 0;
	range_narrow(text, &w);
	double whole = (double)w.to - (double)w.from + 1;
	while (series_next(&r, &rec)) {
		int64_t at_ms = rec.devices.time_unix_ms;
		if (rec.kind != SERIES_DEVICES || at_ms < w.from || at_ms > w.to)
			continue;
		uint64_t at = (uint64_t)(((double)at_ms - (double)w.from) / whole * (double)w.most);
		if (t->n == 0 || at > slot) {
			if (vec_room(&t->row, &t->cap, t->n + 1) < 0)
				return -ENOMEM;
			t->row[t->n++] = (struct row){.time_unix_ms = at_ms};
			slot = at;
		}
		row_take(t, &t->row[t->n - 1], &rec.devices);
	}
	return 0;
}

static int64_t row_time(const void *ctx, size_t i)
{
	const struct table *t = ctx;
	return t->row[i].time_unix_ms;
}

static void curve_write(const struct table *t, uint32_t device, bool memory, bool first, FILE *to)
{
	fprintf(to, "%s{", first ? "" : ",");
	if (t->rank[device] >= 0)
		fprintf(to, "\"rank\":%d,", t->rank[device]);
	fprintf(to, "\"gpu\":%u,\"label\":\"GPU %u %s\",\"unit\":\"ratio\",\"values\":[", device, device,
		memory ? "memory" : "busy");
	for (size_t i = 0; i < t->n; i++) {
		const struct cell *c = &t->row[i].of[device];
		bool known = memory ? c->has_memory : c->n_busy > 0;
		if (known)
			fprintf(to, "%s%.4g", i ? "," : "", memory ? c->memory_ratio : c->busy_sum / c->n_busy);
		else
			fprintf(to, "%snull", i ? "," : "");
	}
	fputs("]}", to);
}

int seriesjson_gpus(struct span text, const struct seriesjson_want *want, FILE *to)
{
	cleanup(table_done) struct table t = {.n = 0};
	int r = table_read(text, want, &t);
	if (r < 0)
		return r;
	seriesjson_times(row_time, &t, t.n, to);
	fputs(",\"series\":[", to);
	bool first = true;
	for (int memory = 0; memory < 2; memory++)
		for (uint32_t i = 0; t.n > 0 && i < SERIES_DEVICES_MAX; i++)
			if (t.seen[i]) {
				curve_write(&t, i, memory == 1, first, to);
				first = false;
			}
	fputc(']', to);
	if (t.n == 0)
		fputs(",\"note\":\"no GPU of this job was seen; 'vigil gpus' shows those of the machine\"", to);
	return 0;
}

void seriesjson_rank_gpus(const struct series_devices *looks, int32_t rank, struct js *o)
{
	struct js *all = js_array();
	for (uint32_t i = 0; i < looks->n; i++) {
		const struct series_device *g = &looks->of[i];
		if (g->rank != rank)
			continue;
		struct js *one = js_object();
		js_put_u64(one, "index", g->index);
		if (g->has & SERIES_HAS_BUSY)
			js_put_double(one, "busy_ratio", MIN(g->busy_percent, 100U) / 100.0);
		if (g->has & SERIES_HAS_USED)
			js_put_u64(one, "memory_bytes", g->used_bytes);
		if (g->has & SERIES_HAS_TOTAL)
			js_put_u64(one, "memory_total_bytes", g->total_bytes);
		if (g->has & SERIES_HAS_USED && g->has & SERIES_HAS_TOTAL && g->total_bytes > 0)
			js_put_double(one, "used_ratio", (double)g->used_bytes / (double)g->total_bytes);
		js_add(all, one);
	}
	if (js_len(all) > 0)
		js_put(o, "gpu", all);
	else
		js_free(all);
}
