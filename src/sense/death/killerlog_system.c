/* Messages of systemd-oomd, PID 1, Slurm and Kubernetes, which end whole control groups or units. */
#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "base/signame.h"
#include "sense/death/killerlog_parts.h"

/* "memory pressure for <cg> being A% > B% for > D with reclaim activity" */
static bool oomd_pressure(struct span why, struct killer_line *l)
{
	const char *being = span_rfind(why, " being ");
	if (!being)
		return false;
	struct span cg = span_after(why, "memory pressure for ");
	struct span nums = span_after((struct span){being, (size_t)(why.p + why.len - being)}, " being ");
	struct span limit = span_after(nums, " > "), lasting = span_after(limit, " for > ");
	if (!cg.p || cg.p > being || !limit.p || !killer_number(nums, &l->value_ratio) ||
	    !killer_number(limit, &l->limit_ratio))
		return false;
	span_copy((struct span){cg.p, (size_t)(being - cg.p)}, l->monitored, sizeof(l->monitored));
	if (lasting.p)
		l->duration_ms = killer_span_ms(span_before(lasting, " with "));
	l->pressure = true;
	return true;
}

/* "memory used (N) / total (N) and swap used (N) / total (N) being more than X%" */
static bool oomd_use(struct span why, struct killer_line *l)
{
	struct span used = span_after(why, "memory used ("), total = span_after(used, "/ total (");
	struct span swap = span_after(total, "swap used ("), swap_total = span_after(swap, "/ total (");
	struct span limit = span_after(swap_total, "being more than ");
	return limit.p && span_u64_prefix(used, &l->memory_used_bytes) == 0 &&
	       span_u64_prefix(total, &l->memory_total_bytes) == 0 &&
	       span_u64_prefix(swap, &l->swap_used_bytes) == 0 &&
	       span_u64_prefix(swap_total, &l->swap_total_bytes) == 0 && killer_number(limit, &l->limit_ratio);
}

bool killer_oomd_line(struct span text, struct killer_line *l)
{
	bool marked = span_starts(text, "Marked /");
	if (!marked && !span_starts(text, "Killed /"))
		return false;
	struct span group = {text.p + strlen("Killed "), text.len - strlen("Killed ")};
	const char *end = span_find(group, marked ? " for killing due to " : " due to ");
	if (!end)
		return false;
	struct span why = {end, (size_t)(text.p + text.len - end)};
	why = span_after(why, "due to ");
	l->killer = KILLER_SYSTEMD_OOMD;
	l->signal = SIGKILL;
	TEXT_COPY(l->action, "kill");
	span_copy((struct span){group.p, (size_t)(end - group.p)}, l->group, sizeof(l->group));
	if (span_starts(why, "memory pressure for "))
		return oomd_pressure(why, l);
	return span_starts(why, "memory used (") && oomd_use(why, l);
}

static const struct {
	const char *tail;
	enum killer killer;
	const char *action;
} unit_tails[] = {
	{"A process of this unit has been killed by the OOM killer.", KILLER_KERNEL, "unit"},
	{"Failed with result 'oom-kill'.", KILLER_UNKNOWN, "unit_result"},
	{"systemd-oomd killed some process(es) in this unit.", KILLER_SYSTEMD_OOMD, "kill"},
};

/* PID 1 reports a signal that it sends, or the reason why it is about to end the unit. */
static bool unit_signal(struct span tail, struct killer_line *l)
{
	l->killer = KILLER_SIGNAL;
	if (span_starts(tail, "State '") && span_has(tail, "' timed out. Killing.")) {
		TEXT_COPY(l->action, "stop_timeout");
		return true;
	}
	if (span_has(tail, " reached runtime time limit. Stopping.")) {
		TEXT_COPY(l->action, "runtime_limit");
		return true;
	}
	TEXT_COPY(l->action, "kill");
	struct span sig = span_after(tail, " with signal "), pid = span_after(tail, "Killing process ");
	if (span_starts(tail, "Sent signal ")) { /* systemctl kill */
		sig = span_after(tail, "Sent signal ");
		pid = span_after(sig, " process ");
		l->signal = signame_parse(span_before(sig, " "));
		TEXT_COPY(l->name, "client request");
	} else if (span_starts(tail, "Killing process ") && sig.p) {
		l->signal = signame_parse(span_before(sig, "."));
	}
	return l->signal != 0 && killer_pid(pid, &l->pid);
}

