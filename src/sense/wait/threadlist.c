#include "sense/wait/threadlist.h"

#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mask/mask.h"
#include "base/vec.h"
#include "sense/memory/cgroup.h"

/* Time for which the group of a process is cached. */
#define PLACE_NS (100 * NS_PER_MS)
/* Mounts of control groups do not move while a machine runs; the table is still read again after this time. */
#define MOUNTS_NS (60 * NS_PER_S)

/* Upper bound of the list: more threads than a process has. */
#define THREADS_MAX 262144

int task_file_read(const struct world *w, pid_t pid, pid_t tid, const char *file, char *buf, size_t cap,
		   size_t *ret_len)
{
	char path[96];
	if (w->proc_fd < 0)
		return WORLD_ABSENT;
	TEXT_FORMAT(path, "%d/task/%d/%s", pid, tid, file);
	cleanup(closep) int fd = openat(w->proc_fd, path, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : file_read_once(fd, buf, cap, ret_len);
	return r < 0 ? world_condition(r) : 0;
}

int task_wchan_read(const struct world *w, pid_t pid, pid_t tid, char *dst, size_t cap)
{
	char text[128];
	size_t len;
	int r = task_file_read(w, pid, tid, "wchan", text, sizeof(text), &len);
	if (r)
		return r;
	struct span s = span_trim((struct span){text, len});
	if (span_eq(s, "0"))
		s.len = 0;
	span_copy(s, dst, cap);
	return 0;
}

const char *task_comm(const struct world *w, pid_t pid, pid_t tid, char dst[static 16])
{
	char text[64];
	size_t len;
	if (task_file_read(w, pid ? pid : tid, tid, "comm", text, sizeof(text), &len) == 0)
		span_copy(span_trim((struct span){text, len}), dst, 16);
	else
		(void)text_copy(dst, 16, "?");
	mask_name(dst);
	return dst;
}

static bool frozen_file(const struct world *w, const char *group, const char *file, const char *word)
{
	char path[CGROUP_PATH_MAX + 32], text[256];
	size_t len;
	TEXT_FORMAT(path, "%s/%s", group, file);
	return file_read_at(w->cgroup_fd, path, text, sizeof(text), &len) == 0 &&
	       span_has((struct span){text, len}, word);
}

/* Cache of the last group with its text of /proc/PID/cgroup: finding a group reads the table of mounts. */
static _Thread_local struct {
	pid_t pid;
	uint64_t place_ns, mounts_ns;
	size_t len;
	char text[2048];
	struct cgroup_place place;
} last;

static int place_anew(const struct world *w, pid_t pid, uint64_t now_ns)
{
	char path[32], text[sizeof(last.text)];
	size_t len = 0;
	TEXT_FORMAT(path, "%d/cgroup", (int)pid);
	last.pid = 0;
	int r = file_read_at(w->proc_fd, path, text, sizeof(text), &len);
	bool whole = r == 0 && len < sizeof(text) - 1;
	if (whole && last.mounts_ns != 0 && now_ns - last.mounts_ns < MOUNTS_NS && len == last.len &&
	    memcmp(text, last.text, len) == 0)
		return 0;
	last.mounts_ns = 0;
	r = cgroup_place_read(w, pid, &last.place);
	if (r != 0 || !whole)
		return r;
	memcpy(last.text, text, len);
	last.len = len;
	last.mounts_ns = now_ns;
	return 0;
}

/*
 * The control group of a process, at most PLACE_NS old: every thread of a frozen process asks for it twice.
 * Whether the group is frozen is read each time.
 */
static int place_lately(const struct world *w, pid_t pid, struct cgroup_place *ret)
{
	if (w->recorded)
		return cgroup_place_read(w, pid, ret);
	uint64_t now_ns = w->mono_ns();
	if (last.pid != pid || now_ns - last.place_ns > PLACE_NS) {
		int r = place_anew(w, pid, now_ns);
		if (r)
			return r;
		last.pid = pid;
		last.place_ns = now_ns;
	}
	*ret = last.place;
	return 0;
}

bool process_is_frozen(const struct world *w, pid_t pid, char *where, size_t cap)
{
	struct cgroup_place place;
	if (w->cgroup_fd < 0 || place_lately(w, pid, &place) != 0)
		return false;
	if (place.freezer[0] && (frozen_file(w, place.freezer, "freezer.state", "FROZEN") ||
				 frozen_file(w, place.freezer, "freezer.state", "FREEZING"))) {
		(void)text_copy(where, cap, place.freezer);
		return true;
	}
	if (place.unified[0] && frozen_file(w, place.unified, "cgroup.events", "frozen 1")) {
		(void)text_copy(where, cap, place.unified);
		return true;
	}
	return false;
}

static int tid_compare(const void *a, const void *b)
{
	const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
	return (x > y) - (x < y);
}

int threads_read(const struct world *w, pid_t pid, pid_t **ret, size_t *ret_n)
{
	char path[32];
	if (w->proc_fd < 0)
		return WORLD_ABSENT;
	TEXT_FORMAT(path, "%d/task", pid);
	int fd = openat(w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return world_condition(-errno);
	cleanup(closedirp) DIR *dir = file_folder(fd);
	if (!dir)
		return -errno;
	cleanup(freep) pid_t *tids = NULL;
	size_t n = 0, cap = 0;
	for (const struct dirent *d; n < THREADS_MAX && (d = readdir(dir));) {
		uint64_t tid;
		if (span_u64(span_of(d->d_name), &tid) < 0 || tid == 0 || tid > INT32_MAX)
			continue;
		if (vec_room(&tids, &cap, n + 1) < 0)
			return -ENOMEM;
		tids[n++] = (pid_t)tid;
	}
	if (n == 0)
		return WORLD_GONE;
	qsort(tids, n, sizeof(*tids), tid_compare);
	*ret = take(&tids);
	*ret_n = n;
	return 0;
}
