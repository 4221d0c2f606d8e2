/*
 * The half of cgroup.h that finds a process's groups: /proc/PID/cgroup says
 * what they are called, mountinfo where they can be seen.
 */
#include "sense/memory/cgroup.h"

#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"

/* The folder of world->cgroup_fd as mountinfo names it; mountinfo is always that of the live machine. */
#define CGROUP_TOP "/sys/fs/cgroup"

/* Limit of the text of mountinfo: a machine with many containers has thousands of mounts. */
#define CGROUP_MOUNTINFO_MAX (4U << 20)

/* A hierarchy's mount below CGROUP_TOP, and the group that is its root. */
struct mount {
	bool found;
	char dir[CGROUP_PATH_MAX]; /* below CGROUP_TOP, no leading '/'; "" is the top itself */
	char root[CGROUP_PATH_MAX]; /* the group at that mount, as named in /proc/PID/cgroup */
};

struct mounts {
	struct mount memory, freezer, pids, cpu, unified;
};

/* A path and the length of its part up to the mount; the group below the mount may not exist. */
struct place_path {
	char path[CGROUP_PATH_MAX];
	char mount[CGROUP_PATH_MAX];
};

struct place_draft {
	struct cgroup_place place;
	struct place_path memory, freezer, pids, cpu, unified;
};

/* Decodes \ooo, which mountinfo writes for blanks and backslashes. False if the result does not fit. */
static bool unescape(struct span s, char *dst, size_t cap)
{
	size_t n = 0;
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];
		if (c == '\\' && s.len - i > 3) {
			unsigned v = 0;
			for (size_t k = 1; k <= 3; k++)
				v = v << 3 | ((unsigned)s.p[i + k] & 7);
			c = (char)v;
			i += 3;
		}
		if (n + 1 >= cap || c == '\0')
			return false;
		dst[n++] = c;
	}
	dst[n] = '\0';
	return true;
}

/* True if name is one of the comma-separated words of list. */
static bool list_has(struct span list, const char *name)
{
	while (list.len > 0) {
		struct span item = span_before(list, ",");
		if (span_eq(item, name))
			return true;
		size_t used = MIN(item.len + 1, list.len);
		list.p += used;
		list.len -= used;
	}
	return false;
}

/* True for a path with the component "..": no group has that name, and it would lead out of the tree. */
static bool has_dotdot(const char *path)
{
	for (const char *p = path; (p = strstr(p, "..")) != NULL; p += 2)
		if ((p == path || p[-1] == '/') && (p[2] == '/' || p[2] == '\0'))
			return true;
	return false;
}

/* A later mount covers an earlier one at the same place, so the last one is used. */
static void mount_take(struct mount *m, struct span root, struct span dir)
{
	char full[CGROUP_PATH_MAX], group[CGROUP_PATH_MAX];
	const size_t top = strlen(CGROUP_TOP);
	if (!unescape(dir, full, sizeof(full)) || !unescape(root, group, sizeof(group)))
		return;
	if (strncmp(full, CGROUP_TOP, top) != 0 || (full[top] != '/' && full[top] != '\0'))
		return;
	const char *dir_below = full + top;
	while (*dir_below == '/')
		dir_below++;
	if (has_dotdot(dir_below))
		return;
	m->found = true;
	(void)text_copy(m->dir, sizeof(m->dir), dir_below);
	(void)text_copy(m->root, sizeof(m->root), group);
}

/* "id parent dev root dir options [tags] - type source superoptions" */
static void mount_line(struct span line, struct mounts *ret)
{
	struct span word, root, dir, type, source, options;
	for (size_t i = 0; i < 3; i++)
		if (!span_word(&line, &word))
			return;
	if (!span_word(&line, &root) || !span_word(&line, &dir))
		return;
	struct span tail = span_after(line, " - ");
	if (!tail.p || !span_word(&tail, &type) || !span_word(&tail, &source))
		return;
	if (span_eq(type, "cgroup2")) {
		mount_take(&ret->unified, root, dir);
		return;
	}
	if (!span_eq(type, "cgroup") || !span_word(&tail, &options))
		return;
	if (list_has(options, "memory"))
		mount_take(&ret->memory, root, dir);
	if (list_has(options, "freezer"))
		mount_take(&ret->freezer, root, dir);
	if (list_has(options, "pids"))
		mount_take(&ret->pids, root, dir);
	if (list_has(options, "cpu"))
		mount_take(&ret->cpu, root, dir);
}

/*
 * A container often sees only its own part of the tree, mounted as if it were the whole, while /proc still gives the
 * long name. The part hidden by the mount is therefore cut off the front. For a name outside the mount, the root of the
 * mount is used.
 */
static const char *below_root(const struct mount *m, const char *group)
{
	size_t n = strlen(m->root);
	while (n > 0 && m->root[n - 1] == '/')
		n--;
	if (strncmp(group, m->root, n) != 0 || (group[n] != '/' && group[n] != '\0'))
		return "";
	const char *rest = group + n;
	while (*rest == '/')
		rest++;
	/* "/../other": a group outside our cgroup namespace. */
	return has_dotdot(rest) ? "" : rest;
}

