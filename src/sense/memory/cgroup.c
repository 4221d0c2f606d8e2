#include "sense/memory/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/path.h"

/*
 * v1 says "no limit" as the largest multiple of a page below 2^63: pages of
 * 4 KiB to 64 KiB give different numbers, all of them at least this.
 */
#define CGROUP_V1_NO_LIMIT UINT64_C(0x7fffffffffff0000)

struct stat_key {
	struct span name;
	size_t offset; /* offset in struct cgroup_memory */
};
#define KEY(text, field)                                                                                               \
	{                                                                                                              \
		{(text), sizeof(text) - 1}, offsetof(struct cgroup_memory, field)                                      \
	}

static const struct stat_key v1_keys[] = {
	KEY("cache", file_bytes),
	KEY("rss", anon_bytes),
	KEY("shmem", shmem_bytes),
	KEY("dirty", dirty_bytes),
	KEY("writeback", writeback_bytes),
	KEY("swap", swap_bytes),
	KEY("inactive_file", inactive_file_bytes),
	KEY("active_file", active_file_bytes),
	KEY("unevictable", unevictable_bytes),
};

static const struct stat_key v2_keys[] = {
	KEY("anon", anon_bytes),
	KEY("file", file_bytes),
	KEY("shmem", shmem_bytes),
	KEY("file_dirty", dirty_bytes),
	KEY("file_writeback", writeback_bytes),
	KEY("inactive_file", inactive_file_bytes),
	KEY("active_file", active_file_bytes),
	KEY("unevictable", unevictable_bytes),
	KEY("slab_reclaimable", slab_reclaimable_bytes),
};

/* Splits "key 123"; a number that does not fit becomes UINT64_MAX. */
static bool key_value(struct span line, struct span *ret_key, uint64_t *ret)
{
	struct span value;
	uint64_t v;
	if (!span_word(&line, ret_key) || !span_word(&line, &value))
		return false;
	int r = span_u64(value, &v);
	if (r == -EINVAL)
		return false;
	*ret = r == -ERANGE ? UINT64_MAX : v;
	return true;
}

static void key_store(struct cgroup_memory *m, const struct stat_key *keys, size_t n, struct span name, uint64_t v)
{
	for (size_t i = 0; i < n; i++)
		if (name.len == keys[i].name.len && memcmp(name.p, keys[i].name.p, name.len) == 0)
			memcpy((char *)m + keys[i].offset, &v, sizeof(v));
}

static void v1_line(struct cgroup_memory *m, struct span key, uint64_t v, bool *totals)
{
	if (span_eq(key, "hierarchical_memory_limit")) {
		m->hierarchy_max_bytes = v >= CGROUP_V1_NO_LIMIT ? CGROUP_NO_LIMIT : v;
		return;
	}
	/* "total_" lines include the groups below and come after the group's own. */
	bool total = span_starts(key, "total_");
	if (total) {
		key = span_after(key, "total_");
		*totals = true;
	} else if (*totals) {
		return;
	}
	key_store(m, v1_keys, ARRAY_SIZE(v1_keys), key, v);
}

int cgroup_stat_parse(struct span text, enum cgroup_version v, struct cgroup_memory *m)
{
	struct span line, key;
	uint64_t value;
	size_t taken = 0;
	bool totals = false;
	if (v == CGROUP_NONE)
		return -EINVAL;
	while (span_line(&text, &line)) {
		if (!key_value(line, &key, &value))
			continue;
		if (v == CGROUP_V1)
			v1_line(m, key, value, &totals);
		else
			key_store(m, v2_keys, ARRAY_SIZE(v2_keys), key, value);
		taken++;
	}
	if (taken == 0)
		return -EBADMSG;
	m->has_stat = true;
	return 0;
}

