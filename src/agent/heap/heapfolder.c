#include "agent/heap/heapfolder.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/foreign.h"
#include "base/vec.h"
#include "preload/heapregion.h"
#include "sense/proc/proc.h"

#define FILES_MAX 65536

/* Takes the text before the next dot off the front; false: there is no dot. */
static bool part(struct span *rest, struct span *ret)
{
	const char *dot = rest->len ? memchr(rest->p, '.', rest->len) : NULL;
	if (!dot)
		return false;
	*ret = (struct span){rest->p, (size_t)(dot - rest->p)};
	*rest = (struct span){dot + 1, rest->len - ret->len - 1};
	return true;
}

int heapfile_parse(struct span name, struct heapfile *ret)
{
	struct heapfile f = {.pid = 0};
	struct span rest = name, word;
	uint64_t pid, generation = 0;
	if (name.len >= sizeof(f.name) || !part(&rest, &word) || span_u64(word, &pid) < 0 || pid == 0 ||
	    pid > INT32_MAX || !part(&rest, &word) || span_u64(word, &f.start_ticks) < 0)
		return -EINVAL;
	if (part(&rest, &word) && (span_u64(word, &generation) < 0 || generation > UINT32_MAX))
		return -EINVAL;
	f.is_off = span_starts(rest, "off-");
	if (!f.is_off && !span_eq(rest, "heap"))
		return -EINVAL;
	f.pid = (pid_t)pid;
	f.generation = (uint32_t)generation;
	span_copy(name, f.name, sizeof(f.name));
	*ret = f;
	return 0;
}

static void header_read(const struct foreign_place *at, struct heapfile *f)
{
	struct heap_header h;
	struct stat st;
	cleanup(closep) int fd = -1;
	if (foreign_open(at, f->name, &fd) != 0 || fstat(fd, &st) < 0)
		return;
	f->disk_bytes = (uint64_t)st.st_blocks * 512;
	f->inode = st.st_ino;
	if (pread(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h) || h.magic != HEAP_MAGIC)
		return;
	f->state = h.state;
	f->live_bytes = h.live.bytes > UINT64_MAX / 2 ? 0 : h.live.bytes; /* the counter can be below 0 for a moment */
	f->peak_bytes = MAX(f->live_bytes, MAX(h.peak_bytes[h.peak_which & 1], h.highest.bytes));
}

static int by_process(const void *a, const void *b)
{
	const struct heapfile *x = a, *y = b;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->start_ticks != y->start_ticks)
		return x->start_ticks < y->start_ticks ? -1 : 1;
	return x->generation < y->generation ? -1 : x->generation > y->generation;
}

/* True: no file of a later image of the process follows. The files are sorted by by_process. */
static bool is_newest(const struct heapfolder *h, size_t i)
{
	const struct heapfile *f = &h->file[i];
	for (size_t k = i + 1; k < h->n && h->file[k].pid == f->pid && h->file[k].start_ticks == f->start_ticks; k++)
		if (!h->file[k].is_off && !f->is_off)
			return false;
	return true;
}

static void alive_mark(const struct world *w, struct heapfolder *h)
{
	for (size_t i = 0; i < h->n; i++) {
		struct heapfile *f = &h->file[i];
		struct proc_stat st;
		f->newest = is_newest(h, i);
		f->alive = w && f->newest && proc_stat_read(w, f->pid, &st) == 0 && st.start_ticks == f->start_ticks &&
			   st.state != 'Z' && st.state != 'X';
	}
}

int heapfolder_read(const struct world *w, const char *dir, struct heapfolder *ret)
{
	cleanup(closep) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : heapfolder_read_fd(w, fd, ret);
}

int heapfolder_read_fd(const struct world *w, int dir, struct heapfolder *ret)
{
	struct heapfolder h = {.fd = fcntl(dir, F_DUPFD_CLOEXEC, 0)};
	struct foreign_user owner;
	const struct foreign_place at = {.dirfd = h.fd, .as = foreign_owner(h.fd, &owner)};
	size_t cap = 0;
	int again = h.fd < 0 ? -1 : openat(h.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = file_folder(again);
	int r = d ? 0 : -errno;
	for (const struct dirent *e; r == 0 && h.n < FILES_MAX && (e = readdir(d));) {
		struct heapfile f;
		if (heapfile_parse(span_of(e->d_name), &f) < 0)
			continue;
		header_read(&at, &f);
		r = vec_room(&h.file, &cap, h.n + 1);
		if (r == 0)
			h.file[h.n++] = f;
	}
	if (d)
		(void)closedir(d);
	if (r < 0) {
		heapfolder_done(&h);
		return r;
	}
	if (h.n)
		qsort(h.file, h.n, sizeof(*h.file), by_process);
	alive_mark(w, &h);
	*ret = h;
	return 0;
}

void heapfolder_done(struct heapfolder *h)
{
	free(h->file);
	closep(&h->fd);
	*h = (struct heapfolder){.fd = -1};
}
