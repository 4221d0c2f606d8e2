#include "agent/heap/heaprun.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "agent/host/datadir.h"
#include "agent/heap/heapfit.h"
#include "agent/heap/heapfolder.h"
#include "agent/heap/heapresident.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "sense/heap/heapregion.h"
#include "sense/proc/proc.h"

#define LIBRARY "libvigil_heap.so"
#define TIDY_NS (2 * NS_PER_S)
#define COPY_NS (10 * NS_PER_S)
#define COPY_AGAIN_NS (500 * NS_PER_MS) /* if more lives by then */
#define COPY_SHARE 20 /* of the time, at most */
/* At such a moment a copy must be small: a few files of some MiB each. */
#define COPY_FILES 4
#define COPY_LOOK_NS (10 * NS_PER_MS) /* for the pages of each */
#define OFF_FILES 256

/* ---- starting -------------------------------------------------------------------------------------------------- */

static int preload_make(const char *library, char **ret)
{
	const char *was = getenv("LD_PRELOAD");
	bool has_old = was && *was;
	size_t cap = strlen("LD_PRELOAD=") + strlen(library) + 1 + (has_old ? strlen(was) : 0) + 1;
	char *text = malloc(cap);
	if (!text)
		return -ENOMEM;
	/* Ours first: an allocator that the user preloads is then the one it forwards to. But for ASan's, which must be. */
	if (has_old && strstr(was, "libasan"))
		(void)text_format(text, cap, "LD_PRELOAD=%s:%s", was, library);
	else
		(void)text_format(text, cap, "LD_PRELOAD=%s%s%s", library, has_old ? ":" : "", has_old ? was : "");
	*ret = text;
	return 0;
}

int heaprun_prepare(const struct world *w, const struct heaprun_want *want, struct heaprun *h, struct fault *f)
{
	char library[PATH_MAX], looked[PATH_MAX];
	if (want->rate_bytes && (want->rate_bytes < HEAP_RATE_MIN || want->rate_bytes > HEAP_RATE_MAX))
		return fault_set(f, -EINVAL, "--heap-rate: expected 4 KiB to 16 MiB; 512K is right for most programs");
	int r = datadir_library(w, LIBRARY, "preload", library, looked);
	if (r < 0)
		return fault_set(
			f, r,
			"no heap profile can be made: %s is not in %s; set VIGIL_DATA_DIR to the folder that has it",
			LIBRARY, looked);
	if (strpbrk(library, ": \t"))
		return fault_set(
			f, -EINVAL,
			"no heap profile can be made: LD_PRELOAD cannot name %s, which has a blank or a colon in it",
			library);
	*h = (struct heaprun){.preload = NULL};
	TEXT_FORMAT(h->rate, "VIGIL_HEAP_RATE=%llu", (unsigned long long)want->rate_bytes);
	if (want->objects)
		TEXT_COPY(h->objects, "VIGIL_HEAP_OBJECTS=1");
	enum heapfit fit = heapfit_of(want->program, looked, sizeof(looked));
	if (fit != HEAPFIT_FINE)
		TEXT_FORMAT(h->unfit, "%.200s leaves no heap profile: %s", looked, heapfit_words(fit));
	if (fit == HEAPFIT_OTHER_LIBC)
		return 0;
	r = preload_make(library, &h->preload);
	return r < 0 ? fault_set(f, r, "no memory to start") : 0;
}

static bool in_memory(const char *dir)
{
	struct statfs s;
	return statfs(dir, &s) == 0 && (s.f_type == TMPFS_MAGIC || s.f_type == RAMFS_MAGIC);
}

/* The library reserves space before it uses it. */
static bool can_reserve(const char *dir)
{
	char path[PATH_MAX];
	if (text_format(path, sizeof(path), "%s/probe", dir) >= (int)sizeof(path))
		return false;
	cleanup(closep) int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool can = fd >= 0 && fallocate(fd, 0, 0, 4096) == 0;
	if (fd >= 0)
		(void)unlink(path);
	return can;
}

