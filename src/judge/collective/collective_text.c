#include <string.h>

#include "judge/collective/collective_parts.h"

void ranklist_add(struct ranklist *l, int32_t rank)
{
	size_t i = l->n;
	while (i > 0 && l->rank[i - 1] > rank)
		i--;
	if (i > 0 && l->rank[i - 1] == rank)
		return;
	l->n_all++;
	if (i == RANKLIST_MAX)
		return;
	size_t tail = MIN(l->n, (size_t)RANKLIST_MAX - 1) - i;
	memmove(&l->rank[i + 1], &l->rank[i], tail * sizeof(l->rank[0]));
	l->rank[i] = rank;
	l->n = MIN(l->n + 1, (size_t)RANKLIST_MAX);
}

void ranklist_of(const struct collective_set *s, const collective_bits *b, struct ranklist *ret)
{
	*ret = (struct ranklist){.n = 0};
	for (size_t i = 0; i < s->n_ranks; i++)
		if (collective_has(b, i))
			ranklist_add(ret, s->ranks[i].rank);
}

void buf_ranks(struct buf *b, const struct ranklist *l)
{
	const size_t most = 12;
	if (l->n == 0) {
		buf_add(b, "no rank");
		return;
	}
	buf_add(b, l->n_all == 1 ? "rank " : "ranks ");
	if (buf_runs(b, l->rank, l->n, most, ", ") < l->n_all)
		buf_printf(b, " … (%zu in all)", l->n_all);
}

void buf_bits(struct buf *b, const struct collective_set *s, const collective_bits *bits)
{
	struct ranklist l;
	ranklist_of(s, bits, &l);
	buf_ranks(b, &l);
}

void buf_wait(struct buf *b, const struct collective_set *s, const struct collective_wait *w)
{
	const struct collective_group *g = &s->groups[w->group];
	if (w->is_p2p)
		buf_printf(b, "the %s from rank %d to rank %d in group %s", w->send_waits ? "send" : "transfer",
			   s->ranks[w->from].rank, s->ranks[w->to].rank, g->desc);
	else
		buf_printf(b, "%s number %llu of group %s", w->op, (unsigned long long)w->seq, g->desc);
}

void buf_where(struct buf *b, const struct collective_call *c)
{
	if (c && c->where[0])
		buf_printf(b, " at %s", c->where);
}

struct buf verdict_text(struct collective_verdict *v)
{
	struct buf b = BUF_ON(v->text);
	buf_reset(&b);
	return b;
}

void verdict_advise(struct collective_verdict *v, const char *advice)
{
	if (v->n_advice < COLLECTIVE_ADVICE)
		TEXT_COPY(v->advice[v->n_advice++], advice);
}

void verdict_prove(struct collective_verdict *v, const char *source, const char *fmt, ...)
{
	va_list ap;
	if (v->n_evidence == COLLECTIVE_EVIDENCE) {
		TEXT_COPY(v->evidence[COLLECTIVE_EVIDENCE - 1].text, "there is more of this kind");
		return;
	}
	struct buf b = BUF_ON(v->evidence[v->n_evidence].text);
	buf_reset(&b);
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	TEXT_COPY(v->evidence[v->n_evidence].source, source);
	v->n_evidence++;
}

void verdict_prove_wait(const struct collective_set *s, const struct collective_wait *one, struct collective_verdict *v)
{
	char text[360];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	buf_wait(&b, s, one);
	buf_add(&b, one->by_count ? " is launched by " : " holds ");
	buf_bits(&b, s, one->waiting);
	if (collective_count_bits(s, one->missing)) {
		buf_add(&b, one->is_p2p ? "; not made by " : "; not joined by ");
		buf_bits(&b, s, one->missing);
	}
	if (collective_count_bits(s, one->ended)) {
		buf_add(&b, "; has ended on ");
		buf_bits(&b, s, one->ended);
	}
	if (collective_count_bits(s, one->unknown)) {
		buf_add(&b, "; unknown of ");
		buf_bits(&b, s, one->unknown);
	}
	buf_where(&b, one->call);
	verdict_prove(v, collective_source_name(s, one->source), "%s", text);
}

void verdict_blame(struct collective_verdict *v, const struct ranklist *l)
{
	v->n_culprits = MIN(l->n, (size_t)COLLECTIVE_CULPRITS);
	v->n_culprits_all = l->n_all;
	memcpy(v->culprits, l->rank, v->n_culprits * sizeof(l->rank[0]));
}

void verdict_call(const struct collective_set *s, struct collective_verdict *v, const struct collective_wait *w)
{
	TEXT_COPY(v->group, s->groups[w->group].desc);
	TEXT_COPY(v->op, w->op);
	v->has_seq = !w->is_p2p;
	v->seq = w->is_p2p ? 0 : w->seq;
}

const char *collective_source_name(const struct collective_set *s, enum collective_source source)
{
	switch (source) {
	case COLLECTIVE_FLIGHTREC:
		return "Flight Recorder";
	case COLLECTIVE_RING:
		return "NCCL profiler ring";
	case COLLECTIVE_RAS:
		return s->ras_source[0] ? s->ras_source : "NCCL RAS";
	}
	return "";
}
