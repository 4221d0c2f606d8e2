#include "agent/heap/heapresident.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/foreign.h"
#include "base/vec.h"
#include "sense/proc/pagemap.h"
#include "sense/proc/proc.h"

#define ANCESTORS 8 /* ancestors that are kept, and generations that are followed */
#define SHARE_BYTES_MAX (4 * MIB)
#define IMAGES 16 /* images of one process, one after each exec */

struct ancestor {
	struct heap_header header;
	struct heapregion_live *block; /* owned; by weight, largest first */
	size_t n;
};

struct heapresident {
	const struct world *w;
	struct ancestor ancestor[ANCESTORS];
	size_t n_ancestors, next; /* next: slot to reuse when all are taken */
};

struct heapresident *heapresident_new(const struct world *w)
{
	struct heapresident *h = calloc(1, sizeof(*h));
	if (h)
		h->w = w;
	return h;
}

struct heapresident *heapresident_free(struct heapresident *h)
{
	for (size_t i = 0; h && i < h->n_ancestors; i++)
		free(h->ancestor[i].block);
	free(h);
	return NULL;
}

struct heapresident_shares heapresident_shares(const struct world *w, pid_t pid, uint64_t anon_bytes)
{
	struct proc_rollup rollup;
	struct heapresident_shares s = {.part = 1};
	if (anon_bytes == 0 || proc_rollup_read(w, pid, &rollup) != 0 || rollup.pss_anon_bytes == 0)
		return s;
	s.valid = true;
	s.pss_anon_bytes = MIN(rollup.pss_anon_bytes, anon_bytes);
	/*
	 * Anonymous pages are written to before they are shared, so they are dirty; shared dirty pages of files are
	 * few.
	 */
	uint64_t shared = MIN(rollup.shared_dirty_bytes, anon_bytes), own = anon_bytes - shared;
	if (shared > w->page_bytes)
		s.part = (double)sub_floor(s.pss_anon_bytes, own) / (double)shared;
	/* A shared page has two owners at least. */
	if (shared > w->page_bytes && s.part > 0.5)
		s.part = 0.5;
	return s;
}

/* ---- ancestors ---- */

static int by_weight(const void *x, const void *y)
{
	const struct heapregion_live *a = x, *b = y;
	return a->weight > b->weight ? -1 : a->weight < b->weight;
}

/* Reads the image of a process that ran at that time; false: there is none. */
static bool image_read(int dir, int32_t pid, uint64_t start_ticks, uint64_t at_mono_ns, struct heapregion *ret)
{
	bool found = false;
	for (unsigned n = 0; n < IMAGES; n++) {
		char name[96], generation[16] = "";
		struct heapregion r;
		struct fault f;
		if (n)
			TEXT_FORMAT(generation, ".%u", n);
		TEXT_FORMAT(name, "%d.%llu%s.heap", pid, (unsigned long long)start_ticks, generation);
		if (heapregion_read(dir, name, &r, &f) != 0)
			break;
		if (r.header.begun_mono_ns > at_mono_ns) {
			heapregion_done(&r);
			break;
		}
		if (found)
			heapregion_done(ret);
		*ret = r;
		found = true;
	}
	return found;
}

/* The kept or newly read ancestor; NULL: it left no profile in dir. */
static const struct ancestor *ancestor_of(struct heapresident *h, int dir, int32_t pid, uint64_t start_ticks,
					  uint64_t at_mono_ns)
{
	struct heapregion r;
	for (size_t i = 0; i < h->n_ancestors; i++)
		if (h->ancestor[i].header.pid == pid && h->ancestor[i].header.start_ticks == start_ticks)
			return &h->ancestor[i];
	if (!image_read(dir, pid, start_ticks, at_mono_ns, &r))
		return NULL;
	size_t at = h->n_ancestors < ANCESTORS ? h->n_ancestors++ : h->next++ % ANCESTORS;
	free(h->ancestor[at].block);
	h->ancestor[at] = (struct ancestor){.header = r.header, .block = r.live, .n = r.n_live};
	r.live = NULL;
	heapregion_done(&r);
	if (h->ancestor[at].n > 0)
		qsort(h->ancestor[at].block, h->ancestor[at].n, sizeof(*h->ancestor[at].block), by_weight);
	return &h->ancestor[at];
}

/* ---- inherited blocks ---- */

struct inheritance {
	struct pagemap_range *range; /* owned */
	double *weight; /* owned */
	size_t n, cap_range, cap_weight;
	const struct heapregion_live *own; /* sorted by address */
	size_t n_own;
};