/* A folder on a disk, and a link to it where the folder should be. */
static int elsewhere(const char *dir, const char *job_id, uint32_t attempt)
{
	char path[PATH_MAX];
	TEXT_FORMAT(path, "/var/tmp/vigil-heap-%u-%s-%u", (unsigned)getuid(), job_id, attempt);
	if (mkdir(path, 0700) < 0)
		return -errno;
	if (in_memory(path) || !can_reserve(path) || rmdir(dir) < 0 || symlink(path, dir) < 0) {
		(void)rmdir(path);
		(void)mkdir(dir, 0700);
		return -EXDEV;
	}
	return 0;
}

int heaprun_attempt(struct heaprun *h, const char *job_dir, uint32_t attempt)
{
	char dir[400], whole[PATH_MAX];
	h->dir[0] = h->folder[0] = '\0';
	if (job_dir[0] == '\0')
		return -ENOENT;
	TEXT_FORMAT(dir, "%s/attempt-%u/heap", job_dir, attempt);
	int r = file_mkdirs(dir, 0700);
	if (r < 0)
		return r;
	const char *id = strrchr(job_dir, '/');
	if (in_memory(dir) || !can_reserve(dir))
		ignore(elsewhere(dir, id ? id + 1 : "job", attempt), "then its pages count as the job's memory");
	if (!can_reserve(dir))
		return -EOPNOTSUPP;
	if (!realpath(dir, whole))
		return -errno;
	if (text_format(h->dir, sizeof(h->dir), "VIGIL_HEAP_DIR=%s", whole) >= (int)sizeof(h->dir)) {
		h->dir[0] = '\0';
		return -ENAMETOOLONG;
	}
	TEXT_COPY(h->folder, whole);
	h->next_tidy_ns = clock_mono_ns() + TIDY_NS;
	h->last_copy_ns = h->last_look_ns = 0;
	return 0;
}

void heaprun_nothing(const struct heaprun *h, char *dst, size_t cap)
{
	struct heapfolder all;
	uint64_t why = 0;
	size_t n_off = 0;
	bool any = false;
	dst[0] = '\0';
	/* that it cannot be was said in the beginning */
	if (h->folder[0] == '\0' || h->unfit[0] || heapfolder_read(NULL, h->folder, &all) < 0)
		return;
	for (size_t i = 0; i < all.n; i++) {
		any |= !all.file[i].is_off;
		struct span text = span_after(span_of(all.file[i].name), ".off-");
		n_off += all.file[i].is_off && text.p && span_u64(text, &why) == 0;
	}
	heapfolder_done(&all);
	if (!any && n_off > 0)
		(void)text_format(dst, cap, "no heap profile was left: %zu process%s could not have one: %s", n_off,
				  n_off == 1 ? "" : "es", heapregion_why_words((enum heap_why)why));
	else if (!any)
		(void)text_format(dst, cap,
				  "no heap profile was left: each process had asked for less than about a MiB, or is one "
				  "that takes no library (a static program, set-user-ID, another C library)");
}

void heaprun_done(struct heaprun *h)
{
	free(h->preload);
	*h = (struct heaprun){.preload = NULL};
}

/* ---- housekeeping ---------------------------------------------------------------------------------------------- */

uint64_t heaprun_due_ns(const struct heaprun *h)
{
	return h->folder[0] ? h->next_tidy_ns : UINT64_MAX;
}

static int by_peak(const void *a, const void *b)
{
	const struct heapfile *x = *(const struct heapfile *const *)a, *y = *(const struct heapfile *const *)b;
	return x->peak_bytes > y->peak_bytes ? -1 : x->peak_bytes < y->peak_bytes;
}

/* Those that `is` true of, largest peak first. Malloc'ed. */
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

static bool is_running(const struct heapfile *f)
{
	return f->alive && !f->is_off;
}

void heaprun_tidy(struct heaprun *h, const struct world *w, uint64_t budget_bytes)
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

/* Holes stay holes: most of a profile was never written. */
/* What lies in memory of the process that a copy is of. In a container it may number itself otherwise: then nothing. */
static void copy_note(const struct world *w, const struct heapfile *f, int dir)
{
	struct proc_stat st;
	if (proc_stat_read(w, f->pid, &st) == 0 && st.start_ticks == f->start_ticks)
		ignore(heapresident_note(w, f->pid, dir, f->name, COPY_LOOK_NS), "reports then have no share of it");
}

