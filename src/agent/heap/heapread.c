#include "agent/heap/heapread_parts.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/vec.h"

#define STACKS_MOST 20000
#define STACKS_LEAST 100 /* named one by one of each process, however many processes there are */
#define GENERATIONS 8 /* levels of workers that start workers */

/* What children need to know of their parent: they have the same rank. */
struct read_process {
	uint32_t index; /* in the set */
	int32_t pid, ppid; /* as the container numbers them */
	uint64_t start_ticks, parent_start_ticks; /* parent_start_ticks 0: not known */
};

static void reading_done(struct heapread_one *rd)
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

/* ---- adding to the set ---- */

static int by_value(const void *x, const void *y)
{
	const struct heapread_row *a = x, *b = y;
	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

/* Sorts stacks by their largest value in any view. */
static void heapread_rows_sort(struct heapread_one *rd)
{
	for (size_t i = 0; i < rd->r.n_stacks; i++) {
		const struct heapset_figures *f = &rd->rows[i].f;
		double brief = f->total.bytes * f->temporary_share;
		double held = rd->seconds > 0 ? f->held.bytes / rd->seconds : 0;
		rd->rows[i].value = fmax(fmax(f->live.bytes, f->peak.bytes), fmax(brief, held));
	}
	if (rd->r.n_stacks > 0)
		qsort(rd->rows, rd->r.n_stacks, sizeof(*rd->rows), by_value);
}

static int put_one(struct heapread_one *rd, uint32_t process, const struct heapread_row *row)
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

static int put_small(struct heapread_one *rd, uint32_t process, size_t from, size_t to)
{
	struct heapset_figures all = {.resident_bytes = 0};
	const struct frame f = {.kind = FRAME_NOTE, .name = "[smaller stacks]", .file = "", .module = ""};
	uint32_t id;
	for (size_t i = from; i < to; i++)
		heapset_figures_add(&all, &rd->rows[i].f);
	all.leak.valid = false; /* a sum of unrelated stacks cannot leak */
	int r = frametab_intern(heapset_frames(rd->h->set), &f, &id);
	return r < 0 ? r : heapset_add(rd->h->set, process, &id, 1, &all);
}

static int heapread_process_add(struct heapread *h, const struct heap_header *header, uint32_t process)
{
	if (vec_room(&h->read, &h->cap_read, h->n_read + 1) < 0)
		return -ENOMEM;
	h->read[h->n_read] = (struct read_process){.index = process,
						   .pid = header->pid,
						   .ppid = header->ppid,
						   .start_ticks = header->start_ticks,
						   .parent_start_ticks = header->parent_start_ticks};
	return 0;
}

static int put_all(struct heapread_one *rd)
{
	size_t n = 0, most = MAX(rd->h->want.most_stacks / rd->h->n_files, (size_t)STACKS_LEAST);
	uint32_t process;
	while (n < rd->r.n_stacks && rd->rows[n].value > 0)
		n++;
	size_t named = n > most ? most : n;
	rd->p.stacks = (uint32_t)n;
	rd->p.small_stacks = (uint32_t)(n - named);
	int r = heapset_process_add(rd->h->set, &rd->p, &process);
	if (r == 0)
		r = heapread_process_add(rd->h, &rd->r.header, process);
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
	cleanup(reading_done) struct heapread_one rd = {.h = h, .earlier = earlier, .dir = dirfd};
	int r = heapregion_read(dirfd, name, &rd.r, f);
	if (r)
		return condition_of(r, path, f);
	rd.inode = rd.r.inode;
	heapread_describe(&rd, path);
	r = heapread_rows_make(&rd);
	if (r == 0)
		r = heapread_resident(&rd);
	if (r == 0)
		heapread_resident_noted(&rd, name);
	if (r == 0) {
		heapread_rows_sort(&rd);
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

/* ---- a folder ---- */

static bool is_wanted(const struct heapread *h, const struct heapfile *file, pid_t only_pid)
{
	if (file->is_off)
		return false;
	if (only_pid == 0)
		return true;
	const struct heapread_who *who = heapread_who_of(h, file->pid, file->start_ticks);
	return who ? who->pid == only_pid : file->pid == only_pid && file->alive;
}

static void off_note(struct heapread *h, const struct heapfile *file)
{
	uint64_t why;
	struct span text = span_after(span_of(file->name), ".off-");
	if (text.p && span_u64(text, &why) == 0)
		h->off[MIN(why, (uint64_t)HEAPREAD_OFF_REASONS - 1)]++;
}

static int nothing(const struct heapread *h, const char *dir, int first, struct fault *f)
{
	if (h->n_failed > 0) /* the fault of the first one is set already */
		return first;
	for (size_t i = 0; i < HEAPREAD_OFF_REASONS; i++)
		if (h->off[i])
			return fault_set(f, HEAPREAD_NONE, "%zu process%s could not be profiled: %s", h->off[i],
					 h->off[i] == 1 ? "" : "es", heapregion_why_words((enum heap_why)i));
	return fault_set(f, HEAPREAD_NONE,
			 "no process has left a heap profile in %s (yet): one is made when a process has allocated "
			 "about a MiB; a "
			 "static program leaves none",
			 dir);
}

/*
 * True: pid was the parent of child. It must have the start that the child knows, or at least have started earlier,
 * since pid numbers are reused.
 */
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

/* Gives workers the rank of their parent: of ended processes only the ranks' main processes are known to the caller. */
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

/* Sets the end of earlier images: exec gives all memory back, and the next image begins after it. */
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
	int first = 0, r = dirfd < 0 ? heapfolder_read(h->w, dir, &folder) : heapfolder_read_fd(h->w, dirfd, &folder);
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
			h->any_runs = h->any_runs || heapread_is_running(h, &folder.file[i], dir);
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

void heapread_as_seen_by(struct heapread *h, pid_t pid)
{
	h->seen_by = pid;
}

bool heapread_is_empty(const struct heapread *h)
{
	size_t off = 0;
	for (size_t i = 0; i < HEAPREAD_OFF_REASONS; i++)
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
	for (size_t i = 0; i < HEAPREAD_OFF_REASONS && n < cap; i++)
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
