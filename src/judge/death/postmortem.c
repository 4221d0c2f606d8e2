#include "judge/death/postmortem.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/signame.h"
#include "base/buf.h"
#include "base/units.h"
#include "judge/death/postmortem_parts.h"

static struct ending ending_of(const struct death *d)
{
	struct ending e = {.known = d->has_status, .killed = true, .failed = true};
	if (!d->has_status) {
		/* A SIGKILL always ends its target; no other signal proves that. */
		for (size_t k = 0; k < d->n_signals; k++)
			if (d->signals[k].target == d->pid && d->signals[k].signal == SIGKILL)
				e.signal = e.reported = SIGKILL;
		return e;
	}
	if (WIFEXITED(d->wait_status)) {
		e.exited = true;
		e.code = WEXITSTATUS(d->wait_status);
		e.reported = e.code > 128 && e.code < 128 + 65 ? e.code - 128 : 0;
	} else if (WIFSIGNALED(d->wait_status)) {
		e.signal = e.reported = WTERMSIG(d->wait_status);
	}
	e.killed = e.reported == SIGKILL;
	e.failed = !e.exited || e.code != 0;
	return e;
}

static void header_fill(struct pm *p)
{
	const struct death *d = p->d;
	struct incident *i = p->i;
	TEXT_COPY(i->job, d->job);
	TEXT_COPY(i->node, d->node);
	i->attempt = d->attempt;
	i->time_unix_ms = d->end_unix_ms;
	i->victim.valid = true;
	i->victim.pid = d->pid;
	i->victim.rank = d->rank;
	TEXT_COPY(i->victim.name, d->name);
	TEXT_COPY(i->victim.command, d->command);
	i->victim.has_memory = d->has_memory;
	i->victim.own_bytes = d->own_bytes;
	i->victim.rss_bytes = d->rss_bytes;
	i->victim.shared_bytes = d->shared_bytes;
	i->victim.swap_bytes = d->swap_bytes;
	i->victim.has_exit_code = p->end.exited;
	i->victim.exit_code = p->end.code;
	i->victim.signal = p->end.signal;
	if (d->has_node_memory && d->node_total_bytes > 0) {
		i->memory.valid = true;
		i->memory.used_bytes = d->node_used_bytes;
		i->memory.total_bytes = d->node_total_bytes;
		i->memory.ratio = (double)d->node_used_bytes / (double)d->node_total_bytes;
		i->memory.scope = MEMORY_SCOPE_NODE;
	}
}

static bool clean_exit(struct pm *p)
{
	char who[PM_WHO];
	if (!p->end.exited || p->end.code != 0)
		return false;
	pm_verdict(p, INCIDENT_CLEAN_EXIT, KILLER_NONE, "clean_exit", CONFIDENCE_HIGH);
	pm_summary(p, "%s ended by itself with exit status 0.", pm_who(p->d, who));
	pm_text(p, "Nothing ended it and it reported no error.");
	return true;
}

/* True when the user asked for this end. A rank that vigil ends because another one failed has no report of its own. */
static bool asked_to_stop(struct pm *p)
{
	const struct death *d = p->d;
	const struct ending *e = &p->end;
	char who[PM_WHO];
	bool crash = e->signal == SIGSEGV || e->signal == SIGBUS || e->signal == SIGILL || e->signal == SIGFPE;
	if (crash || !d->stopping)
		return false;
	if (d->stop_signal && pm_stopped_itself(p))
		return true;
	const char *sig = d->stop_signal ? signame(d->stop_signal) : NULL;
	pm_verdict(p, INCIDENT_KILLED_BY, KILLER_SIGNAL, "asked_to_stop", CONFIDENCE_HIGH);
	pm_killer_text(p, "you asked: vigil passed on %s", sig ? sig : "the stop");
	pm_summary(p, "%s ended because you asked it to stop%s%s.", pm_who(d, who), sig ? ": vigil passed on " : "",
		   sig ? sig : "");
	pm_text(p, "%s",
		d->stop_signal == SIGINT ? "Ctrl-C, or a SIGINT sent to vigil, was passed on to the job."
					 : "vigil was told to end the job and passed that on.");
	pm_stop_sender(p);
	if (e->signal == SIGKILL)
		pm_text(p, "It did not end by itself in time, so SIGKILL followed.");
	return true;
}