static void inheritance_done(struct inheritance *in)
{
	free(in->range);
	free(in->weight);
}

/* Time of the fork on the clock of the samples, to 10 ms: blocks of that span may be older or younger. */
static uint64_t forked_mono_ns(const struct world *w, uint64_t start_ticks)
{
	uint64_t since_boot_ns = (uint64_t)((double)start_ticks * 1e9 / (double)w->ticks_per_s);
	return sub_floor(since_boot_ns, sub_floor(clock_boot_ns(), w->mono_ns()));
}

/* True: the process has used the address for a block of its own since, so the block is not inherited. */
static bool heapresident_is_reused(const struct inheritance *in, const struct heapregion_live *l)
{
	const size_t low = bisect(in->n_own, i, in->own[i].addr + MAX(in->own[i].size, 1) <= l->addr);
	return low < in->n_own && in->own[low].addr < l->addr + MAX(l->size, 1);
}

static int inherit(struct inheritance *in, const struct ancestor *a, uint64_t until_ns)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct heapregion_live *l = &a->block[i];
		if (l->born_mono_ns > until_ns || heapresident_is_reused(in, l))
			continue;
		if (vec_room(&in->range, &in->cap_range, in->n + 1) < 0 ||
		    vec_room(&in->weight, &in->cap_weight, in->n + 1) < 0)
			return -ENOMEM;
		in->range[in->n] = (struct pagemap_range){.addr = l->addr, .bytes = MAX(l->size, 1)};
		in->weight[in->n++] = (double)l->weight;
	}
	return 0;
}

/* Collects from each ancestor the blocks that lived when the next generation was forked. */
static int inherit_all(struct heapresident *h, int dir, const struct heap_header *child, struct inheritance *in)
{
	struct heap_header at = *child;
	int r = 0;
	for (int i = 0; i < ANCESTORS && r == 0 && at.origin == HEAP_BY_FORK && at.parent_start_ticks; i++) {
		uint64_t until_ns = forked_mono_ns(h->w, at.start_ticks);
		const struct ancestor *a = ancestor_of(h, dir, at.ppid, at.parent_start_ticks, until_ns);
		if (!a)
			break;
		r = inherit(in, a, until_ns);
		at = a->header;
	}
	return r;
}

