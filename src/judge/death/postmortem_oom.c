/* Verdicts on the kernel's OOM killer: by its records, and by its counters where there is no record. */
#include <signal.h>
#include <string.h>

#include "base/path.h"
#include "base/units.h"
#include "judge/death/postmortem_parts.h"

enum match {
	MATCH_NONE,
	MATCH_PID,     /* the process itself */
	MATCH_FORMER,     /* another process of the job, whose death took this one down */
	MATCH_LIKELY,  /* same name and time, where pids cannot be compared */
};

/* True when the job's own last words name the pid as killed. */
static bool named_in_log(const struct death *d, pid_t pid)
{
	for (size_t k = 0; k < d->n_hints; k++)
		if (d->hints[k].pid == pid)
			return true;
	return false;
}

/* Compares the last parts of the names: the kernel may see more of a group's path than we do. */
static bool in_own_group(const struct death *d, const struct kernel_kill *k)
{
	return d->own_group && d->cgroup[0] && k->task_memcg[0] &&
	       strcmp(path_name(d->cgroup), path_name(k->task_memcg)) == 0;
}

static enum match match_of(const struct pm *p, const struct kernel_kill *k)
{
	const struct death *d = p->d;
	const int64_t former_ms = 120000, likely_ms = 15000;
	bool main_itself = !d->pid_namespaced && k->pid == d->pid;
	if (!main_itself && p->end.failed && in_own_group(d, k))
		return MATCH_FORMER;
	if (!d->pid_namespaced) {
		if (k->pid == d->pid)
			return p->end.killed && pm_time_fits(d, k->time_unix_ms, -1) ? MATCH_PID : MATCH_NONE;
		if (!p->end.failed)
			return MATCH_NONE;
		if (named_in_log(d, k->pid) && pm_time_fits(d, k->time_unix_ms, -1))
			return MATCH_FORMER;
		return pm_former(d, k->pid) && pm_time_fits(d, k->time_unix_ms, former_ms) ? MATCH_FORMER : MATCH_NONE;
	}
	char comm[16];
	TEXT_COPY(comm, d->name);
	bool alike = p->end.killed && k->time_unix_ms != 0 && strcmp(k->comm, comm) == 0;
	return alike && pm_time_fits(d, k->time_unix_ms, likely_ms) ? MATCH_LIKELY : MATCH_NONE;
}

uint64_t pm_group_kills(const struct death *d)
{
	const struct group_counters *g = &d->groups[0];
	return d->n_groups > 0 && g->valid ? sub_floor(g->oom_kills_after, g->oom_kills_before) : 0;
}

static uint64_t kill_rss(const struct kernel_kill *k)
{
	return add_cap(k->anon_rss_bytes, add_cap(k->file_rss_bytes, k->shmem_rss_bytes));
}

static void record_evidence(struct pm *p, const struct kernel_kill *k)
{
	incident_evidence_add(p->i, "kmsg", "kernel log", k->time_unix_ms, "%s", k->line);
	if (k->n_tasks < 2)
		return;
	char text[300], size[16];
	struct buf b = BUF_ON(text);
	for (size_t t = 0; t < k->n_tasks; t++)
		buf_printf(&b, "%s%s (pid %d) %s", t ? ", " : "", k->tasks[t].comm, (int)k->tasks[t].pid,
			   size_format(k->tasks[t].rss_bytes, size));
	incident_evidence_add(p->i, "kmsg", "kernel log", k->time_unix_ms,
			      "largest of %zu tasks the kernel weighed: %s", k->n_tasks_all, text);
}

static void victim_from(struct pm *p, const struct kernel_kill *k, enum match m)
{
	struct incident *i = p->i;
	if (m == MATCH_FORMER) {
		const struct death_former *former = pm_former(p->d, k->pid);
		i->victim.pid = k->pid;
		i->victim.rank = former ? former->rank : p->d->rank;
		TEXT_COPY(i->victim.name, k->comm);
		i->victim.command[0] = '\0';
		i->victim.has_exit_code = false;
		i->victim.exit_code = 0;
		i->victim.signal = SIGKILL;
		i->victim.has_memory = false;
	}
	if (!k->has_rss)
		return;
	i->victim.has_memory = true;
	i->victim.own_bytes = k->anon_rss_bytes;
	i->victim.rss_bytes = kill_rss(k);
	i->victim.shared_bytes = add_cap(k->file_rss_bytes, k->shmem_rss_bytes);
}

