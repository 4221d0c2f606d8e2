#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/vec.h"
#include "model/heap/heapset_parts.h"

/* ---- totals ---- */

struct heap_amount heapset_total(const struct heapset *h, const struct heapset_want *want)
{
	size_t n_processes, n_sites;
	const struct heapset_process *processes = heapset_processes(h, &n_processes);
	const struct heapset_site *sites = heapset_sites(h, &n_sites);
	struct heap_amount sum = {.bytes = 0};
	double scale = heapset_scale(h, want);
	cleanup(freep) bool *in = heapset_chosen(h, want);
	for (size_t i = 0; in && i < n_processes; i++) {
		const struct heapset_process *p = &processes[i];
		if (!in[i])
			continue;
		if (want->what == HEAPSET_PEAK)
			heap_amount_add(&sum, &p->peak);
		else if (want->what == HEAPSET_LIVE)
			heap_amount_add(&sum, &p->live);
	}
	if (want->what == HEAPSET_PEAK || want->what == HEAPSET_LIVE)
		return sum;
	for (size_t i = 0; i < n_sites; i++) {
		if (!heapset_wants(want, &processes[sites[i].process]))
			continue;
		const struct heap_amount a = heapset_amount(&sites[i].f, want->what);
		heap_amount_add(&sum, &a);
	}
	if (want->what == HEAPSET_LIFETIME)
		sum = heap_amount_times(&sum, scale);
	return sum;
}

/* ---- rows of a table ---- */

