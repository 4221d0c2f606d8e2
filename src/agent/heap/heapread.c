#include "agent/heap/heapread.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "agent/heap/heapfolder.h"
#include "agent/heap/heapsymbols.h"
#include "agent/heap/heapresident.h"
#include "base/buf.h"
#include "sense/proc/maps.h"
#include "sense/proc/pagemap.h"
#include "sense/proc/proc.h"

#define STACKS_MOST 20000
#define SHARES_EACH_NS (20 * NS_PER_MS)
#define SHARES_MOST_NS (3 * NS_PER_S)
#define STACKS_LEAST 100 /* of one process, however many there are */
/* A leak needs time to show, and a clock that is coarse. */
#define LEAK_SECONDS 10.0
#define OFF_REASONS 16
#define GENERATIONS 8 /* of workers that have workers */
/* The library renews the peak when so much more lives (docs/formats/heap.md). */
#define PEAK_STEP 1.05

/* For its children: they are of the same rank. */
struct read_process {
	uint32_t index; /* in the set */
	int32_t pid, ppid; /* as they number themselves */
	uint64_t start_ticks, parent_start_ticks; /* the latter 0: not known */
};

struct heapread {
	const struct world *w;
	struct heapset *set;
	struct heapread_want want;
	struct heapsymbols *names;
	size_t n_files; /* that share the budgets */
	size_t n_profiles; /* in the folder that is read, wanted or not */
	uint64_t shares_ns; /* spent on who shares what */
	struct heapresident *resident;
	size_t n_read, n_failed, n_approximate, n_stacks;
	char first_failed[300];
	size_t off[OFF_REASONS];
	uint64_t skipped_rows;
	struct read_process *read; /* owned; n_read of them */
	bool any_runs; /* of the folder that is read: what others held has gone */
};

/* What is known of one stack before it is named. */
struct row {
	uint32_t stack;
	double worth;
	struct heapset_figures f;
	double born[HEAP_LEAK_POINTS]; /* bytes that live, by when they came */
};

/* One profile at work. */
struct reading {
	struct heapread *h;
	struct heapregion r;
	struct heapset_process p;
	struct row *rows; /* one for each stack of r */
	uint64_t end_mono_ns; /* until when it tells */
	bool alive;
	bool earlier; /* a later file of the same process is there */
	uint64_t inode;
	int dir; /* that it lies in; borrowed; AT_FDCWD: a file by itself */
	pid_t pid; /* as we number it */
	double seconds;
};

static void reading_done(struct reading *rd)
{
	heapregion_done(&rd->r);
	free(rd->rows);
}

struct heapread *heapread_new(const struct world *w, struct heapset *into, const struct heapread_want *want)
{
	struct heapread *h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	*h = (struct heapread){.w = w, .set = into, .want = *want, .n_files = 1};
	h->names = heapsymbols_new(w, heapset_frames(into));
	if (h->want.most_stacks == 0)
		h->want.most_stacks = STACKS_MOST;
	h->resident = heapresident_new(w);
	return h->names && h->resident ? h : heapread_free(h);
}

struct heapread *heapread_free(struct heapread *h)
{
	if (!h)
		return NULL;
	heapsymbols_free(h->names);
	heapresident_free(h->resident);
	free(h->read);
	free(h);
	return NULL;
}

/* ---- who ---------------------------------------------------------------------------------------------------- */

static const struct heapread_who *who_of(const struct heapread *h, int32_t pid, uint64_t start_ticks)
{
	for (size_t i = 0; i < h->want.n_who; i++)
		if (h->want.who[i].inner_pid == pid && h->want.who[i].start_ticks == start_ticks)
			return &h->want.who[i];
	return NULL;
}

static bool runs(const struct world *w, pid_t pid, uint64_t start_ticks)
{
	struct proc_stat st;
	return !w->recorded && proc_stat_read(w, pid, &st) == 0 && st.start_ticks == start_ticks && st.state != 'Z' &&
	       st.state != 'X';
}