int cgroup_events_parse(struct span text, enum cgroup_version v, struct cgroup_memory *m)
{
	struct span line, key;
	uint64_t value;
	bool any = false;
	if (v == CGROUP_NONE)
		return -EINVAL;
	while (span_line(&text, &line)) {
		if (!key_value(line, &key, &value))
			continue;
		any = true;
		if (span_eq(key, "oom_kill"))
			m->oom_kills = m->oom_kills_local = value;
		else if (v == CGROUP_V1 && span_eq(key, "under_oom"))
			m->under_oom = value != 0;
		else if (v == CGROUP_V2 && span_eq(key, "max"))
			m->max_events = value;
		else if (v == CGROUP_V2 && span_eq(key, "high"))
			m->high_events = value;
	}
	if (!any)
		return -EBADMSG;
	m->has_events = true;
	return 0;
}

int cgroup_limit_parse(struct span text, uint64_t *ret_bytes)
{
	uint64_t v;
	text = span_trim(text);
	if (span_eq(text, "max")) {
		*ret_bytes = CGROUP_NO_LIMIT;
		return 0;
	}
	int r = span_u64(text, &v);
	if (r == -EINVAL)
		return -EBADMSG;
	*ret_bytes = r == -ERANGE || v >= CGROUP_V1_NO_LIMIT ? CGROUP_NO_LIMIT : v;
	return 0;
}

static int file_open(int dir_fd, const char *name)
{
	return name ? openat(dir_fd, name, O_RDONLY | O_CLOEXEC) : -1;
}

static const struct cgroup cgroup_closed = {
	.dir_fd = -1,
	.current_fd = -1,
	.stat_fd = -1,
	.events_fd = -1,
	.events_local_fd = -1,
	.swap_failed_fd = -1,
	.max_fd = -1,
	.high_fd = -1,
	.low_fd = -1,
	.swap_fd = -1,
	.swap_max_fd = -1,
};

static void files_open(struct cgroup *g)
{
	bool v1 = g->version == CGROUP_V1;
	g->stat_fd = file_open(g->dir_fd, "memory.stat");
	g->events_fd = file_open(g->dir_fd, v1 ? "memory.oom_control" : "memory.events");
	g->events_local_fd = file_open(g->dir_fd, v1 ? "memory.failcnt" : "memory.events.local");
	g->swap_failed_fd = file_open(g->dir_fd, v1 ? "memory.memsw.failcnt" : NULL);
	g->max_fd = file_open(g->dir_fd, v1 ? "memory.limit_in_bytes" : "memory.max");
	g->high_fd = file_open(g->dir_fd, v1 ? NULL : "memory.high");
	g->low_fd = file_open(g->dir_fd, v1 ? NULL : "memory.low");
	g->swap_fd = file_open(g->dir_fd, v1 ? "memory.memsw.usage_in_bytes" : "memory.swap.current");
	g->swap_max_fd = file_open(g->dir_fd, v1 ? "memory.memsw.limit_in_bytes" : "memory.swap.max");
}

int cgroup_open(const struct world *w, enum cgroup_version v, const char *path, struct cgroup *ret)
{
	struct cgroup g = cgroup_closed;
	if (v == CGROUP_NONE || w->cgroup_fd < 0)
		return WORLD_ABSENT;
	if (strlen(path) >= sizeof(g.path))
		return -ENAMETOOLONG;
	g.version = v;
	TEXT_COPY(g.path, path);
	g.dir_fd = openat(w->cgroup_fd, path[0] != '\0' ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g.dir_fd < 0)
		return world_condition(-errno);
	g.current_fd = file_open(g.dir_fd, v == CGROUP_V1 ? "memory.usage_in_bytes" : "memory.current");
	if (g.current_fd < 0) {
		int r = -errno;
		cgroup_close(&g);
		/* Without the file the memory of the group is not counted: the v2 root, or no memory controller. */
		return r == -ENOENT ? WORLD_ABSENT : world_condition(r);
	}
	files_open(&g);
	*ret = g;
	return 0;
}

void cgroup_close(struct cgroup *g)
{
	int *const fds[] = {&g->dir_fd, &g->current_fd, &g->stat_fd, &g->events_fd, &g->events_local_fd, &g->max_fd,
			    &g->high_fd, &g->low_fd, &g->swap_fd, &g->swap_max_fd, &g->swap_failed_fd};
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		closep(fds[i]);
		*fds[i] = -1;
	}
}

