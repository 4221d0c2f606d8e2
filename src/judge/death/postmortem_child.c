/* What is known of the children of a process that ended with an exception of its own. */
#include <string.h>
#include <sys/wait.h>

#include "base/signame.h"
#include "judge/death/postmortem_parts.h"

/* A child that a signal ended moments before: from whom, if that was seen. */
static void ended_child_told(struct pm *p)
{
	const struct process_end *e = pm_ended_child(p->d);
	const struct signal_sent *from = NULL;
	char by[PM_FROM];
	if (!e)
		return;
	const int signal = WTERMSIG(e->wait_status);
	for (size_t n = 0; n < p->d->n_signals; n++) {
		const struct signal_sent *s = &p->d->signals[n];
		if (s->target == e->pid && s->signal == signal && !s->from_kernel)
			from = s;
	}
	pm_text(p, "Moments before, its child %s (pid %d) had been ended by %s", e->name, (int)e->pid,
		signame(signal) ? signame(signal) : "a signal");
	if (from && from->sender == e->pid)
		pm_text(p, "which it had sent itself.");
	else if (from)
		pm_text(p, "%s.", pm_from(from, by));
	else
		pm_text(p, "that no other process was seen to send.");
}

/* multiprocessing says "Process ForkProcess-1:" before the exception that ended one of its processes. */
static bool of_process(const struct log_hint *h)
{
	const size_t n = strlen(h->before);
	return strncmp(h->before, "Process ", 8) == 0 && h->before[n - 1] == ':';
}

/* Shells and make have no exceptions: all that stand in their log are their children's. */
static bool is_shell(const char *name)
{
	static const char *const names[] = {"sh", "bash", "dash", "zsh", "ksh", "make"};
	for (size_t k = 0; k < ARRAY_SIZE(names); k++)
		if (strcmp(name, names[k]) == 0)
			return true;
	return false;
}

/*
 * More exceptions in the log than children that Python ended for one: the last is the parent's own. Otherwise the
 * parent may have said nothing, and the last is a child's.
 */
static bool has_its_own(const struct death *d, const struct log_hint *last)
{
	size_t children = 0, exceptions = 1;
	for (size_t k = 0; k < d->n_ends; k++)
		children += d->ends[k].parent == d->pid && WIFEXITED(d->ends[k].wait_status) &&
			    WEXITSTATUS(d->ends[k].wait_status) == 1;
	for (size_t k = 0; k < d->n_hints; k++)
		exceptions += strcmp(d->hints[k].id, "earlier_traceback") == 0 && !d->hints[k].of_thread &&
			      strcmp(d->hints[k].source, last->source) == 0;
	return exceptions > children;
}

/*
 * A child that had left with an error: its exception, or its last words, stand in the same log before the parent's
 * exception, which may only report that. Where the parent's words do not speak of a child, only one that left moments
 * before is told.
 */
static void left_child_told(struct pm *p, const struct log_hint *h)
{
	const int64_t missed_ms = 120000, moments_ms = 3000;
	const bool reports = pm_lost_worker(h->text) || pm_reports_other(h->text);
	const struct process_end *w = pm_left_worker(p->d, reports ? missed_ms : moments_ms);
	const struct log_hint *before = pm_latest_before(p->d, h);
	if (w)
		pm_text(p, "Its worker %s (pid %d) had ended by itself with exit status %d.", w->name, (int)w->pid,
			WEXITSTATUS(w->wait_status));
	const bool raised = w && WEXITSTATUS(w->wait_status) == 1 && !is_shell(p->d->name);
	if (before && (of_process(before) || (raised && has_its_own(p->d, h)))) {
		pm_quote(p, "The exception before that in its log is", before->text, false);
		if (before->frame[0])
			pm_text(p, "It was raised %s.", before->frame);
		p->before = before;
	} else if (h->before[0] && (w || strstr(h->text, "CalledProcessError"))) {
		pm_quote(p, "The last words before that in its log are", h->before, false);
	}
}

void pm_left_child_told(struct pm *p)
{
	const int64_t moments_ms = 3000;
	const uint32_t near_lines = 20;
	const struct process_end *w = pm_left_worker(p->d, moments_ms);
	const struct log_hint *said = w && WEXITSTATUS(w->wait_status) == 1 ? pm_latest_traceback(p->d) : NULL;
	if (!w)
		return;
	pm_text(p, "Moments before, its child %s (pid %d) had ended by itself with exit status %d.", w->name,
		(int)w->pid, WEXITSTATUS(w->wait_status));
	if (said && said->to_end <= near_lines)
		pm_quote(p, "The last exception in the log is", said->text, false);
}

void pm_child_told(struct pm *p, const struct log_hint *h)
{
	left_child_told(p, h);
	ended_child_told(p);
}
