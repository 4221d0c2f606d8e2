/* Verdicts on other killers, by their own log lines. */
#include <signal.h>
#include <string.h>

#include "base/signame.h"
#include "base/units.h"
#include "judge/death/postmortem_parts.h"

static bool action_is(const struct killer_line *l, const char *action)
{
	return strcmp(l->action, action) == 0;
}

static const char *daemon_words(enum killer k)
{
	switch (k) {
	case KILLER_EARLYOOM: return "earlyoom";
	case KILLER_NOHANG: return "nohang";
	case KILLER_RAY: return "Ray's memory monitor";
	case KILLER_SYSTEMD_OOMD: return "systemd-oomd";
	case KILLER_OOMD: return "Meta's oomd";
	case KILLER_SLURM: return "Slurm";
	case KILLER_KUBERNETES: return "Kubernetes";
	case KILLER_KERNEL: return "the kernel's OOM killer";
	case KILLER_SIGNAL: return "systemd";
	default: return "another program";
	}
}

enum incident_kind pm_kind_of(enum killer k)
{
	switch (k) {
	case KILLER_EARLYOOM:
	case KILLER_NOHANG:
	case KILLER_RAY:
	case KILLER_OOMD: return INCIDENT_OTHER_OOM_DAEMON;
	case KILLER_SYSTEMD_OOMD: return INCIDENT_SYSTEMD_OOMD;
	case KILLER_KERNEL: return INCIDENT_KERNEL_OOM;
	default: return INCIDENT_KILLED_BY;
	}
}

void pm_line_evidence(struct pm *p, const struct killer_line *l)
{
	bool system = strcmp(l->source, "journal") == 0 || strcmp(l->source, "kmsg") == 0;
	incident_evidence_add(p->i, system ? l->source : "log", l->source, l->time_unix_ms, "%s", l->line);
}

static void memory_from(struct pm *p, const struct killer_line *l)
{
	struct incident *i = p->i;
	if (l->memory_total_bytes == 0)
		return;
	memset(&i->memory, 0, sizeof(i->memory));
	i->memory.valid = true;
	i->memory.used_bytes = l->memory_used_bytes;
	i->memory.total_bytes = l->memory_total_bytes;
	i->memory.ratio = (double)l->memory_used_bytes / (double)l->memory_total_bytes;
	i->memory.scope = MEMORY_SCOPE_NODE;
	if (l->limit_ratio > 0)
		i->memory.threshold_ratio = l->limit_ratio;
	i->memory.swap_total_bytes = l->swap_total_bytes;
	i->memory.swap_free_bytes = sub_floor(l->swap_total_bytes, l->swap_used_bytes);
}

