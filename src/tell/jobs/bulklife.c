#include "tell/jobs/bulklife.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/vec.h"

static int bulklife_order(const void *a, const void *b)
{
	const struct bulklife *x = a, *y = b;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->start_ticks < y->start_ticks ? -1 : x->start_ticks > y->start_ticks;
}

static int peak_order(const void *a, const void *b)
{
	const struct bulklife *x = a, *y = b;
	if (x->peak_own_bytes != y->peak_own_bytes)
		return x->peak_own_bytes > y->peak_own_bytes ? -1 : 1;
	return bulklife_order(a, b);
}

static struct bulklife life_of(const struct series_bulk_process *p)
{
	return (struct bulklife){.pid = p->pid, .start_ticks = p->start_ticks, .peak_own_bytes = p->own_bytes};
}

/* One of each process, with the most that any had. */
static size_t lives_join(struct bulklife *list, size_t n)
{
	size_t kept = 0;
	if (n > 0)
		qsort(list, n, sizeof(*list), bulklife_order);
	for (size_t i = 0; i < n; i++) {
		struct bulklife *last = kept > 0 ? &list[kept - 1] : NULL;
		if (last && bulklife_order(last, &list[i]) == 0)
			last->peak_own_bytes = MAX(last->peak_own_bytes, list[i].peak_own_bytes);
		else
			list[kept++] = list[i];
	}
	return kept;
}

struct gathering {
	struct bulklife *of;
	size_t n, cap;
	struct series_bulk before; /* the look before */
	size_t at[SERIES_BULK_MAX]; /* where its processes are in the list */
};

/* Whom the look before had, too, is looked up there: most looks have the same ones. */
static int look_take(struct gathering *g, const struct series_bulk *look)
{
	size_t at[SERIES_BULK_MAX] = {0};
	for (uint32_t i = 0; i < look->n; i++) {
		const struct series_bulk_process *p = &look->of[i];
		uint32_t k = 0;
		while (k < g->before.n &&
		       (g->before.of[k].pid != p->pid || g->before.of[k].start_ticks != p->start_ticks))
			k++;
		if (k == g->before.n) {
			if (vec_room(&g->of, &g->cap, g->n + 1) < 0)
				return -ENOMEM;
			at[i] = g->n;
			g->of[g->n++] = life_of(p);
			continue;
		}
		at[i] = g->at[k];
		g->of[at[i]].peak_own_bytes = MAX(g->of[at[i]].peak_own_bytes, p->own_bytes);
	}
	g->before = *look;
	memcpy(g->at, at, sizeof(at));
	return 0;
}

int bulklife_read(struct span series, int64_t from, int64_t to, struct bulklife **ret, size_t *ret_n)
{
	static struct series_record rec;
	struct series_reader r;
	struct gathering g = {.of = NULL};
	int e = 0;
	if (series_reader_init(&r, series) == 0)
		while (e == 0 && series_next(&r, &rec))
			if (rec.kind == SERIES_BULK && rec.bulk.time_unix_ms >= from && rec.bulk.time_unix_ms <= to)
				e = look_take(&g, &rec.bulk);
	if (e < 0) {
		free(g.of);
		return e;
	}
	*ret_n = lives_join(g.of, g.n);
	*ret = g.of;
	return 0;
}

const struct bulklife *bulklife_find(const struct bulklife *list, size_t n, pid_t pid, uint64_t start_ticks)
{
	const struct bulklife key = {.pid = pid, .start_ticks = start_ticks};
	return n > 0 ? bsearch(&key, list, n, sizeof(key), bulklife_order) : NULL;
}

size_t bulklife_largest(struct bulklife *list, size_t n, size_t most)
{
	if (n > 0)
		qsort(list, n, sizeof(*list), peak_order);
	return MIN(n, most);
}

void bulklife_name(struct span series, struct bulklife *list, size_t n)
{
	static struct series_record rec;
	struct series_reader r;
	if (n == 0 || series_reader_init(&r, series) < 0)
		return;
	while (series_next(&r, &rec)) {
		if (rec.kind != SERIES_PROCESS)
			continue;
		for (size_t i = 0; i < n; i++)
			if (list[i].pid == rec.process.pid && list[i].start_ticks == rec.process.start_ticks) {
				TEXT_COPY(list[i].role, rec.process.role);
				TEXT_COPY(list[i].name, rec.process.name);
			}
	}
}

void bulklife_of(const struct series_bulk *look, struct span series, struct bulklife list[static SERIES_BULK_MAX])
{
	for (uint32_t i = 0; i < look->n; i++)
		list[i] = (struct bulklife){.pid = look->of[i].pid, .start_ticks = look->of[i].start_ticks};
	bulklife_name(series, list, look->n);
}

const struct series_bulk_process *bulklife_at(const struct series_bulk *look, const struct bulklife *l)
{
	for (uint32_t i = 0; i < look->n; i++)
		if (look->of[i].pid == l->pid && look->of[i].start_ticks == l->start_ticks)
			return &look->of[i];
	return NULL;
}

struct js *bulklife_json(const struct bulklife *l)
{
	struct js *o = js_object();
	js_put_i64(o, "pid", l->pid);
	js_put_u64(o, "start_ticks", l->start_ticks);
	js_put_text_if(o, "name", l->name);
	js_put_text_if(o, "role", l->role);
	return o;
}
