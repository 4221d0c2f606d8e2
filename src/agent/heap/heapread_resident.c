#include "agent/heap/heapread_parts.h"

#include <fcntl.h>

#include "sense/proc/pagemap.h"
#include "sense/proc/proc.h"

#define SHARES_EACH_NS (20 * NS_PER_MS)
#define SHARES_MOST_NS (3 * NS_PER_S)

static int by_weight(const void *x, const void *y)
{
	const struct heapregion_live *a = x, *b = y;
	return a->weight > b->weight ? -1 : a->weight < b->weight;
}

static void resident_count(struct heapread_one *rd, const struct pagemap_range *ranges, size_t n, double part)
{
	for (size_t i = 0; i < n; i++) {
		const struct heapregion_live *l = &rd->r.live[i];
		struct heapset_figures *f = &rd->rows[l->stack].f;
		double weight = (double)l->weight;
		const struct heap_amount seen = {.bytes = weight, .objects = 1, .samples = 1};
		if (ranges[i].seen == 0)
			continue;
		heap_amount_add(&f->seen, &seen);
		f->resident_bytes += weight * (double)ranges[i].present / (double)ranges[i].seen;
		double own = (double)ranges[i].exclusive, others = (double)(ranges[i].present - ranges[i].exclusive);
		rd->p.shares.own_bytes += weight * (own + others * part) / (double)ranges[i].seen;
	}
	for (size_t i = 0; i < rd->r.n_stacks; i++) {
		heap_amount_add(&rd->p.seen, &rd->rows[i].f.seen);
		rd->p.resident_bytes += rd->rows[i].f.resident_bytes;
	}
}

/* Most time for reading shared pages: some milliseconds for each process, more for those of many GiB. */
static uint64_t shares_budget_ns(const struct heapread *h)
{
	return h->want.resident_ns + MIN(h->n_files * SHARES_EACH_NS, (size_t)SHARES_MOST_NS);
}

/* Reads *ret_part, the process's part of each page that it shares, and what it holds of blocks of its ancestors. */
static int shares_read(struct heapread_one *rd, uint64_t budget_ns, double *ret_part)
{
	struct heapread *h = rd->h;
	struct heapresident_inherited in = {.resident_bytes = 0};
	/* Walking page tables takes time, and a folder with one profile has no process to share with. */
	if (!rd->p.breakdown.valid || rd->dir == AT_FDCWD || h->n_profiles < 2 || h->shares_ns > shares_budget_ns(h))
		return 0;
	uint64_t begun_ns = h->w->mono_ns();
	struct heapresident_shares s = heapresident_shares(h->w, rd->pid, rd->p.breakdown.anon_bytes);
	int r = s.valid ? heapresident_inherited(h->resident, rd->dir, &rd->r, rd->pid, budget_ns, &in) : 0;
	h->shares_ns += sub_floor(h->w->mono_ns(), begun_ns);
	if (r < 0 || !s.valid)
		return r;
	rd->p.shares = (struct heapset_shares){
		.valid = true,
		.pss_anon_bytes = s.pss_anon_bytes,
		.inherited_bytes = in.own_bytes + (in.resident_bytes - in.own_bytes) * s.part,
	};
	*ret_part = s.part;
	return 0;
}

/* Of what does not run any more, as it was when memory got short. */
void heapread_resident_noted(struct heapread_one *rd, const char *name)
{
	cleanup(heapshare_done) struct heapshare noted = {.row = NULL};
	/* beside processes that run, nothing of it is shown */
	if (rd->alive || rd->earlier || rd->h->any_runs || heapresident_noted(rd->dir, name, &noted) != 0)
		return;
	rd->p.seen_unix_ms = noted.time_unix_ms;
	for (size_t i = 0; i < rd->r.n_stacks; i++) {
		const struct heapshare_row *row = heapshare_find(&noted, rd->r.stacks[i].row);
		struct heapset_figures *f = &rd->rows[i].f;
		if (!row)
			continue;
		const struct heap_amount seen = {.bytes = (double)row->seen_bytes};
		f->seen = seen;
		f->resident_bytes = (double)row->resident_bytes;
		heap_amount_add(&rd->p.seen, &f->seen);
		rd->p.resident_bytes += f->resident_bytes;
	}
}

int heapread_resident(struct heapread_one *rd)
{
	size_t n = rd->r.n_live, done = 0;
	struct proc_status st;
	if (!rd->alive)
		return 0;
	if (proc_status_read(rd->h->w, rd->pid, &st) == 0 && st.has_memory)
		rd->p.breakdown = (struct heapset_breakdown){.valid = true,
							     .rss_bytes = st.rss_bytes,
							     .anon_bytes = st.rss_anon_bytes,
							     .file_bytes = st.rss_file_bytes,
							     .shmem_bytes = st.rss_shmem_bytes,
							     .swap_bytes = st.swap_bytes};
	if (rd->h->want.resident_ns == 0)
		return 0;
	uint64_t budget_ns = MAX(rd->h->want.resident_ns / rd->h->n_files, NS_PER_MS);
	double part = 1;
	int r = shares_read(rd, budget_ns, &part);
	if (r < 0 || n == 0)
		return r;
	/* the largest blocks first, in case the budget does not last */
	qsort(rd->r.live, n, sizeof(*rd->r.live), by_weight);
	cleanup(freep) struct pagemap_range *ranges = calloc(n, sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		ranges[i] = (struct pagemap_range){.addr = rd->r.live[i].addr, .bytes = MAX(rd->r.live[i].size, 1)};
	if (pagemap_read(rd->h->w, rd->pid, ranges, n, budget_ns, &done) != 0)
		return 0; /* not permitted, or the process has ended: unknown, and not shown */
	resident_count(rd, ranges, done, part);
	return 0;
}