/* Reads one file of an open group; `if_absent` is the result when the kernel has no such file. */
static int cgroup_number_read(int fd, uint64_t if_absent, uint64_t *ret)
{
	char text[64];
	size_t len;
	*ret = if_absent;
	if (fd < 0)
		return 0;
	int r = file_read_once(fd, text, sizeof(text), &len);
	if (r < 0)
		return world_condition(r);
	return cgroup_limit_parse((struct span){text, len}, ret);
}

int cgroup_read_usage(const struct cgroup *g, struct cgroup_memory *ret)
{
	struct cgroup_memory m = {.swap_max_bytes = CGROUP_NO_LIMIT};
	int r = cgroup_number_read(g->current_fd, 0, &m.current_bytes);
	if (r == 0)
		r = cgroup_number_read(g->max_fd, CGROUP_NO_LIMIT, &m.max_bytes);
	if (r == 0)
		r = cgroup_number_read(g->high_fd, CGROUP_NO_LIMIT, &m.high_bytes);
	if (r == 0)
		r = cgroup_number_read(g->low_fd, 0, &m.low_bytes);
	if (r != 0)
		return r;
	*ret = m;
	return 0;
}

/* v1 counts memory and swap together (memsw); swap alone is only in memory.stat. */
static int swap_read(const struct cgroup *g, struct cgroup_memory *m)
{
	uint64_t used, max;
	int r = cgroup_number_read(g->swap_fd, 0, &used);
	if (r == 0)
		r = cgroup_number_read(g->swap_max_fd, CGROUP_NO_LIMIT, &max);
	if (r != 0)
		return r;
	if (g->version == CGROUP_V1) {
		if (max != CGROUP_NO_LIMIT)
			max = m->max_bytes == CGROUP_NO_LIMIT ? max : sub_floor(max, m->max_bytes);
		if (m->has_stat)
			used = m->swap_bytes;
		else
			used = sub_floor(used, m->current_bytes);
	}
	m->swap_bytes = used;
	m->swap_max_bytes = max;
	return 0;
}

static int cgroup_text_read(int fd, char *text, size_t cap, struct span *ret)
{
	size_t len;
	int r = file_read_once(fd, text, cap, &len);
	if (r < 0)
		return world_condition(r);
	*ret = (struct span){text, len};
	return 0;
}

static int events_read(const struct cgroup *g, struct cgroup_memory *m)
{
	char text[512];
	struct span s;
	struct cgroup_memory local = {};
	if (g->events_fd < 0)
		return 0;
	int r = cgroup_text_read(g->events_fd, text, sizeof(text), &s);
	if (r == 0)
		r = cgroup_events_parse(s, g->version, m);
	if (r != 0 || g->events_local_fd < 0)
		return r;
	if (g->version == CGROUP_V1) {
		/* where both limits are alike, as Kubernetes sets them, the one with swap is met first */
		uint64_t with_swap = 0;
		r = cgroup_number_read(g->events_local_fd, 0, &m->max_events);
		if (r == 0)
			r = cgroup_number_read(g->swap_failed_fd, 0, &with_swap);
		m->max_events = add_cap(m->max_events, with_swap);
		return r;
	}
	r = cgroup_text_read(g->events_local_fd, text, sizeof(text), &s);
	if (r == 0)
		r = cgroup_events_parse(s, g->version, &local);
	if (r == 0)
		m->oom_kills_local = local.oom_kills;
	return r;
}

int cgroup_peak_read(const struct cgroup *g, uint64_t *ret_bytes)
{
	cleanup(closep) int fd =
		file_open(g->dir_fd, g->version == CGROUP_V1 ? "memory.max_usage_in_bytes" : "memory.peak");
	return fd < 0 ? WORLD_ABSENT : cgroup_number_read(fd, 0, ret_bytes);
}

int cgroup_read_full(const struct cgroup *g, struct cgroup_memory *ret)
{
	char text[8192]; /* memory.stat: about 60 lines of 30 bytes */
	struct cgroup_memory m;
	struct span s;
	int r = cgroup_read_usage(g, &m);
	if (r == 0 && g->stat_fd >= 0) {
		r = cgroup_text_read(g->stat_fd, text, sizeof(text), &s);
		if (r == 0)
			r = cgroup_stat_parse(s, g->version, &m);
	}
	if (r == 0)
		r = swap_read(g, &m);
	if (r == 0)
		r = events_read(g, &m);
	if (r != 0)
		return r;
	*ret = m;
	return 0;
}

