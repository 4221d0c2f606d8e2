#include "model/heap/heapset.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "model/heap/heapset_parts.h"

struct heapset {
	enum heapset_source source;
	struct stackset *tree; /* one lane; its nodes hold frames only, no samples */
	uint32_t root;
	struct heapset_process *processes;
	size_t n_processes, cap_processes;
	struct heapset_site *sites;
	size_t n_sites, cap_sites;
	uint32_t *site_of; /* by node: its latest site + 1; 0: none */
	size_t cap_nodes;
};

const char *heapset_what_name(enum heapset_what w)
{
	static const char *const names[] = {[HEAPSET_PEAK] = "peak",
					    [HEAPSET_LIVE] = "live",
					    [HEAPSET_LEAKS] = "leaks",
					    [HEAPSET_TEMPORARY] = "temporary",
					    [HEAPSET_GROWTH] = "growth",
					    [HEAPSET_LIFETIME] = "lifetime"};
	return w < HEAPSET_WHAT_MAX ? names[w] : "live";
}

const char *heapset_life_name(enum heapset_life l)
{
	static const char *const names[] = {[HEAPSET_ENDED] = "ended",	     [HEAPSET_RUNNING] = "running",
					    [HEAPSET_KILLED] = "killed",     [HEAPSET_GONE] = "gone",
					    [HEAPSET_REPLACED] = "replaced", [HEAPSET_DETACHED] = "detached",
					    [HEAPSET_SAVED] = "saved"};
	return l < HEAPSET_LIFE_MAX ? names[l] : "gone";
}

struct heapset *heapset_new(enum heapset_source source)
{
	const struct stack_lane all = {.rank = NO_RANK};
	uint32_t lane;
	struct heapset *h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	h->source = source;
	h->tree = stackset_new();
	if (!h->tree || stackset_lane(h->tree, &all, &lane) < 0)
		return heapset_free(h);
	h->root = stackset_root(h->tree, lane);
	return h;
}

struct heapset *heapset_free(struct heapset *h)
{
	if (!h)
		return NULL;
	stackset_free(h->tree);
	free(h->processes);
	free(h->sites);
	free(h->site_of);
	free(h);
	return NULL;
}

enum heapset_source heapset_source_of(const struct heapset *h)
{
	return h->source;
}

struct frametab *heapset_frames(struct heapset *h)
{
	return stackset_frames(h->tree);
}

const struct stackset *heapset_tree(const struct heapset *h)
{
	return h->tree;
}

int heapset_process_add(struct heapset *h, const struct heapset_process *p, uint32_t *ret)
{
	int r = vec_room(&h->processes, &h->cap_processes, h->n_processes + 1);
	if (r < 0)
		return r;
	*ret = (uint32_t)h->n_processes;
	h->processes[h->n_processes++] = *p;
	return 0;
}

struct heapset_process *heapset_process_at(struct heapset *h, uint32_t process)
{
	assert(process < h->n_processes);
	return &h->processes[process];
}

const struct heapset_process *heapset_processes(const struct heapset *h, size_t *ret_n)
{
	*ret_n = h->n_processes;
	return h->processes;
}

const struct heapset_site *heapset_sites(const struct heapset *h, size_t *ret_n)
{
	*ret_n = h->n_sites;
	return h->sites;
}

struct heapset_explained heapset_explained(const struct heapset_process *p)
{
	struct heapset_explained e = {.valid = p->breakdown.valid && (p->shares.valid || p->seen.bytes > 0)};
	if (!e.valid)
		return e;
	/* the part of live that was not examined is assumed to be like the rest */
	double like = p->seen.bytes > 0 ? p->live.bytes / p->seen.bytes : 0;
	e.whole_bytes = (double)(p->shares.valid ? p->shares.pss_anon_bytes : p->breakdown.anon_bytes);
	e.own_bytes = like * (p->shares.valid ? p->shares.own_bytes : p->resident_bytes);
	e.inherited_bytes = p->shares.valid ? p->shares.inherited_bytes : 0;
	e.rest_bytes = fmax(e.whole_bytes - e.own_bytes - e.inherited_bytes, 0);
	return e;
}

void heapset_figures_add(struct heapset_figures *to, const struct heapset_figures *f)
{
	double total = to->total.bytes + f->total.bytes;
	if (total > 0)
		to->temporary_share =
			(to->temporary_share * to->total.bytes + f->temporary_share * f->total.bytes) / total;
	heap_amount_add(&to->live, &f->live);
	heap_amount_add(&to->total, &f->total);
	heap_amount_add(&to->peak, &f->peak);
	heap_amount_add(&to->seen, &f->seen);
	for (size_t i = 0; i < HEAPSET_LIFETIMES; i++)
		to->lifetime_bytes[i] += f->lifetime_bytes[i];
	heap_lives_add(&to->lives, &f->lives);
	heap_amount_add(&to->held, &f->held);
	to->resident_bytes += f->resident_bytes;
	to->old_bytes += f->old_bytes;
	to->leak.valid |= f->leak.valid;
	to->leak.bytes_per_s += f->leak.bytes_per_s;
	to->leak.grown_bytes += f->leak.grown_bytes;
	to->leak.score = MAX(to->leak.score, f->leak.score);
}

