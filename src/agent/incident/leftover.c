#include "agent/incident/leftover.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "agent/host/host.h"
#include "act/taskgroup.h"
#include "agent/incident/leftcase.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/private.h"
#include "base/path.h"
#include "tell/jobs/live.h"

#define NOTE_FIRST_LINE "vigil.watched/1"
#define NOTE_MOST ((size_t)3 * CGROUP_PATH_MAX)
/* For what tasks of a bag have left to end. */
#define BAG_MS 1000

struct leftover {
	const struct world *w;
	const char *state_dir;
	char job[64];
	pid_t supervisor;
	struct jobgroup group;
	size_t running; /* processes of the job that still run */
	bool lifted; /* a limit, a freeze or the killer's switch was set and is not any more */
	bool removed; /* there is no group any more */
};

static void note_path(char dst[static PATH_MAX], const char *state_dir, const char *job)
{
	(void)text_format(dst, PATH_MAX, "%s/watched/%s", state_dir, job);
}

void leftover_note_change(int fd, const struct jobgroup *g)
{
	char node[80], text[NOTE_MOST + 200];
	host_name(node, sizeof(node));
	TEXT_FORMAT(text, NOTE_FIRST_LINE "\n%s\n%d\n%d\n%s\n%s\n", node, (int)getpid(), (int)g->version, g->memory,
		    g->freezer);
	const size_t len = strlen(text);
	/* over what is there, in one piece: what may be left of it behind is not read */
	if (fd >= 0 && pwrite(fd, text, len, 0) == (ssize_t)len)
		ignore(ftruncate(fd, (off_t)len), "as above");
}

int leftover_note(const char *state_dir, const char *job, const struct jobgroup *g)
{
	char path[PATH_MAX];
	TEXT_FORMAT(path, "%s/watched", state_dir);
	if (private_mkdirs(path) < 0)
		return -1;
	note_path(path, state_dir, job);
	cleanup(closep) int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, private_file());
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -1;
	leftover_note_change(fd, g);
	int kept = fd;
	fd = -1;
	return kept;
}

void leftover_forget(const char *state_dir, const char *job)
{
	char path[PATH_MAX];
	note_path(path, state_dir, job);
	(void)unlink(path);
}

static struct span line_next(struct span *rest)
{
	const char *end = memchr(rest->p, '\n', rest->len);
	size_t len = end ? (size_t)(end - rest->p) : rest->len;
	struct span line = {rest->p, len};
	rest->p += MIN(len + 1, rest->len);
	rest->len -= MIN(len + 1, rest->len);
	return line;
}

/* A path that vigil could have made for this job: nothing else is ever touched. */
static bool is_group_of(const char *path, const char *job)
{
	char group[80], scope[96];
	TEXT_FORMAT(group, "vigil-%s", job);
	TEXT_FORMAT(scope, "/vigil-%s.scope/job", job);
	size_t len = strlen(path), tail = strlen(scope);
	bool below = path[0] != '/' && !strstr(path, "..");
	bool by_name = strcmp(path_name(path), group) == 0, by_scope = len > tail && !strcmp(path + len - tail, scope);
	return below && (by_name || by_scope);
}

/* False: the note is of another machine, or of no vigil. */
static bool note_read(struct leftover *l, int fd)
{
	char text[NOTE_MOST + 200], here[80];
	size_t len = 0;
	uint64_t pid = 0, version = 0;
	if (file_read_from(fd, 0, text, sizeof(text), &len) != 0)
		return false;
	struct span rest = {text, len};
	if (!span_eq(line_next(&rest), NOTE_FIRST_LINE))
		return false;
	host_name(here, sizeof(here));
	if (!span_eq(line_next(&rest), here) || span_u64(line_next(&rest), &pid) != 0 ||
	    span_u64(line_next(&rest), &version) != 0)
		return false;
	struct span memory = line_next(&rest), freezer = line_next(&rest);
	l->supervisor = (pid_t)pid;
	l->group = JOBGROUP_NONE;
	span_copy(memory, l->group.memory, sizeof(l->group.memory));
	span_copy(freezer, l->group.freezer, sizeof(l->group.freezer));
	bool v1 = version == CGROUP_V1, v2 = version == CGROUP_V2;
	bool ours = (v1 || v2) && is_group_of(l->group.memory, l->job) &&
		    (l->group.freezer[0] == '\0' || is_group_of(l->group.freezer, l->job));
	l->group.version = !ours ? CGROUP_NONE : v1 ? CGROUP_V1 : CGROUP_V2;
	return true;
}

static bool file_says(int dir_fd, const char *name, const char *expected)
{
	char text[200];
	size_t len = 0;
	if (dir_fd < 0 || file_read_at(dir_fd, name, text, sizeof(text) - 1, &len) != 0)
		return false;
	text[len] = '\0';
	return strstr(text, expected) != NULL;
}

