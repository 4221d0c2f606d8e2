#include "agent/map/maplog.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/foreign_path.h"
#include "base/vec.h"

#define LOG_MAX (4 * GIB)
#define SYNC_MS 500

static void *sync_main(void *arg)
{
	struct maplog *l = arg;
	while (!atomic_load(&l->over)) {
		struct pollfd p = {.fd = l->wake_fd, .events = POLLIN};
		(void)poll(&p, 1, SYNC_MS);
		if (atomic_exchange(&l->dirty, false))
			(void)fdatasync(l->fd);
	}
	return NULL;
}

static void sync_begin(struct maplog *l)
{
	sigset_t all, old;
	l->wake_fd = eventfd(0, EFD_CLOEXEC);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are the main thread's */
	l->syncing = l->wake_fd >= 0 && pthread_create(&l->thread, NULL, sync_main, l) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static int by_seq(const void *a, const void *b)
{
	const struct joblog_row *x = &((const struct maplog_done *)a)->row, *y = &((const struct maplog_done *)b)->row;
	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return x->command.p < y->command.p ? -1 : 1; /* the order of the file */
}

/* Sorts, and of several lines of one task keeps the last. */
static void rows_sort(struct maplog *l)
{
	size_t n = 0;
	if (l->n_done > 0)
		qsort(l->done, l->n_done, sizeof(*l->done), by_seq);
	for (size_t i = 0; i < l->n_done; i++)
		if (i + 1 == l->n_done || l->done[i + 1].row.seq != l->done[i].row.seq)
			l->done[n++] = l->done[i];
	l->n_done = n;
}

static int maplog_rows(struct maplog *l, struct span text, const char *path, struct fault *f)
{
	struct span line, rest = text;
	size_t cap = 0;
	uint64_t number = 1;
	struct span head = {JOBLOG_HEADER, sizeof(JOBLOG_HEADER) - 2};
	if (!span_line(&rest, &line) || line.len != head.len || memcmp(line.p, head.p, head.len) != 0)
		return fault_set(
			f, -EBADMSG,
			"%s is no joblog: its first line is not the one that names the columns; name another file",
			path);
	while (span_line(&rest, &line)) {
		struct joblog_row row;
		number++;
		if (joblog_parse(line, &row) < 0)
			return fault_set(
				f, -EBADMSG,
				"%s:%llu: no line of a joblog; expected nine columns parted by tabs. Mend or remove "
				"the line, or name another file",
				path, (unsigned long long)number);
		if (vec_room(&l->done, &cap, l->n_done + 1) < 0)
			return fault_set(f, -ENOMEM, "no memory to read %s", path);
		l->done[l->n_done++] = (struct maplog_done){row};
	}
	rows_sort(l);
	return 0;
}

/* Reads what is there, and cuts off a last line that has no end. */
static int log_read(struct maplog *l, const char *path, struct fault *f)
{
	size_t len = 0;
	char head[sizeof(JOBLOG_HEADER)];
	int r = file_read_from(l->fd, 0, head, sizeof(head) - 1, &len);
	/* before all of it is read: what another user made may say that it is of any size */
	if (r == 0 && memcmp(head, JOBLOG_HEADER, MIN(len, sizeof(head) - 1)) != 0)
		return fault_set(f, -EBADMSG, "%s is no joblog; name another file", path);
	r = r == 0 ? file_slurp_fd(l->fd, LOG_MAX, &l->text, &len) : r;
	if (r < 0)
		return fault_set(f, r, "cannot read %s: %s", path, strerror(-r));
	const char *end = len > 0 ? memrchr(l->text, '\n', len) : NULL;
	size_t whole = end ? (size_t)(end + 1 - l->text) : 0;
	r = whole > 0 ? maplog_rows(l, (struct span){l->text, whole}, path, f) : 0;
	if (r == 0 && len > 0 && whole == 0 && strncmp(l->text, JOBLOG_HEADER, len) != 0)
		return fault_set(f, -EBADMSG, "%s is no joblog; name another file", path);
	if (r == 0 && whole < len && ftruncate(l->fd, (off_t)whole) < 0)
		return fault_set(f, -errno, "cannot write %s: %s", path, strerror(errno));
	return r;
}

/* The warden of a runner that was killed keeps the lock for a moment, until all of its tasks are gone. */
static int lock_wait(int fd)
{
	for (int i = 0; i < 100; i++) {
		struct timespec pause = {.tv_nsec = 50 * (long)NS_PER_MS};
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		(void)nanosleep(&pause, NULL);
	}
	return -EBUSY;
}

int maplog_open(struct maplog *l, const struct map_spec *spec, struct fault *f)
{
	struct stat st;
	const char *path = spec->joblog;
	bool resume = spec->resume || spec->resume_failed;
	*l = MAPLOG_NONE;
	if (!path)
		return 0;
	int r = foreign_path_open(path, O_RDWR | O_CREAT | O_APPEND, 0666, &l->fd);
	if (r < 0)
		return fault_set(f, r, "cannot open the joblog %s: %s", path, strerror(-r));
	if (r == FOREIGN_OTHER || fstat(l->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return fault_set(f, -EINVAL, "the joblog %s is no file; name a file", path);
	TEXT_FORMAT(l->id, "%llx:%llx", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
	if (lock_wait(l->fd) < 0)
		return fault_set(
			f, -EBUSY,
			"the joblog %s is in use: another vigil map writes it; wait for its end, or name another "
			"file",
			path);
	r = resume ? log_read(l, path, f) : 0;
	if (r == 0 && !resume && ftruncate(l->fd, 0) < 0)
		r = fault_set(f, -errno, "cannot write %s: %s", path, strerror(errno));
	if (r == 0 && fstat(l->fd, &st) == 0 && st.st_size == 0 &&
	    file_write_all(l->fd, JOBLOG_HEADER, sizeof(JOBLOG_HEADER) - 1) < 0)
		r = fault_set(f, -EIO, "cannot write %s: %s", path, strerror(errno));
	if (r == 0)
		sync_begin(l);
	return r;
}

const struct joblog_row *maplog_find(const struct maplog *l, uint64_t seq)
{
	size_t from = 0, to = l->n_done;
	while (from < to) {
		size_t mid = from + (to - from) / 2;
		if (l->done[mid].row.seq == seq)
			return &l->done[mid].row;
		if (l->done[mid].row.seq < seq)
			from = mid + 1;
		else
			to = mid;
	}
	return NULL;
}

uint64_t maplog_last(const struct maplog *l)
{
	return l->n_done > 0 ? l->done[l->n_done - 1].row.seq : 0;
}

int maplog_write(struct maplog *l, const struct joblog_row *row)
{
	size_t len;
	if (l->fd < 0)
		return 0;
	cleanup(freep) char *line = joblog_line(row, &len);
	if (!line)
		return -ENOMEM;
	int r = file_write_all(l->fd, line, len);
	atomic_store(&l->dirty, true);
	return r;
}

void maplog_close(struct maplog *l)
{
	if (l->syncing) {
		atomic_store(&l->over, true);
		ignore(write(l->wake_fd, &(uint64_t){1}, sizeof(uint64_t)), "the thread looks twice a second");
		(void)pthread_join(l->thread, NULL);
	}
	if (l->fd >= 0 && atomic_load(&l->dirty))
		(void)fdatasync(l->fd);
	closep(&l->wake_fd);
	closep(&l->fd);
	free(l->text);
	free(l->done);
	l->text = NULL;
	l->done = NULL;
}
