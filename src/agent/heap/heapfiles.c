#include "agent/heap/heapfiles.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/heap/heapfolder.h"
#include "agent/heap/heapresident.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "sense/heap/heapregion.h"
#include "sense/proc/proc.h"

#define TIDY_NS (2 * NS_PER_S)
/* Copies must be small while memory is short: at most this many files of some MiB each. */
#define COPY_FILES 4
#define COPY_PAGES_NS (10 * NS_PER_MS) /* most time to look at the pages of each */
#define OFF_FILES 256

void heapfiles_begin(struct heapfiles *h, const char *folder)
{
	*h = (struct heapfiles){.next_tidy_ns = clock_mono_ns() + TIDY_NS};
	TEXT_COPY(h->folder, folder);
}

/* ---- tidying and copying ---- */

uint64_t heapfiles_due_ns(const struct heapfiles *h)
{
	return h->folder[0] ? h->next_tidy_ns : UINT64_MAX;
}

static int by_peak(const void *a, const void *b)
{
	const struct heapfile *x = *(const struct heapfile *const *)a, *y = *(const struct heapfile *const *)b;
	return x->peak_bytes > y->peak_bytes ? -1 : x->peak_bytes < y->peak_bytes;
}

/* The files for which is() is true, largest peak first. Malloc'ed. */
static const struct heapfile **chosen(const struct heapfolder *h, bool (*is)(const struct heapfile *), size_t *ret_n)
{
	const struct heapfile **list = calloc(h->n + 1, sizeof(*list));
	size_t n = 0;
	for (size_t i = 0; list && i < h->n; i++)
		if (is(&h->file[i]))
			list[n++] = &h->file[i];
	if (n)
		qsort(list, n, sizeof(const struct heapfile *), by_peak);
	*ret_n = n;
	return list;
}

static bool is_ended(const struct heapfile *f)
{
	return !f->alive && !f->is_off;
}

static bool heapfiles_is_running(const struct heapfile *f)
{
	return f->alive && !f->is_off;
}

void heapfiles_tidy(struct heapfiles *h, const struct world *w, uint64_t budget_bytes)
{
	struct heapfolder all;
	uint64_t kept_bytes = 0;
	size_t n = 0, off = 0;
	h->next_tidy_ns = clock_mono_ns() + TIDY_NS;
	if (h->folder[0] == '\0' || heapfolder_read(w, h->folder, &all) < 0)
		return;
	cleanup(freep) const struct heapfile **ended = chosen(&all, is_ended, &n);
	for (size_t i = 0; ended && i < n; i++) {
		kept_bytes += ended[i]->disk_bytes;
		if (kept_bytes <= budget_bytes)
			continue;
		kept_bytes -= ended[i]->disk_bytes;
		(void)unlinkat(all.fd, ended[i]->name, 0);
	}
	for (size_t i = 0; i < all.n; i++)
		if (all.file[i].is_off && !all.file[i].alive && ++off > OFF_FILES)
			(void)unlinkat(all.fd, all.file[i].name, 0);
	heapfolder_done(&all);
}

/*
 * Notes beside the copy which of the blocks lie in memory. Skipped where the process has another pid in its container.
 */
static void copy_note(const struct world *w, const struct heapfile *f, int dir)
{
	struct proc_stat st;
	if (proc_stat_read(w, f->pid, &st) == 0 && st.start_ticks == f->start_ticks)
		ignore(heapresident_note(w, f->pid, dir, f->name, COPY_PAGES_NS), "reports then have no share of it");
}

static int by_live(const void *a, const void *b)
{
	const struct heapfile *x = *(const struct heapfile *const *)a, *y = *(const struct heapfile *const *)b;
	return x->live_bytes > y->live_bytes ? -1 : x->live_bytes < y->live_bytes;
}

/* The running processes, most live bytes first. NULL: no copy is due, or nothing can be read. Malloc'ed. */
static const struct heapfile **to_copy(struct heapfiles *h, const struct heapfolder *all, uint64_t now_ns,
				       size_t *ret_n)
{
	uint64_t live_bytes = 0;
	const struct heapfile **running = chosen(all, heapfiles_is_running, ret_n);
	for (size_t i = 0; running && i < *ret_n; i++)
		live_bytes = add_cap(live_bytes, running[i]->live_bytes);
	if (!heapcopy_is_due(&h->last, now_ns, live_bytes)) {
		free(running);
		return NULL;
	}
	h->last.copy_ns = now_ns;
	h->last.live_bytes = live_bytes;
	if (running && *ret_n)
		qsort(running, *ret_n, sizeof(const struct heapfile *), by_live);
	return running;
}