static bool limit_is_set(const struct jobgroup *g)
{
	char text[64];
	size_t len = 0;
	uint64_t bytes = 0;
	const char *name = g->version == CGROUP_V1 ? "memory.limit_in_bytes" : "memory.high";
	if (g->memory_fd < 0 || file_read_at(g->memory_fd, name, text, sizeof(text) - 1, &len) != 0)
		return false;
	while (len > 0 && text[len - 1] == '\n')
		len--;
	return span_u64((struct span){text, len}, &bytes) == 0 && bytes < CGROUP_NO_LIMIT / 4;
}

static bool is_braked(const struct jobgroup *g)
{
	if (g->version == CGROUP_V2)
		return limit_is_set(g) || file_says(g->freezer_fd, "cgroup.freeze", "1");
	return limit_is_set(g) || file_says(g->memory_fd, "memory.oom_control", "oom_kill_disable 1") ||
	       file_says(g->freezer_fd, "freezer.state", "FR");
}

static size_t processes_of(const struct world *w, const struct jobgroup *g)
{
	static pid_t pids[4096];
	size_t n = 0;
	return cgroup_pids(w, g->memory, pids, ARRAY_SIZE(pids), &n) == 0 ? n : 0;
}

/* What tasks of a bag have left is ended, as their runner or its warden would have done. */
static void bag_clear(struct leftover *l)
{
	struct taskgroups g;
	l->removed = taskgroups_reopen(l->w, l->group.memory, &g) != 0 || taskgroups_end(l->w, &g, BAG_MS) == 0;
}

static void group_clear(struct leftover *l)
{
	struct jobgroup *g = &l->group;
	if (g->version == CGROUP_V2 && g->freezer[0] == '\0') {
		bag_clear(l);
		return;
	}
	if (g->version == CGROUP_NONE || jobgroup_reopen(l->w, g) != 0) {
		l->removed = true;
		return;
	}
	l->lifted = is_braked(g);
	ignore(jobgroup_unthrottle(g), "what cannot be written is told by the group that stays");
	ignore(jobgroup_thaw(g), "as above");
	l->running = processes_of(l->w, g);
	l->removed = jobgroup_remove(l->w, g) == 0;
	if (l->removed)
		jobscope_stop_empty(l->w, g->memory);
	jobgroup_close(g);
}

static void say(const struct leftover *l, bool lost)
{
	char rest[80] = "";
	if (l->running > 0)
		TEXT_FORMAT(rest, "; %zu process%s of it still run%s, unwatched", l->running,
			    l->running == 1 ? "" : "es", l->running == 1 ? "s" : "");
	if (l->lifted)
		log_warning("the vigil in charge of %s (pid %d) was killed with all its helpers; the limits it had set "
			    "are lifted now%s",
			    l->job, (int)l->supervisor, rest);
	else if (lost)
		log_warning("the vigil in charge of %s (pid %d) was killed with all its helpers%s", l->job,
			    (int)l->supervisor, rest);
}

/* The live socket, which nobody listens on any more. */
static void live_remove(const struct leftover *l)
{
	char path[PATH_MAX];
	TEXT_FORMAT(path, "%s/jobs/%s/" LIVE_FILE, l->state_dir, l->job);
	(void)unlink(path);
}

/* One note that nobody holds. */
static void note_clear(struct leftover *l, int fd)
{
	struct stat by_fd, by_path;
	char path[PATH_MAX];
	note_path(path, l->state_dir, l->job);
	if (fstat(fd, &by_fd) < 0 || !S_ISREG(by_fd.st_mode) || by_fd.st_uid != geteuid() ||
	    flock(fd, LOCK_EX | LOCK_NB) < 0)
		return;
	/* another vigil may have cleared up between the open and the lock */
	if (lstat(path, &by_path) < 0 || by_path.st_ino != by_fd.st_ino || !note_read(l, fd))
		return;
	group_clear(l);
	live_remove(l);
	const struct leftcase_facts facts = {.supervisor = l->supervisor, .running = l->running, .lifted = l->lifted};
	say(l, leftcase_tell(l->state_dir, l->job, &facts));
	if (l->removed)
		(void)unlink(path);
}

void leftover_clear(const struct world *w, const char *state_dir)
{
	char path[PATH_MAX];
	TEXT_FORMAT(path, "%s/watched", state_dir);
	cleanup(closedirp) DIR *dir = opendir(path);
	struct stat st;
	/* what is in another user's folder may be anybody's */
	if (!dir || fstat(dirfd(dir), &st) < 0 || st.st_uid != geteuid())
		return;
	for (const struct dirent *d; (d = readdir(dir));) {
		static struct leftover l;
		if (d->d_name[0] == '.' || strlen(d->d_name) >= sizeof(l.job))
			continue;
		cleanup(closep) int fd = openat(dirfd(dir), d->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			continue;
		l = (struct leftover){.w = w, .state_dir = state_dir};
		TEXT_COPY(l.job, d->d_name);
		note_clear(&l, fd);
	}
}
