#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/units.h"
#include "model/heap/heapset_together.h"
#include "tell/heap/heap_show.h"

#define PATH_FRAMES 256
#define INCIDENT_TOP_STACKS 10

static void put_size(struct js *o, const char *key, double bytes)
{
	js_put_u64(o, key, heap_whole(bytes));
}

static void put_size_if(struct js *o, const char *key, double bytes)
{
	if (bytes >= 1)
		put_size(o, key, bytes);
}

static struct js *amount_js(const struct heap_amount *a)
{
	const struct heap_interval in = heap_amount_interval(a);
	struct js *o = js_object();
	put_size(o, "bytes", a->bytes);
	put_size(o, "low_bytes", in.low);
	put_size(o, "high_bytes", in.high);
	put_size(o, "objects", a->objects);
	js_put_u64(o, "samples", a->samples);
	return o;
}

static struct js *frames_js(const struct heapset *h, uint32_t node, size_t most)
{
	const struct frame *path[PATH_FRAMES];
	struct js *all = js_array();
	size_t n = heapset_path(h, node, path, MIN(most, (size_t)PATH_FRAMES));
	for (size_t i = 0; i < n; i++) {
		struct js *f = js_object();
		js_put_text(f, "kind", frame_kind_name(path[i]->kind));
		js_put_text(f, "name", path[i]->name);
		js_put_text_if(f, "file", path[i]->file);
		js_put_text_if(f, "module", path[i]->module);
		if (path[i]->line > 0)
			js_put_i64(f, "line", path[i]->line);
		js_add(all, f);
	}
	return all;
}

static void put_ladder(struct js *o, const struct heapset_process *p)
{
	if (!p->breakdown.valid)
		return;
	struct js *l = js_object();
	js_put_u64(l, "rss_bytes", p->breakdown.rss_bytes);
	js_put_u64(l, "anon_bytes", p->breakdown.anon_bytes);
	js_put_u64(l, "file_bytes", p->breakdown.file_bytes);
	js_put_u64(l, "shmem_bytes", p->breakdown.shmem_bytes);
	js_put_u64(l, "swap_bytes", p->breakdown.swap_bytes);
	const struct heapset_explained e = heapset_explained(p);
	if (p->shares.valid)
		js_put_u64(l, "pss_anon_bytes", p->shares.pss_anon_bytes);
	if (e.valid) {
		put_size(l, "attributed_bytes", e.own_bytes);
		put_size_if(l, "inherited_bytes", e.inherited_bytes);
		put_size(l, "unattributed_bytes", e.rest_bytes);
	}
	js_put(o, "memory", l);
}

static void put_seen(struct js *o, const struct heapset_process *p)
{
	if (p->seen_unix_ms > 0)
		js_put_i64(o, "resident_unix_ms", p->seen_unix_ms);
	if (p->seen_unix_ms > 0 && p->seen.bytes > 0)
		put_size(o, "resident_bytes", p->resident_bytes * p->live.bytes / p->seen.bytes);
}

static void put_torch(struct js *o, const struct heapset_process *p)
{
	js_put_i64(o, "device", p->device);
	js_put_u64(o, "allocated_bytes", p->allocated_bytes);
	if (p->cut) { /* other totals would cover only a part of the snapshot */
		js_put_bool(o, "cut", true);
		return;
	}
	js_put_u64(o, "reserved_bytes", p->reserved_bytes);
	js_put_u64(o, "largest_free_bytes", p->largest_free_bytes);
	js_put_u64(o, "free_blocks", p->free_blocks);
	js_put_u64(o, "segments", p->segments);
	if (!p->trace.valid)
		return;
	struct js *t = js_object();
	js_put_u64(t, "allocations", p->trace.allocations);
	js_put_u64(t, "frees", p->trace.frees);
	js_put_u64(t, "segments_taken", p->trace.segments_new);
	js_put_u64(t, "segments_given_back", p->trace.segments_gone);
	js_put_u64(t, "out_of_memory", p->trace.ooms);
	js_put_double(t, "seconds", p->trace.seconds);
	js_put_u64(t, "peak_bytes", p->trace.peak_bytes);
	js_put_u64(t, "peak_unknown_bytes", p->trace.unknown_bytes);
	js_put(o, "history", t);
}

