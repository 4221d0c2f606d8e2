/* The processes of a job that is not watched, and what they are to the graph. */
#include <string.h>
#include <unistd.h>

#include "agent/wait/waitsread_parts.h"
#include "agent/wait/waitwho.h"
#include "base/foreign.h"

#define WAITSREAD_TASKS 65536
/* As many as the watcher reads. */
#define WAITSREAD_PIDS 2048

void waitsread_processes_done(struct waitsread_processes *p)
{
	free(p->pid);
	free(p->who);
	*p = (struct waitsread_processes){.n = 0};
}

/* vigil leaves itself out where it was started by the process that it reads. */
static bool waitsread_is_own(pid_t pid)
{
	return pid == getpid() || foreign_is_own_helper(pid);
}

static const struct member *member_of(const struct members *m, pid_t pid)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->row[i].task->pid == pid)
			return &m->row[i];
	return NULL;
}

/* How likely it is the main process of its rank. What no other member has started is what the job was begun with. */
static int claim(const struct members *m, const struct member *x)
{
	return waitwho_claim(x->who.role, member_of(m, x->task->ppid) == NULL);
}

/* True if b stands for its rank rather than a. Of two equal ones the older does. */
static bool stands_before(const struct members *m, const struct member *a, const struct member *b)
{
	int better = claim(m, b) - claim(m, a);
	return better > 0 || (better == 0 && b->task->start_ticks < a->task->start_ticks);
}

static void mains_choose(const struct members *m, bool *main)
{
	for (size_t i = 0; i < m->n; i++) {
		size_t best = SIZE_MAX;
		if (claim(m, &m->row[i]) == 0 || waitsread_is_own(m->row[i].task->pid))
			continue;
		for (size_t k = 0; k < i; k++)
			if (main[k] && m->row[k].who.rank == m->row[i].who.rank)
				best = k;
		if (best != SIZE_MAX && !stands_before(m, &m->row[best], &m->row[i]))
			continue;
		if (best != SIZE_MAX)
			main[best] = false;
		main[i] = true;
	}
}

/* Somebody has to stand for a tree of processes in which nobody is a program of the job's own: its first one. */
static void main_of_tree(const struct members *m, pid_t root, bool *main)
{
	size_t first = SIZE_MAX;
	for (size_t i = 0; i < m->n; i++) {
		if (main[i])
			return;
		if (first == SIZE_MAX && !waitsread_is_own(m->row[i].task->pid))
			first = i;
		if (m->row[i].task->pid == root)
			first = i;
	}
	if (first != SIZE_MAX)
		main[first] = true;
}

/* Each of several processes that were asked for (workers of Ray of one name) stands for itself. */
static void mains_asked(const struct members *m, const struct members_want *want, bool *main)
{
	for (size_t i = 0; want->n_also > 0 && i < m->n; i++)
		main[i] |= members_is_root(want, m->row[i].task->pid);
}

static void list(const struct members *m, const bool *main, struct waitsread_processes *p)
{
	bool ranks = false;
	for (size_t i = 0; i < m->n; i++)
		ranks |= main[i] && m->row[i].who.rank != NO_RANK;
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < m->n; i++) {
			pid_t pid = m->row[i].task->pid;
			if (main[i] != (turn == 0) || waitsread_is_own(pid))
				continue; /* vigil leaves itself out where the job has started it */
			if (p->n == WAITSREAD_PIDS) {
				p->cut = true;
				return;
			}
			p->who[p->n] = waitwho_of(pid, &m->row[i].who, main[i], ranks);
			p->pid[p->n++] = pid;
		}
}

static int processes_fill(const struct members *m, const struct members_want *want,
			  struct waitsread_processes *p)
{
	cleanup(freep) bool *main = calloc(m->n + 1, sizeof(*main));
	p->pid = calloc(m->n + 1, sizeof(*p->pid));
	p->who = calloc(m->n + 1, sizeof(*p->who));
	if (!main || !p->pid || !p->who)
		return -ENOMEM;
	mains_choose(m, main);
	main_of_tree(m, want->root, main);
	mains_asked(m, want, main);
	list(m, main, p);
	return 0;
}

int waitsread_processes_read(const struct world *w, const struct members_want *want, struct waitsread_processes *ret)
{
	cleanup(tasks_done) struct tasks t = {.n = 0};
	cleanup(members_done) struct members m = {.n = 0};
	struct waitsread_processes p = {.n = 0};
	int r = tasks_init(&t, WAITSREAD_TASKS, -1);
	if (r == 0)
		r = tasks_scan(&t, w);
	if (r == 0)
		r = members_read(w, &t, want, &m);
	if (r == 0)
		r = processes_fill(&m, want, &p);
	if (r)
		waitsread_processes_done(&p);
	else
		*ret = p;
	return r;
}
