#include "model/jobs/bulk.h"

static bool is_told(const struct bulk *b, const struct usage_process *p)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->of[i].pid == p->pid && b->of[i].start_ticks == p->start_ticks)
			return true;
	return false;
}

/* What it counts with. */
static uint64_t bulk_weight(const struct bulk *b, const struct usage_process *p)
{
	return is_told(b, p) ? p->own_bytes + p->own_bytes / 3 : p->own_bytes;
}

struct candidates {
	struct bulk_process of[BULK_MOST];
	uint64_t weight[BULK_MOST];
	size_t n;
};

/* Takes it in, where all places are taken for the one that weighs least. */
static void candidate_add(struct candidates *c, const struct usage_process *p, uint64_t weight)
{
	size_t at = 0;
	if (c->n < BULK_MOST) {
		at = c->n++;
	} else {
		for (size_t i = 1; i < c->n; i++)
			at = c->weight[i] < c->weight[at] ? i : at;
		if (c->weight[at] >= weight)
			return;
	}
	c->of[at] = (struct bulk_process){p->pid, p->start_ticks, p->own_bytes};
	c->weight[at] = weight;
}

static void candidates_sort(struct candidates *c)
{
	for (size_t i = 1; i < c->n; i++) {
		struct bulk_process one = c->of[i];
		size_t k = i;
		for (; k > 0 && c->of[k - 1].pid > one.pid; k--)
			c->of[k] = c->of[k - 1];
		c->of[k] = one;
	}
}

void bulk_choose(struct bulk *b, const struct usage_process *now, size_t n_now)
{
	struct candidates found = {.n = 0};
	uint64_t all_bytes = 0;
	for (size_t i = 0; i < n_now; i++)
		all_bytes = add_cap(all_bytes, now[i].own_bytes);
	const uint64_t least = MAX(all_bytes / BULK_PARTS, (uint64_t)BULK_LEAST_BYTES);
	for (size_t i = 0; i < n_now; i++) {
		if (now[i].own_bytes < least / 2)
			continue;
		uint64_t weight = bulk_weight(b, &now[i]);
		if (weight >= least)
			candidate_add(&found, &now[i], weight);
	}
	candidates_sort(&found);
	b->n = found.n;
	for (size_t i = 0; i < found.n; i++)
		b->of[i] = found.of[i];
}
