#include "agent/jobs/jobpids.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "sense/memory/cgroup.h"

#define PLACES ARRAY_SIZE(((struct jobpids *)0)->seen)

static bool jobpids_is_ours(const struct jobpids_want *want, pid_t pid)
{
	for (size_t i = 0; i < JOBPIDS_NOT_OURS; i++)
		if (want->not_ours[i] == pid)
			return false;
	return pid > 0 && (want->root_is_ours || pid != want->root);
}

static void jobpids_add(struct jobpids *p, pid_t pid)
{
	size_t at = hash_slot((uint64_t)pid, PLACES - 1);
	while (p->seen[at] != 0 && p->seen[at] != pid)
		at = (at + 1) & (PLACES - 1);
	if (p->seen[at] == pid)
		return;
	if (p->n == JOBPIDS_MAX) {
		p->dropped++;
		return;
	}
	p->seen[at] = pid; /* at most half of the places are used */
	p->pid[p->n++] = pid;
}

static void add_children(struct jobpids *p, const struct world *w, const struct jobpids_want *want, pid_t pid,
			 pid_t tid)
{
	char text[32768], path[64];
	size_t len;
	TEXT_FORMAT(path, "%d/task/%d/children", pid, tid);
	if (file_read_at(w->proc_fd, path, text, sizeof(text), &len) < 0)
		return;
	struct span rest = {text, len}, word;
	uint64_t child;
	while (span_word(&rest, &word))
		if (span_u64(word, &child) == 0 && child <= INT32_MAX && jobpids_is_ours(want, (pid_t)child))
			jobpids_add(p, (pid_t)child);
}

static void add_children_of_threads(struct jobpids *p, const struct world *w, const struct jobpids_want *want,
				    pid_t pid)
{
	char path[32];
	uint64_t tid;
	TEXT_FORMAT(path, "%d/task", pid);
	int fd = openat(w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		closep(&fd);
		return;
	}
	for (const struct dirent *e; (e = readdir(d));)
		if (span_u64(span_of(e->d_name), &tid) == 0 && tid <= INT32_MAX)
			add_children(p, w, want, pid, (pid_t)tid);
	(void)closedir(d);
}

static void jobpids_walk(struct jobpids *p, const struct world *w, const struct jobpids_want *want, bool all_threads)
{
	if (want->root_is_ours)
		jobpids_add(p, want->root);
	else
		add_children_of_threads(p, w, want, want->root);
	for (size_t i = 0; i < JOBPIDS_ALSO; i++)
		if (want->also[i] > 0)
			jobpids_add(p, want->also[i]);
	for (size_t i = 0; i < p->n; i++) { /* p->n grows in the loop */
		if (all_threads)
			add_children_of_threads(p, w, want, p->pid[i]);
		else
			add_children(p, w, want, p->pid[i], p->pid[i]);
	}
}

static int pid_order(const void *a, const void *b)
{
	return *(const pid_t *)a < *(const pid_t *)b ? -1 : *(const pid_t *)a > *(const pid_t *)b;
}

void jobpids_find(struct jobpids *p, const struct world *w, const struct jobpids_want *want, bool all_threads)
{
	static pid_t before[JOBPIDS_MAX];
	size_t n = p->n;
	memcpy(before, p->pid, n * sizeof(before[0]));
	memset(p->seen, 0, sizeof(p->seen));
	p->n = p->dropped = 0;
	for (size_t i = 0; i < n; i++)
		if (jobpids_is_ours(want, before[i]))
			jobpids_add(p, before[i]);
	n = 0;
	if (want->cgroup && cgroup_tree_pids(w, want->cgroup, before, ARRAY_SIZE(before), &n) == 0) {
		for (size_t i = 0; i < MIN(n, ARRAY_SIZE(before)); i++)
			if (jobpids_is_ours(want, before[i]))
				jobpids_add(p, before[i]);
	} else if (want->root > 0) {
		jobpids_walk(p, w, want, all_threads);
	}
	qsort(p->pid, p->n, sizeof(p->pid[0]), pid_order);
}