static void memory_from(struct pm *p, const struct kernel_kill *k)
{
	struct incident *i = p->i;
	uint64_t total = k->memcg ? k->limit_bytes : k->ram_bytes;
	if (total == 0 || (k->memcg && k->usage_bytes == 0))
		return;
	memset(&i->memory, 0, sizeof(i->memory));
	i->memory.valid = true;
	i->memory.total_bytes = total;
	i->memory.used_bytes = k->memcg ? k->usage_bytes : total;
	i->memory.ratio = (double)i->memory.used_bytes / (double)total;
	i->memory.scope = k->memcg ? MEMORY_SCOPE_CONTAINER : MEMORY_SCOPE_NODE;
	if (k->has_swap) {
		i->memory.swap_total_bytes = k->swap_total_bytes;
		i->memory.swap_free_bytes = k->swap_free_bytes;
	}
	TEXT_COPY(i->memory.level, k->memcg ? k->oom_memcg : "the machine");
}

/* The innermost level whose limit was hit. cgroup v2 counts hits upwards, so the innermost one has the limit. */
static const struct group_counters *limit_hit(const struct death *d)
{
	for (size_t g = 0; g < d->n_groups; g++)
		if (d->groups[g].valid && d->groups[g].max_events_after > d->groups[g].max_events_before)
			return &d->groups[g];
	return NULL;
}

/* So near to its limit a group that is full ends: the kernel charges pages in batches. */
static bool at_limit(const struct group_counters *c, uint64_t peak_bytes)
{
	const uint64_t near_bytes = 1 * MIB;
	return c->limit_bytes > 0 && peak_bytes >= c->limit_bytes - MIN(c->limit_bytes / 64, near_bytes);
}

/*
 * Without a counter that moved: the innermost group whose use came up to its limit since the start. v1 counts no hit
 * where the limits with and without swap are the same, as Kubernetes sets them.
 */
static const struct group_counters *limit_reached(const struct death *d)
{
	for (size_t g = 0; g < d->n_groups; g++) {
		const struct group_counters *c = &d->groups[g];
		if (c->valid && at_limit(c, c->peak_bytes) && !at_limit(c, c->peak_before_bytes))
			return c;
	}
	return NULL;
}

/* True if no limit can be ruled out: it may be above the groups that are seen, or its use had been at it before. */
static bool limit_may_be_hidden(const struct death *d)
{
	for (size_t g = 0; g < d->n_groups; g++)
		if (d->groups[g].valid && at_limit(&d->groups[g], d->groups[g].peak_bytes))
			return true;
	return d->pid_namespaced;
}

/* The limit was hit, so the group's memory was full then; how full the whole machine was is irrelevant. */
static void memory_full(struct pm *p, const struct group_counters *c)
{
	struct incident *i = p->i;
	if (!c || c->limit_bytes == 0)
		return;
	memset(&i->memory, 0, sizeof(i->memory));
	i->memory.valid = true;
	i->memory.total_bytes = i->memory.used_bytes = c->limit_bytes;
	i->memory.ratio = 1;
	i->memory.scope = MEMORY_SCOPE_CONTAINER;
	TEXT_COPY(i->memory.level, c->group);
}

