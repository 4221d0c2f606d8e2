/* The machine around a job that is watched: read at the start and at the end, and what lies between. */
#include <string.h>
#include <sys/statvfs.h>

#include "agent/speed/speedwatch_parts.h"
#include "base/buf.h"
#include "base/file.h"
#include "sense/memory/cgroup.h"
#include "sense/memory/meminfo.h"
#include "sense/memory/psi.h"
#include "sense/proc/procfile.h"
#include "sense/speed/numamaps.h"

void speedwatch_around_done(struct speedwatch_around *a)
{
	free(a->cpu);
	tasks_done(&a->tasks);
}

void speedwatch_around_read(const struct world *w, pid_t pid, struct tasks *tasks, struct speedwatch_around *ret)
{
	struct psi psi;
	*ret = (struct speedwatch_around){.at_ns = w->mono_ns()};
	ret->has_topo = cputopo_read(w, &ret->topo) == 0;
	ret->cpu = malloc(sizeof(*ret->cpu));
	if (ret->cpu && cpustat_read(w, ret->cpu) != 0) {
		free(ret->cpu);
		ret->cpu = NULL;
	}
	ret->has_swap = swapstat_read(w, &ret->swap) == 0;
	ret->has_quota = cpuquota_read(w, pid, &ret->quota) == 0;
	if (psi_read(w->proc_fd, "pressure/memory", &psi) == 0) {
		ret->has_pressure = true;
		ret->pressure_us = psi.some.total_us;
	}
	if (tasks) {
		ret->tasks = *tasks;
		*tasks = (struct tasks){.n = 0};
	}
}

static double ticks_cores(const struct speedwatch *s, uint64_t from, uint64_t to, double seconds)
{
	return (double)sub_floor(to, from) / (double)s->w->ticks_per_s / seconds;
}

static void processors(const struct speedwatch *s, const struct speedwatch_around *a, const struct speedwatch_around *b,
		       struct speed_machine *m)
{
	const double seconds = (double)MAX(sub_floor(b->at_ns, a->at_ns), 1u) / 1e9;
	if (b->has_topo) {
		struct cpuset_bits job = s->allowed;
		for (size_t i = 0; i < ARRAY_SIZE(job.word); i++)
			job.word[i] &= b->topo.online.word[i];
		m->cpus = cpuset_count(&b->topo.online);
		m->cores = cputopo_cores(&b->topo, &b->topo.online);
		m->job_cpus = cpuset_count(&job);
		m->job_cores = cputopo_cores(&b->topo, &job);
		m->nodes = b->topo.n_nodes;
		m->has_clock = b->topo.has_clock;
		m->clock_ratio = b->topo.clock_ratio;
		m->throttles = b->topo.has_throttles && a->topo.has_throttles
				       ? (double)sub_floor(b->topo.throttles, a->topo.throttles) / seconds
				       : 0;
	}
	if (!a->cpu || !b->cpu)
		return;
	m->has_cpu = true;
	m->busy = ticks_cores(s, a->cpu->busy, b->cpu->busy, seconds);
	m->steal = ticks_cores(s, a->cpu->steal, b->cpu->steal, seconds);
	m->iowait = ticks_cores(s, a->cpu->iowait, b->cpu->iowait, seconds);
	for (uint32_t i = 0; i < CPUTOPO_MAX; i++)
		if (b->has_topo && cpuset_has(&b->topo.online, i) && !cpuset_has(&s->allowed, i))
			m->idle_elsewhere += ticks_cores(s, a->cpu->cpu_idle[i], b->cpu->cpu_idle[i], seconds);
}

static void quota(const struct speedwatch_around *a, const struct speedwatch_around *b, struct speed_machine *m)
{
	const double seconds = (double)MAX(sub_floor(b->at_ns, a->at_ns), 1u) / 1e9;
	if (!b->has_quota || b->quota.cores <= 0)
		return;
	m->quota_cores = b->quota.cores;
	TEXT_COPY(m->quota_group, b->quota.group);
	if (!a->has_quota || strcmp(a->quota.group, b->quota.group) != 0)
		return;
	m->periods = (double)sub_floor(b->quota.periods, a->quota.periods);
	m->throttled = (double)sub_floor(b->quota.throttled, a->quota.throttled);
	m->throttled_cores = (double)sub_floor(b->quota.throttled_ns, a->quota.throttled_ns) / 1e9 / seconds;
}

static void memory(const struct speedwatch *s, struct speed_machine *m)
{
	struct cgroup_place place;
	struct cgroup_chain chain = {.n = 0};
	struct meminfo info;
	char text[8192];
	size_t len;
	if (file_read_at(s->w->proc_fd, "meminfo", text, sizeof(text), &len) == 0 &&
	    meminfo_parse((struct span){text, len}, &info) == 0) {
		m->limit_bytes = info.bytes[MEMINFO_TOTAL];
		m->used_bytes = sub_floor(info.bytes[MEMINFO_TOTAL], info.bytes[MEMINFO_AVAILABLE]);
	}
	if (cgroup_place_read(s->w, s->f->process[0].pid, &place) != 0 || place.memory_version == CGROUP_NONE ||
	    cgroup_chain_open(s->w, &place, &chain) != 0)
		return;
	for (size_t i = 0; i < chain.n; i++) {
		struct cgroup_memory g;
		if (cgroup_read_full(&chain.level[i], &g) != 0 || g.max_bytes == CGROUP_NO_LIMIT ||
		    (m->limit_bytes && g.max_bytes >= m->limit_bytes))
			continue;
		m->limit_bytes = g.max_bytes;
		m->used_bytes =
			sub_floor(g.current_bytes, g.has_stat ? g.inactive_file_bytes + g.active_file_bytes : 0);
		m->limit_is_group = true;
		m->group_full = (double)g.current_bytes > 0.95 * (double)g.max_bytes;
	}
	cgroup_chain_close(&chain);
}