static void command_of(const struct heap_header *h, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	for (size_t at = 0; at < sizeof(h->command) && h->command[at];) {
		const char *slash = strrchr(&h->command[at], '/');
		buf_printf(&b, "%s%s", b.len ? " " : "", b.len == 0 && slash ? slash + 1 : &h->command[at]);
		at += strlen(&h->command[at]) + 1;
	}
	if (b.len == 0)
		buf_add(&b, h->comm);
	for (size_t i = 0; i < b.len; i++)
		if ((unsigned char)dst[i] < ' ' || dst[i] == 127)
			dst[i] = '?';
}

enum mapped { MAPPED_NOT, MAPPED_COPIED, MAPPED };

/*
 * Whether the process writes to this region: after exec it has none of that name mapped, and one beside that is mapped
 * is its copy. Where nobody may look it counts as mapped.
 */
static enum mapped mapped_as(const struct world *w, pid_t pid, const char *name, uint64_t inode, const char *path)
{
	struct maps maps;
	enum mapped m = MAPPED_NOT;
	if (maps_read(w, pid, &maps) != 0)
		return MAPPED;
	for (size_t i = 0; i < maps.n && m != MAPPED; i++) {
		const struct map_row *row = &maps.rows[i];
		const char *slash = strrchr(row->path, '/');
		if (slash && strcmp(slash + 1, name) == 0)
			m = row->inode == inode || strcmp(row->path, path) == 0 ? MAPPED : MAPPED_COPIED;
	}
	maps_done(&maps);
	return m;
}

static enum mapped is_mapped(const struct reading *rd, const char *path)
{
	const struct heap_header *h = &rd->r.header;
	char generation[16] = "", name[80];
	if (h->generation)
		TEXT_FORMAT(generation, ".%u", h->generation);
	TEXT_FORMAT(name, "%d.%llu%s.heap", h->pid, (unsigned long long)h->start_ticks, generation);
	return mapped_as(rd->h->w, rd->pid, name, rd->inode, path);
}

static enum heapset_life life_of(const struct reading *rd, const struct heapread_who *who, const char *path)
{
	const struct heap_header *h = &rd->r.header;
	bool runs_on = runs(rd->h->w, rd->pid, h->start_ticks);
	if (h->state == HEAP_DETACHED && runs_on)
		return HEAPSET_DETACHED;
	if (h->state != HEAP_RUNNING)
		return HEAPSET_ENDED;
	enum mapped mapped = runs_on && !rd->earlier ? is_mapped(rd, path) : MAPPED_NOT;
	if (rd->earlier || (runs_on && mapped == MAPPED_NOT))
		return HEAPSET_REPLACED;
	if (runs_on)
		return mapped == MAPPED ? HEAPSET_RUNNING : HEAPSET_SAVED;
	if (!who || !who->has_status)
		return HEAPSET_GONE;
	return WIFSIGNALED(who->wait_status) ? HEAPSET_KILLED : HEAPSET_ENDED;
}

/* When its memory had gone. */
static void end_of(const struct reading *rd, const struct heapread_who *who, struct heapset_process *p)
{
	const struct heap_header *h = &rd->r.header;
	if (p->life == HEAPSET_RUNNING || p->life == HEAPSET_SAVED || p->life == HEAPSET_DETACHED)
		return;
	/* older libraries did not write down when they ended, nor does one that was detached before */
	if (h->state == HEAP_ENDED && h->table.stacks.item_bytes >= sizeof(struct heap_stack))
		p->ended_unix_ms = p->begun_unix_ms + (int64_t)(p->seconds * 1000) + 1;
	else if (who && who->ended_unix_ms > 0)
		p->ended_unix_ms = who->ended_unix_ms;
	p->end_unknown = p->ended_unix_ms == 0;
}

