#include "sense/proc/slurmjob.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/vec.h"

#define ENVIRON_CAP (128 * 1024)
#define ANCESTORS_MOST 64

bool slurmjob_is_stepd(const char *comm)
{
	return strcmp(comm, "slurmstepd") == 0;
}

/* The next component of a path; false after the last. */
static bool next_component(struct span *rest, struct span *ret)
{
	while (rest->len > 0 && rest->p[0] == '/')
		*rest = (struct span){rest->p + 1, rest->len - 1};
	if (rest->len == 0)
		return false;
	const char *end = memchr(rest->p, '/', rest->len);
	ret->p = rest->p;
	ret->len = end ? (size_t)(end - rest->p) : rest->len;
	*rest = (struct span){rest->p + ret->len, rest->len - ret->len};
	return true;
}

/* "slurm", "slurm_NODE", "slurmstepd.scope", "NODE_slurmstepd.scope" */
static bool is_slurms(struct span name)
{
	static const char scope[] = "slurmstepd.scope";
	const size_t n = sizeof(scope) - 1;
	if (span_eq(name, "slurm") || span_starts(name, "slurm_") || span_eq(name, scope))
		return true;
	return name.len > n && name.p[name.len - n - 1] == '_' && memcmp(name.p + name.len - n, scope, n) == 0;
}

bool slurmjob_group_parse(struct span group, uint32_t job, size_t *ret_len)
{
	char own[32];
	struct span rest = group, name;
	bool below = false;
	TEXT_FORMAT(own, "job_%u", job);
	while (next_component(&rest, &name)) {
		if (below && span_eq(name, own)) {
			*ret_len = (size_t)(name.p + name.len - group.p);
			return true;
		}
		below |= is_slurms(name);
	}
	return false;
}

/* A process that names the job, by its group or its environment. */
struct claim {
	struct proc_id id;
	pid_t ppid;
	uid_t uid;
	bool by_group;
};

struct search {
	const struct world *w;
	uint32_t job;
	uid_t uid;
	struct claim *claim;
	size_t n, cap;
	char *environ;
};

static void search_done(struct search *s)
{
	free(s->claim);
	free(s->environ);
}

/* Only root, or the user vigil works for, may have made a group that is believed. */
static bool is_believed(const struct world *w, const char *path)
{
	struct stat st;
	return fstatat(w->cgroup_fd, path, &st, 0) == 0 && S_ISDIR(st.st_mode) &&
	       (st.st_uid == 0 || st.st_uid == geteuid());
}

/* The job's group in the hierarchy that counts memory, else in one that lists processes. */
static bool group_take(const struct search *s, pid_t pid, struct span name, struct slurmjob *ret)
{
	struct cgroup_place place;
	if (cgroup_place_read(s->w, pid, &place) != 0)
		return false;
	char *const paths[] = {place.memory, place.freezer, place.unified};
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		size_t len;
		if (!slurmjob_group_parse(span_of(paths[i]), s->job, &len))
			continue;
		paths[i][len] = '\0';
		if (!is_believed(s->w, paths[i]))
			continue;
		TEXT_COPY(ret->group, paths[i]);
		span_copy(name, ret->group_name, sizeof(ret->group_name));
		return true;
	}
	return false;
}

/* *ret_name: the job's group as the process's file has it; its p is NULL if the process is in none. */
static void own_group(struct span text, uint32_t job, struct span *ret_name)
{
	struct span line;
	size_t len;
	*ret_name = (struct span){NULL, 0};
	while (!ret_name->p && span_line(&text, &line)) {
		struct span group = span_after(span_after(line, ":"), ":");
		if (group.p && slurmjob_group_parse(group, job, &len))
			*ret_name = (struct span){group.p, len};
	}
}

static bool environ_names(struct search *s, pid_t pid)
{
	size_t len;
	uint64_t number;
	if (proc_environ_read(s->w, pid, s->environ, ENVIRON_CAP, &len) != 0)
		return false;
	struct span value = environ_get((struct span){s->environ, len}, "SLURM_JOB_ID");
	return value.p && span_u64(value, &number) == 0 && number == s->job;
}

static int claim_add(struct search *s, pid_t pid, bool by_group)
{
	struct proc_stat st;
	struct proc_status status;
	if (proc_stat_read(s->w, pid, &st) != 0 || proc_is_over(&st) || proc_status_read(s->w, pid, &status) != 0)
		return 0;
	if (slurmjob_is_stepd(st.comm) || (!by_group && s->uid != 0 && status.uid != s->uid))
		return 0;
	if (vec_room(&s->claim, &s->cap, s->n + 1) < 0)
		return -ENOMEM;
	s->claim[s->n++] =
		(struct claim){.id = {pid, st.start_ticks}, .ppid = st.ppid, .uid = status.uid, .by_group = by_group};
	return 0;
}

