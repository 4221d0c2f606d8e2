#include <string.h>

#include "judge/death/postmortem_parts.h"

/*
 * The rule book reads the same log as the hints do, with more rules. It names the cause only where nothing else did:
 * the process ended by itself, with an exit status or an exception that gives no reason. A proved cause stays.
 */
static bool postmortem_rules_may_name(const struct incident *i, const struct cause_verdict *v)
{
	bool unsaid = strncmp(i->cause.id, "exit_", 5) == 0;
	bool exception = strcmp(i->cause.id, "python_exception") == 0 && v->confidence > RULE_LOW;
	return i->kind == INCIDENT_ERROR_EXIT && i->killer == KILLER_NONE && (unsaid || exception);
}

/* The words that a process gave when it aborted are what the rule book knows. */
static bool explains_abort(const struct pm *p, const struct cause_verdict *v)
{
	const struct log_hint *words = pm_hint(p->d, "abort_words");
	char begin[60];
	if (p->i->kind != INCIDENT_CRASH || strcmp(p->i->cause.id, "sigabrt") != 0 || !words || v->n_evidence == 0)
		return false;
	const struct span said = span_of(v->evidence[0].text), what = span_after(said, "what():");
	span_copy(span_trim(what.p ? what : said), begin, sizeof(begin));
	return begin[0] && strstr(words->text, begin);
}

static void advise(struct pm *p, const struct cause_verdict *v)
{
	pm_text(p, "%s", v->text);
	for (size_t k = 0; k < v->n_advice; k++)
		incident_advice_add(p->i, "%s", v->advice[k]);
}

void pm_rules(struct pm *p)
{
	static const enum confidence confidences[] = {CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH};
	const struct cause_verdict *v = &p->d->rules;
	if (!v->valid)
		return;
	for (size_t k = 0; k < v->n_evidence; k++)
		incident_evidence_add(p->i, "rule", v->evidence[k].source, v->evidence[k].time_unix_ms, "%s",
				      v->evidence[k].text);
	if (v->role == RULE_ROOT && explains_abort(p, v))
		advise(p, v);
	if (!postmortem_rules_may_name(p->i, v) || v->role != RULE_ROOT ||
	    (v->n_evidence > 0 && pm_past_words(p->d, v->evidence[0].source, v->evidence[0].text)))
		return;
	TEXT_COPY(p->i->cause.id, v->id);
	p->i->cause.confidence = confidences[v->confidence];
	advise(p, v);
	for (size_t k = 0; k < v->n_culprits; k++)
		pm_culprit(p, v->culprits[k]);
}
