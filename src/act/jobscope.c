#include "act/jobscope.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>

#include "base/buf.h"
#include "base/file.h"

/* systemd answers before it has moved the holder, which normally follows within a few milliseconds. */
static const uint64_t moved_ns = 1 * NS_PER_S;

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);
	return n > k && strcmp(text + n - k, end) == 0;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool is_unit(const struct cgroup_place *ours)
{
	return ends_in(ours->memory, ".service") || ends_in(ours->memory, ".scope");
}

bool jobscope_kept_by_systemd(const struct world *w, const struct cgroup_place *ours)
{
	if (w->recorded || !is_unit(ours) || !systemd_bus_here())
		return false;
	cleanup(closep) int fd = openat(w->cgroup_fd, ours->memory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/*
	 * systemd sets an extended attribute on delegated groups; the one of the user manager exists since version 251.
	 */
	char mark[8];
	return fd < 0 || (fgetxattr(fd, "user.delegate", mark, sizeof(mark)) != 1 &&
			  fgetxattr(fd, "trusted.delegate", mark, sizeof(mark)) != 1);
}

/* Files of a group and the start of their content where nothing is set. A missing file sets nothing. */
static const struct {
	const char *file, *neutral;
} settings[] = {
	{"memory.max", "max"},	 {"memory.high", "max"}, {"memory.swap.max", "max"}, {"memory.swap.high", "max"},
	{"memory.low", "0\n"},	 {"memory.min", "0\n"},	 {"memory.oom.group", "0"},  {"cpu.max", "max"},
	{"cpu.weight", "100\n"}, {"cpuset.cpus", "\n"},	 {"cpuset.mems", "\n"},	     {"io.max", "\n"},
};

bool jobscope_bare(const struct world *w, const struct cgroup_place *ours)
{
	char path[CGROUP_PATH_MAX + 32], text[128];
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		size_t len;
		TEXT_FORMAT(path, "%s/%s", ours->memory, settings[i].file);
		if (file_read_at(w->cgroup_fd, path, text, sizeof(text), &len) < 0)
			continue;
		if (text[0] != '\0' && strncmp(text, settings[i].neutral, strlen(settings[i].neutral)) != 0)
			return false;
	}
	return true;
}

static uint64_t tasks_max(const struct world *w, const struct cgroup_place *ours)
{
	char path[CGROUP_PATH_MAX + 32], text[32];
	size_t len;
	uint64_t n;
	TEXT_FORMAT(path, "%s/pids.max", ours->memory);
	if (file_read_at(w->cgroup_fd, path, text, sizeof(text), &len) < 0 ||
	    span_u64_prefix((struct span){text, len}, &n) < 0)
		return UINT64_MAX;
	return n;
}

/* The place of the scope in the tree of systemd, chosen so that every limit above vigil also applies to the job. */
struct spot {
	enum systemd_manager manager;
	char slice[CGROUP_PATH_MAX];
	const char *bound_to; /* borrowed from the place; NULL: the unit belongs to another manager */
};

static int spot_find(const struct cgroup_place *ours, struct spot *ret)
{
	char parent[CGROUP_PATH_MAX], managers[64], sessions[64];
	const char *unit = last_part(ours->memory);
	struct spot s = {.manager = geteuid() == 0 ? SYSTEMD_SYSTEM : SYSTEMD_USER, .bound_to = unit};
	TEXT_COPY(parent, ours->memory);
	parent[(size_t)(unit - ours->memory)] = '\0';
	if (unit > ours->memory)
		parent[strlen(parent) - 1] = '\0';
	TEXT_COPY(s.slice, parent[0] ? last_part(parent) : "-.slice");
	bool below_manager = strstr(ours->memory, "/user@") != NULL;
	TEXT_FORMAT(managers, "/user@%u.service/", (unsigned)geteuid());
	TEXT_FORMAT(sessions, "user-%u.slice", (unsigned)geteuid());
	if (!is_unit(ours))
		return WORLD_ABSENT;
	if (s.manager == SYSTEMD_SYSTEM) {
		if (below_manager || !ends_in(s.slice, ".slice"))
			return WORLD_ABSENT;
	} else if (strcmp(s.slice, sessions) == 0 && strncmp(unit, "session-", 8) == 0) {
		TEXT_COPY(s.slice, "app.slice"); /* the user manager is in the same slice as the session, beside it */
		s.bound_to = NULL;
	} else if (!strstr(ours->memory, managers) || !ends_in(s.slice, ".slice")) {
		/* vigil is outside the part of this manager: the job would lose the limits above it */
		return WORLD_ABSENT;
	}
	*ret = s;
	return 0;
}

_Noreturn static void holder_main(pid_t parent)
{
	sigset_t none;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NAME, "vigil-holder");
	if (getppid() != parent)
		_exit(0); /* the parent died before the death signal was set */
	(void)setsid();
	(void)close_range(0, ~0U, 0); /* the reader of a pipe kept open here would never see its end */
	(void)signal(SIGHUP, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	for (;;)
		(void)pause();
}

