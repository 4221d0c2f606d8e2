/*
 * The order of what a log says: the last words decide, and what the program lived on after is evidence only. Lines are
 * counted within one log; between two logs nothing is compared.
 */
#include <string.h>

#include "judge/death/postmortem_parts.h"

/* A message that so many lines follow is not what the program said last. */
#define LINES_AFTER 4

static bool id_is(const struct log_hint *h, const char *id)
{
	return strcmp(h->id, id) == 0;
}

bool pm_has_any(const char *text, const char *const *words, size_t n)
{
	for (size_t w = 0; w < n; w++)
		if (strstr(text, words[w]))
			return true;
	return false;
}

bool pm_reports_other(const char *text)
{
	static const char *const words[] = {"ChildFailedError",	      "CalledProcessError", "ProcessRaisedException",
					    "ProcessExitedException", "RayTaskError",	    "SystemExit"};
	return pm_has_any(text, words, ARRAY_SIZE(words));
}

bool pm_lost_worker(const char *text)
{
	static const char *const words[] = {
		"BrokenProcessPool",	  "TerminatedWorkerError", "BrokenExecutor",
		"terminated abruptly",	  "exited unexpectedly",   "is killed by signal",
		"terminated with signal", "died with <Signals",	   "terminated with exit code",
		"WorkerCrashedError",	  "ActorDiedError",	   "unexpectedly terminated",
		"WorkerLostError"};
	static const char *const who[] = {"worker", "Worker", "process", "Process", "child", "Child"};
	static const char *const fate[] = {"died", "crashed", "was killed", "been killed", "is dead", "got killed"};
	return pm_has_any(text, words, ARRAY_SIZE(words)) ||
	       (pm_has_any(text, who, ARRAY_SIZE(who)) && pm_has_any(text, fate, ARRAY_SIZE(fate)));
}

/* Another process of the job is known to have failed, or it is not known whether one did. */
static bool others_failed(const struct death *d)
{
	for (size_t k = 0; k < d->n_ends; k++)
		if (d->ends[k].pid != d->pid && d->ends[k].wait_status != 0)
			return true;
	return pm_unavailable(d, "signals");
}

/*
 * The program went on after it. Steps on stdout after all words in stderr prove that only where no other process that
 * writes there has failed, as launchers have one log for all, and where it did not end a thread, which others survive.
 */
static bool lived_on(const struct death *d, const struct log_hint *h)
{
	return h->went_on || (h->out_went_on && !h->of_thread && !others_failed(d));
}

/* The traceback that the process of this rank ended with, by any log: the one that was not lived on after. */
static const struct log_hint *final_traceback(const struct death *d, int32_t rank)
{
	for (size_t k = 0; k < d->n_hints; k++) {
		const struct log_hint *h = &d->hints[k];
		if (id_is(h, "python_traceback") && h->rank == rank && !lived_on(d, h))
			return h;
	}
	return NULL;
}

/* An exception that says itself why the process ended; others say that somebody else did. */
static bool speaks_for_itself(const struct log_hint *t)
{
	return !pm_reports_other(t->text) && !pm_lost_worker(t->text) && !pm_peerish(t->text);
}

/* A launcher's report, and what a worker's death makes its parent say, are about the end wherever they stand. */
static bool is_report(const struct log_hint *h)
{
	return strncmp(h->id, "torchrun_", 9) == 0 || strncmp(h->id, "dataloader_", 11) == 0 || id_is(h, "last_line") ||
	       id_is(h, "ray_worker_died") || id_is(h, "device_assert") || id_is(h, "killed_word") ||
	       id_is(h, "abort_words") || id_is(h, "mpi_abort") || id_is(h, "python_fatal") || id_is(h, "segfault") ||
	       id_is(h, "bus_error");
}