static void describe(struct reading *rd, const char *path)
{
	const struct heap_header *h = &rd->r.header;
	struct heapset_process *p = &rd->p;
	const struct heapread_who *who = who_of(rd->h, h->pid, h->start_ticks);
	*p = (struct heapset_process){.pid = h->pid, .rank = NO_RANK, .rate_bytes = h->rate_bytes};
	rd->pid = who && who->pid ? who->pid : h->pid;
	p->life = life_of(rd, who, path);
	p->earlier = rd->earlier;
	rd->alive = p->life == HEAPSET_RUNNING;
	p->pid = rd->alive ? rd->pid : h->pid;
	command_of(h, p->name, sizeof(p->name));
	if (who) {
		p->rank = who->rank;
		TEXT_COPY(p->role, who->role);
	}
	TEXT_COPY(p->file, path);
	p->begun_unix_ms = (int64_t)(MIN(h->begun_unix_ns, (uint64_t)INT64_MAX) / NS_PER_MS);
	uint64_t end_ns = MAX(h->last_mono_ns, rd->alive ? rd->h->w->mono_ns() : 0);
	rd->end_mono_ns = end_ns;
	rd->seconds = p->seconds = (double)sub_floor(end_ns, h->begun_mono_ns) / 1e9;
	end_of(rd, who, p);
	p->peak_at_s = (double)sub_floor(rd->r.peak_mono_ns, h->begun_mono_ns) / 1e9;
	p->requested_bytes = h->requested_bytes;
	p->peak_torn = rd->r.peak_torn;
	p->skipped_rows = rd->r.skipped.bad + rd->r.skipped.unpublished;
	p->device = -1;
	uint64_t most = 0;
	p->lost_bytes = h->lost_bytes;
	for (size_t i = 0; i < HEAP_LOST_REASONS; i++) {
		/* these are in the table, in a line without a stack */
		if (i == HEAP_LOST_STACK_FULL)
			continue;
		p->lost_samples = add_cap(p->lost_samples, h->lost[i]);
		if (h->lost[i] > most) {
			most = h->lost[i];
			TEXT_COPY(p->lost_why, heapregion_lost_words((enum heap_lost)i));
		}
	}
	if (h->python_why == HEAP_WHY_PYTHON_UNKNOWN)
		TEXT_FORMAT(p->note, "no Python frames: the layout of this CPython (%u.%u) is not known",
			    h->python_version >> 24, h->python_version >> 16 & 255);
	else if (h->lost[HEAP_LOST_STACK_FULL] > 0)
		TEXT_FORMAT(p->note, "%llu samples have no stack: it had no room for more different ones",
			    (unsigned long long)h->lost[HEAP_LOST_STACK_FULL]);
	else if (h->rate_bytes == 0 && rd->alive)
		TEXT_COPY(p->note, "it is switched off: nothing is sampled until it is switched on");
}

/* ---- figures ------------------------------------------------------------------------------------------------ */

static struct heap_amount amount_of(const struct heapregion_sum *s)
{
	return (struct heap_amount){.bytes = (double)s->bytes,
				    .objects = (double)s->objects,
				    .variance = s->variance,
				    .chance_bytes = s->chance_bytes,
				    .lean = s->lean,
				    .samples = s->samples};
}

/* Two classes for each of the writer's; one that does not keep the halves apart has all in the later one. */
static void lives_of(const struct heapregion_stack *s, struct heap_lives *l)
{
	double middle_byte_s = 0;
	for (size_t k = 0; k < HEAPSET_LIFETIMES; k++) {
		double late = (double)(s->freed_bytes[k] - s->freed_early_bytes[k]);
		l->freed_bytes[2 * k] += (double)s->freed_early_bytes[k];
		l->freed_bytes[2 * k + 1] += late;
		l->coarse |= !s->has_lived && late > 0;
		middle_byte_s += late * heap_life_from_s(2 * k + 1);
	}
	l->freed_byte_s = s->has_lived ? s->lived_byte_s : middle_byte_s;
}