int jobscope_mkdir(const struct world *w, const char *path)
{
	if (mkdirat(w->cgroup_fd, path, 0755) < 0)
		return errno == EEXIST ? 0 : -errno;
	/* programs read their own limits there: whatever our umask is */
	ignore(fchmodat(w->cgroup_fd, path, 0755, 0), "the group works all the same");
	return 0;
}

static int make_group(const struct world *w, const char *scope, const char *leaf, char path[static CGROUP_PATH_MAX])
{
	if (text_format(path, CGROUP_PATH_MAX, "%s/%s", scope, leaf) >= CGROUP_PATH_MAX)
		return -ENAMETOOLONG;
	return jobscope_mkdir(w, path);
}

/* Divides the scope into leaf groups, as no group may have both processes and controllers below it. */
static int divide(const struct world *w, const struct cgroup_place *scope, pid_t holder,
		  char path[static CGROUP_PATH_MAX])
{
	char file[CGROUP_PATH_MAX + 32], pid[16];
	int r = make_group(w, scope->memory, "keeper", path);
	if (r < 0)
		return r;
	TEXT_FORMAT(file, "%s/cgroup.procs", path);
	TEXT_FORMAT(pid, "%d", (int)holder);
	r = file_write_at(w->cgroup_fd, file, pid);
	if (r < 0)
		return r;
	TEXT_FORMAT(file, "%s/cgroup.subtree_control", scope->memory);
	r = file_write_at(w->cgroup_fd, file, "+memory");
	return r < 0 ? r : make_group(w, scope->memory, "job", path);
}

/* Waits until systemd has moved the holder into the scope. */
static int await_move(const struct world *w, const struct jobscope *s, struct cgroup_place *ret)
{
	uint64_t until = w->mono_ns() + moved_ns;
	for (;;) {
		int r = cgroup_place_read(w, s->holder, ret);
		if (r != 0)
			return r;
		if (strcmp(last_part(ret->memory), s->unit) == 0)
			return 0;
		if (w->mono_ns() >= until)
			return -ETIMEDOUT;
		struct timespec pause = {.tv_nsec = (long)NS_PER_MS};
		(void)nanosleep(&pause, NULL);
	}
}

int jobscope_make(const struct world *w, const struct cgroup_place *ours, const char *id, struct jobscope *ret,
		  char path[static CGROUP_PATH_MAX], char name[static CGROUP_PATH_MAX])
{
	struct jobscope s = JOBSCOPE_NONE;
	struct spot spot;
	struct cgroup_place scope;
	char description[96];
	if (w->recorded || !systemd_bus_here() || spot_find(ours, &spot) != 0)
		return WORLD_ABSENT;
	s.manager = spot.manager;
	TEXT_FORMAT(s.unit, "vigil-%s.scope", id);
	TEXT_FORMAT(description, "Job %s under vigil", id);
	pid_t self = getpid();
	s.holder = fork();
	if (s.holder < 0)
		return -errno;
	if (s.holder == 0)
		holder_main(self);
	const struct systemd_scope want = {.unit = s.unit,
					   .description = description,
					   .slice = spot.slice,
					   .bound_to = spot.bound_to,
					   .pid = s.holder,
					   .tasks_max = tasks_max(w, ours)};
	int r = systemd_bus_make_scope(s.manager, &want);
	if (r == 0)
		r = await_move(w, &s, &scope);
	if (r == 0)
		r = divide(w, &scope, s.holder, path);
	if (r != 0) {
		jobscope_end(&s);
		return r;
	}
	(void)text_format(name, CGROUP_PATH_MAX, "%s/job", scope.name);
	*ret = s;
	return 0;
}

int jobscope_enter(const struct jobscope *s)
{
	return systemd_bus_attach(s->manager, s->unit, "/job", getpid());
}

void jobscope_holder_died(struct jobscope *s)
{
	(void)waitpid(s->holder, NULL, 0);
	*s = JOBSCOPE_NONE;
}

void jobscope_end(struct jobscope *s)
{
	if (s->holder <= 0)
		return;
	(void)kill(s->holder, SIGKILL); /* a child that is not reaped yet: its pid cannot have been reused */
	jobscope_holder_died(s);
}

void jobscope_stop_empty(const struct world *w, const char *group)
{
	char scope[CGROUP_PATH_MAX], file[CGROUP_PATH_MAX + 32], text[128];
	size_t len = strlen(group);
	if (w->recorded || !ends_in(group, ".scope/job") || len >= sizeof(scope))
		return;
	TEXT_COPY(scope, group);
	scope[len - strlen("/job")] = '\0';
	TEXT_FORMAT(file, "%s/cgroup.events", scope);
	if (file_read_at(w->cgroup_fd, file, text, sizeof(text), &len) < 0 || !strstr(text, "populated 0"))
		return;
	ignore(systemd_bus_stop(geteuid() == 0 ? SYSTEMD_SYSTEM : SYSTEMD_USER, last_part(scope)),
	       "systemd does it by itself, as a rule");
}