/* Writes "the memory limit of /a (64.00 MiB) was reached" or "the machine ran out of memory". */
static void where_words(const struct kernel_kill *k, const struct group_counters *hit, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	char limit[16];
	buf_reset(&b);
	if (!k->memcg) {
		buf_add(&b, strcmp(k->constraint, "CONSTRAINT_CPUSET") == 0
				    ? "the NUMA nodes of its cpuset ran out of memory"
			    : strcmp(k->constraint, "CONSTRAINT_MEMORY_POLICY") == 0
				    ? "the NUMA nodes of its memory policy ran out"
				    : "the machine ran out of memory");
		return;
	}
	if (!k->oom_memcg[0] && !hit) {
		buf_add(&b, "a memory limit of its control group or of one above was reached");
		return;
	}
	uint64_t limit_bytes = hit ? hit->limit_bytes : k->limit_bytes;
	buf_printf(&b, "the memory limit of %s", hit ? hit->group : k->oom_memcg);
	if (limit_bytes > 0)
		buf_printf(&b, " (%s)", size_format(limit_bytes, limit));
	buf_add(&b, " was reached");
}

/* True when the processes of the table together hold less than half of what the group is charged for. */
static bool outside_processes(const struct kernel_kill *k)
{
	uint64_t sum = 0;
	if (k->usage_bytes == 0 || k->n_tasks == 0 || k->n_tasks_all > KERNEL_KILL_TASKS)
		return false;
	for (size_t t = 0; t < k->n_tasks; t++)
		sum = add_cap(sum, k->tasks[t].rss_bytes);
	return sum < k->usage_bytes / 2;
}

static void kernel_text(struct pm *p, const struct kernel_kill *k, const struct group_counters *hit, enum match m)
{
	const struct death *d = p->d;
	if (k->memcg && k->oom_memcg[0] && d->cgroup[0] && pm_group_covers(k->oom_memcg, d->cgroup))
		pm_text(p, "The limit is that of %s%s.",
			strcmp(k->oom_memcg, d->cgroup) == 0 ? "the process's own group"
							     : "a group above the process's own, ",
			strcmp(k->oom_memcg, d->cgroup) == 0 ? "" : d->cgroup);
	if (k->memcg && !k->oom_memcg[0])
		pm_text(p,
			"The kernel's report was cut to this one line (it prints at most ten in 5 s), so it does not "
			"say whose limit%s.",
			hit ? "; that is from the groups' own counters" : "");
	if (k->group_kill)
		pm_text(p, "memory.oom.group is set, so the kernel ended every process of the group.");
	if (k->allocating_task)
		pm_text(p, "vm.oom_kill_allocating_task is set, so the kernel ended whoever asked for memory, not the "
			   "largest.");
	if (k->by_hand)
		pm_text(p, "The kill was asked for by hand (sysrq f).");
	if (k->sacrificed_for)
		pm_text(p, "The kernel had chosen its parent (pid %d) and ended this child instead.",
			(int)k->sacrificed_for);
	if (k->invoker[0] && strcmp(k->invoker, k->comm) != 0)
		pm_text(p, "The allocation that failed was made by %s.", k->invoker);
	if (k->has_adj && k->oom_score_adj > 0)
		pm_text(p, "Its oom_score_adj of %d made it a preferred victim.", k->oom_score_adj);
	if (k->reap_failed)
		pm_text(p, "The kernel could not take its memory back at once (the oom_reaper failed).");
	if (outside_processes(k))
		pm_text(p, "Most of the group's memory was not in its processes: shared memory or files in a tmpfs "
			   "(/dev/shm), which killing does not free.");
	if (m == MATCH_LIKELY)
		pm_text(p, "Inside this container pids differ from the kernel's; name and moment match, not the pid.");
	if (m == MATCH_PID && k->time_unix_ms == 0)
		pm_text(p, "The record carries no time that can be compared, only the pid matches.");
}

static enum confidence kernel_confidence(const struct pm *p, const struct kernel_kill *k, enum match m)
{
	if (m == MATCH_LIKELY)
		return pm_group_kills(p->d) > 0 ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
	return k->time_unix_ms == 0 ? CONFIDENCE_MEDIUM : CONFIDENCE_HIGH;
}

