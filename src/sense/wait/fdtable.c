/* The descriptors of one process. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/vec.h"
#include "sense/proc/kcmp.h"
#include "sense/proc/proc.h"
#include "sense/wait/fdholders_parts.h"

/* Descriptors of one process; more are left out. */
#define TABLE_MAX 262144

static uint64_t fdlink_hash(struct span link)
{
	return hash_mix(hash_bytes(HASH_START, link.p, link.len));
}

int fddir_open(const struct world *w, pid_t pid, bool leader_ended, DIR **ret, char info_dir[static 40])
{
	return fddir_open_thread(w, pid, leader_ended ? proc_living_thread(w, pid) : 0, ret, info_dir);
}

int fddir_open_thread(const struct world *w, pid_t pid, pid_t tid, DIR **ret, char info_dir[static 40])
{
	char path[40];
	if (w->proc_fd < 0)
		return WORLD_ABSENT;
	TEXT_FORMAT(path, "%d/fd", (int)pid);
	(void)text_format(info_dir, 40, "%d/fdinfo", (int)pid);
	if (tid > 0) {
		TEXT_FORMAT(path, "%d/task/%d/fd", (int)pid, (int)tid);
		(void)text_format(info_dir, 40, "%d/task/%d/fdinfo", (int)pid, (int)tid);
	}
	int fd = openat(w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return world_condition(-errno);
	DIR *d = file_folder(fd);
	if (!d)
		return -errno;
	*ret = d;
	return 0;
}

size_t threads_part_files(const struct world *w, const struct kin *k, pid_t *tids, size_t n)
{
	/* A main thread that has ended has no descriptors any more. */
	const pid_t one = k->state == 'Z' ? proc_living_thread(w, k->pid) : k->pid;
	size_t kept = 0;
	for (size_t i = 0; one > 0 && i < n; i++)
		if (tids[i] != one && tids[i] != k->pid && tasks_part_files(w, one, tids[i]))
			tids[kept++] = tids[i];
	return kept;
}

bool fddir_next(DIR *dir, int *ret_fd, struct span *ret_link, char link[static FDLINK_MAX], int *r)
{
	uint64_t fd;
	errno = 0;
	for (const struct dirent *d; (d = readdir(dir));) {
		if (span_u64(span_of(d->d_name), &fd) < 0 || fd > INT32_MAX)
			continue;
		const ssize_t n = readlinkat(dirfd(dir), d->d_name, link, FDLINK_MAX);
		if (n < 0) {
			if (errno == EACCES || errno == EPERM) {
				*r = WORLD_DENIED;
				return false;
			}
			errno = 0;
			continue; /* it was closed meanwhile */
		}
		*ret_fd = (int)fd;
		*ret_link = (struct span){link, (size_t)n};
		return true;
	}
	if (errno != 0 && *r == 0)
		*r = world_condition(-errno);
	return false;
}

struct fdentry fdentry_of(int fd, struct span link)
{
	const struct fd_link l = fd_link_parse(link);
	struct fdentry e = {.fd = fd, .kind = (uint8_t)l.kind, .number = l.inode};
	if (l.kind == FD_FILE)
		e.number = fdlink_hash(link);
	else if (span_eq(link, "/dev/fuse"))
		e.special = FD_DEV_FUSE;
	else if (span_eq(link, "/dev/ptmx") || span_eq(link, "/dev/pts/ptmx"))
		e.special = FD_TERMINALS;
	else if (span_eq(link, "anon_inode:[io_uring]"))
		e.special = FD_RING;
	else if (l.kind == FD_GPU ||
		 (l.kind == FD_OTHER && span_starts(link, "/dev/") && !span_eq(link, "/dev/null") &&
		  !span_eq(link, "/dev/zero") && !span_eq(link, "/dev/urandom") && !span_eq(link, "/dev/random")))
		e.special = FD_DEVICE;
	return e;
}

static int fdentry_order(const void *a, const void *b)
{
	const struct fdentry *x = a, *y = b;
	return (x->fd > y->fd) - (x->fd < y->fd);
}

void fdtable_done(struct fdtable *t)
{
	free(t->entry);
	*t = (struct fdtable){.n = 0};
}

int fdtable_read(const struct world *w, pid_t pid, bool leader_ended, struct fdtable *ret)
{
	cleanup(fdtable_done) struct fdtable t = {.pid = pid};
	cleanup(closedirp) DIR *dir = NULL;
	char text[FDLINK_MAX];
	struct span link;
	int fd;
	int r = fddir_open(w, pid, leader_ended, &dir, t.info_dir);
	if (r)
		return r;
	while (fddir_next(dir, &fd, &link, text, &r)) {
		if (t.n >= TABLE_MAX) {
			t.cut = true;
			break;
		}
		if (vec_room(&t.entry, &t.cap, t.n + 1) < 0)
			return -ENOMEM;
		t.entry[t.n++] = fdentry_of(fd, link);
	}
	if (r)
		return r;
	if (t.n)
		qsort(t.entry, t.n, sizeof(*t.entry), fdentry_order);
	*ret = t;
	t = (struct fdtable){.n = 0};
	return 0;
}

const struct fdentry *fdtable_find(const struct fdtable *t, int fd)
{
	const struct fdentry key = {.fd = fd};
	return t->n ? bsearch(&key, t->entry, t->n, sizeof(key), fdentry_order) : NULL;
}

int fdtable_info(const struct world *w, const struct fdtable *t, int fd, struct fdinfo *ret)
{
	char text[2048];
	size_t len;
	int r = fdinfo_text(w, t->info_dir, fd, text, sizeof(text), &len);
	if (r)
		return r;
	fdinfo_parse((struct span){text, len}, ret);
	return 0;
}