static int grow_nodes(struct heapset *h, size_t n)
{
	if (n <= h->cap_nodes)
		return 0;
	size_t cap = MAX(n, h->cap_nodes + h->cap_nodes / 2);
	uint32_t *more = reallocarray(h->site_of, cap, sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + h->cap_nodes, 0, (cap - h->cap_nodes) * sizeof(*more));
	h->site_of = more;
	h->cap_nodes = cap;
	return 0;
}

static int site_at(struct heapset *h, uint32_t process, uint32_t node, const struct heapset_figures *f)
{
	size_t n_nodes;
	(void)stackset_nodes(h->tree, &n_nodes);
	int r = grow_nodes(h, n_nodes);
	if (r == 0)
		r = vec_room(&h->sites, &h->cap_sites, h->n_sites + 1);
	if (r < 0)
		return r;
	uint32_t known = h->site_of[node];
	if (known && h->sites[known - 1].process == process) {
		heapset_figures_add(&h->sites[known - 1].f, f);
		return 0;
	}
	h->sites[h->n_sites] = (struct heapset_site){.process = process, .node = node, .f = *f};
	h->site_of[node] = (uint32_t)++h->n_sites;
	return 0;
}

int heapset_add(struct heapset *h, uint32_t process, const uint32_t *frames, size_t n, const struct heapset_figures *f)
{
	assert(process < h->n_processes);
	uint32_t node = h->root;
	for (size_t i = n; i > 0; i--) {
		int r = stackset_child(h->tree, node, frames[i - 1], &node);
		if (r < 0)
			return r;
	}
	return site_at(h, process, node, f);
}

int heapset_merge(struct heapset *h, const struct heapset *add, uint32_t side)
{
	size_t n;
	const struct stack_node *nodes = stackset_nodes(add->tree, &n);
	cleanup(freep) uint32_t *map = calloc(n + 1, sizeof(*map));
	cleanup(freep) uint32_t *process = calloc(add->n_processes + 1, sizeof(*process));
	if (!map || !process)
		return -ENOMEM;
	int r = 0;
	for (size_t i = 0; i < n && r == 0; i++) {
		uint32_t frame;
		map[i] = h->root;
		if (nodes[i].parent == i)
			continue;
		r = frametab_intern(stackset_frames(h->tree), stackset_frame(add->tree, nodes[i].frame), &frame);
		if (r == 0)
			r = stackset_child(h->tree, map[nodes[i].parent], frame, &map[i]);
	}
	for (size_t i = 0; i < add->n_processes && r == 0; i++) {
		r = heapset_process_add(h, &add->processes[i], &process[i]);
		if (r == 0)
			h->processes[process[i]].side = side;
	}
	for (size_t i = 0; i < add->n_sites && r == 0; i++)
		r = site_at(h, process[add->sites[i].process], map[add->sites[i].node], &add->sites[i].f);
	return r;
}

size_t heapset_path(const struct heapset *h, uint32_t node, const struct frame **frames, size_t cap)
{
	size_t n_nodes, n = 0;
	const struct stack_node *nodes = stackset_nodes(h->tree, &n_nodes);
	for (; n < cap && node < n_nodes && nodes[node].parent != node; node = nodes[node].parent)
		frames[n++] = stackset_frame(h->tree, nodes[node].frame);
	return n;
}

bool heapset_wants(const struct heapset_want *want, const struct heapset_process *p)
{
	return (!want->has_rank || want->rank == p->rank) && (!want->has_pid || want->pid == p->pid) &&
	       (!want->has_side || want->side == p->side);
}

struct heap_amount heapset_amount(const struct heapset_figures *f, enum heapset_what what)
{
	const struct heap_amount none = {.bytes = 0};
	switch (what) {
	case HEAPSET_PEAK:
		return f->peak;
	case HEAPSET_GROWTH:
		return f->total;
	case HEAPSET_LIFETIME:
		return f->held;
	case HEAPSET_TEMPORARY:
		return heap_amount_part(&f->total, f->temporary_share);
	case HEAPSET_LEAKS:
		/* growth within the sampling error is no leak */
		if (!f->leak.valid || f->leak.score < HEAP_LEAK_SCORE ||
		    f->leak.grown_bytes < 2 * heap_amount_sigma(&f->live) || !(f->live.bytes > 0))
			return none;
		return heap_amount_part(&f->live, f->old_bytes / f->live.bytes);
	case HEAPSET_LIVE:
	case HEAPSET_WHAT_MAX:
		break;
	}
	return f->live;
}

double heapset_span_s(const struct heapset *h, const struct heapset_want *want)
{
	double first = 0, last = 0;
	bool any = false;
	for (size_t i = 0; i < h->n_processes; i++) {
		const struct heapset_process *p = &h->processes[i];
		if (!heapset_wants(want, p))
			continue;
		double begun = (double)p->begun_unix_ms / 1000;
		first = any ? fmin(first, begun) : begun;
		last = any ? fmax(last, begun + p->seconds) : begun + p->seconds;
		any = true;
	}
	return last - first;
}

double heapset_scale(const struct heapset *h, const struct heapset_want *want)
{
	double span_s = want->what == HEAPSET_LIFETIME ? heapset_span_s(h, want) : 1;
	return span_s > 0 ? 1 / span_s : 0;
}
