#include "agent/jobs/jobpids.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "sense/memory/cgroup.h"

#define PLACES ARRAY_SIZE(((struct jobpids *)0)->seen)

/* Numbers that follow each other lie side by side, so that few pages of the set are ever touched. */
static size_t jobpids_place_of(const struct jobpids *p, pid_t pid)
{
	size_t at = (size_t)pid & (PLACES - 1);
	while (p->seen[at] != 0 && p->seen[at] != pid)
		at = (at + 1) & (PLACES - 1);
	return at;
}

static void seen_clear(struct jobpids *p)
{
	for (size_t i = 0; i < p->n_taken; i++)
		p->seen[p->taken[i]] = 0;
	p->n_taken = 0;
}

static bool jobpids_is_ours(const struct jobpids_want *want, pid_t pid)
{
	for (size_t i = 0; i < JOBPIDS_NOT_OURS; i++)
		if (want->not_ours[i] == pid)
			return false;
	return pid > 0 && (want->root_is_ours || pid != want->root);
}

static void jobpids_add(struct jobpids *p, pid_t pid, bool found, bool outside)
{
	size_t at = jobpids_place_of(p, pid);
	if (p->seen[at] == pid)
		return;
	if (p->n == JOBPIDS_MAX) {
		p->dropped++;
		return;
	}
	p->seen[at] = pid; /* at most half of the places are used */
	p->taken[p->n_taken++] = (uint16_t)at;
	p->of[p->n++] = (struct jobpid){.pid = pid, .found = found, .outside = outside};
}

static bool jobpids_has(const struct jobpids *p, pid_t pid)
{
	return pid > 0 && p->seen[jobpids_place_of(p, pid)] == pid;
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
			jobpids_add(p, (pid_t)child, true, want->cgroup != NULL);
}

static void add_children_of_threads(struct jobpids *p, const struct world *w, const struct jobpids_want *want,
				    pid_t pid)
{
	char path[32];
	uint64_t tid;
	TEXT_FORMAT(path, "%d/task", pid);
	int fd = openat(w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = file_folder(fd);
	if (!d)
		return;
	for (const struct dirent *e; (e = readdir(d));)
		if (span_u64(span_of(e->d_name), &tid) == 0 && tid <= INT32_MAX)
			add_children(p, w, want, pid, (pid_t)tid);
	(void)closedir(d);
}

/* Children of all that were found from here on. */
static void jobpids_walk(struct jobpids *p, const struct world *w, const struct jobpids_want *want, bool all_threads,
			 size_t from)
{
	for (size_t i = from; i < p->n; i++) { /* p->n grows in the loop */
		if (all_threads)
			add_children_of_threads(p, w, want, p->of[i].pid);
		else
			add_children(p, w, want, p->of[i].pid, p->of[i].pid);
	}
}

/* True unless the number is known to be another process's by now. */
static bool is_still(const struct world *w, struct proc_id id)
{
	struct proc_stat st;
	return id.pid > 0 && (id.start_ticks == 0 || proc_is_same(w, id, &st));
}

static void jobpids_from_root(struct jobpids *p, const struct world *w, const struct jobpids_want *want)
{
	struct proc_id root = {want->root, want->root_start_ticks};
	if (is_still(w, root)) {
		p->root = want->root;
		if (want->root_is_ours)
			jobpids_add(p, want->root, true, false);
		else
			add_children_of_threads(p, w, want, want->root);
	}
	for (size_t i = 0; i < JOBPIDS_ALSO; i++)
		if (is_still(w, want->also[i]))
			jobpids_add(p, want->also[i].pid, true, false);
}

static int pid_order(const void *a, const void *b)
{
	const struct jobpid *x = a, *y = b;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Those that were of the job before and were not found again: they stay while they live. */
static void jobpids_again(struct jobpids *p, const struct world *w, const struct jobpids_want *want,
			  const struct jobpid *before, size_t n)
{
	struct proc_stat st;
	for (size_t i = 0; i < n; i++) {
		struct proc_id id = {before[i].pid, before[i].start_ticks};
		if (jobpids_is_ours(want, id.pid) && !jobpids_has(p, id.pid) && proc_is_same(w, id, &st))
			jobpids_add(p, id.pid, false, want->cgroup != NULL);
	}
}

/* Hands on the starts of those that were known before. Both lists are sorted. */
static void jobpids_starts(struct jobpids *p, const struct jobpid *before, size_t n)
{
	for (size_t i = 0, k = 0; i < p->n; i++) {
		while (k < n && before[k].pid < p->of[i].pid)
			k++;
		if (k < n && before[k].pid == p->of[i].pid)
			p->of[i].start_ticks = before[k].start_ticks;
	}
}

void jobpids_find(struct jobpids *p, const struct world *w, const struct jobpids_want *want, bool all_threads)
{
	struct jobpid *before = p->before;
	pid_t *pids = p->listed;
	size_t n_before = p->n, n = 0;
	memcpy(before, p->of, n_before * sizeof(before[0]));
	seen_clear(p);
	p->n = p->dropped = 0;
	p->root = 0;
	p->found_ticks = clock_boot_ns() / (NS_PER_S / w->ticks_per_s);
	bool by_group = want->cgroup && cgroup_tree_pids(w, want->cgroup, pids, ARRAY_SIZE(p->listed), &n) == 0;
	for (size_t i = 0; by_group && i < MIN(n, ARRAY_SIZE(p->listed)); i++)
		if (jobpids_is_ours(want, pids[i]))
			jobpids_add(p, pids[i], true, false);
	if (!by_group)
		jobpids_from_root(p, w, want);
	jobpids_walk(p, w, want, all_threads, 0);
	size_t found = p->n;
	jobpids_again(p, w, want, before, n_before);
	jobpids_walk(p, w, want, all_threads, found);
	qsort(p->of, p->n, sizeof(p->of[0]), pid_order);
	jobpids_starts(p, before, n_before);
}

bool jobpids_is(const struct jobpids *p, size_t i, pid_t ppid, uint64_t start_ticks)
{
	const struct jobpid *of = &p->of[i];
	if (of->start_ticks != 0 && of->start_ticks == start_ticks)
		return true;
	if (!of->found)
		return false;
	/* it was there when it was listed, so it is who was listed; numbers do not come round within a tick */
	if (start_ticks < p->found_ticks || (of->pid == p->root && start_ticks == p->found_ticks))
		return true;
	return ppid > 0 && (ppid == p->root || jobpids_has(p, ppid));
}

void jobpids_keep(struct jobpids *p, size_t at, pid_t pid, uint64_t start_ticks)
{
	p->of[at] = (struct jobpid){.pid = pid, .start_ticks = start_ticks};
}
