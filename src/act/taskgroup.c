#include "act/taskgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "act/jobscope.h"
#include "act/target.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/path.h"

#define PIDS_MAX 1024
/* Groups that a task has made below its own. */
#define DEPTH_MAX CGROUP_MAX_LEVELS

static int group_open(int at, const char *path, int *ret)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return world_condition(-errno);
	*ret = fd;
	return 0;
}

int taskgroups_path(const struct world *w, const struct cgroup_place *ours, const char *id,
		    char path[static CGROUP_PATH_MAX])
{
	if (w->cgroup_fd < 0 || ours->unified[0] == '\0' ||
	    text_format(path, CGROUP_PATH_MAX, "%s/vigil-%s", ours->unified, id) >= CGROUP_PATH_MAX)
		return WORLD_ABSENT;
	return 0;
}

int taskgroups_make(const struct world *w, const char *path, struct taskgroups *ret)
{
	struct taskgroups g = TASKGROUPS_NONE;
	int r = jobscope_mkdir(w, path);
	if (r == 0) {
		r = group_open(w->cgroup_fd, path, &g.fd);
		if (r != 0)
			(void)unlinkat(w->cgroup_fd, path, AT_REMOVEDIR);
	}
	if (r != 0)
		return r == -EROFS ? WORLD_DENIED : world_condition(r);
	TEXT_COPY(g.path, path);
	*ret = g;
	return 0;
}

int taskgroups_reopen(const struct world *w, const char *path, struct taskgroups *ret)
{
	struct taskgroups g = TASKGROUPS_NONE;
	struct stat st;
	int r = w->cgroup_fd < 0 ? WORLD_ABSENT : group_open(w->cgroup_fd, path, &g.fd);
	if (r != 0)
		return r;
	if (fstat(g.fd, &st) < 0 || st.st_uid != geteuid()) {
		closep(&g.fd);
		return WORLD_DENIED;
	}
	TEXT_COPY(g.path, path);
	*ret = g;
	return 0;
}

static void taskgroups_close(struct taskgroups *g)
{
	closep(&g->fd);
	*g = TASKGROUPS_NONE;
}

int taskgroups_open(const struct taskgroups *g, uint32_t number, int *ret_fd)
{
	char name[16];
	TEXT_FORMAT(name, "%u", number);
	int fd = openat(g->fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const bool made = fd < 0 && errno == ENOENT && mkdirat(g->fd, name, 0755) == 0;
	if (made)
		fd = openat(g->fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		const int error = errno;
		if (made) /* without a descriptor to open it by: nobody would know of it */
			(void)unlinkat(g->fd, name, AT_REMOVEDIR);
		return -error;
	}
	*ret_fd = fd;
	return 0;
}

static bool has_processes(int events_fd)
{
	char text[128];
	size_t len = 0;
	return file_read_once(events_fd, text, sizeof(text), &len) == 0 && strstr(text, "populated 1");
}

bool taskgroups_used(const struct taskgroups *g, uint32_t number)
{
	char name[40];
	TEXT_FORMAT(name, "%u/cgroup.events", number);
	cleanup(closep) int fd = g->fd < 0 ? -1 : openat(g->fd, name, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && has_processes(fd);
}

void taskgroups_drop(const struct taskgroups *g, uint32_t number)
{
	char name[16];
	TEXT_FORMAT(name, "%u", number);
	(void)unlinkat(g->fd, name, AT_REMOVEDIR);
}

size_t taskgroups_pids(const struct world *w, const struct taskgroups *g, uint32_t number, pid_t *pids, size_t cap)
{
	char path[CGROUP_PATH_MAX + 16];
	size_t n = 0;
	if (number == 0)
		TEXT_COPY(path, g->path);
	else
		TEXT_FORMAT(path, "%s/%u", g->path, number);
	if (g->fd < 0 || cgroup_tree_pids(w, path, pids, cap, &n) != 0)
		return 0;
	return MIN(n, cap);
}

static int group_write(const struct taskgroups *g, uint32_t number, const char *file, const char *text)
{
	char path[64];
	if (g->fd < 0)
		return WORLD_ABSENT;
	if (number == 0)
		TEXT_COPY(path, file);
	else
		TEXT_FORMAT(path, "%u/%s", number, file);
	int r = file_write_at(g->fd, path, text);
	return r == -ENOENT ? WORLD_ABSENT : r;
}

int taskgroups_freeze(const struct taskgroups *g, uint32_t number, bool freeze)
{
	return group_write(g, number, "cgroup.freeze", freeze ? "1" : "0");
}

/* One by one, for kernels that cannot end a group at once. */
static void kill_each(const struct world *w, const struct taskgroups *g, uint32_t number)
{
	pid_t pids[PIDS_MAX];
	size_t n = taskgroups_pids(w, g, number, pids, PIDS_MAX);
	for (size_t i = 0; i < n; i++) {
		struct proc_stat st;
		struct target t = {.pidfd = -1};
		if (proc_stat_read(w, pids[i], &st) != 0)
			continue;
		t.id = (struct proc_id){.pid = pids[i], .start_ticks = st.start_ticks};
		if (target_open(w, &t, false) == 0)
			ignore(target_signal(w, &t, SIGKILL), "it has ended, or is another user's");
		target_close(&t);
	}
}

int taskgroups_kill(const struct world *w, const struct taskgroups *g, uint32_t number)
{
	int r = group_write(g, number, "cgroup.kill", "1");
	if (r != 0 && g->fd >= 0)
		kill_each(w, g, number);
	return r;
}

/* Removes the groups below this one. */
static void remove_below(int fd, int depth)
{
	int again = depth < DEPTH_MAX ? openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	cleanup(closedirp) DIR *d = file_folder(again);
	for (const struct dirent *e; d && (e = readdir(d));) {
		cleanup(closep) int below = -1;
		if (e->d_type != DT_DIR || path_is_dots(e->d_name))
			continue;
		if (unlinkat(fd, e->d_name, AT_REMOVEDIR) == 0 || group_open(fd, e->d_name, &below) != 0)
			continue;
		remove_below(below, depth + 1);
		(void)unlinkat(fd, e->d_name, AT_REMOVEDIR);
	}
}

void taskgroups_sweep(const struct world *w, const char *path)
{
	cleanup(closep) int fd = -1;
	if (w->cgroup_fd >= 0 && group_open(w->cgroup_fd, path, &fd) == 0)
		remove_below(fd, 0);
}

int taskgroups_end(const struct world *w, struct taskgroups *g, int wait_ms)
{
	if (g->fd < 0)
		return 0;
	ignore(taskgroups_kill(w, g, 0), "it was done one by one");
	cleanup(closep) int events = openat(g->fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
	uint64_t until_ns = w->mono_ns() + (uint64_t)MAX(wait_ms, 0) * NS_PER_MS;
	while (events >= 0 && has_processes(events) && w->mono_ns() < until_ns) {
		/* the kernel tells of each change; the short wait is for what cannot be ended at once */
		struct pollfd p = {.fd = events, .events = POLLPRI};
		(void)poll(&p, 1, 100);
		kill_each(w, g, 0);
	}
	closep(&events); /* of few descriptors the one that the removal needs */
	remove_below(g->fd, 0);
	bool removed = unlinkat(w->cgroup_fd, g->path, AT_REMOVEDIR) == 0 || errno == ENOENT;
	taskgroups_close(g);
	return removed ? 0 : -EBUSY;
}