static struct js *process_js(const struct heapset_process *p, enum heapset_source source)
{
	struct js *o = js_object();
	if (p->pid > 0)
		js_put_i64(o, "pid", p->pid);
	if (p->rank != NO_RANK)
		js_put_i64(o, "rank", p->rank);
	js_put_text_if(o, "role", p->role);
	js_put_text_if(o, "name", p->name);
	js_put_text_if(o, "file", p->file);
	if (p->side)
		js_put_bool(o, "before", true);
	js_put_text_if(o, "note", p->note);
	if (source == HEAPSET_TORCH) {
		put_torch(o, p);
		return o;
	}
	js_put_text(o, "state", heapset_life_name(p->life));
	if (p->earlier)
		js_put_bool(o, "earlier", true);
	if (p->begun_unix_ms > 0)
		js_put_i64(o, "begun_unix_ms", p->begun_unix_ms);
	js_put_double(o, "seconds", p->seconds);
	if (p->ended_unix_ms > 0)
		js_put_i64(o, "ended_unix_ms", p->ended_unix_ms);
	js_put_u64(o, "rate_bytes", p->rate_bytes);
	if (source == HEAPSET_SAMPLED) {
		js_put_double(o, "peak_at_s", p->peak_at_s);
		js_put_u64(o, "requested_bytes", p->requested_bytes);
		js_put(o, "live", amount_js(&p->live));
		js_put(o, "peak", amount_js(&p->peak));
		if (p->peak_short_bytes >= 1)
			put_size(o, "peak_short_bytes", p->peak_short_bytes);
	}
	js_put(o, "total", amount_js(&p->total));
	js_put_u64(o, "stacks", p->stacks);
	if (p->small_stacks)
		js_put_u64(o, "small_stacks", p->small_stacks);
	if (p->lost_samples) {
		js_put_u64(o, "lost_samples", p->lost_samples);
		js_put_u64(o, "lost_bytes", p->lost_bytes);
		js_put_text_if(o, "lost_why", p->lost_why);
	}
	if (p->skipped_rows)
		js_put_u64(o, "skipped_rows", p->skipped_rows);
	if (p->peak_torn)
		js_put_bool(o, "peak_torn", true);
	put_ladder(o, p);
	put_seen(o, p);
	return o;
}

static void put_lifetimes(struct js *o, const struct heapset_figures *f)
{
	double all = 0;
	uint64_t below_ms = 1;
	struct js *list = js_array();
	for (size_t i = 0; i < HEAPSET_LIFETIMES; i++, below_ms *= 4) {
		struct js *one = js_object();
		all += f->lifetime_bytes[i];
		if (i + 1 < HEAPSET_LIFETIMES)
			js_put_u64(one, "below_ms", below_ms);
		put_size(one, "bytes", f->lifetime_bytes[i]);
		js_add(list, one);
	}
	if (all > 0)
		js_put(o, "freed", list);
	else
		js_free(list);
}

static void put_life(struct js *o, const char *key, struct heap_life l)
{
	char name[40];
	if (!l.known)
		return;
	TEXT_FORMAT(name, "%s_s", key);
	js_put_double(o, name, l.seconds);
	TEXT_FORMAT(name, "%s_at_least", key);
	if (l.at_least)
		js_put_bool(o, name, true);
	TEXT_FORMAT(name, "%s_below_s", key);
	if (l.below_s > 0)
		js_put_double(o, name, l.below_s);
}

/* Mean and quantiles of the times that blocks lived, and the classes that they are computed from. */
static struct js *lives_js(const struct heap_lives *l)
{
	struct js *o = js_object(), *classes = js_array();
	double freed = 0, alive = 0;
	for (size_t j = 0; j < HEAP_LIFE_CLASSES; j++) {
		freed += l->freed_bytes[j];
		alive += l->alive_bytes[j];
		if (!(l->freed_bytes[j] + l->alive_bytes[j] >= 1))
			continue;
		struct js *one = js_object();
		js_put_double(one, "from_s", heap_life_from_s(j));
		if (j + 1 < HEAP_LIFE_CLASSES)
			js_put_double(one, "below_s", heap_life_from_s(j + 1));
		put_size(one, "freed_bytes", l->freed_bytes[j]);
		put_size(one, "alive_bytes", l->alive_bytes[j]);
		js_add(classes, one);
	}
	put_size(o, "freed_bytes", freed);
	put_size(o, "alive_bytes", alive);
	put_life(o, "mean", heap_lives_mean(l));
	put_life(o, "half_gone", heap_lives_gone(l, 0.5));
	put_life(o, "most_gone", heap_lives_gone(l, 0.9));
	if (freed > 0)
		js_put_double(o, "mean_freed_s", l->freed_byte_s / freed);
	if (l->coarse)
		js_put_bool(o, "coarse", true);
	js_put(o, "classes", classes);
	return o;
}