static int heapresident_by_address(const void *x, const void *y)
{
	const struct heapregion_live *a = x, *b = y;
	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

int heapresident_inherited(struct heapresident *h, int dir, const struct heapregion *r, pid_t pid, uint64_t budget_ns,
			   struct heapresident_inherited *ret)
{
	cleanup(freep) struct heapregion_live *own = calloc(r->n_live + 1, sizeof(*own));
	cleanup(inheritance_done) struct inheritance in = {.own = own, .n_own = r->n_live};
	struct heapresident_inherited sum = {.resident_bytes = 0};
	double seen = 0, all = 0;
	size_t done = 0;
	if (!own)
		return -ENOMEM;
	if (r->n_live > 0) {
		memcpy(own, r->live, r->n_live * sizeof(*own));
		qsort(own, r->n_live, sizeof(*own), heapresident_by_address);
	}
	int e = inherit_all(h, dir, &r->header, &in);
	if (e < 0)
		return e;
	if (in.n > 0 && pagemap_read(h->w, pid, in.range, in.n, budget_ns, &done) != 0)
		done = 0; /* it ended, or reading is not permitted: nothing is known */
	for (size_t i = 0; i < in.n; i++) {
		const struct pagemap_range *p = &in.range[i];
		all += in.weight[i];
		if (i >= done || p->seen == 0)
			continue;
		seen += in.weight[i];
		sum.resident_bytes += in.weight[i] * (double)p->present / (double)p->seen;
		sum.own_bytes += in.weight[i] * (double)p->exclusive / (double)p->seen;
	}
	/* Blocks that were not reached in time are taken to be like the others. */
	if (seen > 0) {
		sum.resident_bytes *= all / seen;
		sum.own_bytes *= all / seen;
	}
	*ret = sum;
	return 0;
}

/* ---- notes while memory is short ---- */

static int by_stack(const void *x, const void *y)
{
	const struct heapshare_row *a = x, *b = y;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

/* Makes a row for each stack with blocks that were looked at. */
static int heapresident_rows_make(const struct heapregion *r, const struct pagemap_range *range, size_t done,
				  struct heapshare *ret)
{
	size_t kept = 0;
	ret->row = calloc(r->n_stacks + 1, sizeof(*ret->row));
	if (!ret->row)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_stacks; i++)
		ret->row[i].stack = r->stacks[i].row;
	for (size_t i = 0; i < done; i++) {
		struct heapshare_row *row = &ret->row[r->live[i].stack];
		if (range[i].seen == 0)
			continue;
		row->seen_bytes += r->live[i].weight;
		row->resident_bytes +=
			(uint64_t)((double)r->live[i].weight * (double)range[i].present / (double)range[i].seen);
	}
	for (size_t i = 0; i < r->n_stacks; i++)
		if (ret->row[i].seen_bytes > 0)
			ret->row[kept++] = ret->row[i];
	ret->n = kept;
	if (kept > 0)
		qsort(ret->row, kept, sizeof(*ret->row), by_stack);
	return 0;
}

static int share_write(const struct heapshare *s, int dir, const char *name)
{
	char file[160], beside[168];
	cleanup(freep) char *text = NULL;
	size_t len = 0;
	TEXT_FORMAT(file, "%s" HEAPRESIDENT_SUFFIX, name);
	TEXT_FORMAT(beside, "%s.new", file);
	int r = heapshare_format(s, &text, &len);
	if (r < 0)
		return r;
	cleanup(closep) int fd = openat(dir, beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	r = fd < 0 ? -errno : file_write_all(fd, text, len);
	if (r == 0 && renameat(dir, beside, dir, file) < 0)
		r = -errno;
	if (r < 0 && fd >= 0)
		(void)unlinkat(dir, beside, 0);
	return r;
}

static uint64_t rss_now(const struct world *w, pid_t pid)
{
	struct proc_status st;
	return proc_status_read(w, pid, &st) == 0 ? st.rss_bytes : 0;
}

int heapresident_note(const struct world *w, pid_t pid, int dir, const char *name, uint64_t budget_ns)
{
	struct heapregion r;
	struct fault f;
	cleanup(heapshare_done) struct heapshare s = {.time_unix_ms = w->unix_ms()};
	size_t done = 0;
	uint64_t rss_bytes = rss_now(w, pid);
	int e = heapregion_read(dir, name, &r, &f);
	if (e)
		return e < 0 ? e : WORLD_GONE;
	cleanup(freep) struct pagemap_range *range = calloc(r.n_live + 1, sizeof(*range));
	e = range ? 0 : -ENOMEM;
	if (e == 0 && r.n_live > 0)
		qsort(r.live, r.n_live, sizeof(*r.live), by_weight);
	for (size_t i = 0; e == 0 && i < r.n_live; i++)
		range[i] = (struct pagemap_range){.addr = r.live[i].addr, .bytes = MAX(r.live[i].size, 1)};
	if (e == 0)
		e = pagemap_read(w, pid, range, r.n_live, budget_ns, &done);
	if (e == 0)
		e = heapresident_rows_make(&r, range, done, &s);
	heapregion_done(&r);
	/* A process that is being killed has lost pages already. */
	if (e == 0 && rss_now(w, pid) < rss_bytes / 10 * 9)
		e = WORLD_GONE;
	return e ? e : share_write(&s, dir, name);
}

int heapresident_noted(int dir, const char *path, struct heapshare *ret)
{
	char beside[PATH_MAX], below[PATH_MAX];
	const char *slash = strrchr(path, '/');
	cleanup(freep) char *text = NULL;
	cleanup(closep) int fd = -1;
	struct foreign_user owner;
	size_t len = 0;
	int n = slash ? (int)(slash - path) + 1 : 0;
	TEXT_FORMAT(beside, "%s" HEAPRESIDENT_SUFFIX, path);
	TEXT_FORMAT(below, "%.*swarn/%s" HEAPRESIDENT_SUFFIX, n, path, slash ? slash + 1 : path);
	const struct foreign_place at = {
		.dirfd = dir, .as = dir < 0 ? NULL : foreign_owner(dir, &owner), .flags = dir < 0 ? FOREIGN_TYPED : 0};
	if (foreign_open(&at, beside, &fd) != 0 && foreign_open(&at, below, &fd) != 0)
		return WORLD_GONE;
	if (file_slurp_fd(fd, SHARE_BYTES_MAX, &text, &len) != 0)
		return WORLD_GONE;
	return heapshare_parse((struct span){text, len}, ret) == 0 ? 0 : WORLD_GONE;
}
