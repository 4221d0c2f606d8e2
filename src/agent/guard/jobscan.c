#include "agent/guard/jobscan.h"

#include "agent/guard/grouppids.h"
#include "base/clock.h"
#include "sense/proc/lastpid.h"

static const uint64_t full_gap_ns = NS_PER_S;
/* A process that is younger may still be in the middle of its start: fork, then exec. */
static const uint64_t jobscan_young_ns = 2 * NS_PER_S;
/* For so long it is looked whether a number that was given shows a process. */
static const uint64_t unborn_ns = 250 * NS_PER_MS;

static bool jobscan_push(struct jobscan *s, pid_t pid)
{
	if (s->n == JOBSCAN_MOST)
		return s->is_ready = false;
	s->pids[s->n++] = pid;
	return true;
}

/* True if its parent has no row: it has just ended, and whose child this will be is not known yet. */
static bool is_between_parents(const struct tasks *tasks, const struct task_row *row)
{
	return row->ppid > 0 && !tasks_find(tasks, row->ppid);
}

/* True if threads can be told from processes: no filter of system calls answers in the kernel's place. */
static bool threads_are_told(void)
{
	return proc_has_thread(getpid(), getpid()) && !proc_has_thread(getppid(), getpid());
}

void jobscan_before(struct jobscan *s, const struct world *w)
{
	s->has_last = threads_are_told() && lastpid_read(w, &s->last) == 0;
}

static void members_push(struct jobscan *s, const struct tasks *tasks, const struct unit_table *units)
{
	for (size_t i = 0; i < units->n_members; i++)
		if (!jobscan_push(s, tasks->rows[units->member[i].row].pid))
			return;
	s->is_ready = units->n_dropped == 0;
}

void jobscan_begin(struct jobscan *s, const struct tasks *tasks, const struct unit_table *units, uint64_t mono_ns)
{
	s->n = s->n_unborn = 0;
	s->full_ns = mono_ns;
	s->is_ready = s->has_last && tasks->dropped == 0;
	if (!s->is_ready)
		return;
	members_push(s, tasks, units);
	for (size_t i = 0; i < tasks->n && s->is_ready; i++)
		if (is_between_parents(tasks, &tasks->rows[i]))
			jobscan_push(s, tasks->rows[i].pid);
	grouppids_sort(s->pids, s->n);
}

/*
 * A number was given. That of a thread, too, is asked for again until it is old, which costs a third of a microsecond.
 * False: a sweep of all is needed.
 */
static bool number_look(struct jobscan *s, struct tasks *tasks, const struct world *w, pid_t pid, uint64_t until_ns)
{
	if (!proc_has_thread(pid, pid)) {
		if (s->n_unborn == JOBSCAN_UNBORN)
			return false;
		s->unborn[s->n_unborn].pid = pid;
		s->unborn[s->n_unborn++].until_ns = until_ns;
		return true;
	}
	tasks_refresh(tasks, w, &pid, 1);
	return !tasks_find(tasks, pid) || jobscan_push(s, pid);
}

/* Those that have begun since the last look. */
static bool numbers_look(struct jobscan *s, struct tasks *tasks, const struct world *w, uint64_t now)
{
	pid_t last;
	if (lastpid_read(w, &last) != 0 || last < s->last || last - s->last > JOBSCAN_NEW)
		return false;
	size_t n = s->n_unborn;
	s->n_unborn = 0; /* places before the one that is being read are free */
	for (size_t i = 0; i < n; i++)
		if (s->unborn[i].until_ns > now &&
		    !number_look(s, tasks, w, s->unborn[i].pid, s->unborn[i].until_ns))
			return false;
	while (s->last < last)
		if (!number_look(s, tasks, w, ++s->last, now + unborn_ns))
			return false;
	return true;
}

static bool is_young(const struct task_row *row, uint64_t boot_ns, uint64_t tick_ns)
{
	return sub_floor(boot_ns, row->start_ticks * tick_ns) < jobscan_young_ns;
}

bool jobscan_look(struct jobscan *s, struct tasks *tasks, const struct world *w, bool full)
{
	const uint64_t now = w->mono_ns(), boot_ns = clock_boot_ns(), tick_ns = NS_PER_S / w->ticks_per_s;
	const size_t dropped = tasks->dropped;
	if (!s->is_ready)
		return false;
	full |= now - s->full_ns >= full_gap_ns;
	for (size_t i = 0; i < s->n; i++) {
		const struct task_row *row = tasks_find(tasks, s->pids[i]);
		if (full || !row || is_young(row, boot_ns, tick_ns) || !tasks_resize(tasks, w, s->pids[i]))
			tasks_refresh(tasks, w, &s->pids[i], 1);
	}
	s->is_ready = numbers_look(s, tasks, w, now) && tasks->dropped == dropped && tasks->n < tasks->cap;
	for (size_t i = 0; i < s->n && s->is_ready; i++) {
		const struct task_row *row = tasks_find(tasks, s->pids[i]);
		if (row && is_between_parents(tasks, row))
			tasks_refresh(tasks, w, &s->pids[i], 1);
	}
	if (full)
		s->full_ns = now;
	grouppids_sort(s->pids, s->n);
	return s->is_ready;
}

void jobscan_keep(struct jobscan *s, const struct tasks *tasks, const struct unit_table *units)
{
	size_t left = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct task_row *row = tasks_find(tasks, s->pids[i]);
		if (row && is_between_parents(tasks, row))
			s->pids[left++] = s->pids[i];
	}
	s->n = left;
	members_push(s, tasks, units);
	grouppids_sort(s->pids, s->n);
	for (size_t i = left = 0; i < s->n; i++)
		if (left == 0 || s->pids[left - 1] != s->pids[i])
			s->pids[left++] = s->pids[i];
	s->n = left;
}