bool pm_kernel(struct pm *p)
{
	const struct kernel_kill *k = NULL;
	enum match m = MATCH_NONE;
	for (size_t n = 0; n < p->d->n_kernel_kills; n++) {
		enum match one = match_of(p, &p->d->kernel_kills[n]);
		if (one == MATCH_NONE || (m != MATCH_NONE && one > m))
			continue;
		k = &p->d->kernel_kills[n]; /* the latest one of the best kind */
		m = one;
	}
	if (!k)
		return false;
	char who[PM_WHO], where[400], size[16], worker[80];
	const struct group_counters *hit = k->memcg && !k->oom_memcg[0] ? limit_hit(p->d) : NULL;
	pm_who(p->d, who);
	where_words(k, hit, where, sizeof(where));
	TEXT_FORMAT(worker, "%s (pid %d)", k->comm, (int)k->pid);
	pm_verdict(p, k->memcg ? INCIDENT_CGROUP_OOM : INCIDENT_KERNEL_OOM, k->memcg ? KILLER_CGROUP : KILLER_KERNEL,
		   k->memcg ? (m == MATCH_FORMER ? "cgroup_oom_worker" : "cgroup_oom") :
			      (m == MATCH_FORMER ? "kernel_oom_worker" : "kernel_oom"),
		   kernel_confidence(p, k, m));
	pm_killer_text(p, "the kernel's OOM killer%s%s", k->oom_memcg[0] ? ", limit of " : "", k->oom_memcg);
	char held[64] = "";
	if (k->has_rss)
		TEXT_FORMAT(held, "; it held %s", size_format(kill_rss(k), size));
	if (m == MATCH_FORMER)
		pm_summary(p, "%s failed because the kernel killed %s of the same job: %s%s.", who, worker, where,
			   held);
	else
		pm_summary(p, "%s was killed by the kernel: %s%s.", who, where, held);
	pm_text(p, "%s", p->i->summary);
	kernel_text(p, k, hit, m);
	victim_from(p, k, m);
	memory_from(p, k);
	memory_full(p, hit);
	record_evidence(p, k);
	if (k->memcg)
		pm_advise_limit(p, hit ? hit->group : k->oom_memcg, hit ? hit->limit_bytes : k->limit_bytes);
	pm_advise_less_memory(p);
	return true;
}

/* The number of kills of other processes in the same group, which account for its counter. */
static uint64_t neighbours_in_group(const struct death *d)
{
	uint64_t n = 0;
	for (size_t k = 0; k < d->n_kernel_kills; k++)
		if (d->kernel_kills[k].task_memcg[0] && strcmp(d->kernel_kills[k].task_memcg, d->cgroup) == 0)
			n++;
	return n;
}

static void counter_evidence(struct pm *p)
{
	for (size_t g = 0; g < p->d->n_groups; g++) {
		const struct group_counters *c = &p->d->groups[g];
		if (c->valid &&
		    (c->oom_kills_after > c->oom_kills_before || c->max_events_after > c->max_events_before))
			incident_evidence_add(
				p->i, "cgroup", c->group, 0,
				"oom_kill %llu -> %llu, limit hits %llu -> %llu since the start",
				(unsigned long long)c->oom_kills_before, (unsigned long long)c->oom_kills_after,
				(unsigned long long)c->max_events_before, (unsigned long long)c->max_events_after);
	}
	if (p->d->has_vmstat && p->d->vmstat_oom_after > p->d->vmstat_oom_before)
		incident_evidence_add(
			p->i, "vmstat", "vmstat oom_kill", 0, "kernel OOM kills on the machine: %llu -> %llu",
			(unsigned long long)p->d->vmstat_oom_before, (unsigned long long)p->d->vmstat_oom_after);
}

