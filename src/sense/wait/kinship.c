#include "sense/wait/kinship.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/vec.h"
#include "sense/ns.h"
#include "sense/proc/proc.h"

/* Processes that are read at most; pid_max is 4 million. */
#define PROCESSES_MAX 200000
/* Generations that are followed; parents that change meanwhile could form a circle. */
#define GENERATIONS_MAX 256

enum { LIKELY_NEAR, LIKELY_SESSION, LIKELY_USER, LIKELY_OTHER };

void kinship_done(struct kinship *k)
{
	free(k->item);
	*k = (struct kinship){.n = 0};
}

static int kin_by_pid(const void *a, const void *b)
{
	const struct kin *x = a, *y = b;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

struct kin *kinship_find(const struct kinship *k, pid_t pid)
{
	const struct kin key = {.pid = pid};
	return k->n ? bsearch(&key, k->item, k->n, sizeof(key), kin_by_pid) : NULL;
}

static int kin_add(struct kinship *k, const struct world *w, const char *name, pid_t pid)
{
	struct proc_stat s;
	struct stat st;
	if (proc_stat_read(w, pid, &s) != 0 || fstatat(w->proc_fd, name, &st, 0) != 0)
		return 0; /* ended meanwhile */
	if (vec_room(&k->item, &k->cap, k->n + 1) < 0)
		return -ENOMEM;
	struct kin *new = &k->item[k->n++];
	*new = (struct kin){
		.pid = pid,
		.ppid = s.ppid,
		.pgrp = s.pgrp,
		.session = s.session,
		.start_ticks = s.start_ticks,
		.cpu_ticks = s.utime_ticks + s.stime_ticks + s.reaped_ticks,
		.size_bytes = s.size_bytes,
		.uid = st.st_uid,
		.state = s.state,
		.n_threads = s.threads,
		.kernel_thread = s.kernel_thread,
		.over = proc_is_over(&s),
	};
	TEXT_COPY(new->comm, s.comm);
	return 0;
}

static bool processes_are_hidden(const struct world *w, const struct kinship *k)
{
	char link[64];
	uint64_t inode;
	if (w->recorded)
		return false;
	const ssize_t n = readlinkat(w->proc_fd, "self/ns/pid", link, sizeof(link));
	const struct span number = n > 0 ? span_after((struct span){link, (size_t)n}, ":[") : (struct span){NULL, 0};
	return !number.p || span_u64_prefix(number, &inode) < 0 || inode != PID_NAMESPACE_FIRST || !kinship_find(k, 1);
}

int kinship_read(const struct world *w, struct kinship *ret)
{
	uint64_t pid;
	if (w->proc_fd < 0)
		return WORLD_ABSENT;
	int fd = openat(w->proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	cleanup(closedirp) DIR *dir = file_folder(fd);
	if (!dir)
		return -errno;
	cleanup(kinship_done) struct kinship k = {.n = 0};
	for (const struct dirent *d; (d = readdir(dir));) {
		if (span_u64(span_of(d->d_name), &pid) < 0 || pid == 0 || pid > INT32_MAX)
			continue;
		if (k.n >= PROCESSES_MAX) {
			k.hidden = true;
			break;
		}
		if (kin_add(&k, w, d->d_name, (pid_t)pid) < 0)
			return -ENOMEM;
	}
	if (k.n)
		qsort(k.item, k.n, sizeof(*k.item), kin_by_pid);
	k.hidden = k.hidden || processes_are_hidden(w, &k);
	*ret = k;
	k = (struct kinship){.n = 0};
	return 0;
}

bool kinship_descends(const struct kinship *k, pid_t pid, pid_t ancestor)
{
	for (size_t i = 0; i < GENERATIONS_MAX && pid > 0; i++) {
		if (pid == ancestor)
			return true;
		const struct kin *p = kinship_find(k, pid);
		pid = p ? p->ppid : 0;
	}
	return false;
}

/* Marks the ancestors of one, except the first process of the machine. */
static void rate_ancestors(struct kinship *k, const struct kin *of)
{
	pid_t pid = of->ppid;
	for (size_t i = 0; i < GENERATIONS_MAX && pid > 1; i++) {
		struct kin *p = kinship_find(k, pid);
		if (!p || (p->likelihood == LIKELY_NEAR && !p->wanted))
			return;
		p->likelihood = LIKELY_NEAR;
		pid = p->ppid;
	}
}

static bool descends_from_wanted(const struct kinship *k, const struct kin *of)
{
	pid_t pid = of->ppid;
	for (size_t i = 0; i < GENERATIONS_MAX && pid > 1; i++) {
		const struct kin *p = kinship_find(k, pid);
		if (!p)
			return false;
		if (p->wanted)
			return true;
		pid = p->ppid;
	}
	return false;
}

static int kinship_pid_order(const void *a, const void *b)
{
	const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
	return (x > y) - (x < y);
}

/* Sessions of the wanted processes, ascending; malloc'ed, NULL without memory. */
static pid_t *wanted_sessions(const struct kinship *k, size_t *ret_n)
{
	size_t n = 0;
	pid_t *sessions = malloc((k->n + 1) * sizeof(*sessions));
	for (size_t i = 0; sessions && i < k->n; i++)
		if (k->item[i].wanted)
			sessions[n++] = k->item[i].session;
	if (sessions && n)
		qsort(sessions, n, sizeof(*sessions), kinship_pid_order);
	*ret_n = n;
	return sessions;
}

void kinship_rate(struct kinship *k)
{
	size_t n = 0;
	uid_t uid = 0;
	cleanup(freep) pid_t *sessions = wanted_sessions(k, &n);
	for (size_t i = 0; i < k->n; i++) {
		k->item[i].likelihood = LIKELY_OTHER;
		if (k->item[i].wanted)
			uid = k->item[i].uid;
	}
	for (size_t i = 0; i < k->n; i++)
		if (k->item[i].wanted)
			rate_ancestors(k, &k->item[i]);
	for (size_t i = 0; i < k->n; i++) {
		struct kin *p = &k->item[i];
		if (p->wanted || descends_from_wanted(k, p))
			p->likelihood = LIKELY_NEAR;
		else if (n && bsearch(&p->session, sessions, n, sizeof(p->session), kinship_pid_order))
			p->likelihood = MIN(p->likelihood, (uint8_t)LIKELY_SESSION);
		else if (p->uid == uid)
			p->likelihood = MIN(p->likelihood, (uint8_t)LIKELY_USER);
	}
}
