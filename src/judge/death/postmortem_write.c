/* Writes the verdict's texts, and compares pids, times and groups. */
#include <stdio.h>
#include <string.h>

#include "judge/death/postmortem_parts.h"

const char *pm_who(const struct death *d, char dst[static PM_WHO])
{
	const char *name = d->name[0] ? d->name : "the process";
	/* A rank's own worker has its number as well. */
	if (d->worker_of[0] && d->rank != NO_RANK && strncmp(d->worker_of, "rank ", 5) != 0)
		ignore(text_format(dst, PM_WHO, "%s (pid %d, rank %d), a worker of %s,", name, (int)d->pid, d->rank,
				   d->worker_of),
		       "cut to fit");
	else if (d->worker_of[0])
		ignore(text_format(dst, PM_WHO, "%s (pid %d), a worker of %s,", name, (int)d->pid, d->worker_of),
		       "cut to fit");
	else if (d->rank != NO_RANK)
		ignore(text_format(dst, PM_WHO, "rank %d (%s, pid %d)", d->rank, name, (int)d->pid), "cut to fit");
	else
		ignore(text_format(dst, PM_WHO, "%s (pid %d)", name, (int)d->pid), "cut to fit");
	return dst;
}

void pm_verdict(struct pm *p, enum incident_kind kind, enum killer killer, const char *id, enum confidence c)
{
	p->i->kind = kind;
	p->i->killer = killer;
	p->i->cause.confidence = c;
	TEXT_COPY(p->i->cause.id, id);
}

void pm_summary(struct pm *p, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(p->i->summary, sizeof(p->i->summary), fmt, ap);
	va_end(ap);
}

void pm_text(struct pm *p, const char *fmt, ...)
{
	struct buf b = BUF_ON(p->i->cause.text);
	b.len = strlen(p->i->cause.text);
	if (b.len > 0)
		buf_add(&b, " ");
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
}

void pm_quote(struct pm *p, const char *intro, const char *text, bool cut)
{
	size_t len = strlen(text);
	if (cut) /* back to a whole word */
		while (len > 0 && text[len - 1] != ' ')
			len--;
	while (len > 0 && text[len - 1] == ' ')
		len--;
	bool ends = len > 0 && strchr(".!?", text[len - 1]);
	pm_text(p, "%s: %.*s%s", intro, (int)len, text, cut ? " …" : ends ? "" : ".");
}

void pm_exception_text(struct pm *p, const struct log_hint *h)
{
	if (h->of_group) {
		pm_quote(p, "The last line of its traceback is", h->text, false);
		pm_quote(p, "It ended the program as a part of", h->first, false);
	} else if (h->first[0] && strcmp(h->first, h->text) != 0) {
		pm_quote(p, "It began with", h->first, false);
		pm_quote(p,
			 h->direct ? "That was the direct cause of the exception that ended it"
				   : "While that was being handled came the exception that ended it",
			 h->text, false);
	} else {
		pm_quote(p, "The last line of its traceback is", h->text, false);
	}
	if (h->frame[0])
		pm_text(p, "Its last frame is %s%s.", h->frame, h->of_worker ? ", in a worker" : "");
}

void pm_killer_text(struct pm *p, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(p->i->killer_text, sizeof(p->i->killer_text), fmt, ap);
	va_end(ap);
}

void pm_culprit(struct pm *p, int32_t rank)
{
	if (rank != NO_RANK && p->i->n_culprits < INCIDENT_CULPRITS)
		p->i->culprit_ranks[p->i->n_culprits++] = rank;
}

bool pm_group_covers(const char *outer, const char *inner)
{
	size_t n = strlen(outer);
	if (n == 0 || inner[0] == '\0')
		return false;
	if (strcmp(outer, "/") == 0)
		return true;
	return strncmp(outer, inner, n) == 0 && (inner[n] == '\0' || inner[n] == '/');
}

bool pm_unit_covers(const char *unit, const char *cgroup)
{
	size_t n = strlen(unit);
	if (n == 0)
		return false;
	for (const char *at = strchr(cgroup, '/'); at; at = strchr(at + 1, '/'))
		if (strncmp(at + 1, unit, n) == 0 && (at[1 + n] == '\0' || at[1 + n] == '/'))
			return true;
	return false;
}

bool pm_time_fits(const struct death *d, int64_t t, int64_t before_end_ms)
{
	/* The clocks of two logs differ by some ms, and a killer may log its line after the death. */
	const int64_t slack_ms = 5000, start_slack_ms = 1500;
	if (t == 0)
		return true;
	if (d->start_unix_ms != 0 && t < d->start_unix_ms - start_slack_ms)
		return false; /* of an earlier process with this pid */
	if (d->end_unix_ms == 0)
		return true;
	return t <= d->end_unix_ms + slack_ms && (before_end_ms < 0 || t >= d->end_unix_ms - before_end_ms);
}

const struct death_former *pm_former(const struct death *d, pid_t pid)
{
	for (size_t k = 0; k < d->n_former; k++)
		if (d->former[k].pid == pid)
			return &d->former[k];
	return NULL;
}

bool pm_unavailable(const struct death *d, const char *source)
{
	size_t n = strlen(source);
	for (size_t k = 0; k < d->n_unavailable; k++)
		if (strncmp(d->unavailable[k], source, n) == 0 && d->unavailable[k][n] == ':')
			return true;
	return false;
}