/* Only the machine's own count moved, and the kernel's log cannot be read. */
static bool machine_counter(struct pm *p)
{
	const struct death *d = p->d;
	bool own_quiet = d->n_groups > 0 && d->groups[0].valid;
	if (!d->has_vmstat || d->vmstat_oom_after <= d->vmstat_oom_before || own_quiet || !pm_unavailable(d, "kmsg"))
		return false;
	char who[PM_WHO];
	pm_verdict(p, INCIDENT_KERNEL_OOM, KILLER_KERNEL, "kernel_oom_counter", CONFIDENCE_LOW);
	pm_killer_text(p, "probably the kernel's OOM killer");
	pm_summary(p, "%s was probably killed by the kernel for memory: the machine's count of OOM kills rose by %llu.",
		   pm_who(d, who), (unsigned long long)(d->vmstat_oom_after - d->vmstat_oom_before));
	pm_text(p, "The count is for the whole machine and the kernel log cannot be read, so another process may have "
		   "been the one.");
	counter_evidence(p);
	pm_advise_less_memory(p);
	return true;
}

bool pm_counters(struct pm *p)
{
	const struct death *d = p->d;
	uint64_t grew = pm_group_kills(d);
	bool worker = !p->end.killed && (pm_hint(d, "dataloader_killed") || pm_hint(d, "torchrun_failure"));
	if (!p->end.killed && !worker)
		return false;
	if (grew == 0 || (!d->pid_namespaced && neighbours_in_group(d) >= grew))
		return p->end.killed && p->end.known && machine_counter(p);
	char who[PM_WHO], size[16];
	const struct group_counters *counted = limit_hit(d), *limit = counted ? counted : limit_reached(d);
	const bool hidden = !limit && limit_may_be_hidden(d);
	pm_who(d, who);
	pm_verdict(p, limit ? INCIDENT_CGROUP_OOM : INCIDENT_KERNEL_OOM, limit ? KILLER_CGROUP : KILLER_KERNEL,
		   limit ? "cgroup_oom_counter" : "kernel_oom_counter", hidden ? CONFIDENCE_LOW : CONFIDENCE_MEDIUM);
	pm_killer_text(p, "the kernel's OOM killer, by its counters");
	if (limit && limit->limit_bytes)
		pm_summary(
			p,
			"%s was %s: the memory limit of %s (%s) was %s and its group's OOM kill count rose by %llu.",
			who, worker ? "taken down by a kernel OOM kill of its worker" : "killed by the kernel",
			limit->group, size_format(limit->limit_bytes, size), counted ? "hit" : "reached",
			(unsigned long long)grew);
	else
		pm_summary(p, "%s was %s: the OOM kill count of its group %s rose by %llu%s.", who,
			   worker ? "taken down by a kernel OOM kill of its worker" : "killed by the kernel",
			   d->groups[0].group, (unsigned long long)grew,
			   limit    ? " after a limit was hit"
			   : hidden ? "; whether a limit was hit, or the machine ran out, cannot be seen here"
				    : "; no limit of a group was hit, so the machine ran out");
	pm_text(p, "Only counters say so: the kernel log %s.",
		pm_unavailable(d, "kmsg") ? "cannot be read here"
					  : "holds no record of this pid (it may have been overwritten)");
	if (limit && !counted)
		incident_evidence_add(p->i, "cgroup", limit->group, 0,
				      "the most that it used: %llu bytes at the start, %llu now, of %llu",
				      (unsigned long long)limit->peak_before_bytes,
				      (unsigned long long)limit->peak_bytes, (unsigned long long)limit->limit_bytes);
	counter_evidence(p);
	memory_full(p, limit);
	if (limit)
		pm_advise_limit(p, limit->group, limit->limit_bytes);
	pm_advise_less_memory(p);
	return true;
}

void pm_neighbours(struct pm *p)
{
	size_t reported = 0;
	for (size_t n = 0; n < p->d->n_kernel_kills && reported < 4; n++) {
		const struct kernel_kill *k = &p->d->kernel_kills[n];
		if (match_of(p, k) != MATCH_NONE)
			continue;
		bool ours = k->pid == p->d->pid;
		incident_evidence_add(p->i, "neighbour", "kernel log", k->time_unix_ms, "%s: %s",
				      ours ? "an earlier process with the same pid was killed, not this one" :
					     "the kernel killed another process, not this one",
				      k->line);
		reported++;
	}
}