/* "<unit>: <message>" by PID 1 or the manager of a user. */
bool killer_unit_line(struct span text, struct killer_line *l)
{
	const char *colon = span_find(text, ": ");
	if (!colon || colon == text.p || memchr(text.p, ' ', (size_t)(colon - text.p)))
		return false;
	struct span tail = {colon + 2, (size_t)(text.p + text.len - colon - 2)};
	struct span unit = {text.p, (size_t)(colon - text.p)};
	if (!memchr(unit.p, '.', unit.len))
		return false;
	span_copy(unit, l->group, sizeof(l->group));
	for (size_t i = 0; i < ARRAY_SIZE(unit_tails); i++)
		if (span_eq(tail, unit_tails[i].tail)) {
			l->killer = unit_tails[i].killer;
			l->signal = SIGKILL;
			TEXT_COPY(l->action, unit_tails[i].action);
			return true;
		}
	struct span n = span_after(tail, "systemd-oomd killed ");
	if (span_starts(tail, "systemd-oomd killed ") && span_has(n, " process(es) in this unit.") &&
	    span_u64_prefix(n, &l->count) == 0) {
		l->killer = KILLER_SYSTEMD_OOMD;
		l->signal = SIGKILL;
		TEXT_COPY(l->action, "kill");
		return true;
	}
	return unit_signal(tail, l);
}

/* "*** JOB 7 ON n1 CANCELLED AT 2023-12-05T07:16:01 DUE TO TIME LIMIT ***" */
static bool slurm_cancel(struct span text, struct killer_line *l)
{
	struct span what = span_after(text, "*** "), why = span_after(text, " DUE TO ");
	struct span on = span_before(what, " ON ");
	if (!what.p || !span_has(text, " CANCELLED AT ") || (!span_starts(on, "JOB ") && !span_starts(on, "STEP ")))
		return false;
	span_copy(on, l->name, sizeof(l->name));
	if (why.p && span_starts(why, "TIME LIMIT"))
		TEXT_COPY(l->action, "time_limit");
	else if (why.p && span_starts(why, "PREEMPTION"))
		TEXT_COPY(l->action, "preempt");
	else
		TEXT_COPY(l->action, "cancel");
	return true;
}

bool killer_slurm_line(struct span text, struct killer_line *l)
{
	struct span n = span_after(text, "Detected ");
	l->killer = KILLER_SLURM;
	if (span_starts(text, "slurmstepd: ") && slurm_cancel(text, l))
		return true;
	if (span_starts(text, "*** ") && slurm_cancel(text, l))
		return true;
	if (n.p && (span_has(n, " oom_kill event") || span_has(n, " oom-kill event"))) {
		struct span step = span_after(n, "StepId=");
		if (!step.p)
			step = span_after(n, " in step ");
		if (!step.p || span_u64_prefix(n, &l->count) < 0)
			return false;
		struct span w;
		if (span_word(&step, &w)) {
			if (w.p[w.len - 1] == '.')
				w.len--;
			span_copy(w, l->name, sizeof(l->name));
		}
		l->signal = SIGKILL;
		TEXT_COPY(l->action, "step_oom");
		return true;
	}
	if (span_has(text, "error: Exceeded step memory limit") || span_has(text, "error: Exceeded job memory limit")) {
		TEXT_COPY(l->action, "step_oom");
		return span_has(text, "slurm") || span_starts(text, "error: ");
	}
	struct span srun = span_after(text, "srun: error: "), task = span_after(srun, ": task");
	const char *colon = task.p ? span_find(task, ": ") : NULL;
	if (!colon)
		return false;
	struct span how = {colon + 2, (size_t)(task.p + task.len - colon - 2)};
	span_copy((struct span){srun.p, (size_t)(colon - srun.p)}, l->name, sizeof(l->name));
	if (span_starts(how, "Out Of Memory")) {
		l->signal = SIGKILL;
		TEXT_COPY(l->action, "step_oom");
		return true;
	}
	TEXT_COPY(l->action, "exit");
	l->signal = signame_parse(span_before(how, " ("));
	return l->signal != 0 || span_starts(how, "Exited with exit code ");
}

bool killer_kube_line(struct span text, struct killer_line *l)
{
	l->killer = KILLER_KUBERNETES;
	struct span victim = span_after(text, "System OOM encountered, victim process: ");
	if (victim.p) {
		struct span pid = span_after(victim, ", pid: ");
		if (!killer_pid(pid, &l->pid))
			return false;
		span_copy(span_before(victim, ","), l->name, sizeof(l->name));
		l->killer = KILLER_KERNEL;
		l->signal = SIGKILL;
		TEXT_COPY(l->action, "kill");
		return true;
	}
	if (span_has(text, "The node was low on resource: memory")) {
		TEXT_COPY(l->action, "evict");
		return true;
	}
	static const char *const oom[] = {"reason=OOMKilled", "\"reason\":\"OOMKilled\"", "\"reason\": \"OOMKilled\"",
					  "Reason:       OOMKilled", "OOMKilled:true", "\"OOMKilled\":true",
					  "\"OOMKilled\": true", "reason: OOMKilled", "TaskOOM event"};
	for (size_t i = 0; i < ARRAY_SIZE(oom); i++)
		if (span_has(text, oom[i])) {
			l->signal = SIGKILL;
			TEXT_COPY(l->action, "step_oom");
			struct span id = span_after(text, "container_id:\"");
			if (id.p)
				span_copy(span_before(id, "\""), l->name, sizeof(l->name));
			return true;
		}
	return false;
}
