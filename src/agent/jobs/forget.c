#include "agent/jobs/forget.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/jobs/keptoutput.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/path.h"

/* Vigil makes no deeper folders. */
#define DEPTH_MOST 8
#define JOBS_AT_ONCE 256

/* Removes a folder and all below it. *bytes grows by the disk space of the removed files. */
static int tree_remove(int parent, const char *name, unsigned depth, uint64_t *bytes)
{
	int e = 0;
	cleanup(closep) int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (depth == 0)
		return -ELOOP;
	DIR *dir = file_folder(dup(fd));
	if (!dir)
		return -errno;
	for (const struct dirent *d; e == 0 && (d = readdir(dir));) {
		struct stat st;
		if (path_is_dots(d->d_name) || fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			e = tree_remove(fd, d->d_name, depth - 1, bytes);
		else if (unlinkat(fd, d->d_name, 0) == 0)
			*bytes += st.st_nlink == 1 ? (uint64_t)st.st_blocks * 512 : 0;
		else
			e = errno == ENOENT ? 0 : -errno;
	}
	(void)closedir(dir);
	if (e == 0 && unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		e = -errno;
	return e;
}

/* True if the id of a record is safe as the name of a folder: records may be damaged or forged. */
static bool is_name(const char *id)
{
	return id[0] != '\0' && id[0] != '.' && !strchr(id, '/');
}

int64_t forget_ended_unix_ms(const struct job *j)
{
	return j->ended_unix_ms > 0 ? j->ended_unix_ms : j->started_unix_ms;
}

/* Sums the disk space of the files below a folder, except for kept output. */
static uint64_t tree_bytes(int parent, const char *name, unsigned depth)
{
	uint64_t bytes = 0;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup(closedirp) DIR *dir = file_folder(fd);
	if (!dir)
		return 0;
	for (const struct dirent *d; (d = readdir(dir));) {
		struct stat st;
		if (path_is_dots(d->d_name) || keptoutput_is(d->d_name) ||
		    fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			bytes += depth > 0 ? tree_bytes(dirfd(dir), d->d_name, depth - 1) : 0;
		else
			bytes += (uint64_t)st.st_blocks * 512;
	}
	return bytes;
}

uint64_t forget_job_bytes(int state_fd, const struct job *j)
{
	char path[128];
	if (!is_name(j->id))
		return 0;
	TEXT_FORMAT(path, "jobs/%s", j->id);
	uint64_t bytes = tree_bytes(state_fd, path, DEPTH_MOST);
	TEXT_FORMAT(path, "users/%u/jobs/%s", (unsigned)j->uid, j->id);
	return bytes + tree_bytes(state_fd, path, DEPTH_MOST);
}

struct old {
	const struct forget_want *want;
	size_t n, kept;
	struct {
		char id[64];
		uid_t uid;
	} job[JOBS_AT_ONCE];
};

static int old_add(void *ctx, const struct job *j)
{
	struct old *o = ctx;
	if (!is_name(j->id) || forget_ended_unix_ms(j) >= o->want->before_unix_ms || o->want->stays(o->want->ctx, j)) {
		o->kept++;
		return 0;
	}
	TEXT_COPY(o->job[o->n].id, j->id);
	o->job[o->n].uid = j->uid;
	return ++o->n == JOBS_AT_ONCE;
}

/* What a vigil of root keeps for the owner of the job, if anything. */
static int users_forget(int state, uid_t uid, const char *id, struct forgotten *ret, struct fault *f)
{
	char path[48];
	TEXT_FORMAT(path, "users/%u/jobs", (unsigned)uid);
	cleanup(closep) int jobs = openat(state, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = jobs >= 0 ? tree_remove(jobs, id, DEPTH_MOST, &ret->bytes) : 0;
	return r < 0 ? fault_set(f, r, "the folder of job %s could not be removed: %s; its record is kept", id,
				 strerror(-r))
		     : 0;
}

static int job_forget(struct store *s, int jobs, const char *id, struct forgotten *ret, struct fault *f)
{
	int r = jobs >= 0 ? tree_remove(jobs, id, DEPTH_MOST, &ret->bytes) : 0;
	if (r < 0)
		return fault_set(f, r, "the folder of job %s could not be removed: %s; its record is kept", id,
				 strerror(-r));
	r = store_forget_job(s, id);
	if (r < 0)
		return fault_set(f, r, "the record of job %s could not be removed: %s", id, strerror(-r));
	ret->jobs++;
	return 0;
}

/*
 * Removes heap/pid-…: profiles that `vigil heap --attach` made of processes without a job. An older vigil gave such a
 * folder to the user of the process, who can put into it what cannot be removed, and can set its time of modification,
 * but that of its last change not to one to come. The fault is of the first that stays.
 */
static int profiles_forget(int state, int64_t before_unix_ms, struct forgotten *ret, struct fault *f)
{
	cleanup(closep) int fd = openat(state, "heap", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : file_folder(dup(fd));
	int first = 0;
	if (!dir)
		return 0;
	for (const struct dirent *d; (d = readdir(dir));) {
		struct stat st;
		if (strncmp(d->d_name, "pid-", 4) != 0 || fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISDIR(st.st_mode) || (int64_t)MIN(st.st_mtim.tv_sec, st.st_ctim.tv_sec) * 1000 >= before_unix_ms)
			continue;
		int r = tree_remove(fd, d->d_name, DEPTH_MOST, &ret->bytes);
		ret->folders += r == 0;
		if (r < 0 && first == 0)
			first = fault_set(f, r, "heap/%s could not be removed: %s", d->d_name, strerror(-r));
	}
	(void)closedir(dir);
	return first;
}

/* One that stays keeps no other from going; what is told is the first. */
static void error_keep(int r, const struct fault *why, int *first, struct fault *f)
{
	if (r >= 0 || *first < 0)
		return;
	*first = r;
	*f = *why;
}

int forget_jobs(struct store *s, const char *state_dir, const struct forget_want *want, struct forgotten *ret,
		struct fault *f)
{
	static struct old old;
	cleanup(closep) int state = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int first = 0;
	size_t gone;
	*ret = (struct forgotten){.jobs = 0};
	if (state < 0)
		return fault_set(f, -errno, "%s: %s", state_dir, strerror(errno));
	cleanup(closep) int jobs = openat(state, "jobs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	do {
		old = (struct old){.want = want};
		int r = store_each_job(s, 0, old_add, &old);
		if (r < 0)
			return fault_set(f, r, "the jobs could not be read: %s", strerror(-r));
		ret->kept = old.kept;
		gone = ret->jobs;
		for (size_t i = 0; i < old.n; i++) {
			struct fault why;
			r = users_forget(state, old.job[i].uid, old.job[i].id, ret, &why);
			if (r == 0)
				r = job_forget(s, jobs, old.job[i].id, ret, &why);
			error_keep(r, &why, &first, f);
		}
	} while (old.n == JOBS_AT_ONCE && ret->jobs > gone);
	struct fault why;
	int r = profiles_forget(state, want->profiles_before_unix_ms, ret, &why);
	error_keep(r, &why, &first, f);
	return first;
}