static int by_live(const void *a, const void *b)
{
	const struct heapfile *x = *(const struct heapfile *const *)a, *y = *(const struct heapfile *const *)b;
	return x->live_bytes > y->live_bytes ? -1 : x->live_bytes < y->live_bytes;
}

/* NULL: what lives has hardly grown since the last copy, or nothing can be read. *ret_n: of how many. */
static const struct heapfile **worth_copying(struct heaprun *h, const struct heapfolder *all, uint64_t now_ns, size_t *ret_n)
{
	uint64_t live_bytes = 0;
	const struct heapfile **running = chosen(all, is_running, ret_n);
	for (size_t i = 0; running && i < *ret_n; i++)
		live_bytes = add_cap(live_bytes, running[i]->live_bytes);
	if (h->last_copy_ns && now_ns - h->last_copy_ns < COPY_NS && live_bytes / 9 * 8 < h->copy_live_bytes) {
		free(running);
		return NULL;
	}
	h->last_copy_ns = now_ns;
	h->copy_live_bytes = live_bytes;
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
 * Instead of those of an earlier moment. A process may be ended at any time: what was noted of it before stays until
 * there is something better, and when nobody lives any more, the last copies are what is wanted.
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
	for (size_t i = 0; i < n; i++)
		ignore(file_copy(all->fd, running[i]->name, old.fd, running[i]->name), "the file itself is still there");
	for (size_t i = 0; i < n; i++)
		copy_note(w, running[i], old.fd);
	heapfolder_done(&old);
}

uint64_t heaprun_copy_due_ns(const struct heaprun *h)
{
	if (h->folder[0] == '\0')
		return UINT64_MAX;
	return h->last_look_ns ? h->last_look_ns + MAX(COPY_AGAIN_NS, h->copy_took_ns * COPY_SHARE) : 0;
}

void heaprun_copy(struct heaprun *h, const struct world *w)
{
	char dir[PATH_MAX];
	struct heapfolder all;
	uint64_t now_ns = clock_mono_ns();
	size_t n = 0;
	if (now_ns < heaprun_copy_due_ns(h))
		return;
	h->last_look_ns = now_ns;
	TEXT_FORMAT(dir, "%s/warn", h->folder);
	if ((mkdir(dir, 0700) < 0 && errno != EEXIST) || heapfolder_read(w, h->folder, &all) < 0)
		return;
	cleanup(freep) const struct heapfile **running = worth_copying(h, &all, now_ns, &n);
	if (running)
		copies_make(w, &all, running, n, dir);
	heapfolder_done(&all);
	h->copy_took_ns = clock_mono_ns() - now_ns;
}

/* ---- finding and switching ------------------------------------------------------------------------------------- */

int heaprun_find(const char *folder, pid_t pid, uint64_t start_ticks, bool copy, char *dst, size_t cap)
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

static int control_write(int dir, uint64_t rate_bytes)
{
	const struct heap_control c = {.magic = HEAP_CONTROL_MAGIC, .rate_bytes = rate_bytes};
	cleanup(closep) int fd =
		openat(dir, "control.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;
	int r = file_write_all(fd, &c, sizeof(c));
	if (r < 0)
		return r;
	return renameat(dir, "control.new", dir, "control") < 0 ? -errno : 0;
}

int heaprun_switch(const char *folder, uint64_t rate_bytes, size_t *ret_regions)
{
	struct heapfolder all = {.fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	size_t n = 0;
	if (all.fd < 0)
		return -errno;
	int r = control_write(all.fd, rate_bytes);
	heapfolder_done(&all);
	/* Whoever made its file before it could see the new control is found now. */
	if (r == 0)
		r = heapfolder_read(NULL, folder, &all);
	if (r < 0)
		return r;
	for (size_t i = 0; i < all.n; i++) {
		if (all.file[i].is_off)
			continue;
		cleanup(closep) int fd = openat(all.fd, all.file[i].name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		const off_t at = offsetof(struct heap_header, rate_bytes);
		n += fd >= 0 && pwrite(fd, &rate_bytes, sizeof(rate_bytes), at) == (ssize_t)sizeof(rate_bytes);
	}
	heapfolder_done(&all);
	*ret_regions = n;
	return 0;
}
