#include "tell/memory/memory_show.h"

#include <string.h>

#include "base/buf.h"
#include "base/units.h"
#include "tell/memory/ray_show.h"
#include "tell/text/textcols.h"
#include "tell/text/textout.h"

static struct js *level_json(const struct footprint *f, size_t i)
{
	const struct ledger_level *l = &f->ledger.level[i];
	struct js *j = js_object();
	js_put_text(j, "scope", ledger_scope_name(l->scope));
	js_put_text(j, "name", f->level_name[i]);
	js_put_u64(j, "total_bytes", l->total_bytes);
	js_put_u64(j, "available_bytes", l->available_bytes);
	js_put_u64(j, "used_bytes", l->used_bytes);
	js_put_u64(j, "kernel_used_bytes", l->kernel_used_bytes);
	js_put_u64(j, "reclaimable_bytes", l->reclaimable_bytes);
	js_put_double(j, "ratio", ledger_ratio(l));
	if (l->swap_total_bytes) {
		js_put_u64(j, "swap_total_bytes", l->swap_total_bytes);
		js_put_u64(j, "swap_free_bytes", l->swap_free_bytes);
	}
	return j;
}

static struct js *node_json(const struct footprint *f)
{
	const struct ledger_level *l = &f->ledger.level[0];
	struct js *j = js_object();
	js_put_text(j, "name", f->node);
	js_put_u64(j, "total_bytes", l->total_bytes);
	js_put_u64(j, "available_bytes", l->available_bytes);
	js_put_u64(j, "used_bytes", l->used_bytes);
	js_put_double(j, "ratio", ledger_ratio(l));
	if (f->has_shm)
		js_put_u64(j, "shm_bytes", f->shm_bytes);
	if (f->shm_total_bytes) {
		js_put_u64(j, "shm_total_bytes", f->shm_total_bytes);
		js_put_u64(j, "shm_free_bytes", f->shm_free_bytes);
	}
	if (l->swap_total_bytes) {
		js_put_u64(j, "swap_total_bytes", l->swap_total_bytes);
		js_put_u64(j, "swap_free_bytes", l->swap_free_bytes);
	}
	return j;
}

struct js *memory_show_process_json(const struct footprint_row *r)
{
	struct js *j = js_object();
	js_put_i64(j, "pid", r->pid);
	js_put_text_if(j, "job", r->job);
	if (r->who.rank != NO_RANK)
		js_put_i64(j, "rank", r->who.rank);
	if (r->has_role)
		js_put_text(j, "role", role_name(r->who.role));
	js_put_u64(j, "own_bytes", r->own_bytes);
	js_put_u64(j, "rss_bytes", r->rss_bytes);
	js_put_u64(j, "shared_bytes", r->shared_bytes);
	if (r->pss == PSS_KNOWN)
		js_put_u64(j, "pss_bytes", r->pss_bytes);
	js_put_u64(j, "swap_bytes", r->swap_bytes);
	if (r->has_gpu)
		js_put_u64(j, "gpu_bytes", r->gpu_bytes);
	js_put_text(j, "command", r->command[0] ? r->command : r->comm);
	return j;
}

static struct js *shm_json(const struct footprint_shm *s)
{
	struct js *j = js_object(), *owners = js_array();
	js_put_text(j, "path", s->path);
	js_put_text(j, "kind", s->kind);
	if (s->has_bytes)
		js_put_u64(j, "bytes", s->bytes);
	else if (s->mapped_bytes)
		js_put_u64(j, "at_most_bytes", s->mapped_bytes);
	for (size_t i = 0; i < MIN(s->n_owners, (size_t)FOOTPRINT_OWNERS); i++)
		js_add_i64(owners, s->owners[i]);
	js_put(j, "owners", owners);
	js_put_u64(j, "n_owners", s->n_owners);
	js_put_bool(j, "orphan", s->orphan);
	js_put_text_if(j, "user", s->user);
	if (s->since_unix_ms)
		js_put_i64(j, "since_unix_ms", s->since_unix_ms);
	js_put_text_if(j, "maker", s->maker ? s->maker : "");
	if (s->maker_pid) {
		js_put_i64(j, "maker_pid", s->maker_pid);
		js_put_bool(j, "maker_gone", s->maker_gone);
	}
	return j;
}