static void place_join(const struct mount *m, const char *group, struct place_path *ret)
{
	if (!m->found)
		return;
	const char *rest = below_root(m, group);
	const char *slash = m->dir[0] != '\0' && rest[0] != '\0' ? "/" : "";
	if (text_format(ret->path, sizeof(ret->path), "%s%s%s", m->dir, slash, rest) >= (int)sizeof(ret->path))
		ret->path[0] = '\0';
	(void)text_copy(ret->mount, sizeof(ret->mount), m->dir[0] != '\0' ? m->dir : ".");
	size_t n = strlen(ret->path);
	while (n > 0 && ret->path[n - 1] == '/')
		ret->path[--n] = '\0';
	if (n == 0)
		(void)text_copy(ret->path, sizeof(ret->path), ret->mount);
}

/* "4:cpu,memory:/a/b" or "0::/a/b" */
static void group_line(struct span line, const struct mounts *at, struct place_draft *d, bool *memory_named)
{
	char group[CGROUP_PATH_MAX];
	struct span rest = span_after(line, ":");
	if (!rest.p)
		return;
	struct span controllers = span_before(rest, ":"), path = span_after(rest, ":");
	if (!path.p || path.len == 0 || path.p[0] != '/' || path.len >= sizeof(group))
		return;
	span_copy(path, group, sizeof(group));
	if (controllers.len == 0) {
		place_join(&at->unified, group, &d->unified);
		if (!*memory_named)
			(void)text_copy(d->place.name, sizeof(d->place.name), group);
		return;
	}
	if (list_has(controllers, "memory")) {
		place_join(&at->memory, group, &d->memory);
		(void)text_copy(d->place.name, sizeof(d->place.name), group);
		*memory_named = true;
	}
	if (list_has(controllers, "freezer"))
		place_join(&at->freezer, group, &d->freezer);
	if (list_has(controllers, "pids"))
		place_join(&at->pids, group, &d->pids);
	if (list_has(controllers, "cpu"))
		place_join(&at->cpu, group, &d->cpu);
}

/* A controller is in one hierarchy only: v2 counts memory where v1 does not. */
static void draft_settle(struct place_draft *d, bool memory_named)
{
	if (d->memory.path[0] != '\0') {
		d->place.memory_version = CGROUP_V1;
	} else if (!memory_named && d->unified.path[0] != '\0') {
		d->place.memory_version = CGROUP_V2;
		d->memory = d->unified;
	}
	if (d->freezer.path[0] == '\0')
		d->freezer = d->unified;
	if (d->pids.path[0] == '\0')
		d->pids = d->unified;
	if (d->cpu.path[0] == '\0')
		d->cpu = d->unified;
}

static int draft_parse(struct span cgroup_text, struct span mountinfo_text, struct place_draft *ret)
{
	struct mounts at = {};
	struct place_draft d = {};
	bool memory_named = false, any = false;
	struct span line;
	while (span_line(&mountinfo_text, &line))
		mount_line(line, &at);
	while (span_line(&cgroup_text, &line)) {
		any = true;
		group_line(line, &at, &d, &memory_named);
	}
	if (!any)
		return WORLD_ABSENT;
	draft_settle(&d, memory_named);
	*ret = d;
	return 0;
}

static void draft_finish(struct place_draft *d, struct cgroup_place *ret)
{
	TEXT_COPY(d->place.memory, d->memory.path);
	TEXT_COPY(d->place.freezer, d->freezer.path);
	TEXT_COPY(d->place.unified, d->unified.path);
	TEXT_COPY(d->place.pids, d->pids.path);
	TEXT_COPY(d->place.cpu, d->cpu.path);
	*ret = d->place;
}

int cgroup_place_parse(struct span cgroup_text, struct span mountinfo_text, struct cgroup_place *ret)
{
	struct place_draft d;
	int r = draft_parse(cgroup_text, mountinfo_text, &d);
	if (r == 0)
		draft_finish(&d, ret);
	return r;
}

/* Falls back to the root of the mount where the group does not exist below it. */
static void path_settle(const struct world *w, struct place_path *p)
{
	if (p->path[0] == '\0' || faccessat(w->cgroup_fd, p->path, F_OK, 0) == 0)
		return;
	if (faccessat(w->cgroup_fd, p->mount, F_OK, 0) == 0)
		TEXT_COPY(p->path, p->mount);
	else
		p->path[0] = '\0';
}

int cgroup_place_read(const struct world *w, pid_t pid, struct cgroup_place *ret)
{
	cleanup(freep) char *groups = NULL, *mounts = NULL;
	size_t groups_len, mounts_len;
	char path[64] = "self/cgroup";
	if (w->proc_fd < 0 || w->cgroup_fd < 0)
		return WORLD_ABSENT;
	if (pid != 0)
		TEXT_FORMAT(path, "%d/cgroup", pid);
	int r = file_slurp(w->proc_fd, path, CGROUP_MOUNTINFO_MAX, &groups, &groups_len);
	if (r < 0)
		return r == -ENOENT && pid == 0 ? WORLD_ABSENT : world_condition(r);
	r = file_slurp(w->proc_fd, "self/mountinfo", CGROUP_MOUNTINFO_MAX, &mounts, &mounts_len);
	if (r < 0)
		return r == -ENOENT ? WORLD_ABSENT : world_condition(r);
	struct place_draft d;
	r = draft_parse((struct span){groups, groups_len}, (struct span){mounts, mounts_len}, &d);
	if (r != 0)
		return r;
	path_settle(w, &d.memory);
	path_settle(w, &d.freezer);
	path_settle(w, &d.unified);
	path_settle(w, &d.pids);
	path_settle(w, &d.cpu);
	if (d.memory.path[0] == '\0')
		d.place.memory_version = CGROUP_NONE;
	draft_finish(&d, ret);
	return 0;
}
