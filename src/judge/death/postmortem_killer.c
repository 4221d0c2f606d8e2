/* Verdicts on other killers, by their own log lines or by the sender of the signal. */
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

static enum incident_kind kind_of(enum killer k)
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

static void line_evidence(struct pm *p, const struct killer_line *l)
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
	pm_verdict(p, kind_of(l->killer), l->killer, id,
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
	line_evidence(p, l);
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
		line_evidence(p, l);
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
	line_evidence(p, l);
	if (oom || over || late)
		line_evidence(p, oom ? oom : over ? over : late);
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

/* Known daemons that send signals, by their 15-byte comm. */
static const struct {
	const char *comm;
	enum killer killer;
} senders[] = {
	{"earlyoom", KILLER_EARLYOOM},	   {"nohang", KILLER_NOHANG},	   {"systemd-oomd", KILLER_SYSTEMD_OOMD},
	{"oomd", KILLER_OOMD},		   {"raylet", KILLER_RAY},	   {"slurmstepd", KILLER_SLURM},
	{"slurmd", KILLER_SLURM},	   {"kubelet", KILLER_KUBERNETES}, {"containerd-shim", KILLER_KUBERNETES},
	{"vigil", KILLER_VIGIL},
};

static enum killer sender_killer(const char *comm)
{
	for (size_t s = 0; s < ARRAY_SIZE(senders); s++)
		if (strcmp(senders[s].comm, comm) == 0)
			return senders[s].killer;
	return KILLER_SIGNAL;
}

/* The last seen signal that fits the end; one from a process is preferred to one from the kernel. */
static const struct signal_sent *signal_find(const struct pm *p)
{
	const struct signal_sent *found = NULL;
	for (size_t n = 0; n < p->d->n_signals; n++) {
		const struct signal_sent *s = &p->d->signals[n];
		if (s->target != p->d->pid || s->signal != p->end.reported || p->end.reported == 0 ||
		    !pm_time_fits(p->d, s->time_unix_ms, 60000))
			continue;
		if (!found || !s->from_kernel || found->from_kernel)
			found = s;
	}
	return found;
}

/* The scheduler's line that explains why its daemon sent the signal. */
static const struct killer_line *scheduler_line(const struct pm *p, enum killer k)
{
	for (size_t n = 0; n < p->d->n_killer_lines; n++)
		if (p->d->killer_lines[n].killer == k && pm_time_fits(p->d, p->d->killer_lines[n].time_unix_ms, 120000))
			return &p->d->killer_lines[n];
	return NULL;
}

static void sender_evidence(struct pm *p, const struct signal_sent *s, const char *name)
{
	incident_evidence_add(p->i, "signal", "signal trace", s->time_unix_ms,
			      "%s to pid %d from %s, pid %d, uid %u%s%s", name ? name : "signal", (int)s->target,
			      s->sender_comm, (int)s->sender, (unsigned)s->sender_uid,
			      s->sender_command[0] ? ", command " : "", s->sender_command);
}

static void own_signal_verdict(struct pm *p, const struct signal_sent *s)
{
	char who[PM_WHO];
	const char *name = signame(s->signal);
	pm_verdict(p, INCIDENT_KILLED_BY, KILLER_SIGNAL, "signal_sent", CONFIDENCE_HIGH);
	pm_killer_text(p, "the process itself, pid %d", (int)s->sender);
	pm_summary(p, "%s ended itself: it sent itself %s.", pm_who(p->d, who), name ? name : "a signal");
	sender_evidence(p, s, name);
}

/* The kernel sends SIGINT and SIGHUP for the terminal; its other signals name no sender. */
static bool kernel_signal_verdict(struct pm *p, const struct signal_sent *s)
{
	char who[PM_WHO];
	const char *name = signame(s->signal);
	incident_evidence_add(p->i, "signal", "signal trace", s->time_unix_ms, "%s came from the kernel itself",
			      name ? name : "the signal");
	if (s->signal != SIGINT && s->signal != SIGHUP)
		return false;
	pm_verdict(p, INCIDENT_KILLED_BY, KILLER_SIGNAL, s->signal == SIGINT ? "terminal_interrupt" : "terminal_hangup",
		   CONFIDENCE_HIGH);
	pm_killer_text(p, "the terminal");
	pm_summary(p, "%s ended by %s from its terminal: %s.", pm_who(p->d, who), name,
		   s->signal == SIGINT ? "somebody pressed Ctrl-C" : "the terminal was closed or the connection broke");
	if (s->signal == SIGHUP)
		incident_advice_add(
			p->i,
			"Start long jobs in tmux, or with systemd-run --user, so that they outlive the terminal.");
	return true;
}

static void sender_verdict(struct pm *p, const struct signal_sent *s, enum killer k, const struct killer_line *why)
{
	char who[PM_WHO];
	const char *name = signame(s->signal);
	pm_verdict(p, kind_of(k), k, k == KILLER_SIGNAL ? "signal_sent" : "signal_sent_by_daemon", CONFIDENCE_HIGH);
	pm_killer_text(p, "%s, pid %d, uid %u%s%s", s->sender_comm, (int)s->sender, (unsigned)s->sender_uid,
		       s->sender_command[0] ? ": " : "", s->sender_command);
	pm_summary(p, "%s was ended by %s, sent by %s (pid %d, uid %u).", pm_who(p->d, who), name ? name : "a signal",
		   s->sender_comm, (int)s->sender, (unsigned)s->sender_uid);
	pm_text(p, "The kernel was seen delivering the signal, so the sender is certain%s.",
		p->end.signal ? "" : "; the exit status repeats it");
	sender_evidence(p, s, name);
	if (why)
		line_evidence(p, why);
	if (strcmp(s->sender_comm, "systemd") == 0)
		incident_advice_add(p->i, "systemd ends services that are stopped and sessions that log out: run long "
					  "jobs as a service, or enable lingering (loginctl enable-linger).");
}

bool pm_sender(struct pm *p)
{
	const struct signal_sent *s = signal_find(p);
	if (!s || (s->sender == p->d->pid && pm_is_crash(s->signal)))
		return false; /* its own abort() is a crash */
	if (s->from_kernel)
		return kernel_signal_verdict(p, s);
	if (s->sender == p->d->pid) {
		own_signal_verdict(p, s);
		return true;
	}
	enum killer k = sender_killer(s->sender_comm);
	const struct killer_line *why = k == KILLER_SIGNAL ? NULL : scheduler_line(p, k);
	if (why && k == KILLER_SLURM)
		return false; /* its own line has more: cancelled, time limit */
	if (k == KILLER_SYSTEMD_OOMD && pm_killer_by_group(p)) {
		sender_evidence(p, s, signame(s->signal)); /* its own line has more: pressure or swap, and how much */
		return true;
	}
	sender_verdict(p, s, k, why);
	return true;
}

/* The signal that a process sent to the worker whose death the failed rank's log reports. */
static const struct signal_sent *worker_signal_find(const struct pm *p, const struct log_hint *h)
{
	for (size_t n = p->d->n_signals; n-- > 0;) {
		const struct signal_sent *s = &p->d->signals[n];
		if (s->target == h->pid && s->signal == h->signal && !s->from_kernel && s->sender != h->pid &&
		    pm_time_fits(p->d, s->time_unix_ms, 120000))
			return s;
	}
	return NULL;
}

/* The last SIGKILL to a worker from outside of the job: a program also ends its own workers. */
static const struct signal_sent *outside_signal_find(const struct pm *p, int64_t shortly_ms)
{
	for (size_t n = p->d->n_signals; n-- > 0;) {
		const struct signal_sent *s = &p->d->signals[n];
		const struct death_former *former = pm_former(p->d, s->target);
		bool worker = s->target != p->d->pid && (former ? strcmp(former->role, "main") != 0 : s->of_job);
		bool outside = !s->from_kernel && s->sender != p->d->pid && !pm_former(p->d, s->sender);
		if (s->signal == SIGKILL && worker && outside && s->time_unix_ms > 0 &&
		    pm_time_fits(p->d, s->time_unix_ms, shortly_ms))
			return s;
	}
	return NULL;
}

static void worker_killer_verdict(struct pm *p, const struct signal_sent *s, enum confidence c)
{
	enum killer k = sender_killer(s->sender_comm);
	pm_verdict(p, kind_of(k), k, "worker_signal_sent", c);
	pm_killer_text(p, "%s, pid %d, uid %u%s%s", s->sender_comm, (int)s->sender, (unsigned)s->sender_uid,
		       s->sender_command[0] ? ": " : "", s->sender_command);
	sender_evidence(p, s, signame(s->signal));
}

static bool worker_signal_reported(struct pm *p, const struct log_hint *h)
{
	const struct signal_sent *s = worker_signal_find(p, h);
	char who[PM_WHO];
	if (!s)
		return false;
	worker_killer_verdict(p, s, CONFIDENCE_HIGH);
	pm_summary(p, "%s failed because its DataLoader worker (pid %d) was ended by %s, sent by %s (pid %d, uid %u).",
		   pm_who(p->d, who), (int)s->target, signame(s->signal) ? signame(s->signal) : "a signal",
		   s->sender_comm, (int)s->sender, (unsigned)s->sender_uid);
	pm_text(p,
		"The kernel was seen delivering the signal, so the sender is certain. It was not for want of memory.");
	return true;
}

/* said: the last words of the process; "": none could be read. */
static bool worker_signal_guessed(struct pm *p, const char *said, int64_t shortly_ms)
{
	const struct signal_sent *s = outside_signal_find(p, shortly_ms);
	char who[PM_WHO];
	if (!s)
		return false;
	worker_killer_verdict(p, s, CONFIDENCE_MEDIUM);
	/* A young worker is in no list of former members yet. */
	pm_summary(p, "%s failed after %s (pid %d) had been ended by SIGKILL, sent by %s (pid %d, uid %u)%s%s.",
		   pm_who(p->d, who), pm_former(p->d, s->target) ? "its worker" : "a process of its job",
		   (int)s->target, s->sender_comm, (int)s->sender, (unsigned)s->sender_uid,
		   said[0] ? ": " : "; itself it gave no reason that could be read", said);
	pm_text(p, "The kernel was seen delivering the signal, so the sender is certain; that it failed for want of "
		   "that process is likely.");
	return true;
}

bool pm_worker_sender(struct pm *p)
{
	const struct log_hint *h = pm_hint(p->d, "dataloader_killed"), *said = pm_hint(p->d, "python_traceback");
	if (p->end.killed || !p->end.failed)
		return false;
	if (h && h->pid > 0)
		return worker_signal_reported(p, h);
	return p->end.exited && said && pm_broken_pipe(said->text) && worker_signal_guessed(p, said->text, 20000);
}

bool pm_worker_sender_silent(struct pm *p)
{
	return p->end.exited && p->end.failed && !p->end.killed && !pm_hint(p->d, "python_traceback") &&
	       worker_signal_guessed(p, "", 5000);
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
	line_evidence(p, l);
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
	line_evidence(p, l);
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
		line_evidence(p, l);
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
	line_evidence(p, l);
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
			line_evidence(p, best);
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
