/*
 * A worker of the process that ended before it, of any pool: by what the kernel was seen to do, not by words of a pool.
 * Its end is the cause where the process ended for want of it; the judge then turns to the worker.
 */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/signame.h"
#include "base/units.h"
#include "judge/death/postmortem_parts.h"

/* A process that misses a worker ends within this time: pools look once in a while, launchers ask the others to end. */
static const int64_t missed_ms = 120000;
/* A launcher asks the others to end within this time after the first that failed, and ends itself. */
static const int64_t launcher_ms = 40000;
/* A shell ends at once with the status of its child. */
static const int64_t mirrored_ms = 5000;

static int worker_signal_of(const struct process_end *e)
{
	return WIFSIGNALED(e->wait_status) ? WTERMSIG(e->wait_status) : 0;
}

bool pm_of_job(const struct death *d, pid_t pid)
{
	bool member = pid == d->pid || pm_former(d, pid);
	for (size_t k = 0; k < d->n_ends && !member; k++)
		member = d->ends[k].pid == pid;
	return member;
}

/* The signal that ended the worker, of the job's own: as pools and launchers, and vigil, end those that are left. */
static const struct signal_sent *job_signal(const struct death *d, const struct process_end *e)
{
	for (size_t n = 0; n < d->n_signals; n++) {
		const struct signal_sent *s = &d->signals[n];
		if (s->target != e->pid || s->signal != worker_signal_of(e) || s->from_kernel || s->sender == e->pid)
			continue;
		if (s->sender == e->parent || pm_of_job(d, s->sender) || pm_by_vigil(s))
			return s;
	}
	return NULL;
}

static bool ended_by_job(const struct death *d, const struct process_end *e)
{
	return job_signal(d, e) != NULL;
}

/* Who of the job, or of vigil, ended it: ", by vigil". A process of the job may call itself so. */
static const char *by_whom(const struct death *d, const struct process_end *e)
{
	const struct signal_sent *s = job_signal(d, e);
	if (!s)
		return "";
	return !pm_of_job(d, s->sender) && pm_by_vigil(s) ? ", by vigil" : ", by another process of the job";
}

static bool in_time(const struct death *d, const struct process_end *e, int64_t before_ms)
{
	return e->pid != d->pid && e->time_unix_ms > 0 && pm_time_fits(d, e->time_unix_ms, before_ms) &&
	       (d->end_unix_ms == 0 || e->time_unix_ms <= d->end_unix_ms);
}

/* The worker whose end the words are about: the one that they name, or the first that was ended from outside. */
static const struct process_end *missed_worker(const struct death *d, pid_t named)
{
	for (size_t k = 0; k < d->n_ends; k++) {
		const struct process_end *e = &d->ends[k];
		if (!in_time(d, e, named ? -1 : missed_ms) || worker_signal_of(e) == 0)
			continue;
		if (named ? e->pid == named : !ended_by_job(d, e))
			return e;
	}
	return NULL;
}

/* The text of an exception of Ray's that follows from the loss of its node, which may be noticed long after it. */
static bool lost_node(const char *text)
{
	static const char *const words[] = {"LocalRayletDiedError", "ActorUnavailableError", "NodeDiedError",
					    "OwnerDiedError"};
	return pm_has_any(text, words, ARRAY_SIZE(words));
}

/* Ray's daemon, ended from outside. */
static const struct process_end *missed_raylet(const struct death *d)
{
	for (size_t k = 0; k < d->n_ends; k++) {
		const struct process_end *e = &d->ends[k];
		if (strcmp(e->name, "raylet") == 0 && in_time(d, e, missed_ms) && worker_signal_of(e) &&
		    !ended_by_job(d, e))
			return e;
	}
	return NULL;
}

/* The last one that a signal ended which the exit status repeats as 128+n. */
static const struct process_end *mirrored_worker(const struct death *d, int signal)
{
	const struct process_end *found = NULL;
	for (size_t k = 0; k < d->n_ends; k++)
		if (in_time(d, &d->ends[k], mirrored_ms) && worker_signal_of(&d->ends[k]) == signal)
			found = &d->ends[k];
	return found;
}

