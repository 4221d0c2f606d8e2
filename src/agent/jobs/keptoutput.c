#include "agent/jobs/keptoutput.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/private.h"
#include "base/text.h"
#include "base/vec.h"

#define MOST_BYTES (4 * GIB)
/* What has been kept since the last sum, as a decimal number. */
#define COUNTER "kept"

/* ---- an attempt ---- */

bool keptoutput_is(const char *name)
{
	struct span s = span_of(name);
	return span_starts(s, "rank-") && s.len > 4 &&
	       (strcmp(s.p + s.len - 4, ".out") == 0 || strcmp(s.p + s.len - 4, ".err") == 0);
}

/* Sums the output in a folder of an attempt, or removes it. *ret_newest_ns: its last change; may be NULL. */
static uint64_t attempt_walk(int parent, const char *name, bool drop, int64_t *ret_newest_ns)
{
	uint64_t bytes = 0;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup(closedirp) DIR *d = file_folder(fd);
	if (!d)
		return 0;
	for (const struct dirent *e; (e = readdir(d));) {
		struct stat st;
		if (!keptoutput_is(e->d_name) || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode) || (drop && unlinkat(dirfd(d), e->d_name, 0) < 0))
			continue;
		bytes += (uint64_t)st.st_blocks * 512;
		if (ret_newest_ns)
			*ret_newest_ns = MAX(*ret_newest_ns,
					     (int64_t)st.st_mtim.tv_sec * (int64_t)NS_PER_S + st.st_mtim.tv_nsec);
	}
	return bytes;
}

uint64_t keptoutput_remove(const char *attempt_dir)
{
	return attempt_walk(AT_FDCWD, attempt_dir, true, NULL);
}

static uint64_t job_walk(int jobs, const char *id, bool drop, int64_t *ret_newest_ns)
{
	uint64_t bytes = 0;
	int fd = openat(jobs, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup(closedirp) DIR *d = file_folder(fd);
	if (!d)
		return 0;
	for (const struct dirent *e; (e = readdir(d));)
		if (strncmp(e->d_name, "attempt-", 8) == 0)
			bytes += attempt_walk(dirfd(d), e->d_name, drop, ret_newest_ns);
	return bytes;
}

/* ---- all jobs ---- */

struct kept_job {
	char id[64];
	uint64_t bytes;
	int64_t newest_ns;
};

static int older_first(const void *a, const void *b)
{
	const struct kept_job *x = a, *y = b;
	return (x->newest_ns > y->newest_ns) - (x->newest_ns < y->newest_ns);
}

/* A job that a vigil has not finished has a note of this name. */
static bool still_runs(int state, const char *id)
{
	char path[80];
	TEXT_FORMAT(path, "watched/%s", id);
	return faccessat(state, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void oldest_remove(int state, const char *own, uint64_t most_bytes, struct keptoutput_result *ret)
{
	cleanup(freep) struct kept_job *list = NULL;
	size_t n = 0, cap = 0;
	uint64_t sum = 0;
	int fd = openat(state, "jobs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup(closedirp) DIR *d = file_folder(fd);
	if (!d)
		return;
	for (const struct dirent *e; (e = readdir(d));) {
		struct kept_job j = {.newest_ns = 0};
		if (e->d_name[0] == '.' || strlen(e->d_name) >= sizeof(j.id))
			continue;
		TEXT_COPY(j.id, e->d_name);
		j.bytes = job_walk(dirfd(d), j.id, false, &j.newest_ns);
		sum += j.bytes;
		if (j.bytes == 0 || strcmp(j.id, own) == 0 || still_runs(state, j.id))
			continue;
		if (vec_room(&list, &cap, n + 1) < 0)
			return;
		list[n++] = j;
	}
	if (n > 0)
		qsort(list, n, sizeof(*list), older_first);
	for (size_t i = 0; i < n && sum > most_bytes; i++) {
		uint64_t bytes = job_walk(dirfd(d), list[i].id, true, NULL);
		sum = sub_floor(sum, bytes);
		ret->bytes += bytes;
		ret->jobs += bytes > 0;
	}
}

/* Adds to the counter. True: it is time to sum up; the counter is then zero again. Another vigil's turn: false. */
static bool counter_add(int state, uint64_t bytes, uint64_t every_bytes)
{
	char text[32] = "";
	uint64_t sum = 0;
	size_t len = 0;
	cleanup(closep) int fd = openat(state, COUNTER, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, private_file());
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || file_read_fd(fd, text, sizeof(text), &len) < 0)
		return false;
	bool known = span_u64(span_trim((struct span){text, len}), &sum) == 0;
	sum = add_cap(sum, bytes);
	bool due = !known || sum >= every_bytes;
	TEXT_FORMAT(text, "%20llu\n", due ? 0ULL : (unsigned long long)sum);
	return pwrite(fd, text, strlen(text), 0) > 0 && due;
}

void keptoutput_ended(const char *state_dir, const char *job, uint64_t bytes, uint64_t most_bytes,
		      struct keptoutput_result *ret)
{
	struct statvfs fs;
	*ret = (struct keptoutput_result){.jobs = 0};
	cleanup(closep) int state = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (most_bytes == 0 || state < 0)
		return;
	if (most_bytes == UINT64_MAX) {
		most_bytes = MOST_BYTES;
		if (fstatvfs(state, &fs) == 0)
			most_bytes = MIN(most_bytes, (uint64_t)fs.f_blocks * fs.f_frsize / 10);
	}
	if (counter_add(state, bytes, most_bytes / 8))
		oldest_remove(state, job, most_bytes, ret);
}
