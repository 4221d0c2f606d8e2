#include "agent/jobs/retention.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "agent/jobs/joblife.h"
#include "base/private.h"
#include "base/vec.h"

#define MOST_BYTES (2 * GIB)

/* Takes the turn of this hour. *ret_fd holds the lock; 0, or RETENTION_LATER. */
static int turn_take(int state, int64_t now_unix_ms, int *ret_fd)
{
	struct stat st;
	cleanup(closep) int fd =
		openat(state, RETENTION_STAMP, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, private_file());
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return RETENTION_LATER;
	if (fstat(fd, &st) < 0)
		return -errno;
	int64_t last_unix_ms = (int64_t)st.st_mtim.tv_sec * 1000;
	/* An empty file is new. A time that is yet to come was written by a clock that has been set back. */
	if (st.st_size > 0 && last_unix_ms <= now_unix_ms && now_unix_ms - last_unix_ms < RETENTION_EVERY_MS)
		return RETENTION_LATER;
	const struct timespec t = {.tv_sec = (time_t)(now_unix_ms / 1000)}, now[2] = {t, t};
	if (pwrite(fd, "\n", 1, 0) != 1 || futimens(fd, now) < 0)
		return -errno;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

struct left_job {
	int64_t ended_unix_ms;
	uint64_t bytes;
};

struct left {
	const struct world *w;
	int state;
	int error;
	uint64_t sum_bytes;
	struct left_job *job; /* those that may go */
	size_t n, cap;
};

static bool is_running(void *w, const struct job *j)
{
	return job_is_open(j) && !joblife_is_lost(w, j);
}

static int left_add(void *ctx, const struct job *j)
{
	struct left *l = ctx;
	uint64_t bytes = forget_job_bytes(l->state, j);
	l->sum_bytes = add_cap(l->sum_bytes, bytes);
	if (bytes == 0 || is_running((void *)(uintptr_t)l->w, j))
		return 0;
	l->error = vec_room(&l->job, &l->cap, l->n + 1);
	if (l->error < 0)
		return 1;
	l->job[l->n++] = (struct left_job){forget_ended_unix_ms(j), bytes};
	return 0;
}

static int first_ended_first(const void *a, const void *b)
{
	const struct left_job *x = a, *y = b;
	return (x->ended_unix_ms > y->ended_unix_ms) - (x->ended_unix_ms < y->ended_unix_ms);
}

/* Before which time a job must have ended so that what remains is small enough; 0: it is. */
static int size_cut(struct store *s, struct left *l, uint64_t most_bytes, int64_t *ret_before_unix_ms)
{
	struct statvfs fs;
	*ret_before_unix_ms = 0;
	if (most_bytes == 0)
		return 0;
	if (most_bytes == UINT64_MAX) {
		most_bytes = MOST_BYTES;
		if (fstatvfs(l->state, &fs) == 0)
			most_bytes = MIN(most_bytes, (uint64_t)fs.f_blocks * fs.f_frsize / 20);
	}
	int r = store_each_job(s, 0, left_add, l);
	if (r < 0 || l->error < 0)
		return r < 0 ? r : l->error;
	if (l->n > 0)
		qsort(l->job, l->n, sizeof(*l->job), first_ended_first);
	for (size_t i = 0; i < l->n && l->sum_bytes > most_bytes; i++) {
		l->sum_bytes = sub_floor(l->sum_bytes, l->job[i].bytes);
		*ret_before_unix_ms = l->job[i].ended_unix_ms + 1;
	}
	return 0;
}

int retention_sweep(const struct world *w, const char *state_dir, const struct retention *keep, int64_t now_unix_ms,
		    struct forgotten *ret, struct fault *f)
{
	cleanup(closep) int state = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), turn = -1;
	cleanup(store_closep) struct store *s = NULL;
	char note[256];
	int64_t before_unix_ms;
	*ret = (struct forgotten){.jobs = 0};
	if (keep->most_bytes == 0 && keep->longest_ns == 0)
		return RETENTION_LATER;
	int r = state < 0 ? -errno : turn_take(state, now_unix_ms, &turn);
	if (r != 0)
		return r < 0 ? fault_set(f, r, "%s/" RETENTION_STAMP ": %s", state_dir, strerror(-r)) : r;
	r = store_open(state_dir, STORE_HASTE, &s, note, f);
	if (r < 0)
		return r;
	struct left l = {.w = w, .state = state};
	r = size_cut(s, &l, keep->most_bytes, &before_unix_ms);
	free(l.job);
	if (r < 0)
		return fault_set(f, r, "the jobs could not be read: %s", strerror(-r));
	if (keep->longest_ns > 0)
		before_unix_ms = MAX(before_unix_ms, now_unix_ms - (int64_t)(keep->longest_ns / NS_PER_MS));
	if (before_unix_ms <= 0)
		return 0;
	return forget_jobs(s, state_dir, before_unix_ms, is_running, (void *)(uintptr_t)w, ret, f);
}