static void figures_of(const struct heapregion_stack *s, struct heapset_figures *f)
{
	lives_of(s, &f->lives);
	double brief = 0;
	f->live = amount_of(&s->live);
	f->total = amount_of(&s->total);
	f->peak = amount_of(&s->peak);
	for (size_t k = 0; k < HEAPSET_LIFETIMES; k++) {
		f->lifetime_bytes[k] = (double)s->freed_bytes[k];
		brief += k < HEAPSET_SHORT ? (double)s->freed_bytes[k] : 0;
	}
	if (f->total.bytes > 0)
		f->temporary_share = MIN(brief / f->total.bytes, 1.0);
}

/* What lives, by its age; and all that was held, over time. */
static void lives_add(struct reading *rd)
{
	for (size_t i = 0; i < rd->r.n_live; i++) {
		const struct heapregion_live *l = &rd->r.live[i];
		struct heap_lives *lives = &rd->rows[l->stack].f.lives;
		double age_s = (double)sub_floor(rd->end_mono_ns, l->born_mono_ns) / 1e9;
		lives->alive_bytes[heap_life_class(age_s)] += (double)l->weight;
		lives->alive_byte_s += (double)l->weight * age_s;
		lives->oldest_s = fmax(lives->oldest_s, age_s);
	}
	for (size_t i = 0; i < rd->r.n_stacks; i++) {
		struct heapset_figures *f = &rd->rows[i].f;
		f->held = (struct heap_amount){.bytes = f->lives.freed_byte_s + f->lives.alive_byte_s,
					       .objects = f->total.objects,
					       .variance = f->total.variance * heap_lives_mean_square(&f->lives),
					       .chance_bytes = -1,
					       .samples = f->total.samples};
	}
}

/* What lives of each stack by the time it came, without the youngest tenth. */
static void ages_add(struct reading *rd)
{
	const struct heap_header *h = &rd->r.header;
	double span_s = rd->seconds * 0.9;
	for (size_t i = 0; i < rd->r.n_live; i++) {
		const struct heapregion_live *l = &rd->r.live[i];
		struct row *row = &rd->rows[l->stack];
		double born_s = (double)sub_floor(l->born_mono_ns, h->begun_mono_ns) / 1e9;
		if (born_s > span_s)
			continue;
		row->f.old_bytes += (double)l->weight;
		size_t k = span_s > 0 ? (size_t)(born_s / span_s * HEAP_LEAK_POINTS) : 0;
		row->born[MIN(k, (size_t)HEAP_LEAK_POINTS - 1)] += (double)l->weight;
	}
}

static void leak_judge(const struct reading *rd, struct row *row)
{
	struct heap_point points[HEAP_LEAK_POINTS];
	double sum = 0;
	if (rd->seconds < LEAK_SECONDS)
		return;
	for (size_t k = 0; k < HEAP_LEAK_POINTS; k++) {
		sum += row->born[k];
		points[k] = (struct heap_point){rd->seconds * 0.9 * (double)(k + 1) / HEAP_LEAK_POINTS, sum};
	}
	row->f.leak = heap_leak_of(points, HEAP_LEAK_POINTS);
}

/* What lived at its end went with it. */
static void live_drop(struct reading *rd)
{
	const struct heap_amount none = {.bytes = 0};
	rd->p.live = none;
	for (size_t i = 0; i < rd->r.n_stacks; i++) {
		rd->rows[i].f.live = none;
		rd->rows[i].f.leak = (struct heap_leak){.valid = false};
		rd->rows[i].f.old_bytes = 0;
	}
}