/* 1: the job's group is found, and nothing else need be known. */
static int process_look(struct search *s, pid_t pid, struct slurmjob *ret)
{
	char path[32], text[4096];
	size_t len;
	struct span name = {NULL, 0};
	TEXT_FORMAT(path, "%d/cgroup", (int)pid);
	if (file_read_at(s->w->proc_fd, path, text, sizeof(text), &len) == 0)
		own_group((struct span){text, len}, s->job, &name);
	if (name.p && group_take(s, pid, name, ret))
		return 1;
	return name.p || environ_names(s, pid) ? claim_add(s, pid, name.p != NULL) : 0;
}

static const struct claim *claim_of(const struct search *s, pid_t pid)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->claim[i].id.pid == pid)
			return &s->claim[i];
	return NULL;
}

/* slurmstepd calls itself "slurmstepd: [7.batch]"; nobody but root can be it. */
static bool is_stepd_of(const struct search *s, pid_t pid, const struct proc_stat *st)
{
	char command[64], own[32];
	struct proc_status status;
	TEXT_FORMAT(own, "slurmstepd: [%u.", s->job);
	return slurmjob_is_stepd(st->comm) && proc_status_read(s->w, pid, &status) == 0 && status.uid == 0 &&
	       proc_command_read(s->w, pid, command, sizeof(command)) == 0 && span_starts(span_of(command), own);
}

static bool is_below_stepd(const struct search *s, const struct claim *c)
{
	pid_t pid = c->ppid;
	for (size_t i = 0; i < ANCESTORS_MOST && pid > 1; i++) {
		struct proc_stat st;
		if (proc_stat_read(s->w, pid, &st) != 0)
			return false;
		if (is_stepd_of(s, pid, &st))
			return true;
		pid = st.ppid;
	}
	return false;
}

/* Whose processes count where only environments tell. False: several users', and none of them is proved. */
static bool owner_choose(const struct search *s, uid_t *ret)
{
	bool any = false, several = false;
	for (size_t i = 0; i < s->n; i++) {
		const struct claim *c = &s->claim[i];
		if (is_below_stepd(s, c)) {
			*ret = c->uid;
			return true;
		}
		several |= any && c->uid != *ret;
		if (!any)
			*ret = c->uid;
		any = true;
	}
	return !several;
}

static bool claim_counts(const struct claim *c, bool by_group, uid_t owner)
{
	return by_group ? c->by_group : c->uid == owner;
}

static int roots_take(const struct search *s, struct slurmjob *ret)
{
	bool by_group = false;
	uid_t owner = 0;
	for (size_t i = 0; i < s->n; i++)
		by_group |= s->claim[i].by_group; /* a group proves more than an environment */
	if (!by_group && !owner_choose(s, &owner))
		return SLURMJOB_CLAIMED;
	for (size_t i = 0; i < s->n; i++) {
		const struct claim *c = &s->claim[i], *above = claim_of(s, c->ppid);
		if (!claim_counts(c, by_group, owner) || (above && claim_counts(above, by_group, owner)))
			continue;
		if (ret->n_roots < SLURMJOB_ROOTS)
			ret->root[ret->n_roots++] = c->id;
		else
			ret->n_dropped++;
	}
	return ret->n_roots > 0 ? 0 : WORLD_GONE;
}

int slurmjob_find(const struct world *w, uint32_t job, uid_t uid, struct slurmjob *ret)
{
	cleanup(search_done) struct search s = {.w = w, .job = job, .uid = uid, .environ = malloc(ENVIRON_CAP)};
	struct slurmjob found = {.n_roots = 0};
	uint64_t pid;
	if (!s.environ)
		return -ENOMEM;
	int fd = w->proc_fd < 0 ? -1 : openat(w->proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = file_folder(fd);
	if (!d)
		return WORLD_ABSENT;
	int r = 0;
	for (const struct dirent *e; r == 0 && (e = readdir(d));)
		if (span_u64(span_of(e->d_name), &pid) == 0 && pid <= INT32_MAX)
			r = process_look(&s, (pid_t)pid, &found);
	(void)closedir(d);
	if (r == 0)
		r = roots_take(&s, &found);
	else if (r > 0)
		r = 0;
	if (r == 0)
		*ret = found;
	return r;
}