static int by_amount(const void *x, const void *y)
{
	const struct heapset_row *a = x, *b = y;
	double u = fabs(a->amount.bytes - a->before.bytes), v = fabs(b->amount.bytes - b->before.bytes);
	if (u < v)
		return 1;
	if (u > v)
		return -1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static bool nothing(const struct heapset_row *r)
{
	return !(r->amount.bytes > 0) && !(r->before.bytes > 0);
}

static int rows_of(const struct heapset *h, const struct heapset_want *now, const struct heapset_want *before,
		   struct heapset_row **ret, size_t *ret_n)
{
	size_t n_nodes, n_sites, n = 0;
	(void)stackset_nodes(heapset_tree(h), &n_nodes);
	const struct heapset_site *sites = heapset_sites(h, &n_sites);
	/* by node: its row + 1; 0: none */
	cleanup(freep) uint32_t *row_of = calloc(n_nodes + 1, sizeof(*row_of));
	cleanup(freep) struct heapset_row *rows = calloc(n_sites + 1, sizeof(*rows));
	cleanup(freep) bool *in_now = heapset_chosen(h, now);
	cleanup(freep) bool *in_before = before ? heapset_chosen(h, before) : NULL;
	if (!row_of || !rows || !in_now || (before && !in_before))
		return -ENOMEM;
	double scale = heapset_scale(h, now), scale_before = before ? heapset_scale(h, before) : 1;
	for (size_t i = 0; i < n_sites; i++) {
		const struct heapset_site *s = &sites[i];
		bool is_now = in_now[s->process], was = before && in_before[s->process];
		if (!is_now && !was)
			continue;
		if (!row_of[s->node]) {
			rows[n].node = s->node;
			row_of[s->node] = (uint32_t)++n;
		}
		struct heapset_row *row = &rows[row_of[s->node] - 1];
		const struct heap_amount a = heapset_amount(&s->f, now->what);
		const struct heap_amount is = heap_amount_times(&a, scale), had = heap_amount_times(&a, scale_before);
		if (was)
			heap_amount_add(&row->before, &had);
		if (!is_now)
			continue;
		heap_amount_add(&row->amount, &is);
		heapset_figures_add(&row->f, &s->f);
		row->processes++;
	}
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (!nothing(&rows[i]))
			rows[kept++] = rows[i];
	if (kept > 0)
		qsort(rows, kept, sizeof(*rows), by_amount);
	*ret = take(&rows);
	*ret_n = kept;
	return 0;
}

int heapset_rows(const struct heapset *h, const struct heapset_want *want, struct heapset_row **ret, size_t *ret_n)
{
	return rows_of(h, want, NULL, ret, ret_n);
}

int heapset_compare(const struct heapset *h, const struct heapset_want *before, const struct heapset_want *now,
		    struct heapset_row **ret, size_t *ret_n)
{
	return rows_of(h, now, before, ret, ret_n);
}

struct keyed {
	char text[200];
	size_t row;
};

static int by_text(const void *x, const void *y)
{
	const struct keyed *a = x, *b = y;
	int r = strcmp(a->text, b->text);
	return r ? r : a->row < b->row ? -1 : a->row > b->row;
}

int heapset_rows_by_line(const struct heapset *h, struct heapset_row *rows, size_t *n)
{
	cleanup(freep) struct keyed *keys = calloc(*n + 1, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < *n; i++) {
		keys[i].row = i;
		heapset_headline(h, rows[i].node, keys[i].text, sizeof(keys[i].text));
	}
	qsort(keys, *n, sizeof(*keys), by_text);
	/* rows are sorted by size, so the first of equal ones is the largest */
	for (size_t i = 0, first = 0; i < *n; i++) {
		if (i == 0 || strcmp(keys[i].text, keys[first].text) != 0) {
			first = i;
			continue;
		}
		struct heapset_row *to = &rows[keys[first].row], *from = &rows[keys[i].row];
		heap_amount_add(&to->amount, &from->amount);
		heap_amount_add(&to->before, &from->before);
		heapset_figures_add(&to->f, &from->f);
		to->processes = MAX(to->processes, from->processes);
		from->amount.bytes = from->before.bytes = 0;
	}
	size_t kept = 0;
	for (size_t i = 0; i < *n; i++)
		if (!nothing(&rows[i]))
			rows[kept++] = rows[i];
	if (kept > 0)
		qsort(rows, kept, sizeof(*rows), by_amount);
	*n = kept;
	return 0;
}

/* ---- a recording of bytes ---- */

struct builder {
	const struct heapset *h;
	const struct heapset_want *want;
	double scale;
	const struct stack_node *nodes;
	size_t n_nodes;
	struct stackset *to;
	uint32_t *frames; /* by frame of the tree: frame of `to` + 1; 0: none */
	uint32_t *map; /* by node of the tree: node of `to` + 1 in the current lane; 0: none */
	uint32_t lane; /* lane of map */
	bool has_lane;
	uint32_t *path; /* buffer for one path */
	size_t cap_path;
};

static void builder_done(struct builder *p)
{
	stackset_free(p->to);
	free(p->frames);
	free(p->map);
	free(p->path);
}

static void heapset_view_lane(const struct heapset_want *want, const struct heapset_process *p, struct stack_lane *ret)
{
	*ret = (struct stack_lane){.rank = NO_RANK};
	if (want->by == LANES_ALL)
		return;
	ret->rank = p->rank;
	ret->pid = p->pid;
	TEXT_COPY(ret->role, p->role);
	TEXT_COPY(ret->process, p->name);
}

static int frame_to(struct builder *p, uint32_t id, uint32_t *ret)
{
	if (p->frames[id] == 0) {
		struct frame f = *stackset_frame(heapset_tree(p->h), id);
		uint32_t made;
		if (!p->want->lines)
			f.line = 0;
		int r = frametab_intern(stackset_frames(p->to), &f, &made);
		if (r < 0)
			return r;
		p->frames[id] = made + 1;
	}
	*ret = p->frames[id] - 1;
	return 0;
}

/* The node of `to` that stands for a node of the tree in this lane; missing parents are added first. */
static int node_to(struct builder *p, uint32_t node, uint32_t *ret)
{
	size_t depth = 0;
	uint32_t at = node;
	for (; p->nodes[at].parent != at && !p->map[at]; at = p->nodes[at].parent) {
		int r = vec_room(&p->path, &p->cap_path, depth + 1);
		if (r < 0)
			return r;
		p->path[depth++] = at;
	}
	uint32_t to = p->map[at] ? p->map[at] - 1 : stackset_root(p->to, p->lane);
	while (depth > 0) {
		uint32_t frame, from = p->path[--depth];
		int r = frame_to(p, p->nodes[from].frame, &frame);
		if (r == 0)
			r = stackset_child(p->to, to, frame, &to);
		if (r < 0)
			return r;
		p->map[from] = to + 1;
	}
	*ret = to;
	return 0;
}

static int put_site(struct builder *p, const struct heapset_site *s, const struct heapset_process *process)
{
	struct stack_lane lane;
	uint32_t id, node;
	const struct heap_amount raw = heapset_amount(&s->f, p->want->what), a = heap_amount_times(&raw, p->scale);
	if (!(a.bytes >= 1))
		return 0;
	heapset_view_lane(p->want, process, &lane);
	int r = stackset_lane(p->to, &lane, &id);
	if (r < 0)
		return r;
	if (!p->has_lane || p->lane != id)
		memset(p->map, 0, p->n_nodes * sizeof(*p->map));
	p->has_lane = true;
	p->lane = id;
	r = node_to(p, s->node, &node);
	if (r < 0)
		return r;
	struct stack_node add = {.frame = 0};
	add.self_weight[SAMPLE_RUNNING] = (uint64_t)(a.bytes + 0.5);
	add.self_samples[SAMPLE_RUNNING] = (uint64_t)(a.objects + 0.5);
	stack_node_add(stackset_node(p->to, node), &add);
	stackset_meta(p->to)->samples = add_cap(stackset_meta(p->to)->samples, a.samples);
	return 0;
}

static void meta_of(const struct heapset *h, const struct heapset_want *want, struct stackset_meta *m)
{
	size_t n;
	const struct heapset_process *p = heapset_processes(h, &n);
	m->unit = STACK_BYTES;
	m->native = true;
	for (size_t i = 0; i < n; i++) {
		if (!heapset_wants(want, &p[i]))
			continue;
		if (p[i].begun_unix_ms > 0 && (m->start_unix_ms == 0 || p[i].begun_unix_ms < m->start_unix_ms))
			m->start_unix_ms = p[i].begun_unix_ms;
		m->duration_ns = MAX(m->duration_ns, (uint64_t)(fmax(p[i].seconds, 0) * 1e9));
		m->dropped = add_cap(m->dropped, p[i].lost_samples);
		m->period_bytes = MAX(m->period_bytes, p[i].rate_bytes);
	}
}

int heapset_view(const struct heapset *h, const struct heapset_want *want, struct stackset **ret)
{
	cleanup(builder_done) struct builder p = {.h = h, .want = want, .scale = heapset_scale(h, want)};
	size_t n_sites, n_processes;
	const struct heapset_site *sites = heapset_sites(h, &n_sites);
	const struct heapset_process *processes = heapset_processes(h, &n_processes);
	const struct stack_lane all = {.rank = NO_RANK};
	uint32_t lane;
	size_t n_frames = 0;
	p.nodes = stackset_nodes(heapset_tree(h), &p.n_nodes);
	for (size_t i = 0; i < p.n_nodes; i++)
		if (p.nodes[i].parent != i)
			n_frames = MAX(n_frames, (size_t)p.nodes[i].frame + 1);
	p.frames = calloc(n_frames + 1, sizeof(*p.frames));
	p.map = calloc(p.n_nodes + 1, sizeof(*p.map));
	p.to = stackset_new();
	cleanup(freep) bool *in = heapset_chosen(h, want);
	if (!p.frames || !p.map || !p.to || !in)
		return -ENOMEM;
	/* an empty view has a lane as well */
	int r = want->by == LANES_ALL ? stackset_lane(p.to, &all, &lane) : 0;
	for (size_t i = 0; i < n_sites && r == 0; i++)
		if (in[sites[i].process])
			r = put_site(&p, &sites[i], &processes[sites[i].process]);
	if (r < 0)
		return r;
	meta_of(h, want, stackset_meta(p.to));
	*ret = take(&p.to);
	return 0;
}