/* The kernel sends SIGKILL at the hard limit of processor time, whose ticks may be twice what is told as used. */
static bool killed_at_limit(const struct death *d, const struct process_end *e)
{
	const uint64_t limit_s = e->hard_limit[RLIMIT_CPU];
	bool kernel = false;
	for (size_t n = 0; n < d->n_signals; n++)
		kernel |=
			d->signals[n].target == e->pid && d->signals[n].signal == SIGKILL && d->signals[n].from_kernel;
	return kernel && worker_signal_of(e) == SIGKILL && limit_s != UINT64_MAX && e->cpu_ns >= limit_s * NS_PER_S / 2;
}

/* The kernel ended it, and nobody asked for that: by a fault of its own, or at one of its limits. */
static bool by_own_doing(const struct death *d, const struct process_end *e)
{
	const int signal = worker_signal_of(e);
	return pm_is_crash(signal) || signal == SIGXCPU || signal == SIGXFSZ || killed_at_limit(d, e);
}

static bool sent_itself_end(const struct death *d, const struct process_end *e)
{
	for (size_t n = 0; n < d->n_signals; n++)
		if (d->signals[n].target == e->pid && d->signals[n].sender == e->pid && !d->signals[n].from_kernel &&
		    d->signals[n].signal == worker_signal_of(e))
			return true;
	return false;
}

/* A child that crashed moments before: a program that then leaves with words of its own has most likely missed it. */
static const struct process_end *crashed_just_before(const struct death *d)
{
	const int64_t moments_ms = 2000;
	const struct process_end *found = NULL;
	for (size_t k = 0; k < d->n_ends; k++) {
		const struct process_end *e = &d->ends[k];
		if (in_time(d, e, moments_ms) && (by_own_doing(d, e) || sent_itself_end(d, e)) && e->parent == d->pid &&
		    !ended_by_job(d, e))
			found = e;
	}
	return found;
}

/*
 * The last child that a stranger ended shortly before: a program that ends without an exception, with words of its own,
 * may have missed it.
 */
static const struct process_end *ended_by_stranger(const struct death *d, int64_t shortly_ms)
{
	const struct process_end *found = NULL;
	for (size_t k = 0; k < d->n_ends; k++) {
		const struct process_end *e = &d->ends[k];
		if (!in_time(d, e, shortly_ms) || worker_signal_of(e) == 0 || e->parent != d->pid || ended_by_job(d, e))
			continue;
		for (size_t n = 0; n < d->n_signals; n++)
			if (d->signals[n].target == e->pid && d->signals[n].signal == worker_signal_of(e) &&
			    !d->signals[n].from_kernel && d->signals[n].sender != e->pid)
				found = e;
	}
	return found ? found : crashed_just_before(d);
}

/* Its parent started another one after it, so the parent went on. */
static bool replaced(const struct death *d, const struct process_end *e)
{
	const int64_t clock_ms = 10; /* a tick of the kernel's clock of process starts */
	for (size_t k = 0; k < d->n_ends; k++)
		if (d->ends[k].parent == e->parent && d->ends[k].start_unix_ms > e->time_unix_ms + clock_ms)
			return true;
	return false;
}

/* Its parent started another one like it, and that one has ended well: the loss was made good. */
static bool made_good(const struct death *d, const struct process_end *e)
{
	for (size_t k = 0; k < d->n_ends; k++) {
		const struct process_end *o = &d->ends[k];
		if (o->parent == e->parent && o->wait_status == 0 && o->start_unix_ms >= e->time_unix_ms &&
		    strcmp(o->name, e->name) == 0)
			return true;
	}
	return false;
}

const struct process_end *pm_ended_child(const struct death *d)
{
	const int64_t moments_ms = 2000;
	const struct process_end *e = ended_by_stranger(d, moments_ms);
	return e && made_good(d, e) ? NULL : e;
}

/*
 * Scripts ask small programs that answer by their status, again and again: one like it had ended before, and its parent
 * went on.
 */
static bool answers_by_status(const struct death *d, const struct process_end *e)
{
	const int64_t brief_ms = 1000;
	if (!WIFEXITED(e->wait_status) || e->start_unix_ms == 0 || e->time_unix_ms - e->start_unix_ms >= brief_ms)
		return false;
	for (size_t k = 0; k < d->n_ends; k++) {
		const struct process_end *b = &d->ends[k];
		if (b->parent == e->parent && b->wait_status == e->wait_status && strcmp(b->name, e->name) == 0 &&
		    b->time_unix_ms - b->start_unix_ms < brief_ms && replaced(d, b))
			return true;
	}
	return false;
}

