#include "act/jobgroup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "act/taskgroup.h"
#include "base/buf.h"
#include "base/file.h"

/* The throttle moves in steps, because each write walks over the counters of the group. */
static const uint64_t throttle_step_bytes = 1 * MIB;

static int write_fd(int fd, const char *text)
{
	if (fd < 0)
		return WORLD_ABSENT;
	size_t len = strlen(text);
	ssize_t n = pwrite(fd, text, len, 0);
	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EIO;
}

static int dir_open(const struct world *w, const char *path)
{
	return openat(w->cgroup_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The path of the group of id below parent. */
static int child_path(const char *parent, const char *id, char path[static CGROUP_PATH_MAX])
{
	if (parent[0] == '\0')
		return -ENOENT;
	return text_format(path, CGROUP_PATH_MAX, "%s/vigil-%s", parent, id) < CGROUP_PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Makes the group of id below parent; path: of the group, name: as in /proc/PID/cgroup. */
static int child_make(const struct world *w, const char *parent, const char *parent_name, const char *id,
		      char path[static CGROUP_PATH_MAX], char name[static CGROUP_PATH_MAX])
{
	int r = child_path(parent, id, path);
	if (r == 0)
		r = jobscope_mkdir(w, path);
	if (r < 0)
		return r;
	(void)text_format(name, CGROUP_PATH_MAX, "%s/vigil-%s", parent_name[0] && parent_name[1] ? parent_name : "",
			  id);
	return 0;
}

static int make_v1(const struct world *w, const struct cgroup_place *ours, const char *id, struct jobgroup *g)
{
	char freezer_name[CGROUP_PATH_MAX];
	int r = child_make(w, ours->memory, ours->name, id, g->memory, g->name);
	if (r < 0)
		return r;
	g->memory_fd = dir_open(w, g->memory);
	if (g->memory_fd < 0) {
		r = -errno;
		(void)unlinkat(w->cgroup_fd, g->memory, AT_REMOVEDIR);
		return r;
	}
	g->throttle_fd = openat(g->memory_fd, "memory.limit_in_bytes", O_RDWR | O_CLOEXEC);
	/* the counts of children are included in their parent, so its limits still hold */
	if (child_make(w, ours->freezer, ours->name, id, g->freezer, freezer_name) == 0)
		g->freezer_fd = dir_open(w, g->freezer);
	if (g->freezer_fd >= 0)
		g->freeze_fd = openat(g->freezer_fd, "freezer.state", O_RDWR | O_CLOEXEC);
	g->version = CGROUP_V1;
	return 0;
}

/* Moves vigil to a leaf group: v2 allows controllers only below groups without processes. */
static int leaf_for_us(const struct world *w, const struct cgroup_place *ours, const char *id)
{
	char leaf[CGROUP_PATH_MAX];
	if (text_format(leaf, sizeof(leaf), "%s/vigil-%s-keeper/cgroup.procs", ours->memory, id) >= (int)sizeof(leaf))
		return -ENAMETOOLONG;
	char *end = strrchr(leaf, '/');
	*end = '\0';
	int r = jobscope_mkdir(w, leaf);
	if (r < 0)
		return r;
	*end = '/';
	return file_write_at(w->cgroup_fd, leaf, "0");
}

static void leave_leaf(const struct world *w, const struct cgroup_place *ours, const char *id)
{
	char path[CGROUP_PATH_MAX + 32];
	(void)snprintf(path, sizeof(path), "%s/cgroup.procs", ours->memory);
	ignore(file_write_at(w->cgroup_fd, path, "0"), "we stay in the leaf, which is harmless");
	(void)snprintf(path, sizeof(path), "%s/vigil-%s-keeper", ours->memory, id);
	(void)unlinkat(w->cgroup_fd, path, AT_REMOVEDIR);
}

static int enable_memory(const struct world *w, const char *group)
{
	char path[CGROUP_PATH_MAX + 32];
	(void)snprintf(path, sizeof(path), "%s/cgroup.subtree_control", group);
	return file_write_at(w->cgroup_fd, path, "+memory");
}

static int make_v2_below(const struct world *w, const struct cgroup_place *ours, const char *id, struct jobgroup *g)
{
	int r = enable_memory(w, ours->memory);
	if (r == -EBUSY || r == -ENOTSUP) {
		r = leaf_for_us(w, ours, id);
		if (r < 0) {
			leave_leaf(w, ours, id);
			return r;
		}
		g->moved_ourselves = true;
		r = enable_memory(w, ours->memory);
		if (r < 0)
			leave_leaf(w, ours, id);
	}
	return r < 0 ? r : child_make(w, ours->memory, ours->name, id, g->memory, g->name);
}

static void path_up(char *path)
{
	char *slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
}

/* A sibling of our own group, where the parent already gives memory to its children. */
static int make_v2_beside(const struct world *w, const struct cgroup_place *ours, const char *id, struct jobgroup *g)
{
	struct cgroup_place parent = *ours;
	if (!strchr(ours->memory, '/'))
		return -ENOENT;
	path_up(parent.memory);
	path_up(parent.name);
	return child_make(w, parent.memory, parent.name, id, g->memory, g->name);
}

/* For the order of the attempts see docs/decisions/0009-where-the-jobs-group-lives.md. */
static int place_v2(const struct world *w, const struct cgroup_place *ours, const char *id, struct jobgroup *g,
		    char why[static 160])
{
	bool systemds = jobscope_kept_by_systemd(w, ours), bare = jobscope_bare(w, ours);
	int r = systemds ? -EPERM : make_v2_below(w, ours, id, g);
	if (r < 0 && bare) {
		int s = jobscope_make(w, ours, id, &g->scope, g->memory, g->name);
		if (s == 0)
			return 0;
		(void)text_format(why, 160, "systemd makes no scope for the job: %s",
				  s == WORLD_DENIED ? "not permitted"
				  : s > 0	    ? "it does not answer, or is not asked from here"
						    : strerror(-s));
	}
	if (systemds)
		r = make_v2_below(w, ours, id, g);
	if (r < 0 && bare) {
		g->moved_ourselves = false;
		r = make_v2_beside(w, ours, id, g);
	}
	return r;
}

static int make_v2(const struct world *w, const struct cgroup_place *ours, const char *id, struct jobgroup *g,
		   char why[static 160])
{
	int r = place_v2(w, ours, id, g, why);
	if (r < 0)
		return r;
	int fd = dir_open(w, g->memory);
	if (fd >= 0) {
		g->memory_fd = g->freezer_fd = fd;
		TEXT_COPY(g->freezer, g->memory);
		g->throttle_fd = openat(fd, "memory.high", O_RDWR | O_CLOEXEC);
	}
	if (g->throttle_fd < 0) { /* without a memory controller the group is useless */
		r = -errno;
		(void)unlinkat(w->cgroup_fd, g->memory, AT_REMOVEDIR);
		return r;
	}
	g->freeze_fd = openat(fd, "cgroup.freeze", O_RDWR | O_CLOEXEC);
	g->kill_fd = openat(fd, "cgroup.kill", O_WRONLY | O_CLOEXEC);
	g->version = CGROUP_V2;
	return 0;
}

void jobgroup_expect(const struct cgroup_place *ours, const char *id, struct jobgroup *ret)
{
	struct jobgroup g = JOBGROUP_NONE;
	const bool v1 = ours->memory_version == CGROUP_V1;
	if (child_path(ours->memory, id, g.memory) == 0)
		g.version = ours->memory_version;
	if (child_path(v1 ? ours->freezer : ours->memory, id, g.freezer) < 0)
		g.freezer[0] = '\0';
	*ret = g;
}

int jobgroup_make(const struct world *w, const struct cgroup_place *ours, const char *id, struct jobgroup *ret,
		  char why[static 160])
{
	struct jobgroup g = JOBGROUP_NONE;
	int r = -ENOENT;
	why[0] = '\0';
	if (w->cgroup_fd >= 0 && ours->memory_version == CGROUP_V1)
		r = make_v1(w, ours, id, &g);
	else if (w->cgroup_fd >= 0 && ours->memory_version == CGROUP_V2)
		r = make_v2(w, ours, id, &g, why);
	if (r == 0) {
		*ret = g;
		return 0;
	}
	jobgroup_close(&g);
	(void)text_format(why, 160, "no control group for the job: %s (%s)",
			  ours->memory[0] ? ours->memory : "no memory controller is visible", strerror(-r));
	return r == -EACCES || r == -EPERM || r == -EROFS ? WORLD_DENIED : WORLD_ABSENT;
}

static int own_dir_open(const struct world *w, const char *path, int *ret)
{
	struct stat st;
	cleanup(closep) int fd = openat(w->cgroup_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return WORLD_ABSENT;
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid())
		return WORLD_DENIED;
	*ret = fd;
	fd = -1;
	return 0;
}

int jobgroup_reopen(const struct world *w, struct jobgroup *g)
{
	bool v1 = g->version == CGROUP_V1;
	int r = w->cgroup_fd < 0 ? WORLD_ABSENT : own_dir_open(w, g->memory, &g->memory_fd);
	/* of the two groups of v1 each may be there alone, where vigil was killed between making or removing them */
	int f = v1 && g->freezer[0] && w->cgroup_fd >= 0 ? own_dir_open(w, g->freezer, &g->freezer_fd) : WORLD_ABSENT;
	if (r != 0 && (r != WORLD_ABSENT || f != 0))
		return r;
	if (!v1)
		g->freezer_fd = g->memory_fd;
	if (r == 0)
		g->throttle_fd = openat(g->memory_fd, v1 ? "memory.limit_in_bytes" : "memory.high", O_RDWR | O_CLOEXEC);
	if (g->freezer_fd >= 0)
		g->freeze_fd = openat(g->freezer_fd, v1 ? "freezer.state" : "cgroup.freeze", O_RDWR | O_CLOEXEC);
	return 0;
}

int jobgroup_enter(const struct jobgroup *g)
{
	int r = file_write_at(g->memory_fd, "cgroup.procs", "0");
	if ((r == -EACCES || r == -EPERM) && g->scope.holder > 0) /* vigil may not write in the scope */
		r = jobscope_enter(&g->scope);
	if (r == 0 && g->version == CGROUP_V1 && g->freezer_fd >= 0)
		ignore(file_write_at(g->freezer_fd, "cgroup.procs", "0"), "SIGSTOP does where the freezer cannot");
	return r;
}

int jobgroup_throttle(struct jobgroup *g, uint64_t bytes)
{
	if (g->version == CGROUP_NONE)
		return WORLD_ABSENT;
	bytes = MIN(bytes, g->limit_bytes);
	uint64_t apart = bytes > g->throttle_bytes ? bytes - g->throttle_bytes : g->throttle_bytes - bytes;
	if (g->throttle_bytes != 0 && apart < throttle_step_bytes)
		return 0;
	char text[32];
	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	int r = 0;
	/* done before the throttle is set, which must never trigger the OOM killer of the kernel */
	if (g->version == CGROUP_V1 && g->throttle_bytes == 0)
		r = file_write_at(g->memory_fd, "memory.oom_control", "1");
	if (r == 0)
		r = write_fd(g->throttle_fd, text);
	if (r == 0)
		g->throttle_bytes = bytes;
	return r;
}

int jobgroup_unthrottle(struct jobgroup *g)
{
	/* Writes always: only the guard, which may be dead, knows the present throttle. */
	if (g->version == CGROUP_NONE)
		return 0;
	int r = write_fd(g->throttle_fd, g->version == CGROUP_V2 ? "max" : "-1");
	if (g->version == CGROUP_V1) {
		int o = file_write_at(g->memory_fd, "memory.oom_control", "0");
		r = r < 0 ? r : o;
	}
	g->throttle_bytes = 0;
	return r;
}

int jobgroup_freeze(const struct jobgroup *g)
{
	return write_fd(g->freeze_fd, g->version == CGROUP_V2 ? "1" : "FROZEN");
}

int jobgroup_thaw(const struct jobgroup *g)
{
	return write_fd(g->freeze_fd, g->version == CGROUP_V2 ? "0" : "THAWED");
}

int jobgroup_kill(const struct jobgroup *g)
{
	return g->kill_fd >= 0 ? write_fd(g->kill_fd, "1") : WORLD_ABSENT;
}

static int remove_one(const struct world *w, const char *path)
{
	if (path[0] == '\0' || unlinkat(w->cgroup_fd, path, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	return -errno;
}

/* Undoes leaf_for_us: no process can be started in a group that gives controllers to its children. */
static void move_back(const struct world *w, const struct jobgroup *g)
{
	char parent[CGROUP_PATH_MAX], path[CGROUP_PATH_MAX + 32];
	TEXT_COPY(parent, g->memory);
	char *slash = strrchr(parent, '/');
	if (!slash)
		return;
	*slash = '\0';
	(void)snprintf(path, sizeof(path), "%s/cgroup.subtree_control", parent);
	ignore(file_write_at(w->cgroup_fd, path, "-memory"), "refused while another job of ours needs it");
	(void)snprintf(path, sizeof(path), "%s/cgroup.procs", parent);
	ignore(file_write_at(w->cgroup_fd, path, "0"), "then we stay in the leaf, which is harmless");
	(void)snprintf(path, sizeof(path), "%s-keeper", g->memory);
	(void)unlinkat(w->cgroup_fd, path, AT_REMOVEDIR);
}

int jobgroup_remove(const struct world *w, struct jobgroup *g)
{
	if (g->version == CGROUP_NONE)
		return 0;
	/* the freezer's first: whoever comes after a vigil that was killed in between looks for the memory's */
	int f = g->version == CGROUP_V1 ? remove_one(w, g->freezer) : 0, r = remove_one(w, g->memory);
	if ((r == -EBUSY || r == -ENOTEMPTY) && g->version == CGROUP_V2) {
		taskgroups_sweep(w, g->memory);
		r = remove_one(w, g->memory);
	}
	r = r < 0 ? r : f;
	if (r == 0 && g->moved_ourselves)
		move_back(w, g);
	jobscope_end(&g->scope);
	return r;
}

void jobgroup_close(struct jobgroup *g)
{
	jobscope_end(&g->scope);
	closep(&g->throttle_fd);
	closep(&g->freeze_fd);
	closep(&g->kill_fd);
	if (g->freezer_fd != g->memory_fd)
		closep(&g->freezer_fd);
	closep(&g->memory_fd);
	*g = JOBGROUP_NONE;
}