static struct js *row_js(const struct heapset *h, const struct heapset_row *row, const struct heap_show_want *want,
			 double all)
{
	char headline[400];
	struct js *o = amount_js(&row->amount);
	heapset_headline(h, row->node, headline, sizeof(headline));
	js_put_text(o, "text", headline);
	if (all > 0 && !want->compare)
		js_put_double(o, "share", row->amount.bytes / all);
	if (want->compare)
		js_put(o, "before", amount_js(&row->before));
	js_put_u64(o, "processes", row->processes);
	if (heapset_source_of(h) == HEAPSET_SAMPLED || want->part.what != HEAPSET_LIVE) {
		put_size(o, "live_bytes", row->f.live.bytes);
		put_size(o, "peak_bytes", row->f.peak.bytes);
		put_size(o, "total_bytes", row->f.total.bytes);
		put_size_if(o, "temporary_bytes", row->f.total.bytes * row->f.temporary_share);
		if (row->f.seen.bytes > 0)
			put_size(o, "resident_bytes", row->f.resident_bytes * row->f.live.bytes / row->f.seen.bytes);
		if (row->f.leak.valid) {
			struct js *leak = js_object();
			js_put_double(leak, "bytes_per_s", row->f.leak.bytes_per_s);
			js_put_double(leak, "score", row->f.leak.score);
			put_size(leak, "old_bytes", row->f.old_bytes);
			js_put(o, "leak", leak);
		}
		put_lifetimes(o, &row->f);
		if (want->part.what == HEAPSET_LIFETIME)
			js_put(o, "lifetime", lives_js(&row->f.lives));
	}
	js_put(o, "frames", frames_js(h, row->node, PATH_FRAMES));
	return o;
}

static const char *source_name(enum heapset_source s)
{
	switch (s) {
	case HEAPSET_TORCH:
		return "torch";
	case HEAPSET_FAULTS:
		return "faults";
	case HEAPSET_SAMPLED:
		break;
	}
	return "sampled";
}

static struct js *together_js(const struct heapset_together *t)
{
	struct js *o = js_object();
	js_put_u64(o, "processes", t->n);
	put_size(o, "at_least_bytes", t->least_bytes);
	if (t->apart)
		js_put_u64(o, "at_other_times", t->apart);
	if (t->ends_unknown)
		js_put_u64(o, "ends_unknown", t->ends_unknown);
	return o;
}

/* Everything but the stacks. */
static struct js *whole_js(const struct heapset *h, const struct heap_show_want *want,
			   const struct heapset_together *together, const struct heap_amount *total, size_t left_out)
{
	size_t n_processes;
	struct js *o = js_object(), *list = js_array(), *remarks = js_array();
	const struct heapset_process *all = heapset_processes(h, &n_processes);
	js_put_text(o, "schema", "vigil.heap/1");
	js_put_text_if(o, "title", want->title ? want->title : "");
	js_put_text(o, "what", heapset_what_name(want->part.what));
	js_put_text(o, "source", source_name(heapset_source_of(h)));
	js_put(o, "total", amount_js(total));
	if (want->part.what == HEAPSET_PEAK)
		js_put(o, "together", together_js(together));
	if (want->part.what == HEAPSET_LIFETIME)
		js_put_double(o, "held_over_s", heapset_span_s(h, &want->part));
	for (size_t i = 0; i < n_processes; i++)
		if (heapset_wants(&want->part, &all[i]) || (want->compare && heapset_wants(&want->before, &all[i])))
			js_add(list, process_js(&all[i], heapset_source_of(h)));
	js_put(o, "processes", list);
	if (left_out)
		js_put_u64(o, "stacks_left_out", left_out);
	for (size_t i = 0; i < want->n_remarks; i++)
		js_add_text(remarks, want->remarks[i]);
	if (want->n_remarks)
		js_put(o, "remarks", remarks);
	else
		js_free(remarks);
	return o;
}

/* Rows are written one after the other: all objects at once would take ten times as much memory as their text. */
static int stacks_write(const struct heapset *h, const struct heap_show_want *want, const struct heapset_row *rows,
			size_t n, double total, FILE *to)
{
	for (size_t i = 0; i < n; i++) {
		cleanup(js_freep) struct js *row = row_js(h, &rows[i], want, total);
		cleanup(freep) char *text = js_text(row, 0);
		if (!text)
			return -ENOMEM;
		if (fputs(i ? ", " : "", to) == EOF || fputs(text, to) == EOF)
			return -EIO;
	}
	return 0;
}