static struct js *job_json(const struct footprint_job *job)
{
	struct js *j = js_object();
	js_put_text(j, "job", job->id);
	js_put_u64(j, "processes", job->processes);
	js_put_u64(j, "own_bytes", job->own_bytes);
	js_put_u64(j, "shmem_bytes", job->shmem_bytes);
	js_put_u64(j, "swap_bytes", job->swap_bytes);
	if (job->limit_bytes)
		js_put_u64(j, "limit_bytes", job->limit_bytes);
	return j;
}

/* Of the whole node only. */
static void node_put(const struct footprint *f, struct js *j)
{
	static const char *const kinds[STALLS] = {"cpu", "memory", "io"};
	struct js *all = js_array();
	for (int i = 0; i < STALLS; i++) {
		const struct footprint_pressure *p = &f->pressure[i];
		struct js *one = p->known ? js_object() : NULL;
		if (!one)
			continue;
		js_put_text(one, "kind", kinds[i]);
		js_put_double(one, "some_ratio", p->some_ratio);
		if (p->has_full)
			js_put_double(one, "full_ratio", p->full_ratio);
		js_add(all, one);
	}
	js_put(j, "pressure", all);
	js_put_bool(j, "head", f->head_of[0] != '\0');
	js_put_text_if(j, "head_of", f->head_of);
}

struct js *memory_json(const struct footprint *f)
{
	struct js *j = js_object(), *levels = js_array(), *processes = js_array(), *shm = js_array(),
		  *sum = js_object();
	struct js *jobs = js_array();
	js_put_text(j, "schema", "vigil.memory/1");
	js_put_text_if(j, "subject", f->subject);
	js_put(j, "node", node_json(f));
	for (size_t i = 0; i < f->ledger.n; i++)
		js_add(levels, level_json(f, i));
	js_put(j, "levels", levels);
	for (size_t i = 0; i < f->n_jobs; i++)
		js_add(jobs, job_json(&f->job[i]));
	js_put(j, "jobs", jobs);
	for (size_t i = 0; i < f->n; i++)
		js_add(processes, memory_show_process_json(&f->rows[i]));
	js_put(j, "processes", processes);
	js_put_u64(sum, "processes", f->n_all);
	js_put_u64(sum, "own_bytes", f->own_bytes);
	js_put_u64(sum, "swap_bytes", f->swap_bytes);
	js_put_u64(sum, "shm_objects", f->n_shm_all);
	js_put_u64(sum, "orphans", f->n_orphans);
	js_put_u64(sum, "orphan_bytes", f->orphan_bytes);
	js_put_u64(sum, "owners_unknown_processes", f->owners_denied + f->owners_unscanned);
	js_put(j, "sum", sum);
	for (size_t i = 0; i < f->n_shm; i++)
		js_add(shm, shm_json(&f->shm[i]));
	js_put(j, "shm", shm);
	if (!f->subject[0])
		node_put(f, j);
	if (f->n_rays > 0)
		js_put(j, "ray", ray_show_json(f));
	return j;
}

static void levels_text(const struct textout *p, const struct footprint *f)
{
	for (size_t i = 0; i < f->ledger.n; i++) {
		const struct ledger_level *l = &f->ledger.level[i];
		char total[16], used[16], left[16], cache[16], swap[16], label[64];
		TEXT_FORMAT(label, "%s", ledger_scope_name(l->scope));
		char line[512];
		TEXT_FORMAT(line, "%s used of %s (%.1f %%), %s left; %s of cache can be dropped",
			    size_format(l->used_bytes, used), size_format(l->total_bytes, total), ledger_ratio(l) * 100,
			    size_format(l->available_bytes, left), size_format(l->reclaimable_bytes, cache));
		if (l->swap_total_bytes)
			textout_value(p, label, "%s; swap: %s of %s free — %s", line,
				      size_format(l->swap_free_bytes, swap), size_format(l->swap_total_bytes, total),
				      f->level_name[i]);
		else
			textout_value(p, label, "%s — %s", line, f->level_name[i]);
	}
	if (f->subject[0] && f->n_jobs == 1 && f->job[0].limit_bytes == 0) {
		char held[16];
		textout_value(p, "job", "%s held by %zu process%s; no limit of its own",
			      size_format(add_cap(f->job[0].own_bytes, f->job[0].shmem_bytes), held),
			      f->job[0].processes, f->job[0].processes == 1 ? "" : "es");
	}
	if (!f->has_shm)
		return;
	char shm[16], total[16], left[16];
	if (f->shm_total_bytes)
		textout_value(p, "shared", "%s in shared memory; /dev/shm has %s of %s free",
			      size_format(f->shm_bytes, shm), size_format(f->shm_free_bytes, left),
			      size_format(f->shm_total_bytes, total));
	else
		textout_value(p, "shared", "%s in shared memory", size_format(f->shm_bytes, shm));
}

