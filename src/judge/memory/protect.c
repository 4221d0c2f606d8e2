#include "judge/memory/protect.h"

#include <string.h>

#include "base/buf.h"
#include "base/path.h"
#include "base/units.h"

static const char *const level_names[PROTECT_LEVEL_MAX] = {"low", "normal", "high", "max"};

const char *protect_level_name(enum protect_level l)
{
	return l < PROTECT_LEVEL_MAX ? level_names[l] : "normal";
}

struct protect_wish protect_wish_of(enum protect_level l)
{
	switch (l) {
	case PROTECT_LOW:
		return (struct protect_wish){.oom_score_adj = -300, .avoid = true};
	case PROTECT_HIGH:
		return (struct protect_wish){.oom_score_adj = -999, .avoid = true, .low = true};
	case PROTECT_MAX:
		return (struct protect_wish){.oom_score_adj = -1000, .omit = true, .low = true, .min = true};
	default:
		return (struct protect_wish){.oom_score_adj = -900, .avoid = true, .low = true};
	}
}

static void kernel_threat(const struct protect_facts *p, struct findings *all)
{
	struct finding *f;
	char size[16];
	if (!p->has_adj || p->n_adj_refused > 0) {
		f = finding_add(all, "kernel-oom", SEVERITY_WARNING,
				"the kernel's OOM killer can still choose this job: oom_score_adj could not be lowered "
				"for %zu of %zu process%s",
				p->n_adj_refused, p->n_processes, p->n_processes == 1 ? "" : "es");
		if (p->machine->user_namespace)
			finding_evidence(f, "lowering it needs CAP_SYS_RESOURCE in the host's user namespace; ours is "
					    "a nested one, where the capability does not count");
		else
			finding_evidence(f, "lowering it needs CAP_SYS_RESOURCE in the first user namespace; uid %u %s",
					 p->machine->uid,
					 probe_has_cap(p->machine, PROBE_CAP_SYS_RESOURCE)
						 ? "holds it, yet the kernel refused"
						 : "runs without it");
		if (p->n_raised > 0)
			finding_evidence(f,
					 "instead %zu helper process%s of the job %s raised, to go before "
					 "its main processes; that frees only what helpers hold",
					 p->n_raised, p->n_raised == 1 ? "" : "es", p->n_raised == 1 ? "was" : "were");
		else
			finding_evidence(
				f, "nothing was done instead: the job has no helper processes that could go first");
		finding_advice(f, p->guarded ? "run `vigil protect` with that capability; without it the vigil that "
					       "guards this job acts before the kernel does"
					     : "run `vigil protect` with that capability, or start the job with `vigil "
					       "run`, which acts before the kernel does");
	} else if (p->adj_highest > -1000) {
		f = finding_add(all, "kernel-oom", SEVERITY_NOTE,
				"the kernel's OOM killer takes this job only when nothing larger is left to take");
		finding_evidence(f, "oom_score_adj %d to %d: its memory counts less by %d %% of all memory",
				 p->adj_lowest, p->adj_highest, -p->adj_highest / 10);
	} else if (p->own_bytes > 2 * GIB) {
		f = finding_add(all, "deadlock", SEVERITY_WARNING,
				"with -1000 this job of %s can never be ended by the kernel: if it is what fills the "
				"memory, everything else dies first and then the machine locks up or panics",
				size_format(p->own_bytes, size));
		finding_advice(f, "use --level high (-999), which goes last but can go");
	}
}

static void limit_threats(const struct protect_facts *p, struct findings *all)
{
	for (size_t i = 0; i < p->n_limits; i++) {
		const struct ledger_level *l = &p->limit[i];
		char used[16], total[16], left[16];
		if (l->scope == LEDGER_NODE || l->total_bytes == 0)
			continue;
		double ratio = ledger_ratio(l);
		struct finding *f = finding_add(all, "cgroup-limit", ratio > 0.9 ? SEVERITY_PROBLEM : SEVERITY_WARNING,
						"the limit of control group %s ends a process of this job when the "
						"group needs more than %s: %s",
						p->limit_name[i], size_format(l->total_bytes, total),
						p->adj_highest <= -1000 && p->has_adj
							? "with all processes at -1000 they hang instead"
							: "inside the group oom_score_adj only decides who goes first");
		finding_evidence(f, "%s in use (%.0f %%), %s left", size_format(l->used_bytes, used), ratio * 100,
				 size_format(l->available_bytes, left));
		finding_advice(
			f,
			"raise the limit (memory.max, --memory of the container, resources.limits.memory) or use less");
	}
}

static void oomd_pressure(const struct protect_facts *p, struct findings *all)
{
	double limit = p->pressure_limit_ratio > 0 ? p->pressure_limit_ratio : p->machine->oomd.pressure_limit_ratio;
	bool spared = (p->avoid || p->omit) && (p->group_root_owned || p->pressure_same_owner);
	if (p->pressure_unit[0] == '\0' || (spared && p->omit))
		return;
	struct finding *f = finding_add(
		all, "systemd-oomd-pressure", spared ? SEVERITY_NOTE : SEVERITY_WARNING,
		spared ? "systemd-oomd ends this job by pressure only when no other group below %s is left to end"
		       : "systemd-oomd ends this job's whole group when tasks below %s wait for memory too much",
		p->pressure_unit);
	finding_evidence(
		f, "limit: waiting %.0f %% of the time for %.0f s; this is pressure, not the share of memory used",
		limit * 100, p->machine->oomd.pressure_duration_s);
	if (!spared && (p->avoid || p->omit))
		finding_evidence(f,
				 "the group's wish to be spared is set but not honoured: the group's owner is neither "
				 "root nor the owner of %s",
				 p->pressure_unit);
}

