/*
 * Uses the first sample of a suspicion when the job ends before it is judged. That the job stood still was seen; that
 * it ended because of it is believed only where a time-out says so.
 */
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "base/units.h"
#include "judge/hang/hang_parts.h"

bool hang_says_time_out(const char *text)
{
	static const char *const words[] = {"timed out", "timeout", "time-out", "time out", "watchdog"};
	struct span s = span_of(text);
	for (size_t k = 0; k < ARRAY_SIZE(words); k++)
		for (size_t i = 0, n = strlen(words[k]); i + n <= s.len; i++) {
			/* "runtime output" contains "time out"; "ConnectTimeoutError" is meant */
			bool within = (i > 0 && char_letter(s.p[i - 1])) || (i + n < s.len && char_letter(s.p[i + n]));
			if (strncasecmp(s.p + i, words[k], n) == 0 && !(within && strchr(words[k], ' ')))
				return true;
		}
	return false;
}

static bool timed_out(const struct incident *in)
{
	if (in->kind != INCIDENT_ERROR_EXIT && in->kind != INCIDENT_CRASH && in->kind != INCIDENT_PEER_LOST)
		return false;
	if (hang_says_time_out(in->summary) || hang_says_time_out(in->cause.text))
		return true;
	for (size_t i = 0; i < in->n_evidence; i++) {
		const struct incident_evidence *e = &in->evidence[i];
		if ((strcmp(e->kind, "log") == 0 || strcmp(e->kind, "error_file") == 0) && hang_says_time_out(e->text))
			return true;
	}
	return false;
}

/* Puts the verdict's advice before that of the end; the last pieces may not fit. */
static void advice_first(const struct hang_verdict *v, struct incident *in)
{
	char before[INCIDENT_ADVICE][sizeof(in->cause.advice[0])];
	size_t n = in->cause.n_advice;
	memcpy(before, in->cause.advice, sizeof(before));
	in->cause.n_advice = 0;
	for (size_t i = 0; i < v->n_advice; i++)
		incident_advice_add(in, "%s", v->advice[i]);
	for (size_t i = 0; i < n; i++)
		incident_advice_add(in, "%s", before[i]);
}

/* Ends a foreign text with a full stop, because sentences follow. */
static void sentence_end(struct buf *b)
{
	if (b->len > 0 && !strchr(".!?", b->text[b->len - 1]))
		buf_add(b, ".");
}

/* A time-out ended the ranks; the glance says what it waited for. */
static void cause_is(const struct hang_verdict *v, struct incident *in)
{
	char before[sizeof(in->cause.text)], ranks[200];
	TEXT_COPY(before, in->cause.text);
	incident_evidence_add(in, "verdict", "", 0, "by its end alone: %s", in->cause.id);
	TEXT_COPY(in->cause.id, v->id);
	in->cause.confidence = MIN(v->confidence, CONFIDENCE_MEDIUM);
	TEXT_FORMAT(in->cause.text, "It hung before a time-out ended it. %s Then: %s", v->text, before);
	in->n_culprits = 0;
	for (size_t i = 0; i < MIN(v->n_culprits, INCIDENT_CULPRITS); i++)
		in->culprit_ranks[in->n_culprits++] = v->culprits[i];
	if (v->n_culprits > 0) {
		struct buf b = {.text = in->summary, .len = strlen(in->summary), .cap = sizeof(in->summary)};
		hang_ranks_text(v->culprits, v->n_culprits, ranks, sizeof(ranks));
		sentence_end(&b);
		buf_printf(&b, " It hung before: %s held up the others (%s).", ranks, v->id);
	}
	advice_first(v, in);
}

void hang_ended(const struct hang_verdict *glance, const char *why, uint64_t before_ns, struct incident *in)
{
	char before[24];
	incident_evidence_add(in, "suspicion", "steps, counters and stacks", 0,
			      "%s before its end it stood still: %s%s%s", duration_format(before_ns, before), why,
			      glance->text[0] ? "; " : "", glance->text);
	if (glance->kind == HANG_HANG && timed_out(in))
		cause_is(glance, in);
	for (size_t i = 0; i < glance->n_evidence; i++)
		incident_evidence_add(in, glance->evidence[i].kind, glance->evidence[i].source, 0, "%s",
				      glance->evidence[i].text);
}

void hang_last_stacks(const struct stackdump *d, struct incident *in)
{
	char text[300];
	for (size_t i = 0; i < d->n; i++) {
		const struct dump_process *p = &d->processes[i];
		struct activity_found f;
		if (p->rank == NO_RANK || p->n_threads == 0)
			continue;
		activity_of(&p->threads[0], &f);
		activity_text(&f, text, sizeof(text));
		incident_evidence_add(in, "stacks", "stacks, when the first rank had ended", d->captured_unix_ms,
				      "rank %d: %s%s", p->rank,
				      text[0] ? text : "at a place that could not be named",
				      activity_waits_for_ranks(f.kind) ? "; it waits for other ranks" : "");
	}
}
