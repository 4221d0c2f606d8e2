#include "agent/guard/grouppids.h"

#include <string.h>

#include "base/buf.h"
#include "base/clock.h"

/* What took no longer is listed anew each time. */
static const uint64_t cheap_ns = 50 * NS_PER_US;

void grouppids_sort(pid_t *pids, size_t n)
{
	for (size_t gap = n / 2; gap > 0; gap /= 2)
		for (size_t i = gap; i < n; i++) {
			pid_t x = pids[i];
			size_t j = i;
			for (; j >= gap && pids[j - gap] > x; j -= gap)
				pids[j] = pids[j - gap];
			pids[j] = x;
		}
}

static const char *path_of(const struct guard_job *job)
{
	return !job->unit.active ? "" : job->has_group ? job->group.memory : job->adopted_cgroup;
}

static void job_list(struct grouppids_job *k, const struct world *w, const struct guard_job *job, pid_t *pids,
		     size_t room)
{
	const char *path = path_of(job);
	const uint64_t number = job->has_group ? 0 : job->adopted_number;
	const uint64_t began_ns = clock_thread_ns();
	size_t n = 0;
	TEXT_COPY(k->path, path);
	k->born_ticks = clock_boot_ns() / (NS_PER_S / w->ticks_per_s);
	const bool is_read = path[0] != '\0' && cgroup_tree_pids_of(w, path, number, pids, room, &n) == 0;
	k->is_whole = is_read && n <= room;
	k->pids = pids;
	k->n = is_read ? MIN(n, room) : 0;
	grouppids_sort(pids, k->n);
	k->listed_ns = w->mono_ns();
	k->cost_ns = sub_floor(clock_thread_ns(), began_ns);
}

/* Without who has begun since: the number was another process's. */
static void job_keep(struct grouppids_job *k, const struct tasks *tasks, pid_t *pids, size_t room)
{
	size_t left = 0;
	for (size_t i = 0; i < k->n && left < room; i++) {
		const struct task_row *row = tasks_find(tasks, k->pids[i]);
		if (!row || row->start_ticks <= k->born_ticks)
			pids[left++] = k->pids[i];
	}
	k->pids = pids;
	k->n = left;
}

void grouppids_list(struct grouppids *g, const struct world *w, const struct tasks *tasks,
		    const struct guard_job *jobs, size_t n_jobs, uint64_t rest)
{
	const uint64_t now = w->mono_ns();
	uint64_t all_ns = 0;
	size_t used = 0;
	for (size_t j = 0; j < g->n_jobs; j++)
		all_ns += g->of[j].cost_ns;
	g->at ^= 1;
	for (size_t j = 0; j < n_jobs; j++) {
		struct grouppids_job *k = &g->of[j];
		pid_t *pids = g->pool[g->at] + used;
		const size_t room = GROUPPIDS_MAX - used;
		if (j < g->n_jobs && k->cost_ns > cheap_ns && sub_floor(now, k->listed_ns) < rest * all_ns &&
		    strcmp(k->path, path_of(&jobs[j])) == 0) {
			job_keep(k, tasks, pids, room);
		} else {
			job_list(k, w, &jobs[j], pids, room);
			g->n_listed++;
		}
		used += k->n;
	}
	g->n_jobs = n_jobs;
}