/* True when the program lived on after the message, or said more after it. */
static bool is_past(const struct death *d, const struct log_hint *h)
{
	if (h->line == 0 || id_is(h, "last_line") || strncmp(h->id, "torchrun_", 9) == 0)
		return false;
	if (lived_on(d, h))
		return true;
	if (is_report(h) || id_is(h, "python_traceback"))
		return false;
	const struct log_hint *t = final_traceback(d, h->rank);
	if (t && speaks_for_itself(t)) {
		if (strcmp(t->source, h->source) != 0)
			return true;
		return h->line < t->first_line;
	}
	return !t && !id_is(h, "earlier_traceback") && h->after >= LINES_AFTER;
}

/* This line of "stderr:12" is of a traceback before the final one, which speaks for itself. */
static bool of_earlier_traceback(const struct death *d, const char *place)
{
	const struct span at = span_of(place), stream = span_before(at, ":");
	uint64_t line;
	if (!stream.p || span_u64(span_after(at, ":"), &line) < 0)
		return false;
	for (size_t k = 0; k < d->n_hints; k++) {
		const struct log_hint *h = &d->hints[k], *t = final_traceback(d, h->rank);
		if (id_is(h, "earlier_traceback") && !h->of_thread && t && speaks_for_itself(t) &&
		    strcmp(t->source, h->source) == 0 &&
		    span_has(span_of(h->source), "stderr") == span_eq(stream, "stderr") && line >= h->first_line &&
		    line <= h->line)
			return true;
	}
	return false;
}

bool pm_past_words(const struct death *d, const char *place, const char *text)
{
	char begin[100];
	for (size_t k = 0; k < d->n_hints; k++) {
		const struct log_hint *h = &d->hints[k];
		TEXT_COPY(begin, h->text);
		if (begin[0] && is_past(d, h) && strstr(text, begin))
			return true;
	}
	return of_earlier_traceback(d, place);
}

const struct log_hint *pm_hint(const struct death *d, const char *id)
{
	for (size_t k = 0; k < d->n_hints; k++)
		if (id_is(&d->hints[k], id) && !is_past(d, &d->hints[k]))
			return &d->hints[k];
	return NULL;
}

const struct log_hint *pm_cause_before(const struct death *d, const struct log_hint *reporter)
{
	const struct log_hint *found = NULL;
	for (size_t k = 0; k < d->n_hints; k++) {
		const struct log_hint *h = &d->hints[k];
		bool traceback = id_is(h, "earlier_traceback") || id_is(h, "python_traceback");
		if (!traceback || h == reporter || h->went_on || strcmp(h->source, reporter->source) != 0 ||
		    h->line > reporter->line || !speaks_for_itself(h))
			continue;
		if (!found || h->line < found->line)
			found = h;
	}
	return found;
}

/* An error of what the program was doing, which nothing that a thread should have done explains. */
static bool explains_itself(const struct log_hint *h)
{
	static const char *const of_its_own[] = {"KeyError", "IndexError", "TypeError",		 "ValueError",
						 "NameError", "ImportError", "ModuleNotFoundError", "ZeroDivisionError",
						 "SyntaxError"};
	for (size_t i = 0; i < ARRAY_SIZE(of_its_own); i++)
		if (span_starts(span_of(h->text), of_its_own[i]))
			return true;
	return false;
}

const struct log_hint *pm_thread_before(const struct death *d, const struct log_hint *last)
{
	const struct log_hint *found = NULL;
	for (size_t k = 0; k < d->n_hints; k++) {
		const struct log_hint *h = &d->hints[k];
		if (!id_is(h, "earlier_traceback") || !h->of_thread || h->of_task || last->of_thread ||
		    h->rank != last->rank || strcmp(h->source, last->source) != 0 || h->line > last->line ||
		    ((h->went_on || h->out_went_on) && explains_itself(last)))
			continue;
		if (!found || h->line > found->line)
			found = h;
	}
	return found;
}

const struct log_hint *pm_latest_before(const struct death *d, const struct log_hint *last)
{
	const struct log_hint *found = NULL;
	for (size_t k = 0; k < d->n_hints; k++) {
		const struct log_hint *h = &d->hints[k];
		if (id_is(h, "earlier_traceback") && !h->of_thread && !h->went_on && h->rank == last->rank &&
		    strcmp(h->source, last->source) == 0 && h->line < last->line && (!found || h->line > found->line))
			found = h;
	}
	return found;
}