static bool is_limited(const struct cgroup *g)
{
	struct cgroup_memory m;
	if (cgroup_read_usage(g, &m) != 0)
		return false;
	return m.max_bytes != CGROUP_NO_LIMIT || m.high_bytes != CGROUP_NO_LIMIT;
}

/* Turns "a/b" into "a" and "a" into "."; false at the top. */
static bool path_up(char *path)
{
	char *slash = strrchr(path, '/');
	if (strcmp(path, ".") == 0)
		return false;
	if (slash)
		*slash = '\0';
	else
		(void)text_copy(path, CGROUP_PATH_MAX, ".");
	return true;
}

int cgroup_chain_open(const struct world *w, const struct cgroup_place *place, struct cgroup_chain *ret)
{
	char path[CGROUP_PATH_MAX];
	struct cgroup_chain c = {};
	if (place->memory_version == CGROUP_NONE || place->memory[0] == '\0')
		return WORLD_ABSENT;
	TEXT_COPY(path, place->memory);
	int r = 0;
	do {
		struct cgroup g;
		r = cgroup_open(w, place->memory_version, path, &g);
		if (r < 0 || (r != 0 && r != WORLD_ABSENT && c.n == 0))
			break;
		if (r != 0)
			continue;
		if (c.n < CGROUP_MAX_LEVELS && (c.n == 0 || is_limited(&g)))
			c.level[c.n++] = g;
		else
			cgroup_close(&g);
	} while (path_up(path));
	if (r < 0 || c.n == 0) {
		cgroup_chain_close(&c);
		return r != 0 ? r : WORLD_ABSENT;
	}
	*ret = c;
	return 0;
}

void cgroup_chain_close(struct cgroup_chain *c)
{
	for (size_t i = 0; i < c->n; i++)
		cgroup_close(&c->level[i]);
	c->n = 0;
}

/* True for the number of a process, false for that of another thread of it. */
static bool is_process(pid_t number)
{
	return syscall(SYS_tgkill, number, number, 0) == 0 || errno != ESRCH;
}

static void pid_take(struct span line, bool of_threads, pid_t *pids, size_t cap, size_t *n)
{
	uint64_t v;
	/* 0: a process of another pid namespace */
	if (span_u64(span_trim(line), &v) < 0 || v == 0 || v > INT32_MAX)
		return;
	if (of_threads && !is_process((pid_t)v))
		return;
	if (*n < cap)
		pids[*n] = (pid_t)v;
	(*n)++;
}

