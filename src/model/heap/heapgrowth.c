#include "model/heap/heapgrowth.h"

#include "base/buf.h"

#define PATH_FRAMES 512

static struct heap_amount growth_amount(const struct stack_node *n, uint64_t period_bytes, uint32_t faults)
{
	double bytes = (double)n->self_weight[SAMPLE_RUNNING];
	uint64_t samples = n->self_samples[SAMPLE_RUNNING];
	return (struct heap_amount){.bytes = bytes,
				    .objects = (double)samples * faults,
				    .variance = bytes * (double)period_bytes,
				    .chance_bytes = bytes,
				    .samples = samples};
}

static int processes_add(struct heapset *h, const struct stackset *s)
{
	size_t n;
	uint32_t ignored;
	const struct stack_lane *lanes = stackset_lanes(s, &n);
	const struct stackset_meta *m = stackset_meta_of(s);
	for (size_t i = 0; i < n; i++) {
		struct heapset_process p = {.pid = lanes[i].pid,
					    .rank = lanes[i].rank,
					    .life = HEAPSET_RUNNING,
					    .begun_unix_ms = m->start_unix_ms,
					    .seconds = (double)m->duration_ns / 1e9,
					    .rate_bytes = m->period_bytes,
					    .device = -1};
		TEXT_COPY(p.role, lanes[i].role);
		TEXT_COPY(p.name, lanes[i].process);
		int r = heapset_process_add(h, &p, &ignored);
		if (r < 0)
			return r;
	}
	return 0;
}

static int node_add(struct heapset *h, const struct stackset *s, const struct stack_node *nodes, uint32_t at,
		    uint32_t faults)
{
	uint32_t ids[PATH_FRAMES], process = nodes[at].lane; /* processes are added in the order of the lanes */
	struct heapset_figures f = {.total = growth_amount(&nodes[at], stackset_meta_of(s)->period_bytes, faults)};
	size_t n = 0;
	int r = 0;
	for (uint32_t i = at; nodes[i].parent != i && n < PATH_FRAMES && r == 0; i = nodes[i].parent)
		r = frametab_intern(heapset_frames(h), stackset_frame(s, nodes[i].frame), &ids[n++]);
	if (r < 0)
		return r;
	struct heapset_process *p = heapset_process_at(h, process);
	heap_amount_add(&p->total, &f.total);
	p->stacks++;
	return heapset_add(h, process, ids, n, &f);
}

int heapgrowth_of(const struct stackset *s, uint32_t faults, struct heapset **ret)
{
	size_t n, n_lanes;
	const struct stack_node *nodes = stackset_nodes(s, &n);
	cleanup(heapset_freep) struct heapset *h = heapset_new(HEAPSET_FAULTS);
	int r = h ? processes_add(h, s) : -ENOMEM;
	(void)stackset_lanes(s, &n_lanes);
	/* heapset_add needs the sites of one process in succession */
	for (size_t lane = 0; lane < n_lanes; lane++)
		for (size_t i = 0; i < n && r == 0; i++)
			if (nodes[i].lane == lane && nodes[i].self_samples[SAMPLE_RUNNING] > 0)
				r = node_add(h, s, nodes, (uint32_t)i, faults);
	if (r == 0)
		*ret = take(&h);
	return r;
}