/* A daemon that names the process it ended. */
static void daemon_verdict(struct pm *p, const struct killer_line *l, bool worker)
{
	char who[PM_WHO], id[48], one[16], two[16], three[16];
	const char *daemon = daemon_words(l->killer), *sig = signame(l->signal);
	pm_who(p->d, who);
	TEXT_FORMAT(id, "%s_kill%s", l->killer == KILLER_SYSTEMD_OOMD ? "systemd_oomd" : killer_name(l->killer),
		    worker ? "_worker" : "");
	pm_verdict(p, pm_kind_of(l->killer), l->killer, id,
		   l->time_unix_ms || worker ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	pm_killer_text(p, "%s", daemon);
	if (worker)
		pm_summary(p, "%s failed because %s ended %s (pid %d) of the same job for memory.", who, daemon,
			   l->name[0] ? l->name : "a worker", (int)l->pid);
	else
		pm_summary(p, "%s was ended by %s%s%s.", who, daemon, sig ? " with " : "", sig ? sig : "");
	pm_text(p, "%s", p->i->summary);
	if (l->memory_total_bytes)
		pm_text(p, "The node held %s of %s%s.", size_format(l->memory_used_bytes, one),
			size_format(l->memory_total_bytes, two), l->limit_ratio > 0 ? ", above its threshold" : "");
	if (l->victim_bytes)
		pm_text(p, "The process held %s.", size_format(l->victim_bytes, three));
	if (l->ray_id[0])
		pm_text(p, "Ray calls it %s.", l->ray_id);
	if (l->killer == KILLER_RAY && worker)
		pm_text(p, "Ray had no retry left for it (max_retries of a task, max_restarts of an actor, "
			   "RAY_task_oom_retries): otherwise the driver is not told.");
	if (worker) {
		const struct death_former *former = pm_former(p->d, l->pid);
		p->i->victim.pid = l->pid;
		p->i->victim.rank = former ? former->rank : p->d->rank;
		TEXT_COPY(p->i->victim.name, l->name);
		p->i->victim.command[0] = '\0';
		p->i->victim.has_exit_code = p->i->victim.has_memory = false;
		p->i->victim.signal = l->signal;
	}
	memory_from(p, l);
	pm_line_evidence(p, l);
}

static void daemon_advice(struct pm *p, const struct killer_line *l)
{
	if (l->killer == KILLER_RAY)
		incident_advice_add(p->i, "Run fewer tasks at once (a larger num_cpus for each), or give each a "
					  "memory= request; RAY_memory_usage_threshold moves the threshold.");
	else if (l->killer == KILLER_EARLYOOM)
		incident_advice_add(p->i, "earlyoom acts on the whole machine: keep it off the job with its --avoid, "
					  "or leave it more free memory.");
	else if (l->killer == KILLER_NOHANG)
		incident_advice_add(p->i, "nohang acts on the whole machine: lower the job's badness in nohang.conf, "
					  "or leave it more free memory.");
	pm_advise_less_memory(p);
}

/* Adds the daemon's reason, which it logs a moment before its kill line. */
static void low_memory_evidence(struct pm *p, const struct killer_line *kill)
{
	for (size_t n = 0; n < p->d->n_killer_lines; n++) {
		const struct killer_line *l = &p->d->killer_lines[n];
		if (l == kill || l->killer != kill->killer || !action_is(l, "low_memory"))
			continue;
		pm_line_evidence(p, l);
		pm_text(p, "Available memory was down to %.1f %%.", l->value_ratio * 100);
		return;
	}
}

/* True when the driver ended by Ray's own exception about a task's death. */
static bool ray_driver(const struct pm *p)
{
	const struct log_hint *h = pm_hint(p->d, "python_traceback");
	return h && strstr(h->text, "OutOfMemoryError") && strstr(h->text, "ray");
}

static const struct killer_line *unit_line(const struct pm *p, const char *unit, const char *action)
{
	for (size_t n = 0; n < p->d->n_killer_lines; n++) {
		const struct killer_line *l = &p->d->killer_lines[n];
		if (action_is(l, action) && strcmp(l->group, unit) == 0 && pm_time_fits(p->d, l->time_unix_ms, 120000))
			return l;
	}
	return NULL;
}

/* PID 1 logs that it sent the signal. */
static bool systemd_verdict(struct pm *p, const struct killer_line *l)
{
	const struct killer_line *late = unit_line(p, l->group, "stop_timeout"), *oom = unit_line(p, l->group, "unit");
	const struct killer_line *oomd = unit_line(p, l->group, "kill"),
				 *over = unit_line(p, l->group, "runtime_limit");
	bool asked = strcmp(l->name, "client request") == 0;
	char who[PM_WHO];
	if (oomd && oomd->killer == KILLER_SYSTEMD_OOMD)
		return false; /* oomd ended the whole unit; PID 1 only cleaned up */
	const char *id = oom ? "systemd_oom_policy" : over ? "systemd_runtime_limit" : late ? "systemd_stop_timeout" :
			 asked ? "systemctl_kill" : "systemd_stop";
	const char *why = oom ? "another process of the unit had been killed by an OOM killer (OOMPolicy=stop)" :
			  over ? "the unit reached its RuntimeMaxSec=" :
			  late ? "the unit was being stopped and did not end in time (TimeoutStopSec=)" :
			  asked ? "somebody asked for it (systemctl kill)" : "the unit was being stopped";
	pm_verdict(p, INCIDENT_KILLED_BY, KILLER_SIGNAL, id, CONFIDENCE_HIGH);
	pm_killer_text(p, "systemd (PID 1), unit %s", l->group);
	pm_summary(p, "%s was ended by systemd with %s: %s.", pm_who(p->d, who),
		   signame(l->signal) ? signame(l->signal) : "a signal", why);
	pm_line_evidence(p, l);
	if (oom || over || late)
		pm_line_evidence(p, oom ? oom : over ? over : late);
	if (oom)
		pm_advise_less_memory(p);
	return true;
}

bool pm_killer_by_pid(struct pm *p)
{
	const struct death *d = p->d;
	const struct ending *e = &p->end;
	for (size_t n = d->n_killer_lines; n-- > 0;) {
		const struct killer_line *l = &d->killer_lines[n];
		if (l->pid == 0 || !action_is(l, "kill") || !pm_time_fits(d, l->time_unix_ms, 120000))
			continue;
		bool by_log = strcmp(l->source, "journal") != 0 && strcmp(l->source, "kmsg") != 0;
		bool same = l->pid == d->pid && (!d->pid_namespaced || by_log) &&
			    (!e->known || e->reported == l->signal || e->reported == SIGKILL || e->reported == SIGTERM);
		bool worker =
			!same && e->failed && (pm_former(d, l->pid) || (l->killer == KILLER_RAY && ray_driver(p)));
		if (same && l->killer == KILLER_SIGNAL && systemd_verdict(p, l))
			return true;
		if ((!same && !worker) || l->killer == KILLER_SIGNAL)
			continue;
		daemon_verdict(p, l, worker);
		low_memory_evidence(p, l);
		daemon_advice(p, l);
		return true;
	}
	return false;
}

static void oomd_verdict(struct pm *p, const struct killer_line *l)
{
	char who[PM_WHO], one[16], two[16], three[16];
	pm_who(p->d, who);
	pm_verdict(p, INCIDENT_SYSTEMD_OOMD, KILLER_SYSTEMD_OOMD,
		   l->pressure		   ? "systemd_oomd_pressure" :
		   l->memory_total_bytes > 0 ? "systemd_oomd_swap" :
					       "systemd_oomd_kill",
		   l->time_unix_ms && p->end.known ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	pm_killer_text(p, "systemd-oomd, group %s", l->group);
	if (l->pressure) {
		pm_summary(p, "%s was killed by systemd-oomd: memory pressure of %s was %.2f %% > %.2f %% for %llu s.",
			   who, l->monitored, l->value_ratio * 100, l->limit_ratio * 100,
			   (unsigned long long)(l->duration_ms / 1000));
		pm_text(p,
			"It ended the whole group %s. The percentage is memory pressure: the share of time in which "
			"every task of %s was stalled waiting for memory. It is not the memory in use, of which there "
			"may have been plenty.",
			l->group, l->monitored);
	} else if (l->memory_total_bytes > 0) {
		pm_summary(p, "%s was killed by systemd-oomd: memory use %s of %s and swap were both above %.0f %%.",
			   who, size_format(l->memory_used_bytes, one), size_format(l->memory_total_bytes, two),
			   l->limit_ratio * 100);
		pm_text(p,
			"It ended the whole group %s; swap held %s. Its swap rule needs both memory and swap above the "
			"limit.",
			l->group, size_format(l->swap_used_bytes, three));
	} else {
		pm_summary(p, "%s was killed by systemd-oomd with the whole unit %s.", who, l->group);
		pm_text(p, "Only systemd's own line was found, not systemd-oomd's reason. It acts on memory pressure "
			   "(stalled time, not use) or on memory and swap together.");
	}
	memory_from(p, l);
	pm_line_evidence(p, l);
	pm_advise_oomd(p, l);
}

/* systemd's line about our unit says that an OOM killer acted, but not which one. */
static bool unit_verdict(struct pm *p, const struct killer_line *l)
{
	char who[PM_WHO];
	const struct death *d = p->d;
	bool quiet = d->has_vmstat && d->vmstat_oom_after == d->vmstat_oom_before;
	bool kernel = action_is(l, "unit") || (d->has_vmstat && !quiet);
	pm_who(d, who);
	if (!kernel && !quiet) {
		pm_verdict(p, INCIDENT_KILLED_BY, KILLER_UNKNOWN, "oom_kill_unit", CONFIDENCE_LOW);
		pm_summary(p, "%s was killed with SIGKILL and its unit %s ended with Result=oom-kill.", who, l->group);
		pm_text(p, "systemd gives this result for a kernel OOM kill and for systemd-oomd alike; neither's own "
			   "record was found.");
	} else if (kernel) {
		pm_verdict(p, INCIDENT_CGROUP_OOM, KILLER_CGROUP, "unit_oom", CONFIDENCE_MEDIUM);
		pm_killer_text(p, "the kernel's OOM killer, as systemd saw it");
		pm_summary(p, "%s was killed by the kernel's OOM killer: systemd counted a kill in its unit %s.", who,
			   l->group);
		pm_text(p, "systemd reads the group's oom_kill counter; whether the unit's own limit or the machine "
			   "ran out is not in its line.");
		pm_advise_limit(p, l->group, 0);
		pm_advise_less_memory(p);
	} else {
		pm_verdict(p, INCIDENT_SYSTEMD_OOMD, KILLER_SYSTEMD_OOMD, "systemd_oomd_by_exclusion",
			   CONFIDENCE_MEDIUM);
		pm_killer_text(p, "systemd-oomd, by exclusion");
		pm_summary(p,
			   "%s was killed by systemd-oomd: unit %s ended with Result=oom-kill and the kernel killed "
			   "nobody.",
			   who, l->group);
		pm_text(p, "The kernel's count of OOM kills did not move, so of the two that give this result only "
			   "systemd-oomd is left. It acts on pressure (stalled time), not on use.");
		pm_advise_oomd(p, l);
	}
	pm_line_evidence(p, l);
	return true;
}

static bool scheduler_verdict(struct pm *p, const struct killer_line *l)
{
	static const struct {
		const char *action, *id, *words;
	} acts[] = {
		{"cancel", "cancelled", "was cancelled (scancel, or another step of the job failed)"},
		{"time_limit", "time_limit", "ran into its time limit"},
		{"preempt", "preempted", "was preempted by another job"},
		{"runtime_limit", "runtime_limit", "reached the unit's RuntimeMaxSec="},
		{"evict", "evicted", "was evicted: the node was low on memory"},
	};
	char who[PM_WHO], id[48];
	pm_who(p->d, who);
	for (size_t a = 0; a < ARRAY_SIZE(acts); a++) {
		if (!action_is(l, acts[a].action))
			continue;
		TEXT_FORMAT(id, "%s_%s", l->killer == KILLER_SIGNAL ? "systemd" : killer_name(l->killer), acts[a].id);
		pm_verdict(p, INCIDENT_KILLED_BY, l->killer, id, CONFIDENCE_HIGH);
		pm_killer_text(p, "%s%s%s", daemon_words(l->killer), l->name[0] ? ", " : "", l->name);
		pm_summary(p, "%s was ended by %s: %s %s.", who, daemon_words(l->killer), l->name[0] ? l->name : "it",
			   acts[a].words);
		if (action_is(l, "time_limit"))
			incident_advice_add(p->i, "Ask for more time (--time), or checkpoint before the limit: "
						  "--signal=B:USR1@300 warns five minutes ahead.");
		pm_line_evidence(p, l);
		return true;
	}
	if (!action_is(l, "step_oom"))
		return false;
	TEXT_FORMAT(id, "%s_oom", killer_name(l->killer));
	pm_verdict(p, INCIDENT_CGROUP_OOM, l->killer, id,
		   pm_group_kills(p->d) > 0 ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	pm_killer_text(p, "the kernel, at the memory limit that %s set", daemon_words(l->killer));
	pm_summary(p, "%s was killed at the memory limit that %s set%s%s.", who, daemon_words(l->killer),
		   l->name[0] ? " for " : "", l->name);
	pm_text(p,
		"%s reports an OOM kill in its group; which process died is not in its line, the moment and the "
		"SIGKILL fit.",
		daemon_words(l->killer));
	pm_advise_limit(p, l->killer == KILLER_SLURM ? "slurm" : "kubepods", 0);
	pm_advise_less_memory(p);
	pm_line_evidence(p, l);
	return true;
}

/* How well a line that names a group, or none, fits this death; 0: not at all. */
static int group_fit(const struct pm *p, const struct killer_line *l)
{
	const struct death *d = p->d;
	const struct ending *e = &p->end;
	if (!pm_time_fits(d, l->time_unix_ms, 60000) || l->pid != 0 || action_is(l, "summary") || action_is(l, "exit"))
		return 0;
	if (action_is(l, "runtime_limit") && (e->killed || e->reported == SIGTERM))
		return pm_unit_covers(l->group, d->cgroup) ? 3 : 0;
	bool soft = action_is(l, "cancel") || action_is(l, "time_limit") || action_is(l, "preempt") ||
		    action_is(l, "evict");
	if (soft)
		return e->killed || e->reported == SIGTERM || e->reported == SIGINT ? 2 : 0;
	if (!e->killed)
		return 0;
	if (action_is(l, "step_oom"))
		return 3;
	bool ours = l->group[0] == '/' ? pm_group_covers(l->group, d->cgroup) : pm_unit_covers(l->group, d->cgroup);
	if (!ours)
		return 0;
	if (action_is(l, "kill"))
		return l->pressure || l->memory_total_bytes || l->killer == KILLER_OOMD ? 7 : 6;
	return action_is(l, "unit") ? 5 : action_is(l, "unit_result") ? 4 : 0;
}

bool pm_killer_by_group(struct pm *p)
{
	const struct killer_line *best = NULL;
	int fit = 0;
	for (size_t n = 0; n < p->d->n_killer_lines; n++) {
		int one = group_fit(p, &p->d->killer_lines[n]);
		if (one > fit) {
			fit = one;
			best = &p->d->killer_lines[n];
		}
	}
	if (!best)
		return false;
	if (fit == 5 || fit == 4) {
		/* The group's own counter is more exact than systemd's line about it. */
		if (pm_counters(p)) {
			pm_line_evidence(p, best);
			return true;
		}
		return unit_verdict(p, best);
	}
	if (fit < 4)
		return scheduler_verdict(p, best);
	if (best->killer == KILLER_SYSTEMD_OOMD) {
		oomd_verdict(p, best);
		return true;
	}
	daemon_verdict(p, best, false);
	daemon_advice(p, best);
	return true;
}