static void jobs_text(const struct textout *p, const struct footprint *f)
{
	if (f->subject[0] || f->n_jobs == 0)
		return;
	textout_heading(p, "jobs");
	static const struct textcol cols[] = {
		{.head = "JOB", .width = 24, .left = true, .cut = true},
		{.head = "PROCESSES", .width = 9, .spare = 2},
		{.head = "OWN", .width = 11},
		{.head = "SHM", .width = 11, .spare = 1},
		{.head = "SWAP", .width = 11, .spare = 3},
		{.head = "      LIMIT", .width = 11},
	};
	textcols_head(p, cols, ARRAY_SIZE(cols), 2, false);
	for (size_t i = 0; i < f->n_jobs; i++) {
		const struct footprint_job *j = &f->job[i];
		char own[16], shm[16], swap[16], limit[16], processes[24], last[16];
		TEXT_FORMAT(processes, "%zu", j->processes);
		TEXT_FORMAT(last, "%11s", j->limit_bytes ? size_format(j->limit_bytes, limit) : "-");
		const struct textcells cells = {
			.text = {j->id, processes, size_format(j->own_bytes, own),
				 j->shmem_bytes ? size_format(j->shmem_bytes, shm) : "-",
				 j->swap_bytes ? size_format(j->swap_bytes, swap) : "-", last},
		};
		textcols_row(p, cols, ARRAY_SIZE(cols), 2, &cells);
	}
}

/* The whole node is shown: each process gets a column with its job. */
static bool names_jobs(const struct footprint *f)
{
	return !f->subject[0] && f->n_jobs > 0;
}

#define PROCESS_COLUMNS 11
enum { PROCESS_GPU = 8, PROCESS_JOB = 9 };

static bool has_gpus(const struct footprint *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->rows[i].has_gpu)
			return true;
	return false;
}

/* With the job where the whole node is shown, with the GPU where a driver tells of it. Returns how many. */
static size_t process_columns(const struct footprint *f, struct textcol dst[static PROCESS_COLUMNS],
			      size_t ret_which[static PROCESS_COLUMNS])
{
	static const struct textcol all[PROCESS_COLUMNS] = {
		{.head = "PID", .width = 8},
		{.head = "RANK", .width = 5, .spare = 1},
		{.head = "ROLE", .width = 10, .left = true, .spare = 2},
		{.head = "OWN", .width = 11},
		{.head = "RSS", .width = 11, .spare = 4},
		{.head = "SHARED", .width = 11, .spare = 6},
		{.head = "PSS", .width = 11, .spare = 5},
		{.head = "SWAP", .width = 11, .spare = 3},
		[PROCESS_GPU] = {.head = "GPU", .width = 11},
		[PROCESS_JOB] = {.head = "JOB", .width = 16, .gap = 2, .left = true, .cut = true},
		{.head = "COMMAND", .width = 16, .most = 60},
	};
	const bool gpus = has_gpus(f), jobs = names_jobs(f);
	size_t n = 0;
	for (size_t i = 0; i < PROCESS_COLUMNS; i++) {
		if ((i == PROCESS_GPU && !gpus) || (i == PROCESS_JOB && !jobs))
			continue;
		ret_which[n] = i;
		dst[n++] = all[i];
	}
	if (!jobs)
		dst[n - 1].gap = 2;
	return n;
}

