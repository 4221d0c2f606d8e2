/* The ranks' error files: which exception came first. */
#include <signal.h>
#include <string.h>

#include "base/units.h"
#include "judge/death/postmortem_parts.h"
#include "model/hang/rankerrors.h"

#define SHOWN 6
#define XID_BEFORE_END_MS (10 * 60 * 1000)

static const struct rank_error *own_error(const struct death *d)
{
	for (size_t i = 0; i < d->n_errors; i++)
		if (d->errors[i].rank == d->rank)
			return &d->errors[i];
	return NULL;
}

/* True when it ended as a rank ends that has lost a peer: by itself, or by an abort of its library. */
static bool may_follow(const struct pm *p)
{
	const struct ending *e = &p->end;
	return e->known && e->failed && e->reported != SIGKILL && (e->exited || e->signal == SIGABRT);
}

/*
 * The rank that ended first need not have failed first: a rank that has lost a peer ends at once, the peer perhaps only
 * when its threads stop. A rank's own exception without a time may be the first, though.
 */
bool pm_first_error(struct pm *p)
{
	const struct death *d = p->d;
	const struct rank_error *root = rank_error_root(d->errors, d->n_errors);
	const struct log_hint *said = pm_hint(d, "python_traceback");
	char who[PM_WHO], text[600], when[32];
	if (!may_follow(p) || !root || root->follows || root->rank == d->rank || root->time_unix_ms == 0 ||
	    root->time_unix_ms > d->end_unix_ms)
		return false;
	if (!own_error(d) && said && !pm_peerish(said->text))
		return false;
	rank_error_text(root, text, sizeof(text));
	pm_who(d, who);
	pm_verdict(p, INCIDENT_ERROR_EXIT, KILLER_NONE, "rank_failed_first", CONFIDENCE_HIGH);
	pm_summary(p, "Rank %d failed first: %.200s. %s ended because of it.", root->rank, root->text, who);
	pm_text(p, "Rank %d wrote at %s that its function ended with %s. The ranks cannot go on without each other.",
		root->rank, time_format_utc(root->time_unix_ms, when), text);
	pm_culprit(p, root->rank);
	incident_advice_add(p->i, "Look at the last lines of rank %d: vigil logs %s --rank %d.", root->rank, d->job,
			    root->rank);
	return true;
}

bool pm_own_error(struct pm *p)
{
	const struct rank_error *own = own_error(p->d);
	char who[PM_WHO], text[600];
	if (!own || !p->end.exited || p->end.reported)
		return false;
	rank_error_text(own, text, sizeof(text));
	pm_verdict(p, INCIDENT_ERROR_EXIT, KILLER_NONE, "python_exception", CONFIDENCE_HIGH);
	pm_summary(p, "%s ended with a Python exception: %.250s", pm_who(p->d, who), own->text);
	pm_text(p, "Its error file says: %s.", text);
	return true;
}

static void postmortem_errors_add(struct pm *p, const struct rank_error *e)
{
	char text[600];
	rank_error_text(e, text, sizeof(text));
	incident_evidence_add(p->i, "error_file", e->source, e->time_unix_ms, "rank %d: %s", e->rank, text);
}

void pm_xid_evidence(struct pm *p)
{
	const struct death *d = p->d;
	for (size_t i = 0; i < d->n_killer_lines; i++) {
		const struct killer_line *l = &d->killer_lines[i];
		if (strcmp(l->action, "xid") != 0 || l->pid != d->pid || d->pid_namespaced ||
		    !pm_time_fits(d, l->time_unix_ms, XID_BEFORE_END_MS))
			continue;
		incident_evidence_add(p->i, "xid", "kernel log", l->time_unix_ms, "%s%s%s%s", l->line,
				      l->meaning ? " (" : "", l->meaning ? l->meaning : "", l->meaning ? ")" : "");
	}
}

void pm_errors_evidence(struct pm *p)
{
	const struct death *d = p->d;
	const struct rank_error *root = rank_error_root(d->errors, d->n_errors);
	if (root)
		postmortem_errors_add(p, root);
	for (size_t i = 0, n = 1; i < d->n_errors && n < SHOWN; i++) {
		if (&d->errors[i] == root)
			continue;
		postmortem_errors_add(p, &d->errors[i]);
		n++;
	}
}
