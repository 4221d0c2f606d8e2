#include "agent/metrics/metricslive.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "agent/gpu/gpus.h"
#include "agent/memory/memory.h"
#include "base/buf.h"
#include "sense/memory/cgroup.h"
#include "sense/memory/meminfo.h"
#include "sense/proc/tasks.h"

#define TASKS_CAP 65536
#define HELPER_NAME "vigil-"
#define GPU_CALL_NS NS_PER_S

static void container_read(const struct world *w, uint64_t node_total_bytes, struct metrics_facts *ret)
{
	struct cgroup_place place;
	struct cgroup_chain chain;
	if (cgroup_place_read(w, 0, &place) != 0 || cgroup_chain_open(w, &place, &chain) != 0)
		return;
	double fullest = -1;
	for (size_t i = 0; i < chain.n; i++) {
		struct cgroup_memory m;
		if (cgroup_read_full(&chain.level[i], &m) != 0 ||
		    (m.max_bytes == CGROUP_NO_LIMIT && m.high_bytes == CGROUP_NO_LIMIT))
			continue;
		const struct ledger_level level = ledger_group_level(&m, LEDGER_CONTAINER, node_total_bytes);
		if (ledger_ratio(&level) <= fullest)
			continue;
		fullest = ledger_ratio(&level);
		ret->has_container = true;
		ret->container_used_bytes = level.used_bytes;
		ret->container_total_bytes = level.total_bytes;
	}
	cgroup_chain_close(&chain);
}

void metricslive_node(const struct world *w, struct metrics_facts *ret)
{
	cleanup(closep) int fd = openat(w->proc_fd, "meminfo", O_RDONLY | O_CLOEXEC);
	struct meminfo m;
	if (fd < 0 || meminfo_read(fd, &m) != 0)
		return;
	const struct ledger_level node = ledger_node_level(&m, 0);
	ret->has_node = true;
	ret->node_used_bytes = node.used_bytes;
	ret->node_total_bytes = node.total_bytes;
	container_read(w, node.total_bytes, ret);
}

static void self_add(const struct world *w, const struct task_row *t, struct metrics_self *s)
{
	s->known = true;
	s->cpu_ns += t->cpu_ticks * (NS_PER_S / w->ticks_per_s);
	s->rss_bytes += task_rss_bytes(t);
}

/* A helper is a child of the supervisor, by name: vigil-guard, vigil-hang. The job's first process is one as well. */
static void self_of(const struct world *w, const struct tasks *t, struct metrics_job *j)
{
	const struct task_row *own = tasks_find(t, j->job.supervisor_pid);
	if (!job_is_open(&j->job) || !own || own->start_ticks != j->job.supervisor_start_ticks)
		return;
	self_add(w, own, &j->self[METRICS_SUPERVISOR]);
	for (size_t i = 0; i < t->n; i++)
		if (t->rows[i].ppid == own->pid && t->rows[i].pid != j->job.pid &&
		    strncmp(t->rows[i].comm, HELPER_NAME, sizeof(HELPER_NAME) - 1) == 0)
			self_add(w, &t->rows[i], &j->self[METRICS_HELPERS]);
}

void metricslive_self(const struct world *w, struct metrics_facts *ret)
{
	struct tasks t;
	bool open = false;
	for (size_t i = 0; i < ret->n_jobs; i++)
		open |= job_is_open(&ret->job[i].job);
	if (!open || tasks_init(&t, TASKS_CAP, -1) != 0)
		return;
	if (tasks_scan(&t, w) == 0)
		for (size_t i = 0; i < ret->n_jobs; i++)
			self_of(w, &t, &ret->job[i]);
	tasks_done(&t);
}

static void metricslive_process_put(const struct footprint_row *row, struct metrics_process *p)
{
	*p = (struct metrics_process){
		.pid = row->pid,
		.rank = row->who.rank,
		.own_bytes = row->own_bytes,
		.rss_bytes = row->rss_bytes,
		.shared_bytes = row->shared_bytes,
		.swap_bytes = row->swap_bytes,
		.has_pss = row->pss == PSS_KNOWN,
		.pss_bytes = row->pss_bytes,
	};
	TEXT_COPY(p->job, row->job);
	TEXT_COPY(p->role, role_name(row->who.role));
	TEXT_COPY(p->name, row->comm);
}

int metricslive_processes(const struct world *w, struct metrics_facts *ret, struct fault *f)
{
	const struct memory_want want = {.subject = "", .all = true};
	struct footprint all;
	int r = memory_gather(w, &want, &all, f);
	if (r == MEMORY_NO_PROCESS)
		return 0;
	if (r != 0)
		return r;
	ret->process = calloc(METRICS_PROCESSES, sizeof(*ret->process));
	for (size_t i = 0; ret->process && i < all.n; i++) {
		if (!all.rows[i].job[0])
			continue;
		if (ret->n_processes < METRICS_PROCESSES)
			metricslive_process_put(&all.rows[i], &ret->process[ret->n_processes++]);
		else
			ret->processes_left_out++;
	}
	footprint_done(&all);
	return ret->process ? 0 : fault_set(f, -ENOMEM, "no memory for the metrics of processes");
}

int metricslive_gpus(const struct world *w, struct metrics_facts *ret, struct fault *f)
{
	const struct gpus_want want = {.subject = "", .call_ns = GPU_CALL_NS};
	ret->gpus = calloc(1, sizeof(*ret->gpus));
	if (!ret->gpus)
		return fault_set(f, -ENOMEM, "no memory for the metrics of GPUs");
	return gpus_gather(w, &want, ret->gpus, f);
}