static bool is_ours(const struct speedfacts *f, pid_t pid)
{
	for (size_t i = 0; i < f->n_processes; i++)
		if (f->process[i].pid == pid)
			return true;
	return pid == getpid();
}

/* Those outside the job that used most; processes that came meanwhile are left out. */
static void others_busiest(const struct speedwatch *s, const struct speedwatch_around *a,
			   const struct speedwatch_around *b)
{
	struct speedfacts *f = s->f;
	const double seconds = (double)MAX(sub_floor(b->at_ns, a->at_ns), 1u) / 1e9;
	for (size_t i = 0; i < a->tasks.n; i++) {
		const struct task_row *then = &a->tasks.rows[i];
		struct proc_stat now;
		if (is_ours(f, then->pid) || !proc_is_same(s->w, (struct proc_id){then->pid, then->start_ticks}, &now))
			continue;
		struct speed_other o = {
			.pid = then->pid,
			.run = ticks_cores(s, then->cpu_ticks, now.utime_ticks + now.stime_ticks, seconds)};
		TEXT_COPY(o.name, now.comm);
		for (size_t k = 0; k < SPEED_OTHERS; k++)
			if (k == f->n_others || o.run > f->other[k].run) {
				struct speed_other t = f->other[k];
				f->other[k] = o;
				o = t;
				if (k == f->n_others) {
					f->n_others++;
					break;
				}
			}
	}
}

/* Cores on two processors of which busy threads ran at once, when the costs were read first (or last). */
static uint32_t pairs(const struct speedwatch *s, const struct cputopo *topo, bool first)
{
	uint32_t n = 0;
	for (size_t i = 0; i < s->f->n_threads; i++) {
		const uint32_t at = first ? s->thread[i].begin.processor : s->thread[i].last.processor;
		if (s->f->thread[i].run < 0.5 || at >= CPUTOPO_MAX)
			continue;
		for (size_t k = 0; k < i; k++) {
			const uint32_t other = first ? s->thread[k].begin.processor : s->thread[k].last.processor;
			if (s->f->thread[k].run < 0.5 || other >= CPUTOPO_MAX || other == at)
				continue;
			n += topo->has_cores && topo->core[other] == topo->core[at];
		}
	}
	return n;
}

/* Of the process that used most: the part of its memory that lies on other nodes than its busiest thread runs on. */
static void remote_memory(const struct speedwatch *s, const struct cputopo *topo, struct speed_machine *m)
{
	const struct speed_thread *busiest = NULL;
	struct numamaps maps;
	for (size_t i = 0; i < s->f->n_threads; i++)
		if (!busiest || s->f->thread[i].run > busiest->run)
			busiest = &s->f->thread[i];
	if (topo->n_nodes < 2 || !busiest || busiest->processor >= CPUTOPO_MAX ||
	    topo->node[busiest->processor] >= NUMAMAPS_NODES ||
	    numamaps_read(s->w, s->f->process[busiest->process].pid, &maps) != 0 || maps.all_bytes == 0)
		return;
	m->has_remote = true;
	m->remote_ratio = 1 - (double)maps.bytes[topo->node[busiest->processor]] / (double)maps.all_bytes;
}

/* A container has a /dev/shm of its own. */
static void shm_of_job(const struct speedwatch *s, struct speed_machine *m)
{
	cleanup(closep) int own_fd = -1;
	struct statvfs shm;
	if (procfile_folder(s->w, s->f->process[0].pid, "/dev/shm", &own_fd) != 0)
		own_fd = -1;
	const int fd = own_fd >= 0 ? own_fd : s->w->shm_fd;
	if (fd < 0 || fstatvfs(fd, &shm) != 0)
		return;
	m->shm_total_bytes = (uint64_t)shm.f_blocks * shm.f_frsize;
	m->shm_free_bytes = (uint64_t)shm.f_bavail * shm.f_frsize;
}

void speedwatch_machine(const struct speedwatch *s, const struct speedwatch_around *a,
			const struct speedwatch_around *b)
{
	struct speed_machine *m = &s->f->machine;
	const double seconds = (double)MAX(sub_floor(b->at_ns, a->at_ns), 1u) / 1e9;
	processors(s, a, b, m);
	m->has_running = s->n_running > 0;
	m->running = m->has_running ? (double)s->running / (double)s->n_running : 0;
	if (b->has_topo) {
		m->job_pairs = MIN(pairs(s, &b->topo, true), pairs(s, &b->topo, false));
		remote_memory(s, &b->topo, m);
	}
	quota(a, b, m);
	memory(s, m);
	others_busiest(s, a, b);
	if (a->has_swap && b->has_swap) {
		m->has_swap = true;
		m->swap_in_bytes = (double)(sub_floor(b->swap.in_pages, a->swap.in_pages) * s->w->page_bytes) / seconds;
		m->swap_out_bytes =
			(double)(sub_floor(b->swap.out_pages, a->swap.out_pages) * s->w->page_bytes) / seconds;
	}
	if (a->has_pressure && b->has_pressure) {
		m->has_pressure = true;
		m->memory_pressure = MIN((double)sub_floor(b->pressure_us, a->pressure_us) / 1e6 / seconds, 1.0);
	}
	shm_of_job(s, m);
}