/* The processes that a file of a group names, added to *n. of_threads: it names threads. */
static int pids_add(int dirfd, const char *file, bool of_threads, pid_t *pids, size_t cap, size_t *n)
{
	char text[4096];
	cleanup(closep) int fd = openat(dirfd, file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return world_condition(-errno);
	for (size_t kept = 0;;) {
		ssize_t got = read(fd, text + kept, sizeof(text) - kept);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return world_condition(-errno);
		struct span rest = {text, kept + (size_t)got};
		/* A last line without its newline is incomplete, unless the file ends there. */
		while (got == 0 ? rest.len > 0 : rest.len > 0 && memchr(rest.p, '\n', rest.len) != NULL) {
			struct span line;
			if (!span_line(&rest, &line))
				break;
			pid_take(line, of_threads, pids, cap, n);
		}
		if (got == 0)
			return 0;
		kept = rest.len < sizeof(text) ? rest.len : 0;
		memmove(text, rest.p, kept);
	}
}

/*
 * The processes of the group itself. A group of v2 whose user has made it threaded does not tell them, its threads
 * only (cgroup-v2.rst, Threads): then those whose first thread is in it.
 */
static int members_add(int dirfd, pid_t *pids, size_t cap, size_t *n)
{
	int r = pids_add(dirfd, "cgroup.procs", false, pids, cap, n);
	return r == -EOPNOTSUPP ? pids_add(dirfd, "cgroup.threads", true, pids, cap, n) : r;
}

static int group_folder(const struct world *w, const char *path, int *ret_fd)
{
	if (w->cgroup_fd < 0)
		return WORLD_ABSENT;
	int fd = openat(w->cgroup_fd, path[0] != '\0' ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return world_condition(-errno);
	*ret_fd = fd;
	return 0;
}

int cgroup_pids(const struct world *w, const char *path, pid_t *pids, size_t cap, size_t *ret_n)
{
	cleanup(closep) int fd = -1;
	size_t n = 0;
	int r = group_folder(w, path, &fd);
	if (r == 0)
		r = members_add(fd, pids, cap, &n);
	if (r == 0)
		*ret_n = n;
	return r;
}

/*
 * A walk through the groups below one: at each level an open folder and what was last read of its entries. The levels
 * are as many as a user may want to hide behind, within what the guard's stack holds.
 */
struct group_walk {
	int fd[CGROUP_TREE_LEVELS];
	size_t depth;
	char entries[CGROUP_TREE_LEVELS][512] __attribute__((aligned(__alignof__(struct dirent64))));
	ssize_t got[CGROUP_TREE_LEVELS];
	ssize_t at[CGROUP_TREE_LEVELS];
};

static void walk_done(struct group_walk *g)
{
	while (g->depth > 0)
		closep(&g->fd[--g->depth]);
}

/* Go down into the next group below the one at hand, else up again. False: there is no more. */
static bool walk_next(struct group_walk *g)
{
	while (g->depth > 0) {
		size_t i = g->depth - 1;
		if (g->at[i] >= g->got[i]) {
			g->at[i] = 0;
			g->got[i] = getdents64(g->fd[i], g->entries[i], sizeof(g->entries[i]));
		}
		if (g->got[i] <= 0) {
			closep(&g->fd[i]);
			g->depth--;
			continue;
		}
		const struct dirent64 *e = (const void *)(g->entries[i] + g->at[i]);
		g->at[i] += e->d_reclen;
		if (e->d_type != DT_DIR || path_is_dots(e->d_name) || g->depth == CGROUP_TREE_LEVELS)
			continue;
		int fd = openat(g->fd[i], e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			continue; /* it was removed */
		g->fd[g->depth] = fd;
		g->at[g->depth] = g->got[g->depth] = 0;
		g->depth++;
		return true;
	}
	return false;
}

uint64_t cgroup_number(const struct world *w, const char *path)
{
	cleanup(closep) int fd = -1;
	struct stat st;
	return group_folder(w, path, &fd) == 0 && fstat(fd, &st) == 0 ? st.st_ino : 0;
}

int cgroup_tree_pids(const struct world *w, const char *path, pid_t *pids, size_t cap, size_t *ret_n)
{
	return cgroup_tree_pids_of(w, path, 0, pids, cap, ret_n);
}

int cgroup_tree_pids_of(const struct world *w, const char *path, uint64_t number, pid_t *pids, size_t cap,
			size_t *ret_n)
{
	cleanup(walk_done) struct group_walk g = {.depth = 0};
	struct stat st;
	size_t n = 0;
	int r = group_folder(w, path, &g.fd[0]);
	if (r)
		return r;
	const int fd = g.fd[g.depth++];
	if (number && fstat(fd, &st) == 0 && st.st_ino != number)
		return WORLD_GONE;
	r = pids_add(fd, "cgroup.procs", false, pids, cap, &n);
	/* Of groups below one that is no threaded one, a threaded one's processes are in a list above it. */
	const bool is_threaded = r == -EOPNOTSUPP;
	if (is_threaded)
		r = members_add(fd, pids, cap, &n);
	if (r < 0 || r == WORLD_DENIED || fstat(fd, &st) < 0)
		return r ? r : -errno;
	/* a folder without others in it has two links: a group without groups below it costs no listing */
	while (st.st_nlink != 2 && walk_next(&g)) {
		const int below = g.fd[g.depth - 1];
		ignore(is_threaded ? members_add(below, pids, cap, &n)
				   : pids_add(below, "cgroup.procs", false, pids, cap, &n),
		       "removed, or threaded: then the group above lists its processes; others are read all the same");
	}
	*ret_n = n;
	return 0;
}
