/* A verdict as the report of an incident. */
#include "base/text.h"
#include "base/units.h"
#include "judge/hang/hang_parts.h"

static enum incident_kind incident_of(enum hang_kind k)
{
	return k == HANG_HANG	     ? INCIDENT_HANG
	       : k == HANG_STRAGGLER ? INCIDENT_STRAGGLER
	       : k == HANG_SLOWDOWN  ? INCIDENT_SLOWDOWN
				     : INCIDENT_NONE;
}

static void summary(const struct hang_verdict *v, struct incident *in)
{
	char stood[24], ranks[200], ratio[48] = "", cause[sizeof(v->id)];
	duration_format(v->standstill_ns, stood);
	hang_ranks_text(v->culprits, v->n_culprits, ranks, sizeof(ranks));
	if (v->ratio > 0)
		TEXT_FORMAT(ratio, "%.0f %%", v->ratio * 100);
	if (v->headline[0]) {
		TEXT_COPY(in->summary, v->headline);
		return;
	}
	switch (v->kind) {
	case HANG_STRAGGLER:
		TEXT_FORMAT(in->summary, "%s hold%s up the others%s%s%s%s%s.", ranks, v->n_culprits == 1 ? "s" : "",
			    *ratio ? ": slower by " : "", ratio, v->split[0] ? " (" : "", v->split,
			    v->split[0] ? ")" : "");
		return;
	case HANG_SLOWDOWN:
		TEXT_FORMAT(in->summary, "The job's steps take %s longer than they did%s%s%s.", ratio,
			    v->split[0] ? " (" : "", v->split, v->split[0] ? ")" : "");
		return;
	default:
		TEXT_COPY(cause, v->id);
		for (char *at = cause; *at; at++)
			*at = *at == '_' ? ' ' : *at; /* the id is in a field of its own */
		TEXT_FORMAT(in->summary, "The job has been standing still for %s%s%s (%s).", stood,
			    v->n_culprits > 0 ? ", held up by " : "", v->n_culprits > 0 ? ranks : "", cause);
		return;
	}
}

void hang_incident(const struct hang_verdict *v, const struct hang_case *c, struct incident *in)
{
	in->kind = incident_of(v->kind);
	in->time_unix_ms = c->now_unix_ms;
	in->stood_ms = v->standstill_ns / NS_PER_MS;
	summary(v, in);
	text_capital(in->summary); /* "rank 3 holds up …" */
	TEXT_COPY(in->cause.id, v->id);
	TEXT_COPY(in->cause.text, v->text);
	in->cause.confidence = v->confidence;
	in->cause.n_advice = 0;
	for (size_t i = 0; i < v->n_advice; i++)
		incident_advice_add(in, "%s", v->advice[i]);
	in->n_culprits = 0;
	for (size_t i = 0; i < MIN(v->n_culprits, INCIDENT_CULPRITS); i++)
		in->culprit_ranks[in->n_culprits++] = v->culprits[i];
	for (size_t i = 0; i < v->n_evidence; i++)
		incident_evidence_add(in, v->evidence[i].kind, v->evidence[i].source, 0, "%s", v->evidence[i].text);
}
