#include <signal.h>
#include <string.h>

#include "act/target.h"
#include "agent/incident/leftover.h"
#include "agent/map/mapstate.h"
#include "base/log.h"

#define TREE_MAX 1024
/* For the processes of a bag to end when all is over. */
#define END_MS 2000

void map_groups_open(struct map *m)
{
	struct cgroup_place place;
	struct jobgroup noted = JOBGROUP_NONE;
	if (cgroup_place_read(m->w, 0, &place) == 0 && taskgroups_path(m->w, &place, m->job.id, noted.memory) == 0)
		noted.version = CGROUP_V2;
	/* the note first: a group that it does not name would stay when we are killed */
	m->note_fd = leftover_note(m->spec->state_dir, m->job.id, &noted);
	if (noted.version == CGROUP_NONE || taskgroups_make(m->w, noted.memory, &m->groups) != 0)
		log_debug("no control groups for tasks: their process groups and parents are gone by");
}

void map_groups_close(struct map *m)
{
	/* what does not end was told of; the next vigil removes its groups, by the note */
	m->groups_stay |= taskgroups_end(m->w, &m->groups, END_MS) != 0;
}

/* A slot's group is used again by its next task, unless it had to be killed. */
int map_groups_open_slot(struct map *m, uint32_t slot)
{
	int fd = -1;
	if (m->groups.fd < 0)
		return -1;
	if (m->slot_group[slot] == 0)
		m->slot_group[slot] = ++m->n_groups;
	return taskgroups_open(&m->groups, m->slot_group[slot], &fd) < 0 ? -1 : fd;
}

static void group_kill(struct map *m, const struct map_runner *r)
{
	if (r->group == 0)
		return;
	ignore(taskgroups_kill(m->w, &m->groups, r->group), "it was done one by one");
	if (m->slot_group[r->slot] == r->group)
		m->slot_group[r->slot] = 0;
}

static void group_thaw(struct map *m, struct map_runner *r)
{
	if (r->frozen)
		ignore(taskgroups_freeze(&m->groups, r->group, false), "then the kernel has none to thaw");
	r->frozen = false;
}

void map_groups_over(struct map *m, struct map_runner *r)
{
	if (r->group == 0)
		return;
	if (taskgroups_used(&m->groups, r->group))
		group_kill(m, r);
	group_thaw(m, r);
	if (m->slot_group[r->slot] != r->group)
		taskgroups_drop(&m->groups, r->group);
}

static bool is_listed(const pid_t *pids, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

static bool has_row(const struct proctree_row *rows, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].id.pid == pid)
			return true;
	return false;
}

size_t map_task_rows(struct map *m, const struct map_runner *r, struct proctree_row *rows, size_t cap)
{
	static pid_t pids[TREE_MAX];
	size_t n = proctree_read(m->w, r->pid, rows, cap);
	size_t n_pids = r->group ? taskgroups_pids(m->w, &m->groups, r->group, pids, TREE_MAX) : 0;
	for (size_t i = 0; i < n_pids && n < cap; i++)
		if (!has_row(rows, n, pids[i]))
			n += proctree_read(m->w, pids[i], rows + n, cap - n);
	return n;
}

/* Of each only once, though one that has left its group may descend from two. */
static void rows_signal(struct map *m, const struct map_runner *r, const struct proctree_row *rows, size_t n,
			int signal)
{
	for (size_t i = 0; i < n; i++) {
		struct target t = {.id = rows[i].id, .pidfd = -1};
		if (rows[i].pgrp == r->pid || has_row(rows, i, rows[i].id.pid))
			continue;
		if (target_open(m->w, &t, false) == 0)
			ignore(target_signal(m->w, &t, signal), "it has ended, or is another user's");
		target_close(&t);
	}
}

/* The whole process group at once, then what has left it. */
void map_signal(struct map *m, const struct map_runner *r, int signal)
{
	static struct proctree_row rows[TREE_MAX];
	size_t n = map_task_rows(m, r, rows, TREE_MAX);
	(void)kill(-r->pid, signal);
	rows_signal(m, r, rows, n, signal);
	if (signal == SIGKILL)
		group_kill(m, r);
}

/* To those alone that are not in the group: root may have moved them. */
static void outside_signal(struct map *m, const struct map_runner *r, int signal)
{
	static struct proctree_row rows[TREE_MAX];
	static pid_t pids[TREE_MAX];
	size_t n = proctree_read(m->w, r->pid, rows, TREE_MAX);
	size_t n_pids = taskgroups_pids(m->w, &m->groups, r->group, pids, TREE_MAX);
	for (size_t i = 0; i < n; i++) {
		struct target t = {.id = rows[i].id, .pidfd = -1};
		if (is_listed(pids, n_pids, rows[i].id.pid))
			continue;
		if (target_open(m->w, &t, false) == 0)
			ignore(target_signal(m->w, &t, signal), "it has ended, or is another user's");
		target_close(&t);
	}
}

void map_suspend(struct map *m, struct map_runner *r)
{
	r->frozen = r->group && taskgroups_freeze(&m->groups, r->group, true) == 0;
	if (r->frozen)
		outside_signal(m, r, SIGSTOP);
	else
		map_signal(m, r, SIGSTOP);
}

void map_continue(struct map *m, struct map_runner *r)
{
	if (!r->frozen) {
		map_signal(m, r, SIGCONT);
		return;
	}
	outside_signal(m, r, SIGCONT);
	group_thaw(m, r);
}