bool pm_thread_after(const struct death *d, const struct log_hint *last)
{
	for (size_t k = 0; k < d->n_hints; k++) {
		const struct log_hint *h = &d->hints[k];
		if (id_is(h, "earlier_traceback") && h->of_thread && h->rank == last->rank &&
		    strcmp(h->source, last->source) == 0 && h->line > last->line)
			return true;
	}
	return false;
}

const struct log_hint *pm_latest_traceback(const struct death *d)
{
	const struct log_hint *found = NULL;
	for (size_t k = 0; k < d->n_hints; k++) {
		const struct log_hint *h = &d->hints[k];
		bool traceback = id_is(h, "earlier_traceback") || id_is(h, "python_traceback");
		if (traceback && speaks_for_itself(h) && (!found || h->line > found->line))
			found = h;
	}
	return found;
}

const struct log_hint *pm_said_before(const struct death *d, const struct log_hint *reporter)
{
	const struct log_hint *found = pm_cause_before(d, reporter);
	for (size_t k = 0; k < d->n_hints && !found; k++) {
		const struct log_hint *h = &d->hints[k];
		if (id_is(h, "earlier_traceback") && !h->went_on && strcmp(h->source, reporter->source) == 0 &&
		    h->line < reporter->line && !pm_reports_other(h->text))
			found = h;
	}
	return found;
}

/* It ends an exception that the program lived on after. */
static bool ends_past_traceback(const struct death *d, const struct log_hint *last)
{
	for (size_t k = 0; k < d->n_hints; k++)
		if (id_is(&d->hints[k], "python_traceback") && lived_on(d, &d->hints[k]) &&
		    strcmp(d->hints[k].source, last->source) == 0 && strcmp(d->hints[k].text, last->text) == 0)
			return true;
	return false;
}

/* Lines of a loop are no reason, nor is what a program said in stderr before it went on with other words. */
static int worth_of_last(const struct death *d, const struct log_hint *h)
{
	const bool errors = strstr(h->source, "stderr") != NULL;
	if (ends_past_traceback(d, h))
		return -1;
	return h->loop ? errors : errors && !h->out_went_on ? 4 : errors ? 2 : 3;
}

/* The last line of stderr, where programs give their reasons, or else of stdout; of a loop only where both are. */
const struct log_hint *pm_last_line(const struct death *d)
{
	const struct log_hint *found = NULL;
	for (size_t k = 0; k < d->n_hints; k++) {
		const struct log_hint *h = &d->hints[k];
		if (!id_is(h, "last_line"))
			continue;
		if (!found || worth_of_last(d, h) > worth_of_last(d, found))
			found = h;
	}
	return found;
}

/* One line may be several kinds of message. */
static bool said_before(const struct death *d, size_t at)
{
	for (size_t k = 0; k < at; k++)
		if (strcmp(d->hints[k].text, d->hints[at].text) == 0 && d->hints[k].line == d->hints[at].line &&
		    d->hints[at].line && strcmp(d->hints[k].source, d->hints[at].source) == 0)
			return true;
	return false;
}

void pm_order_evidence(struct pm *p)
{
	for (size_t k = 0; k < p->d->n_hints; k++) {
		const struct log_hint *h = &p->d->hints[k];
		const char *id = id_is(h, "earlier_traceback") ? "python_traceback" : h->id;
		if (id_is(h, "last_line") || said_before(p->d, k))
			continue;
		if (!is_past(p->d, h) && !id_is(h, "earlier_traceback"))
			incident_evidence_add(p->i, "log", h->source, 0, "%s: %s", id, h->text);
		else
			incident_evidence_add(p->i, "log_before", h->source, 0,
					      "earlier, %u lines before the end%s: %s", h->to_end,
					      h->went_on ? " (the program went on after it)" : "", h->text);
	}
}
