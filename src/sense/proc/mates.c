#include "sense/proc/mates.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/buf.h"
#include "sense/proc/kcmp.h"
#include "sense/proc/proc.h"

struct pages {
	struct mates_process *of;
	struct proc_statm has;
};

struct asker {
	const struct world *w;
	bool refused;
};

static void mate_add(struct mates_process *p, pid_t pid)
{
	for (size_t i = 0; i < p->n_mates; i++)
		if (p->mate[i] == pid)
			return;
	if (p->n_mates < ARRAY_SIZE(p->mate))
		p->mate[p->n_mates++] = pid;
}

static void pair(struct mates_process *a, struct mates_process *b)
{
	mate_add(a, b->pid);
	mate_add(b, a->pid);
}

static int by_memory(const void *a, const void *b, void *arg)
{
	const struct mates_process *x = *(struct mates_process *const *)a, *y = *(struct mates_process *const *)b;
	struct asker *k = arg;
	int order = 0;
	if (x->size_bytes != y->size_bytes)
		return x->size_bytes < y->size_bytes ? -1 : 1;
	if (x != y && tasks_memory_order(k->w, x->pid, y->pid, &order) < 0)
		k->refused = true;
	return order;
}

/* Those of the same memory stand beside each other. */
static void sorted_pair(struct asker *k, struct mates_process **by, size_t n)
{
	for (size_t from = 0, to; from < n; from = to) {
		to = from + 1;
		while (to < n && by[to]->size_bytes == by[from]->size_bytes &&
		       tasks_same_memory(k->w, by[from]->pid, by[to]->pid) > 0)
			to++;
		const size_t most = MIN(to, from + ARRAY_SIZE(by[0]->mate) + 1);
		for (size_t i = from; i < to; i++)
			for (size_t j = from; j < most; j++)
				if (i != j)
					pair(by[i], by[j]);
	}
}

/* A child and its parent, whose size was read at another time. */
static void parents_pair(struct asker *k, struct mates_process *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const size_t at = bisect(n, j, p[j].pid < p[i].ppid);
		if (at == n || p[at].pid != p[i].ppid || p[at].size_bytes == p[i].size_bytes)
			continue;
		const int same = tasks_same_memory(k->w, p[i].pid, p[at].pid);
		k->refused |= same < 0;
		if (same > 0)
			pair(&p[i], &p[at]);
	}
}

static int by_pages(const void *a, const void *b)
{
	const struct proc_statm *x = &((const struct pages *)a)->has, *y = &((const struct pages *)b)->has;
	if (x->size_pages != y->size_pages)
		return x->size_pages < y->size_pages ? -1 : 1;
	if (x->resident_pages != y->resident_pages)
		return x->resident_pages < y->resident_pages ? -1 : 1;
	return (x->shared_pages > y->shared_pages) - (x->shared_pages < y->shared_pages);
}

/* A copy made by fork differs from its original in the pages that it has. */
static int alike_doubt(const struct world *w, struct mates_process *p, size_t n)
{
	cleanup(freep) struct pages *all = calloc(n + 1, sizeof(*all));
	size_t n_all = 0;
	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		all[n_all].of = &p[i];
		n_all += proc_statm_read(w, p[i].pid, &all[n_all].has) == 0;
	}
	qsort(all, n_all, sizeof(*all), by_pages);
	for (size_t i = 1; i < n_all; i++)
		if (by_pages(&all[i - 1], &all[i]) == 0)
			all[i - 1].of->unknown = all[i].of->unknown = true;
	return 0;
}

int mates_read(const struct world *w, struct mates_process *p, size_t n)
{
	struct asker k = {.w = w};
	cleanup(freep) struct mates_process **by = calloc(n + 1, sizeof(struct mates_process *));
	if (!by)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		p[i].n_mates = 0;
		p[i].unknown = false;
		by[i] = &p[i];
	}
	if (w->recorded)
		return 0;
	qsort_r(by, n, sizeof(struct mates_process *), by_memory, &k);
	sorted_pair(&k, by, n);
	parents_pair(&k, p, n);
	return k.refused ? alike_doubt(w, p, n) : 0;
}
