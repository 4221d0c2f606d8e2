#include "agent/guard/leavers.h"

#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"

static const uint64_t believed_ns = NS_PER_S;

/* True if /proc/PID/cgroup names no group of this name, and none below it. */
static bool is_elsewhere(const struct world *w, pid_t pid, const char *group)
{
	char path[32], text[4096];
	size_t len, n = strlen(group);
	TEXT_FORMAT(path, "%d/cgroup", (int)pid);
	if (n == 0 || file_read_at(w->proc_fd, path, text, sizeof(text), &len) != 0)
		return false;
	struct span rest = {text, len}, line;
	while (span_line(&rest, &line)) {
		struct span name = span_after(span_after(line, ":"), ":");
		if (name.p && span_starts(name, group) && (name.len == n || name.p[n] == '/'))
			return false;
	}
	return len > 0;
}

static void leaver_take(const struct evict *h, const struct task_row *row, const char *group, struct leavers *ret)
{
	struct proc_stat st;
	const struct proc_id id = {row->pid, row->start_ticks};
	if (!is_elsewhere(h->w, row->pid, group) || !proc_is_same(h->w, id, &st) || st.state == 'Z' || st.state == 'X')
		return;
	uint64_t born_ns = row->start_ticks * (NS_PER_S / h->w->ticks_per_s);
	if (sub_floor(clock_boot_ns(), born_ns) < believed_ns) {
		ret->young = true;
		return;
	}
	if (ret->n++ > 0)
		return;
	ret->pid = row->pid;
	TEXT_COPY(ret->name, row->comm);
}

/* Marks the rows of the processes that are in the job's group. False: they are too many, or it cannot be read. */
static bool insiders_mark(const struct evict *h, size_t j, bool inside[static UNIT_KNOWN_MAX])
{
	const struct grouppids_job *k = &h->groups.of[j];
	memset(inside, 0, UNIT_KNOWN_MAX * sizeof(inside[0]));
	if (j >= h->groups.n_jobs || !k->is_whole)
		return false;
	for (size_t i = 0; i < k->n; i++) {
		const struct task_row *row = tasks_find(h->tasks, k->pids[i]);
		if (row)
			inside[row - h->tasks->rows] = true;
	}
	return true;
}

void leavers_find(const struct evict *h, size_t j, struct leavers *ret)
{
	static bool inside[UNIT_KNOWN_MAX];
	const struct guard_job *job = &h->jobs[j];
	*ret = (struct leavers){.n = 0};
	if (!job->has_group || !job->unit.active || !insiders_mark(h, j, inside))
		return;
	for (size_t i = 0; i < h->units->n_members; i++) {
		const struct unit_member *m = &h->units->member[i];
		if (h->units->unit[m->unit].job == j && !inside[m->row])
			leaver_take(h, &h->tasks->rows[m->row], job->group.name, ret);
	}
}