static void status_evidence(struct pm *p)
{
	const struct death *d = p->d;
	const struct ending *e = &p->end;
	const char *name = e->signal || e->reported < PM_REAL_TIME ? signame(e->reported) : NULL;
	if (!e->known)
		incident_evidence_add(p->i, "wait_status", "wait(2)", d->end_unix_ms,
				      "the exit status is unknown: the process was not a child of vigil");
	else if (e->signal)
		incident_evidence_add(p->i, "wait_status", "wait(2)", d->end_unix_ms, "ended by signal %d (%s)%s",
				      e->signal, name ? name : "no name",
				      WCOREDUMP(d->wait_status) ? ", core dumped" : "");
	else if (e->reported && name)
		incident_evidence_add(p->i, "wait_status", "wait(2)", d->end_unix_ms,
				      "exit status %d = 128+%d, as a shell or a container reports %s", e->code,
				      e->reported, name);
	else
		incident_evidence_add(p->i, "wait_status", "wait(2)", d->end_unix_ms, "exit status %d", e->code);
}

static void unavailable_evidence(struct pm *p)
{
	for (size_t k = 0; k < p->d->n_unavailable && k < DEATH_UNAVAILABLE; k++) {
		char source[24];
		span_copy(span_before(span_of(p->d->unavailable[k]), ":"), source, sizeof(source));
		incident_evidence_add(p->i, "not_read", source, 0, "%s", p->d->unavailable[k]);
	}
}

typedef bool proof(struct pm *p);

/* A rank that failed by itself, and not for want of another one, is the one to look at. */
static void own_rank_culprit(struct pm *p)
{
	struct incident *i = p->i;
	bool own = i->kind == INCIDENT_CRASH || (i->kind == INCIDENT_ERROR_EXIT && i->killer == KILLER_NONE);
	const bool bare = strncmp(i->cause.id, "exit_", 5) == 0; /* why is not known, which rank is */
	if (own && i->n_culprits == 0 && (bare || i->cause.confidence > CONFIDENCE_LOW) && !p->d->stopping &&
	    !postmortem_may_follow(i))
		pm_culprit(p, p->d->rank);
}

/* Who sent the signal is known, so what the kernel killed elsewhere says nothing of this end. */
static bool sender_is_sure(const struct incident *i)
{
	return i->kind == INCIDENT_KILLED_BY && i->killer == KILLER_SIGNAL && i->cause.confidence == CONFIDENCE_HIGH;
}

void postmortem(const struct death *d, struct incident *ret)
{
	static proof *const proofs[] = {
		pm_kernel,	    asked_to_stop,   pm_killer_by_pid,
		pm_sender,	    pm_after_signal, pm_limit_signal,
		pm_worker_sender,   pm_killer_by_group, pm_counters, pm_first_error,
		pm_timeout,	    pm_shm,	     pm_log,
		pm_own_error,	    pm_crash,	     pm_worker_sender_silent,
		pm_asked_to_end,    pm_failed_child,
	};
	struct pm p = {.d = d, .end = ending_of(d), .i = ret};
	memset(ret, 0, sizeof(*ret));
	header_fill(&p);
	status_evidence(&p);
	if (clean_exit(&p))
		return;
	static struct death worker; /* large */
	bool sure = true, of_worker = pm_worker_focus(&p, &worker, &sure);
	if (of_worker) {
		p.d = &worker;
		p.end = ending_of(&worker);
		header_fill(&p);
		status_evidence(&p);
	}
	bool decided = false;
	for (size_t k = 0; k < ARRAY_SIZE(proofs) && !decided; k++)
		decided = proofs[k](&p);
	if (!decided)
		pm_leftover(&p);
	pm_rules(&p);
	pm_advise_exception(&p);
	pm_advise_logs(&p);
	if (of_worker && !sure && ret->cause.confidence == CONFIDENCE_HIGH)
		ret->cause.confidence = CONFIDENCE_MEDIUM;
	if (of_worker)
		pm_worker_said(&p, d);
	else
		own_rank_culprit(&p);
	if (ret->cause.text[0] == '\0') /* an id alone is no reason for a person */
		TEXT_COPY(ret->cause.text, ret->summary);
	pm_errors_evidence(&p);
	pm_xid_evidence(&p);
	pm_order_evidence(&p);
	pm_ends_evidence(&p);
	if (!sender_is_sure(ret))
		pm_neighbours(&p);
	if (ret->killer == KILLER_UNKNOWN || ret->cause.confidence == CONFIDENCE_LOW)
		pm_sources_read(&p);
	unavailable_evidence(&p);
}