static bool is_one_of(const struct heapfile **some, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(some[i]->name, name) == 0)
			return true;
	return false;
}

/*
 * Makes the copies that replace those of an earlier moment. A process may be killed at any time: an older note stays
 * until there is a newer one, and after the last process has ended the last copies stay.
 */
static void copies_make(const struct world *w, const struct heapfolder *all, const struct heapfile **running, size_t n,
			const char *dir)
{
	struct heapfolder old;
	n = MIN(n, (size_t)COPY_FILES);
	if (n == 0 || heapfolder_read(NULL, dir, &old) != 0)
		return;
	for (size_t i = 0; i < old.n; i++) {
		if (is_one_of(running, n, old.file[i].name))
			continue;
		char share[HEAPFOLDER_NAME + sizeof(HEAPRESIDENT_SUFFIX)];
		TEXT_FORMAT(share, "%s" HEAPRESIDENT_SUFFIX, old.file[i].name);
		(void)unlinkat(old.fd, old.file[i].name, 0);
		(void)unlinkat(old.fd, share, 0);
	}
	struct foreign_user owner;
	const struct foreign_place in = {.dirfd = all->fd, .as = foreign_owner(all->fd, &owner)};
	for (size_t i = 0; i < n; i++) {
		cleanup(closep) int fd = -1;
		if (foreign_open(&in, running[i]->name, &fd) == 0)
			ignore(heapregion_copy(fd, old.fd, running[i]->name), "the file itself is still there");
	}
	for (size_t i = 0; i < n; i++)
		copy_note(w, running[i], old.fd);
	heapfolder_done(&old);
}

uint64_t heapfiles_copy_due_ns(const struct heapfiles *h)
{
	return h->folder[0] ? heapcopy_read_due_ns(&h->last) : UINT64_MAX;
}

void heapfiles_copy(struct heapfiles *h, const struct world *w)
{
	char dir[PATH_MAX];
	struct heapfolder all;
	uint64_t now_ns = clock_mono_ns();
	size_t n = 0;
	if (now_ns < heapfiles_copy_due_ns(h))
		return;
	h->last.read_ns = now_ns;
	TEXT_FORMAT(dir, "%s/warn", h->folder);
	if ((mkdir(dir, 0700) < 0 && errno != EEXIST) || heapfolder_read(w, h->folder, &all) < 0)
		return;
	cleanup(freep) const struct heapfile **running = to_copy(h, &all, now_ns, &n);
	if (running)
		copies_make(w, &all, running, n, dir);
	heapfolder_done(&all);
	h->last.took_ns = clock_mono_ns() - now_ns;
}

/* ---- finding and switching ---- */

int heapfiles_find(const char *folder, pid_t pid, uint64_t start_ticks, bool copy, char *dst, size_t cap)
{
	char dir[PATH_MAX];
	struct heapfolder all;
	const struct heapfile *best = NULL;
	TEXT_FORMAT(dir, "%s%s", folder, copy ? "/warn" : "");
	if (heapfolder_read(NULL, dir, &all) < 0)
		return WORLD_GONE;
	for (size_t i = 0; i < all.n; i++)
		if (all.file[i].pid == pid && all.file[i].start_ticks == start_ticks && !all.file[i].is_off)
			best = &all.file[i];
	bool fits = best && text_format(dst, cap, "%s/%s", dir, best->name) < (int)cap;
	heapfolder_done(&all);
	return fits ? 0 : WORLD_GONE;
}

static int control_write(const struct foreign_place *in, uint64_t rate_bytes)
{
	const struct heap_control c = {.magic = HEAP_CONTROL_MAGIC, .rate_bytes = rate_bytes};
	return foreign_replace(in, "control", &c, sizeof(c), 0644);
}

int heapfiles_switch(int folder, const struct foreign_user *as, uint64_t rate_bytes, size_t *ret_regions)
{
	const struct foreign_place in = {.dirfd = folder, .as = as};
	struct heapfolder all;
	size_t n = 0;
	int r = control_write(&in, rate_bytes);
	/* Processes that made their file before the new control file appeared are switched one by one. */
	if (r == 0)
		r = heapfolder_read_fd(NULL, folder, &all);
	if (r < 0)
		return r;
	for (size_t i = 0; i < all.n; i++) {
		cleanup(closep) int fd = -1;
		if (all.file[i].is_off || foreign_open_both(&in, all.file[i].name, &fd) != 0)
			continue;
		const off_t at = offsetof(struct heap_header, rate_bytes);
		n += pwrite(fd, &rate_bytes, sizeof(rate_bytes), at) == (ssize_t)sizeof(rate_bytes);
	}
	heapfolder_done(&all);
	*ret_regions = n;
	return 0;
}