const struct process_end *pm_left_worker(const struct death *d, int64_t within_ms)
{
	for (size_t k = 0; k < d->n_ends; k++) {
		const struct process_end *e = &d->ends[k];
		if (in_time(d, e, within_ms) && e->parent == d->pid && WIFEXITED(e->wait_status) &&
		    e->wait_status != 0 && !answers_by_status(d, e))
			return e;
	}
	return NULL;
}

/* It failed by itself: not by a signal of the job's, as those that are left are ended. */
static bool by_itself(const struct death *d, const struct process_end *e)
{
	return e->pid != d->pid && e->wait_status != 0 && (!worker_signal_of(e) || !ended_by_job(d, e));
}

static bool failed_itself(const struct death *d, const struct process_end *e)
{
	return in_time(d, e, launcher_ms) && by_itself(d, e);
}

static int32_t number_of(const struct death *d, pid_t pid, int32_t by_environment)
{
	const struct death_former *f = pm_former(d, pid);
	return by_environment != NO_RANK ? by_environment : f ? f->rank : NO_RANK;
}

/* The process's own rank: what it starts inherits that number. */
static int32_t own_rank(const struct death *d)
{
	int32_t rank = d->rank;
	for (size_t k = 0; k < d->n_ends && rank == NO_RANK; k++)
		if (d->ends[k].pid == d->pid)
			rank = d->ends[k].rank;
	return number_of(d, d->pid, rank);
}

/* The number that the process gave this one as a rank; NO_RANK: none, or its own. */
static int32_t rank_of(const struct death *d, const struct process_end *e)
{
	int32_t rank = number_of(d, e->pid, e->rank);
	return rank == own_rank(d) ? NO_RANK : rank;
}

int32_t pm_failed_rank(const struct death *d)
{
	for (size_t k = 0; k < d->n_ends && !d->stopping; k++) {
		const struct process_end *e = &d->ends[k];
		/* What it started itself may end after it: its exception was told before its memory was taken apart. */
		if (pm_time_fits(d, e->time_unix_ms, launcher_ms) && by_itself(d, e) && rank_of(d, e) != NO_RANK)
			return rank_of(d, e);
	}
	return NO_RANK;
}

size_t pm_failed_ranks(const struct death *d)
{
	size_t n = 0;
	for (size_t k = 0; k < d->n_ends; k++)
		n += in_time(d, &d->ends[k], missed_ms) && d->ends[k].wait_status != 0 &&
		     rank_of(d, &d->ends[k]) != NO_RANK;
	return n;
}

bool pm_early_rank(const struct death *d, struct death_rank *ret)
{
	for (size_t k = 0; k < d->n_ends && d->rank == NO_RANK; k++) {
		const struct process_end *e = &d->ends[k];
		if (!in_time(d, e, missed_ms) || rank_of(d, e) == NO_RANK)
			continue;
		*ret = (struct death_rank){.rank = rank_of(d, e),
					   .pid = e->pid,
					   .wait_status = e->wait_status,
					   .end_unix_ms = e->time_unix_ms};
		/* One that failed may be the one that has noticed the loss. */
		return e->wait_status == 0 || (worker_signal_of(e) && !ended_by_job(d, e));
	}
	return false;
}

/* After this end, another child of the same parent was ended by a process of the job: so launchers do. */
static bool siblings_ended_after(const struct death *d, const struct process_end *first)
{
	for (size_t k = 0; k < d->n_ends; k++) {
		const struct process_end *e = &d->ends[k];
		if (e->parent == first->parent && e->pid != first->pid && e->time_unix_ms >= first->time_unix_ms &&
		    worker_signal_of(e) && ended_by_job(d, e))
			return true;
	}
	return false;
}

/* The first child of a launcher that failed, with a status of its own. NULL: it is no launcher, or none did. */
static const struct process_end *first_failed_child(const struct death *d)
{
	for (size_t k = 0; k < d->n_ends; k++) {
		const struct process_end *e = &d->ends[k];
		const bool numbered = rank_of(d, e) != NO_RANK;
		if (e->parent != d->pid || !failed_itself(d, e) || (!numbered && answers_by_status(d, e)))
			continue;
		bool launched = numbered || siblings_ended_after(d, e);
		return launched && WIFEXITED(e->wait_status) ? e : NULL;
	}
	return NULL;
}

/*
 * True when an exception that others' steps follow may be of a loop that handles such ones: it was told before, or long
 * before the end.
 */