static int rows_make(struct reading *rd)
{
	rd->rows = calloc(rd->r.n_stacks + 1, sizeof(*rd->rows));
	if (!rd->rows)
		return -ENOMEM;
	for (size_t i = 0; i < rd->r.n_stacks; i++) {
		rd->rows[i].stack = (uint32_t)i;
		figures_of(&rd->r.stacks[i], &rd->rows[i].f);
	}
	lives_add(rd);
	ages_add(rd);
	for (size_t i = 0; i < rd->r.n_stacks; i++)
		leak_judge(rd, &rd->rows[i]);
	rd->p.live = amount_of(&rd->r.all_live);
	rd->p.total = amount_of(&rd->r.all_total);
	rd->p.peak = amount_of(&rd->r.all_peak);
	double most = rd->p.peak.bytes * PEAK_STEP;
	/* the peak is renewed in steps: more than it lives by now, so this is the peak */
	if (rd->p.live.bytes > rd->p.peak.bytes) {
		for (size_t i = 0; i < rd->r.n_stacks; i++)
			rd->rows[i].f.peak = rd->rows[i].f.live;
		rd->p.peak = rd->p.live;
		rd->p.peak_at_s = (double)sub_floor(rd->r.header.last_mono_ns, rd->r.header.begun_mono_ns) / 1e9;
	}
	/* what was never freed was never more */
	if (rd->r.header.frees > 0)
		rd->p.peak.above_bytes = fmax(most - rd->p.peak.bytes, 0);
	if (rd->earlier || (rd->h->any_runs && !rd->alive))
		live_drop(rd);
	return 0;
}

/* ---- what lies in memory ------------------------------------------------------------------------------------ */

static int by_weight(const void *x, const void *y)
{
	const struct heapregion_live *a = x, *b = y;
	return a->weight > b->weight ? -1 : a->weight < b->weight;
}

static void resident_count(struct reading *rd, const struct pagemap_range *ranges, size_t n, double part)
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

/* Some milliseconds of each; what takes longer is a process of many GiB. */
static uint64_t shares_budget_ns(const struct heapread *h)
{
	return h->want.resident_ns + MIN(h->n_files * SHARES_EACH_NS, (size_t)SHARES_MOST_NS);
}