static void process_line(const struct textout *p, const struct footprint *f, const struct footprint_row *r)
{
	char own[16], rss[16], shared[16], pss[16], swap[16], gpu[16], rank[16] = "-", pid[16];
	if (r->who.rank != NO_RANK)
		TEXT_FORMAT(rank, "%d", r->who.rank);
	const char *pss_text = r->pss == PSS_KNOWN    ? size_format(r->pss_bytes, pss)
			       : r->pss == PSS_LATE   ? "late"
			       : r->pss == PSS_DENIED ? "denied"
						      : "-";
	TEXT_FORMAT(pid, "%d", r->pid);
	const char *const text[PROCESS_COLUMNS] = {
		pid,
		rank,
		r->has_role ? role_name(r->who.role) : "-",
		size_format(r->own_bytes, own),
		size_format(r->rss_bytes, rss),
		size_format(r->shared_bytes, shared),
		pss_text,
		r->swap_bytes ? size_format(r->swap_bytes, swap) : "-",
		r->has_gpu ? size_format(r->gpu_bytes, gpu) : "-",
		r->job[0] ? r->job : "-",
		r->command[0] ? r->command : r->comm,
	};
	struct textcol cols[PROCESS_COLUMNS];
	struct textcells cells = {.text = {NULL}};
	size_t which[PROCESS_COLUMNS], n = process_columns(f, cols, which);
	for (size_t i = 0; i < n; i++)
		cells.text[i] = text[which[i]];
	textcols_row(p, cols, n, 2, &cells);
}

static void processes_text(const struct textout *p, const struct footprint *f)
{
	struct textcol cols[PROCESS_COLUMNS];
	size_t which[PROCESS_COLUMNS], n = process_columns(f, cols, which);
	char own[16];
	textout_heading(p, "processes");
	textcols_head(p, cols, n, 2, false);
	for (size_t i = 0; i < f->n; i++)
		process_line(p, f, &f->rows[i]);
	fputc('\n', p->to);
	textout_text(
		p, 0,
		f->n_all == 1
			? "%zu process holds %s of its own: what ending it gives back. Files and shared memory stay "
			  "for "
			  "whoever else maps them, or in /dev/shm."
			: "%zu processes hold %s of their own: what ending them gives back. A page that forks share "
			  "counts once among them; files and shared memory stay for whoever else maps them, or in "
			  "/dev/shm.",
		f->n_all, size_format(f->own_bytes, own));
	if (f->n < f->n_all)
		textout_text(p, 0, "%zu smaller process%s not shown; --all shows %s.", f->n_all - f->n,
			     f->n_all - f->n == 1 ? " is" : "es are", f->n_all - f->n == 1 ? "it" : "them");
	if (f->pss_late)
		fprintf(p->to, "PSS of %zu process%s was not ready in time.\n", f->pss_late,
			f->pss_late == 1 ? "" : "es");
	if (f->n_denied && f->subject[0])
		fprintf(p->to, "%zu process%s could not be asked for %s job: we may not look into %s.\n", f->n_denied,
			f->n_denied == 1 ? "" : "es", f->n_denied == 1 ? "its" : "their",
			f->n_denied == 1 ? "it" : "them");
}

static void owners_format(const struct footprint_shm *s, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	if (s->n_owners == 0)
		buf_add(&b, s->orphan ? "nobody" : "-");
	for (size_t i = 0; i < MIN(s->n_owners, (size_t)FOOTPRINT_OWNERS); i++)
		buf_printf(&b, "%s%d", i ? "," : "", s->owners[i]);
	if (s->n_owners > FOOTPRINT_OWNERS)
		buf_printf(&b, ",+%zu", s->n_owners - FOOTPRINT_OWNERS);
}

/* What is known of who made it and who has it; without who holds it. */
static void shm_origin(const struct footprint_shm *s, struct buf *b)
{
	char since[24];
	if (s->orphan && s->user[0])
		buf_printf(b, ", made by user %s", s->user);
	if (s->orphan && s->since_unix_ms)
		buf_printf(b, ", since %s", time_format(s->since_unix_ms, since));
	if (s->maker)
		buf_printf(b, "  (%s%s)", s->maker, s->maker_gone ? ", whose maker is gone" : "");
}

