#include "tell/collective/collective_show.h"

#include <string.h>

#include "tell/text/textout.h"

/* Names of groups and operations, and paths, are the job's own words. */
static void line_show(FILE *to, const char *before, const char *text)
{
	fputs(before, to);
	textout_put(to, text);
	fputc('\n', to);
}

void collective_text_show(const struct collective_show *c, FILE *to)
{
	const struct collective_verdict *v = c->verdict;
	if (v->valid) {
		fprintf(to, "%s (confidence %s)\n", collective_kind_name(v->kind), confidence_name(v->confidence));
		line_show(to, "  ", v->text);
		for (size_t i = 0; i < v->n_culprits; i++)
			fprintf(to, "%s%d", i ? ", " : "  culprits: rank ", v->culprits[i]);
		if (v->n_culprits)
			fprintf(to, "%s\n", v->n_culprits < v->n_culprits_all ? " and more" : "");
		if (v->n_evidence)
			fputs("\nEvidence\n", to);
		for (size_t i = 0; i < v->n_evidence; i++) {
			fprintf(to, "  %s", v->evidence[i].source);
			line_show(to, ": ", v->evidence[i].text);
		}
		if (v->n_advice)
			fputs("\nWhat to do\n", to);
		for (size_t i = 0; i < v->n_advice; i++)
			line_show(to, "  - ", v->advice[i]);
	} else {
		fputs("Nothing is known of its collectives.\n", to);
	}
	if (c->n_notes)
		fputs("\nNot read\n", to);
	for (size_t i = 0; i < c->n_notes; i++)
		line_show(to, "  ", c->notes[i]);
}

static struct js *ranks_json(const struct collective_set *s, const collective_bits *b)
{
	struct js *list = js_array();
	for (size_t i = 0; i < s->n_ranks; i++)
		if (collective_has(b, i))
			js_add_i64(list, s->ranks[i].rank);
	return list;
}

static struct js *wait_json(const struct collective_set *s, const struct collective_wait *w)
{
	static const char *const sources[] = {[COLLECTIVE_FLIGHTREC] = "flight_recorder",
					      [COLLECTIVE_RAS] = "nccl_ras",
					      [COLLECTIVE_RING] = "nccl_ring"};
	struct js *j = js_object();
	js_put_text(j, "group", s->groups[w->group].desc);
	js_put_text(j, "op", w->op);
	if (w->is_p2p) {
		js_put_i64(j, "from", s->ranks[w->from].rank);
		js_put_i64(j, "to", s->ranks[w->to].rank);
	} else {
		js_put_u64(j, "number", w->seq);
	}
	js_put(j, "waiting_ranks", ranks_json(s, w->waiting));
	js_put(j, "missing_ranks", ranks_json(s, w->missing));
	js_put(j, "unknown_ranks", ranks_json(s, w->unknown));
	if (collective_count_bits(s, w->ended))
		js_put(j, "ended_ranks", ranks_json(s, w->ended));
	js_put_text_if(j, "where", w->call ? w->call->where : "");
	if (w->since_ns > 0)
		js_put_i64(j, "since_unix_ms", w->since_ns / (int64_t)NS_PER_MS);
	js_put_text(j, "source", sources[w->source]);
	return j;
}

static struct js *rank_json(const struct collective_rank *r)
{
	struct js *j = js_object(), *sources = js_array();
	js_put_i64(j, "rank", r->rank);
	if (r->sources & COLLECTIVE_FLIGHTREC)
		js_add_text(sources, "flight_recorder");
	if (r->sources & COLLECTIVE_RAS)
		js_add_text(sources, "nccl_ras");
	if (r->sources & COLLECTIVE_RING)
		js_add_text(sources, "nccl_ring");
	js_put(j, "sources", sources);
	js_put_text_if(j, "why", r->why);
	if (r->is_dead)
		js_put_bool(j, "dead", true);
	return j;
}

static void verdict_json(struct js *j, const struct collective_verdict *v)
{
	struct js *advice = js_array(), *evidence = js_array(), *culprits = js_array();
	js_put_text(j, "kind", collective_kind_name(v->kind));
	js_put_text(j, "confidence", confidence_name(v->confidence));
	js_put_text(j, "text", v->text);
	js_put_text_if(j, "group", v->group);
	js_put_text_if(j, "op", v->op);
	if (v->has_seq)
		js_put_u64(j, "number", v->seq);
	for (size_t i = 0; i < v->n_culprits; i++)
		js_add_i64(culprits, v->culprits[i]);
	js_put(j, "culprit_ranks", culprits);
	for (size_t i = 0; i < v->n_advice; i++)
		js_add_text(advice, v->advice[i]);
	js_put(j, "advice", advice);
	for (size_t i = 0; i < v->n_evidence; i++) {
		struct js *e = js_object();
		js_put_text(e, "source", v->evidence[i].source);
		js_put_text(e, "text", v->evidence[i].text);
		js_add(evidence, e);
	}
	js_put(j, "evidence", evidence);
}

struct js *collective_json(const struct collective_show *c)
{
	struct js *j = js_object(), *waits = js_array(), *ranks = js_array(), *notes = js_array();
	js_put_text(j, "schema", "vigil.collectives/1");
	js_put_text_if(j, "subject", c->subject);
	if (c->verdict->valid)
		verdict_json(j, c->verdict);
	for (size_t i = 0; i < c->set->n_waits; i++)
		js_add(waits, wait_json(c->set, &c->set->waits[i]));
	js_put(j, "waits", waits);
	for (size_t i = 0; i < c->set->n_ranks; i++)
		js_add(ranks, rank_json(&c->set->ranks[i]));
	js_put(j, "ranks", ranks);
	for (size_t i = 0; i < c->n_notes; i++)
		js_add_text(notes, c->notes[i]);
	js_put(j, "not_read", notes);
	return j;
}