/* Its part of the pages that it may share, and what it has of those that forked it. */
static int shares_read(struct reading *rd, uint64_t budget_ns, double *ret_part)
{
	struct heapread *h = rd->h;
	struct heapresident_inherited in = {.resident_bytes = 0};
	/* a folder with one profile has nobody to share with that is known; and walking page tables takes time */
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
static void resident_noted(struct reading *rd, const char *path)
{
	cleanup(heapshare_done) struct heapshare noted = {.row = NULL};
	/* beside processes that run nothing of it is shown */
	if (rd->alive || rd->earlier || rd->h->any_runs || heapresident_noted(path, &noted) != 0)
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

static int resident_read(struct reading *rd)
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
	/* the heaviest first: they are seen if the budget does not last */
	qsort(rd->r.live, n, sizeof(*rd->r.live), by_weight);
	cleanup(freep) struct pagemap_range *ranges = calloc(n, sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		ranges[i] = (struct pagemap_range){.addr = rd->r.live[i].addr, .bytes = MAX(rd->r.live[i].size, 1)};
	if (pagemap_read(rd->h->w, rd->pid, ranges, n, budget_ns, &done) != 0)
		return 0; /* we may not, or it ended: then it is not known, and not shown */
	resident_count(rd, ranges, done, part);
	return 0;
}

/* ---- into the set ------------------------------------------------------------------------------------------- */

static int by_worth(const void *x, const void *y)
{
	const struct row *a = x, *b = y;
	if (a->worth != b->worth)
		return a->worth > b->worth ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

/* Largest in any of the views first. */
static void rows_sort(struct reading *rd)
{
	for (size_t i = 0; i < rd->r.n_stacks; i++) {
		const struct heapset_figures *f = &rd->rows[i].f;
		double brief = f->total.bytes * f->temporary_share;
		double held = rd->seconds > 0 ? f->held.bytes / rd->seconds : 0;
		rd->rows[i].worth = fmax(fmax(f->live.bytes, f->peak.bytes), fmax(brief, held));
	}
	if (rd->r.n_stacks > 0)
		qsort(rd->rows, rd->r.n_stacks, sizeof(*rd->rows), by_worth);
}

static int put_one(struct reading *rd, uint32_t process, const struct row *row)
{
	uint32_t ids[HEAPSYMBOLS_FRAMES];
	size_t n = 0;
	bool approximate = false;
	const struct heapregion_stack *s = &rd->r.stacks[row->stack];
	int r = heapsymbols_stack(rd->h->names, s, ids, &n, &approximate);
	if (r == 0 && n == 0) {
		char text[80];
		TEXT_FORMAT(text, "[%s: no stack]", heapregion_domain_name((enum heap_domain)s->domain));
		const struct frame f = {.kind = FRAME_NOTE, .name = text, .file = "", .module = ""};
		r = frametab_intern(heapset_frames(rd->h->set), &f, &ids[n++]);
	}
	rd->h->n_approximate += approximate;
	return r < 0 ? r : heapset_add(rd->h->set, process, ids, n, &row->f);
}

static int put_small(struct reading *rd, uint32_t process, size_t from, size_t to)
{
	struct heapset_figures all = {.resident_bytes = 0};
	const struct frame f = {.kind = FRAME_NOTE, .name = "[smaller stacks]", .file = "", .module = ""};
	uint32_t id;
	for (size_t i = from; i < to; i++)
		heapset_figures_add(&all, &rd->rows[i].f);
	all.leak.valid = false; /* stacks that have nothing to do with each other */
	int r = frametab_intern(heapset_frames(rd->h->set), &f, &id);
	return r < 0 ? r : heapset_add(rd->h->set, process, &id, 1, &all);
}

static int remember(struct heapread *h, const struct heap_header *header, uint32_t process)
{
	struct read_process *more = reallocarray(h->read, h->n_read + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	h->read = more;
	h->read[h->n_read] = (struct read_process){.index = process,
						   .pid = header->pid,
						   .ppid = header->ppid,
						   .start_ticks = header->start_ticks,
						   .parent_start_ticks = header->parent_start_ticks};
	return 0;
}

static int put_all(struct reading *rd)
{
	size_t n = 0, most = MAX(rd->h->want.most_stacks / rd->h->n_files, (size_t)STACKS_LEAST);
	uint32_t process;
	while (n < rd->r.n_stacks && rd->rows[n].worth > 0)
		n++;
	size_t named = n > most ? most : n;
	rd->p.stacks = (uint32_t)n;
	rd->p.small_stacks = (uint32_t)(n - named);
	int r = heapset_process_add(rd->h->set, &rd->p, &process);
	if (r == 0)
		r = remember(rd->h, &rd->r.header, process);
	if (r == 0)
		r = heapsymbols_begin(rd->h->names, &rd->r, rd->alive ? rd->pid : 0);
	for (size_t i = 0; i < named && r == 0; i++)
		r = put_one(rd, process, &rd->rows[i]);
	if (r == 0 && named < n)
		r = put_small(rd, process, named, n);
	rd->h->n_stacks += named;
	return r;
}

static int condition_of(int r, const char *path, struct fault *f)
{
	char why[sizeof(f->text)];
	if (r < 0)
		return fault_set(f, r, "%s cannot be read: %s", path, strerror(-r));
	TEXT_COPY(why, f->text);
	return fault_set(f, r == HEAPREGION_VERSION ? HEAPREAD_VERSION : HEAPREAD_DAMAGED, "%s: %s", path, why);
}

static int read_one(struct heapread *h, int dirfd, const char *name, const char *path, bool earlier, struct fault *f)
{
	cleanup(reading_done) struct reading rd = {.h = h, .earlier = earlier, .dir = dirfd};
	int r = heapregion_read(dirfd, name, &rd.r, f);
	if (r)
		return condition_of(r, path, f);
	struct stat st;
	rd.inode = fstatat(dirfd, name, &st, 0) == 0 ? st.st_ino : 0;
	describe(&rd, path);
	r = rows_make(&rd);
	if (r == 0)
		r = resident_read(&rd);
	if (r == 0)
		resident_noted(&rd, path);
	if (r == 0) {
		rows_sort(&rd);
		r = put_all(&rd);
	}
	h->skipped_rows += rd.p.skipped_rows;
	h->n_read += r == 0;
	return r < 0 ? condition_of(r, path, f) : r;
}

int heapread_file(struct heapread *h, const char *path, struct fault *f)
{
	h->n_files = 1;
	h->any_runs = false;
	return read_one(h, AT_FDCWD, path, path, false, f);
}

/* ---- a folder ----------------------------------------------------------------------------------------------- */

static bool is_wanted(const struct heapread *h, const struct heapfile *file, pid_t only_pid)
{
	if (file->is_off)
		return false;
	if (only_pid == 0)
		return true;
	const struct heapread_who *who = who_of(h, file->pid, file->start_ticks);
	return who ? who->pid == only_pid : file->pid == only_pid && file->alive;
}

static bool is_running(const struct heapread *h, const struct heapfolder *folder, const struct heapfile *file,
		       const char *dir)
{
	const struct heapread_who *who = who_of(h, file->pid, file->start_ticks);
	pid_t pid = who && who->pid ? who->pid : file->pid;
	char path[512];
	struct stat st;
	if (!file->newest || file->state != HEAP_RUNNING || !runs(h->w, pid, file->start_ticks) ||
	    fstatat(folder->fd, file->name, &st, 0) < 0)
		return false;
	TEXT_FORMAT(path, "%s/%s", dir, file->name);
	return mapped_as(h->w, pid, file->name, st.st_ino, path) == MAPPED;
}

static void off_note(struct heapread *h, const struct heapfile *file)
{
	uint64_t why;
	struct span text = span_after(span_of(file->name), ".off-");
	if (text.p && span_u64(text, &why) == 0)
		h->off[MIN(why, (uint64_t)OFF_REASONS - 1)]++;
}

static int nothing(const struct heapread *h, const char *dir, int first, struct fault *f)
{
	if (h->n_failed > 0) /* the sentence of the first is there already */
		return first;
	for (size_t i = 0; i < OFF_REASONS; i++)
		if (h->off[i])
			return fault_set(f, HEAPREAD_NONE, "%zu process%s could not be profiled: %s", h->off[i],
					 h->off[i] == 1 ? "" : "es", heapregion_why_words((enum heap_why)i));
	return fault_set(f, HEAPREAD_NONE,
			 "no process has left a heap profile in %s (yet): one is made when a process has allocated "
			 "about a MiB; a "
			 "static program leaves none",
			 dir);
}

/* Its parent was not younger, and had that start if it is known: numbers are used again. */
static bool is_parent(const struct read_process *child, int32_t pid, uint64_t start_ticks)
{
	return pid == child->ppid && (child->parent_start_ticks ? start_ticks == child->parent_start_ticks
								: start_ticks <= child->start_ticks);
}

static int32_t rank_of_parent(const struct heapread *h, const struct read_process *child)
{
	for (size_t i = 0; i < h->want.n_who; i++)
		if (h->want.who[i].rank != NO_RANK &&
		    is_parent(child, h->want.who[i].inner_pid, h->want.who[i].start_ticks))
			return h->want.who[i].rank;
	for (size_t i = 0; i < h->n_read; i++) {
		const struct read_process *p = &h->read[i];
		int32_t rank = heapset_process_at(h->set, p->index)->rank;
		if (rank != NO_RANK && is_parent(child, p->pid, p->start_ticks))
			return rank;
	}
	return NO_RANK;
}

/* Of what has ended only the ranks' main processes are known to others; their workers are known by their parents. */
static void ranks_inherit(struct heapread *h)
{
	bool any = h->want.n_who > 0;
	for (int generation = 0; any && generation < GENERATIONS; generation++) {
		any = false;
		for (size_t i = 0; i < h->n_read; i++) {
			struct heapset_process *p = heapset_process_at(h->set, h->read[i].index);
			if (p->rank == NO_RANK)
				p->rank = rank_of_parent(h, &h->read[i]);
			else
				continue;
			any |= p->rank != NO_RANK;
		}
	}
}

/* Exec gives all memory back: the next image of the same process begins later than that. */
static void images_end(struct heapread *h)
{
	for (size_t i = 0; i + 1 < h->n_read; i++) {
		struct heapset_process *p = heapset_process_at(h->set, h->read[i].index);
		const struct heapset_process *next = heapset_process_at(h->set, h->read[i + 1].index);
		if (!p->earlier || h->read[i].pid != h->read[i + 1].pid ||
		    h->read[i].start_ticks != h->read[i + 1].start_ticks)
			continue;
		p->ended_unix_ms = next->begun_unix_ms;
		p->end_unknown = false;
	}
}

int heapread_folder(struct heapread *h, int dirfd, const char *dir, pid_t only_pid, struct fault *f)
{
	struct heapfolder folder;
	int first = 0, r = heapfolder_read_at(h->w, dirfd, dir, &folder);
	size_t before = h->n_read;
	if (r < 0)
		return fault_set(f, r, "the folder of heap profiles %s cannot be read: %s", dir, strerror(-r));
	h->n_files = 0;
	h->any_runs = false;
	h->n_profiles = 0;
	for (size_t i = 0; i < folder.n; i++) {
		h->n_profiles += !folder.file[i].is_off;
		if (is_wanted(h, &folder.file[i], only_pid)) {
			h->n_files++;
			h->any_runs = h->any_runs || is_running(h, &folder, &folder.file[i], dir);
		}
		if (folder.file[i].is_off)
			off_note(h, &folder.file[i]);
	}
	h->n_files = MAX(h->n_files, (size_t)1);
	for (size_t i = 0; i < folder.n; i++) {
		char path[512];
		struct fault why = {.text = ""};
		if (!is_wanted(h, &folder.file[i], only_pid))
			continue;
		TEXT_FORMAT(path, "%s/%s", dir, folder.file[i].name);
		int e = read_one(h, folder.fd, folder.file[i].name, path, !folder.file[i].newest, &why);
		if (e == -ENOMEM) {
			heapfolder_done(&folder);
			*f = why;
			return e;
		}
		if (e && h->n_failed++ == 0) {
			TEXT_COPY(h->first_failed, why.text);
			*f = why;
			first = e;
		}
	}
	heapfolder_done(&folder);
	ranks_inherit(h);
	images_end(h);
	return h->n_read > before ? 0 : nothing(h, dir, first, f);
}

bool heapread_is_empty(const struct heapread *h)
{
	size_t off = 0;
	for (size_t i = 0; i < OFF_REASONS; i++)
		off += h->off[i];
	return h->n_read + h->n_failed + off == 0;
}

size_t heapread_remarks(const struct heapread *h, char remarks[][300], size_t cap)
{
	const char *missing;
	size_t n = 0, n_missing = heapsymbols_missing(h->names, &missing);
	if (h->n_failed > 0 && n < cap)
		text_format(remarks[n++], 300, "%zu profile%s could not be read, the first: %s", h->n_failed,
			    h->n_failed == 1 ? "" : "s", h->first_failed);
	for (size_t i = 0; i < OFF_REASONS && n < cap; i++)
		if (h->off[i])
			text_format(remarks[n++], 300, "%zu process%s could not be profiled: %s", h->off[i],
				    h->off[i] == 1 ? "" : "es", heapregion_why_words((enum heap_why)i));
	if (n_missing > 0 && n < cap)
		text_format(remarks[n++], 300,
			    "%zu file%s that the code came from %s gone or replaced since, the first %s: their "
			    "functions have no names",
			    n_missing, n_missing == 1 ? "" : "s", n_missing == 1 ? "is" : "are", missing);
	if (h->n_approximate > 0 && n < cap)
		text_format(remarks[n++], 300,
			    "native and Python frames are put together by best guess in %zu of %zu stacks",
			    h->n_approximate, h->n_stacks);
	if (h->skipped_rows > 0 && n < cap)
		text_format(remarks[n++], 300,
			    "%llu rows were being written or contradict themselves, and are left out",
			    (unsigned long long)h->skipped_rows);
	return n;
}