static bool may_be_handled(const struct death *d, const struct log_hint *said)
{
	const uint32_t long_before = 200; /* lines */
	const size_t n = strcspn(said->text, ":");
	if (!said->went_on)
		return false;
	for (size_t k = 0; k < d->n_hints; k++) {
		const struct log_hint *h = &d->hints[k];
		if (h != said && strcmp(h->id, "earlier_traceback") == 0 && strncmp(h->text, said->text, n) == 0)
			return true;
	}
	return said->to_end > long_before;
}

bool pm_failed_child(struct pm *p)
{
	const struct death *d = p->d;
	const bool left = p->end.exited && p->end.failed && !d->stopping;
	const struct process_end *e = left ? first_failed_child(d) : NULL;
	const int32_t rank = e ? rank_of(d, e) : NO_RANK;
	/* Python ends with 1 after an exception that nobody has caught: the last one in the log is its. */
	const struct log_hint *said = e && WEXITSTATUS(e->wait_status) == 1 ? pm_latest_traceback(d) : NULL;
	const struct log_hint *last = pm_last_line(d);
	char who[PM_WHO], number[24] = "";
	if (!e)
		return false;
	if (rank != NO_RANK)
		TEXT_FORMAT(number, ", rank %d", rank);
	pm_verdict(p, INCIDENT_ERROR_EXIT, KILLER_NONE, "child_failed",
		   said && !may_be_handled(d, said) ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW);
	pm_culprit(p, rank);
	pm_summary(p,
		   "%s failed because a process that it had started, %s (pid %d%s), ended first, with exit status "
		   "%d%s%.250s",
		   pm_who(d, who), e->name, (int)e->pid, number, WEXITSTATUS(e->wait_status), said ? ": " : ".",
		   said ? said->text : "");
	if (said)
		pm_exception_text(p, said);
	else
		pm_text(p, "%s", p->i->summary);
	if (!said && last)
		pm_quote(p, "The last words of the job are", last->text, false);
	if (!said && last && last->first[0])
		pm_quote(p, "Before it came", last->first, false);
	incident_advice_add(p->i, "Look at what it said: vigil logs %s.", d->job);
	return true;
}