static void shm_line(const struct textout *p, const struct footprint_shm *s)
{
	enum { SIZE_COLUMNS = 16, PATH_COLUMNS = 44, LINE_COLUMNS = 150 };
	char bytes[24] = "?", size[16], owners[160], more[160];
	struct buf b = BUF_ON(more);
	buf_reset(&b);
	if (s->has_bytes)
		TEXT_FORMAT(bytes, "%s", size_format(s->bytes, size));
	else if (s->mapped_bytes)
		TEXT_FORMAT(bytes, "<= %s", size_format(s->mapped_bytes, size));
	owners_format(s, owners, sizeof(owners));
	shm_origin(s, &b);
	fprintf(p->to, "  %14s  ", bytes);
	if (p->width > 0 && p->width < LINE_COLUMNS) { /* two lines where there is no room for one */
		(void)textout_cut(p, s->path, p->width - SIZE_COLUMNS - 2);
		fprintf(p->to, "\n%*s", SIZE_COLUMNS + 4, "");
		textout_ink(p, s->orphan ? INK_YELLOW : INK_PLAIN);
		textout_text(p, SIZE_COLUMNS + 4, "held by %s%s%s", owners, s->orphan ? "  ORPHAN" : "", more);
		textout_ink(p, INK_PLAIN);
		return;
	}
	textout_cell(p, s->path, PATH_COLUMNS);
	fputs("  held by ", p->to);
	textout_cut(p, owners, 60);
	if (s->orphan) {
		textout_ink(p, INK_YELLOW);
		fputs("  ORPHAN", p->to);
		textout_ink(p, INK_PLAIN);
	}
	fprintf(p->to, "%s\n", more);
}

static void shm_text(const struct textout *p, const struct footprint *f)
{
	char orphans[16];
	if (f->n_shm_all == 0)
		return;
	textout_heading(p, "shared memory");
	for (size_t i = 0; i < f->n_shm; i++)
		shm_line(p, &f->shm[i]);
	fputc('\n', p->to);
	if (f->n_shm < f->n_shm_all)
		textout_text(p, 0, "%zu more %s not shown; --all shows %s.", f->n_shm_all - f->n_shm,
			     f->n_shm_all - f->n_shm == 1 ? "is" : "are",
			     f->n_shm_all - f->n_shm == 1 ? "it" : "them");
	if (f->n_orphans)
		textout_text(
			p, 0,
			f->n_orphans == 1
				? "%zu of them (%s) is held by nobody%s: it fills memory until somebody removes it "
				  "(rm for a file, ipcrm -m for System V)."
				: "%zu of them (%s) are held by nobody%s: they fill memory until somebody removes "
				  "them (rm for files, ipcrm -m for System V).",
			f->n_orphans, size_format(f->orphan_bytes, orphans),
			f->owners_denied || f->owners_unscanned || f->owners_hidden ? " that could be seen" : "");
	if (f->owners_denied)
		textout_text(p, 0, "owners unknown for %zu process%s we may not read (run as root to see %s).",
			     f->owners_denied, f->owners_denied == 1 ? "" : "es",
			     f->owners_denied == 1 ? "it" : "them");
	if (f->owners_unscanned)
		textout_text(p, 0, "owners unknown for %zu process%s that there was no time to look at.",
			     f->owners_unscanned, f->owners_unscanned == 1 ? "" : "es");
	if (f->owners_hidden)
		textout_text(p, 0, "other users' processes are hidden (hidepid): owners may be missing.");
}

void memory_text(const struct footprint *f, bool colour, FILE *to)
{
	struct textout p = {.to = to, .colour = colour, .width = textout_width(to)};
	if (f->subject[0])
		fprintf(to, "memory of %s on %s\n\n", f->subject, f->node);
	else
		fprintf(to, "memory of %s\n\n", f->node);
	levels_text(&p, f);
	jobs_text(&p, f);
	processes_text(&p, f);
	ray_show_text(&p, f);
	shm_text(&p, f);
}
