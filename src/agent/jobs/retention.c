#include "agent/jobs/retention.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#include "agent/jobs/joblife.h"
#include "base/private.h"
#include "base/vec.h"

#define MOST_BYTES (2 * GIB)
/* Whether an hour is over is asked this often, which costs one look at a file. */
#define STAY_ASKS_S 20

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
	uid_t uid;
	int64_t ended_unix_ms;
	uint64_t bytes;
};

/* Of a user, what remains. */
struct left_user {
	uid_t uid;
	uint64_t bytes;
	size_t next, end; /* of the user's jobs, in order: those that may go still */
	int64_t before_unix_ms; /* what ended before this goes; 0: nothing */
};

struct left {
	const struct world *w;
	int state;
	int error;
	int64_t before_unix_ms; /* the same of all users */
	uint64_t sum_bytes;
	struct left_job *job; /* those that may go */
	size_t n, cap;
	struct left_user *user;
	size_t n_users, users_cap;
};

static void left_done(struct left *l)
{
	free(l->job);
	free(l->user);
}

static bool is_running(void *w, const struct job *j)
{
	return job_is_open(j) && !joblife_is_lost(w, j);
}

/* NULL: no memory. */
static struct left_user *left_user_of(struct left *l, uid_t uid)
{
	for (size_t i = 0; i < l->n_users; i++)
		if (l->user[i].uid == uid)
			return &l->user[i];
	if (vec_room(&l->user, &l->users_cap, l->n_users + 1) < 0)
		return NULL;
	l->user[l->n_users] = (struct left_user){.uid = uid};
	return &l->user[l->n_users++];
}

static int left_add(void *ctx, const struct job *j)
{
	struct left *l = ctx;
	uint64_t bytes = forget_job_bytes(l->state, j);
	struct left_user *u = left_user_of(l, j->uid);
	l->error = u ? vec_room(&l->job, &l->cap, l->n + 1) : -ENOMEM;
	if (l->error < 0)
		return 1;
	l->sum_bytes = add_cap(l->sum_bytes, bytes);
	u->bytes = add_cap(u->bytes, bytes);
	if (bytes > 0 && !is_running((void *)(uintptr_t)l->w, j))
		l->job[l->n++] = (struct left_job){j->uid, forget_ended_unix_ms(j), bytes};
	return 0;
}

static int by_user_first_ended_first(const void *a, const void *b)
{
	const struct left_job *x = a, *y = b;
	if (x->uid != y->uid)
		return x->uid > y->uid ? 1 : -1;
	return (x->ended_unix_ms > y->ended_unix_ms) - (x->ended_unix_ms < y->ended_unix_ms);
}

/* Of those from whom something can be taken, the user whose jobs left most; NULL: nobody. */
static struct left_user *left_most(const struct left *l)
{
	struct left_user *most = NULL;
	for (size_t i = 0; i < l->n_users; i++)
		if (l->user[i].next < l->user[i].end && (!most || l->user[i].bytes > most->bytes))
			most = &l->user[i];
	return most;
}

static void jobs_order(struct left *l)
{
	if (l->n > 0)
		qsort(l->job, l->n, sizeof(*l->job), by_user_first_ended_first);
	for (size_t i = 0; i < l->n; i++) {
		struct left_user *u = left_user_of(l, l->job[i].uid);
		if (u->end == 0)
			u->next = i;
		u->end = i + 1;
	}
}

/* Finds out for each user before which time a job must have ended so that what remains is small enough. */
static int size_cut(struct store *s, struct left *l, uint64_t most_bytes)
{
	struct statvfs fs;
	struct left_user *u;
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
	jobs_order(l);
	while (l->sum_bytes > most_bytes && (u = left_most(l))) {
		const struct left_job *j = &l->job[u->next++];
		l->sum_bytes = sub_floor(l->sum_bytes, j->bytes);
		u->bytes = sub_floor(u->bytes, j->bytes);
		u->before_unix_ms = j->ended_unix_ms + 1;
	}
	return 0;
}

/* Profiles without a job go with the oldest jobs that do. */
static struct forget_want retention_wanted(struct left *l)
{
	struct forget_want want = {.before_unix_ms = l->before_unix_ms, .ctx = l};
	int64_t first = INT64_MAX;
	for (size_t i = 0; i < l->n_users; i++) {
		want.before_unix_ms = MAX(want.before_unix_ms, l->user[i].before_unix_ms);
		if (l->user[i].before_unix_ms > 0)
			first = MIN(first, l->user[i].before_unix_ms);
	}
	want.profiles_before_unix_ms = first == INT64_MAX ? l->before_unix_ms : MAX(first, l->before_unix_ms);
	return want;
}

static bool left_stays(void *ctx, const struct job *j)
{
	const struct left *l = ctx;
	int64_t before_unix_ms = l->before_unix_ms;
	for (size_t i = 0; i < l->n_users; i++)
		if (l->user[i].uid == j->uid)
			before_unix_ms = MAX(before_unix_ms, l->user[i].before_unix_ms);
	return forget_ended_unix_ms(j) >= before_unix_ms || is_running((void *)(uintptr_t)l->w, j);
}

int retention_sweep(const struct world *w, const char *state_dir, const struct retention *keep, int64_t now_unix_ms,
		    struct forgotten *ret, struct fault *f)
{
	cleanup(closep) int state = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), turn = -1;
	cleanup(store_closep) struct store *s = NULL;
	char note[256];
	*ret = (struct forgotten){.jobs = 0};
	if (keep->most_bytes == 0 && keep->longest_ns == 0)
		return RETENTION_LATER;
	int r = state < 0 ? -errno : turn_take(state, now_unix_ms, &turn);
	if (r != 0)
		return r < 0 ? fault_set(f, r, "%s/" RETENTION_STAMP ": %s", state_dir, strerror(-r)) : r;
	r = store_open(state_dir, STORE_HASTE, &s, note, f);
	if (r < 0)
		return r;
	cleanup(left_done) struct left l = {.w = w, .state = state};
	r = size_cut(s, &l, keep->most_bytes);
	if (r < 0)
		return fault_set(f, r, "the jobs could not be read: %s", strerror(-r));
	if (keep->longest_ns > 0)
		l.before_unix_ms = MAX(now_unix_ms - (int64_t)(keep->longest_ns / NS_PER_MS), 0);
	struct forget_want want = retention_wanted(&l);
	want.stays = left_stays;
	return want.before_unix_ms > 0 ? forget_jobs(s, state_dir, &want, ret, f) : 0;
}

static _Noreturn void stay(const struct world *w, const char *state_dir, const struct retention *keep)
{
	const struct timespec pause = {.tv_sec = STAY_ASKS_S};
	for (;;) {
		struct forgotten gone;
		struct fault f = {.text = ""};
		ignore(retention_sweep(w, state_dir, keep, w->unix_ms(), &gone, &f), "it is tried again");
		(void)nanosleep(&pause, NULL);
	}
}

int retention_stay(const struct world *w, const char *state_dir, const struct retention *keep)
{
	pid_t parent = getpid();
	if (keep->most_bytes == 0 && keep->longest_ns == 0)
		return 0;
	pid_t pid = fork();
	if (pid != 0)
		return pid < 0 ? -errno : 0;
	(void)prctl(PR_SET_NAME, "vigil-retention");
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	stay(w, state_dir, keep);
}