bool pm_timeout(struct pm *p)
{
	char who[PM_WHO];
	const bool own = strcmp(p->d->name, "timeout") == 0;
	const struct process_end *child = own ? NULL : pm_left_worker(p->d, mirrored_ms);
	bool below = child && strcmp(child->name, "timeout") == 0 && WEXITSTATUS(child->wait_status) == 124;
	if (!p->end.exited || p->end.code != 124 || (!own && !below))
		return false;
	pm_verdict(p, INCIDENT_KILLED_BY, KILLER_SIGNAL, "timeout_expired", own ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	pm_killer_text(p, "timeout, pid %d", (int)(own ? p->d->pid : child->pid));
	if (own)
		pm_summary(p, "%s ended its command at its time limit (exit status 124).", pm_who(p->d, who));
	else
		pm_summary(p,
			   "%s left with the status of its child timeout (pid %d), which ended its command at its time "
			   "limit (exit status 124).",
			   pm_who(p->d, who), (int)child->pid);
	return true;
}

/*
 * Where signals are not seen, a kill's sender is unknown: if the words name the process and the signal, its end adds
 * nothing to them.
 */
static bool words_say_all(const struct death *d, const struct process_end *w, const char *text)
{
	static const char *const kill[] = {"SIGKILL", "Killed", "signal 9", "signal: 9"};
	char pid[16];
	TEXT_FORMAT(pid, "%d", (int)w->pid);
	const bool named = strstr(text, pid) && pm_has_any(text, kill, ARRAY_SIZE(kill));
	return named && worker_signal_of(w) == SIGKILL && pm_unavailable(d, "signals");
}

static pid_t named_worker(const struct death *d)
{
	static const char *const ids[] = {"dataloader_killed", "dataloader_bus_error", "torchrun_failure",
					  "torchrun_child"};
	for (size_t k = 0; k < ARRAY_SIZE(ids); k++) {
		const struct log_hint *h = pm_hint(d, ids[k]);
		if (h && h->pid > 0 && h->signal)
			return h->pid;
	}
	return 0;
}

/* *ret_sure: the words, or the status, say that it is about this worker */
static const struct process_end *worker_of(const struct pm *p, bool *ret_sure)
{
	const int64_t shortly_ms = 10000;
	const struct death *d = p->d;
	const struct ending *e = &p->end;
	*ret_sure = true;
	if (!e->known || !e->exited || e->code == 0 || d->stopping || d->n_ends == 0)
		return NULL;
	pid_t named = named_worker(d);
	const struct process_end *w = named ? missed_worker(d, named) : NULL;
	if (w)
		return w;
	const struct log_hint *said = pm_hint(d, "python_traceback");
	if (e->reported)
		return mirrored_worker(d, e->reported);
	*ret_sure = said;
	if (!said)
		return ended_by_stranger(d, shortly_ms);
	const struct process_end *raylet = lost_node(said->text) ? missed_raylet(d) : NULL;
	if (raylet)
		return raylet;
	if (pm_lost_worker(said->text)) {
		w = missed_worker(d, 0);
		return w && words_say_all(d, w, said->text) ? NULL : w;
	}
	*ret_sure = false;
	if (pm_cause_before(d, said))
		return NULL;
	if (d->rank == NO_RANK && pm_peerish(said->text))
		return missed_worker(d, 0);
	return pm_broken_pipe(said->text) ? ended_by_stranger(d, shortly_ms) : NULL;
}

bool pm_worker_focus(const struct pm *p, struct death *ret, bool *ret_sure)
{
	const struct process_end *w = worker_of(p, ret_sure);
	char who[PM_WHO];
	if (!w)
		return false;
	const struct death_former *former = pm_former(p->d, w->pid);
	*ret = *p->d;
	ignore(text_format(ret->worker_of, sizeof(ret->worker_of), "%s", pm_who(p->d, who)), "cut to fit");
	ret->pid = w->pid;
	ret->rank = w->rank != NO_RANK ? w->rank : former ? former->rank : NO_RANK;
	TEXT_COPY(ret->name, w->name);
	ret->command[0] = '\0';
	ret->wait_status = w->wait_status;
	ret->start_unix_ms = MAX(w->start_unix_ms, p->d->start_unix_ms);
	ret->has_memory = false;
	ret->has_limits = ret->has_cpu = true;
	memcpy(ret->soft_limit, w->soft_limit, sizeof(ret->soft_limit));
	memcpy(ret->hard_limit, w->hard_limit, sizeof(ret->hard_limit));
	ret->cpu_ns = w->cpu_ns;
	return true;
}

void pm_worker_said(struct pm *p, const struct death *whole)
{
	const struct log_hint *said = pm_hint(whole, "python_traceback"), *root = pm_hint(whole, "torchrun_failure");
	char who[PM_WHO];
	pm_text(p, "%s ended because of it, with exit status %d.", pm_who(whole, who), WEXITSTATUS(whole->wait_status));
	if (!said)
		said = pm_last_line(whole);
	if (said)
		pm_quote(p, "It said", said->text, false);
	/* The launcher may have seen another one end first, which had only noticed it. */
	if (root && (root->pid == 0 || root->pid == p->d->pid) && p->i->n_culprits == 0)
		pm_culprit(p, root->rank);
	else if (p->d->rank != NO_RANK && p->i->n_culprits == 0)
		pm_culprit(p, p->d->rank);
}

void pm_ends_evidence(struct pm *p)
{
	const int64_t shown_ms = 30000;
	const struct death *d = p->d;
	size_t n = 0;
	for (size_t k = 0; k < d->n_ends && n < 6; k++) {
		const struct process_end *e = &d->ends[k];
		const int signal = worker_signal_of(e);
		const char *name = signal ? signame(signal) : NULL;
		char how[40];
		bool brief = signal == 0 && e->start_unix_ms && e->time_unix_ms - e->start_unix_ms < 1000;
		if (!pm_time_fits(d, e->time_unix_ms, shown_ms) || ((e->wait_status == 0 || brief) && e->pid != d->pid))
			continue; /* scripts ask small programs that answer by their status */
		if (name)
			TEXT_COPY(how, name);
		else
			TEXT_FORMAT(how, signal ? "signal %d" : "exit status %d",
				    signal ? signal : WEXITSTATUS(e->wait_status));
		incident_evidence_add(p->i, "process_end", "process trace", e->time_unix_ms, "%s (pid %d) ended: %s%s",
				      e->name, (int)e->pid, how, by_whom(d, e));
		n++;
	}
}