int heap_json_write(const struct heapset *h, const struct heap_show_want *want, FILE *to)
{
	cleanup(heapset_together_done) struct heapset_together together = {.in = NULL};
	cleanup(freep) struct heapset_row *rows = NULL;
	size_t n = 0;
	int r = want->compare ? heapset_compare(h, &want->before, &want->part, &rows, &n)
			      : heapset_rows(h, &want->part, &rows, &n);
	if (r == 0)
		r = heapset_together(h, &want->part, &together);
	if (r < 0)
		return r;
	const struct heap_amount total = heapset_total(h, &want->part);
	size_t shown = want->limit ? MIN(n, want->limit) : n;
	cleanup(js_freep) struct js *o = whole_js(h, want, &together, &total, n - shown);
	cleanup(freep) char *text = js_text(o, 0);
	size_t len = text ? strlen(text) : 0;
	if (len == 0)
		return -ENOMEM;
	/* the object's last brace is written after the stacks */
	(void)fprintf(to, "%.*s, \"stacks\": [", (int)MIN(len - 1, (size_t)INT_MAX), text);
	r = stacks_write(h, want, rows, shown, total.bytes, to);
	(void)fputs("]}\n", to);
	return r < 0 ? r : ferror(to) ? -EIO : 0;
}

/* ---- in a report -------------------------------------------------------------------------------------------- */

/* Blocks that were not checked count as fully in memory. */
static double in_memory(const struct heapset_row *row)
{
	return row->f.seen.bytes > 0 ? row->amount.bytes * row->f.resident_bytes / row->f.seen.bytes
				     : row->amount.bytes;
}

/* Most resident memory first: what was asked for and never touched did not fill the memory. */
static int by_memory(const void *x, const void *y)
{
	const struct heapset_row *a = x, *b = y;
	double one = in_memory(a), other = in_memory(b);
	if (one < other || one > other)
		return one > other ? -1 : 1;
	return a->amount.bytes > b->amount.bytes ? -1 : a->amount.bytes < b->amount.bytes;
}

struct js *heap_incident_json(const struct heapset *h, const struct heap_show_want *want, const char *file)
{
	cleanup(freep) struct heapset_row *rows = NULL;
	size_t n = 0, n_processes;
	const struct heapset_process *all = heapset_processes(h, &n_processes);
	if (heapset_rows(h, &want->part, &rows, &n) < 0 || heapset_rows_by_line(h, rows, &n) < 0)
		return NULL;
	int64_t seen_unix_ms = 0;
	double resident = 0;
	struct js *o = js_object(), *top = js_array();
	const struct heap_amount total = heapset_total(h, &want->part);
	js_put_text_if(o, "file", file);
	js_put_text(o, "what", heapset_what_name(want->part.what));
	put_size(o, "bytes", total.bytes);
	js_put_u64(o, "processes", n_processes);
	if (n_processes == 1 && all[0].pid > 0)
		js_put_i64(o, "pid", all[0].pid);
	for (size_t i = 0; i < n_processes; i++)
		seen_unix_ms = MAX(seen_unix_ms, all[i].seen_unix_ms);
	for (size_t i = 0; i < n; i++)
		resident += in_memory(&rows[i]);
	if (seen_unix_ms > 0 && want->part.what == HEAPSET_PEAK) {
		js_put_i64(o, "resident_unix_ms", seen_unix_ms);
		put_size(o, "resident_bytes", resident);
	}
	n = MIN(n, want->limit ? want->limit : (size_t)INCIDENT_TOP_STACKS);
	if (seen_unix_ms > 0)
		qsort(rows, n, sizeof(*rows), by_memory);
	for (size_t i = 0; i < n; i++) {
		char headline[400];
		const struct heap_interval in = heap_amount_interval(&rows[i].amount);
		struct js *one = js_object();
		heapset_headline(h, rows[i].node, headline, sizeof(headline));
		put_size(one, "bytes", rows[i].amount.bytes);
		put_size(one, "low_bytes", in.low);
		put_size(one, "high_bytes", in.high);
		if (rows[i].f.seen.bytes > 0)
			put_size(one, "resident_bytes", in_memory(&rows[i]));
		if (heapset_amount(&rows[i].f, HEAPSET_LEAKS).bytes > 0)
			js_put_double(one, "growth_bytes_per_s", rows[i].f.leak.bytes_per_s);
		js_put_text(one, "text", headline);
		js_put(one, "frames", frames_js(h, rows[i].node, 40));
		js_add(top, one);
	}
	js_put(o, "top", top);
	return o;
}