static void oomd_swap(const struct protect_facts *p, struct findings *all)
{
	bool swap = p->machine->has_meminfo && p->machine->meminfo.bytes[MEMINFO_SWAP_TOTAL] > 0;
	bool spared = (p->avoid || p->omit) && p->group_root_owned;
	if (!swap || (p->swap_known && !p->swap_watched) || (spared && p->omit))
		return;
	double limit = p->machine->oomd.swap_used_limit_ratio * 100;
	struct finding *f = finding_add(
		all, "systemd-oomd-swap", spared ? SEVERITY_NOTE : SEVERITY_WARNING,
		spared ? "systemd-oomd's swap rule takes this job only when no other group that swaps is left"
		       : "systemd-oomd's swap rule can end this job's whole group: it takes the group that swaps most");
	finding_evidence(f, "it acts when more than %.0f %% of memory and %.0f %% of swap are used%s", limit, limit,
			 p->swap_known ? "" : "; whether the root slice is watched could not be asked");
	if (!spared)
		finding_advice(f, "only a group that belongs to root is spared by this rule: run the job as a system "
				  "service or scope with ManagedOOMPreference=avoid");
}

static void oomd_threats(const struct protect_facts *p, struct findings *all)
{
	if (!oom_daemons_find(&p->machine->oom_daemons, OOM_DAEMON_SYSTEMD_OOMD))
		return;
	size_t before = all->n;
	oomd_pressure(p, all);
	oomd_swap(p, all);
	if (p->adj_highest > -900 && all->n == before)
		return;
	struct finding *f = finding_add(
		all, "adj-is-not-for-oomd", SEVERITY_NOTE,
		"oom_score_adj, even -1000, does not stop systemd-oomd: it never reads it and ends whole groups");
	finding_evidence(f, "what it honours: the preference of group %s, now %s", p->group,
			 p->omit    ? "omit"
			 : p->avoid ? "avoid"
				    : "none");
	if (p->group_shared)
		finding_evidence(f, "that group holds %zu other processes, which share its fate", p->n_others);
}

static void oom_daemon_threats(const struct protect_facts *p, struct findings *all)
{
	for (size_t i = 0; i < p->machine->oom_daemons.n; i++) {
		const struct oom_daemon_row *r = &p->machine->oom_daemons.row[i];
		bool by_score =
			r->kind == OOM_DAEMON_EARLYOOM || r->kind == OOM_DAEMON_NOHANG || r->kind == OOM_DAEMON_LMKD;
		if (r->kind == OOM_DAEMON_SYSTEMD_OOMD ||
		    (r->kind == OOM_DAEMON_EARLYOOM && p->has_adj && p->adj_highest <= -1000))
			continue;
		char id[48];
		text_format(id, sizeof(id), "rival-%s", oom_daemon_name(r->kind));
		bool deterred = by_score && p->has_adj && p->adj_highest <= -300;
		struct finding *f =
			finding_add(all, id, deterred || r->kind == OOM_DAEMON_RAY ? SEVERITY_NOTE : SEVERITY_WARNING,
				    "%s %s", oom_daemon_name(r->kind), oom_daemon_rule(r->kind));
		finding_evidence(f, "process %d: %s", r->pid, r->command);
		if (r->setting[0])
			finding_evidence(f, "it was started with %s", r->setting);
		if (deterred)
			finding_evidence(f, "it goes by oom_score, which oom_score_adj %d lowers", p->adj_highest);
	}
}

static void protection_findings(const struct protect_facts *p, struct findings *all)
{
	char low[16], effective[16];
	if (!p->has_low || p->low_bytes == 0 || p->effective_low_bytes >= p->low_bytes)
		return;
	struct finding *f = finding_add(all, "memory-low-not-granted", SEVERITY_WARNING,
					"memory.low of %s is set but only %s of it holds, because a group above does "
					"not pass it on: the job may be swapped out or slowed",
					size_format(p->low_bytes, low), size_format(p->effective_low_bytes, effective));
	finding_evidence(f, "least is granted by %s", p->low_stopped_at);
	finding_advice(
		f,
		"set memory.low of that group to as much or more (systemctl set-property --runtime %s MemoryLow=%llu)",
		path_name(p->low_stopped_at), (unsigned long long)p->low_bytes);
}

static void other_threats(const struct protect_facts *p, struct findings *all)
{
	if (p->machine->panic_on_oom.valid && p->machine->panic_on_oom.value > 0) {
		struct finding *f = finding_add(all, "panic-on-oom", SEVERITY_WARNING,
						"the machine panics when memory runs out, and the job with it");
		finding_evidence(f, "vm.panic_on_oom = %lld", (long long)p->machine->panic_on_oom.value);
	}
	if (p->machine->oom_kill_allocating_task.valid && p->machine->oom_kill_allocating_task.value > 0 &&
	    !(p->has_adj && p->adj_highest <= -1000)) {
		struct finding *f = finding_add(all, "oom-kill-allocating-task", SEVERITY_WARNING,
						"the kernel ends whoever asks for memory at the moment it runs out, "
						"whatever its oom_score_adj");
		finding_evidence(f, "vm.oom_kill_allocating_task = %lld",
				 (long long)p->machine->oom_kill_allocating_task.value);
	}
	finding_add(all, "people", SEVERITY_NOTE,
		    "anybody with the right to may still end it: kill, scancel, a time limit, a shutdown, the end of "
		    "the login session");
}

void protect_threats(const struct protect_facts *p, struct findings *ret)
{
	kernel_threat(p, ret);
	limit_threats(p, ret);
	oomd_threats(p, ret);
	oom_daemon_threats(p, ret);
	protection_findings(p, ret);
	other_threats(p, ret);
}
