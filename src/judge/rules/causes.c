#include "judge/rules/causes.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"

#define MOST 64
/* NCCL's default, and the most that a queue pair can have. */
#define IB_RETRIES 7

/* Everything that one rule found. */
struct candidate {
	const struct rule *rule;
	const struct cause_group *first;
	uint64_t n;
	int32_t ranks[CAUSE_RANKS];
	size_t n_ranks;
	enum rule_confidence confidence;
	bool ours, foreign; /* it names a process of the job; only processes of others */
	bool dropped; /* a condition of the rule is not met, or it is about another job */
};

struct weighing {
	const struct cause_set *set;
	struct candidate of[MOST];
	size_t n;
};

double causes_ib_timeout_s(uint32_t exponent, uint32_t retries)
{
	return exponent > 31 ? 0 : 4.096e-6 * pow(2, exponent) * retries;
}

static bool earlier(const struct cause_group *a, const struct cause_group *b, bool timed)
{
	if (timed && a->first.time_unix_ms != b->first.time_unix_ms)
		return a->first.time_unix_ms < b->first.time_unix_ms;
	return a->order < b->order;
}

static struct candidate *candidate_of(struct weighing *w, const struct rule *rule)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->of[i].rule == rule)
			return &w->of[i];
	if (w->n == MOST)
		return NULL;
	w->of[w->n] = (struct candidate){.rule = rule, .confidence = rule->confidence};
	return &w->of[w->n++];
}

static void ranks_join(struct candidate *c, const struct cause_group *g)
{
	for (size_t i = 0; i < g->n_ranks; i++) {
		size_t k = 0;
		while (k < c->n_ranks && c->ranks[k] != g->ranks[i])
			k++;
		if (k == c->n_ranks && c->n_ranks < CAUSE_RANKS)
			c->ranks[c->n_ranks++] = g->ranks[i];
	}
}

/* Times give the order of events only when every match has one. */
static bool all_timed(const struct cause_set *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->groups[i].first.has_time)
			return false;
	return true;
}

/* True when the rule's other kind of line was seen on this host (same) or on another one (!same). */
static bool contrast_on(const struct cause_set *s, const struct rule *rule, const char *host, bool same)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct rule_match *m = &s->groups[i].first;
		if (m->rule == rule && m->event == RULE_CONTRAST && (strcmp(m->value[RULE_HOST], host) == 0) == same)
			return true;
	}
	return false;
}

static bool causes_counts(const struct cause_set *s, const struct cause_group *g)
{
	const struct rule_match *m = &g->first;
	if (m->event != RULE_MATCH)
		return false;
	if (m->rule->n_contrast == 0)
		return true;
	const char *host = m->value[RULE_HOST];
	return contrast_on(s, m->rule, host, false) && !contrast_on(s, m->rule, host, true);
}

static void causes_gather(struct weighing *w)
{
	bool timed = all_timed(w->set);
	for (size_t i = 0; i < w->set->n; i++) {
		const struct cause_group *g = &w->set->groups[i];
		struct candidate *c = causes_counts(w->set, g) ? candidate_of(w, g->first.rule) : NULL;
		if (!c)
			continue;
		bool ours = g->first.whose == RULE_WHOSE_OURS;
		/* A match about the job counts more than one that came first. */
		if (!c->first || (ours && !c->ours) || (ours == c->ours && earlier(g, c->first, timed)))
			c->first = g;
		c->foreign = (c->n == 0 || c->foreign) && g->first.whose == RULE_WHOSE_OTHERS;
		c->ours |= ours;
		c->n += g->n;
		ranks_join(c, g);
	}
	/* In the order of time; there are few, so an insertion sort. */
	for (size_t i = 1; i < w->n; i++) {
		struct candidate x = w->of[i];
		size_t k = i;
		for (; k > 0 && earlier(x.first, w->of[k - 1].first, timed); k--)
			w->of[k] = w->of[k - 1];
		w->of[k] = x;
	}
}

static bool is_met(const struct weighing *w, const struct rule_need *n)
{
	for (size_t i = 0; n->is_rule && i < w->n; i++)
		if (strcmp(w->of[i].rule->id, n->name) == 0)
			return true;
	return !n->is_rule && cause_set_find_fact(w->set, n->name) != NULL;
}

static enum rule_confidence less(enum rule_confidence c)
{
	return c > RULE_LOW ? (enum rule_confidence)(c - 1) : RULE_LOW;
}

static void weigh(const struct weighing *w, struct candidate *c)
{
	bool raises = false, raised = false, lowered = false;
	for (size_t i = 0; i < c->rule->n_needs; i++) {
		const struct rule_need *n = &c->rule->needs[i];
		bool met = is_met(w, n);
		raises |= n->kind == RULE_NEED_RAISE;
		raised |= n->kind == RULE_NEED_RAISE && met;
		lowered |= n->kind == RULE_NEED_LOWER && met;
		c->dropped |= n->kind == RULE_NEED_MUST && !met;
	}
	/* What happened to another job on this machine concerns this one only through what both share. */
	c->dropped |= c->foreign && c->rule->role == RULE_CONFIRMATION;
	if (c->foreign || (raises && !raised && !c->ours))
		c->confidence = less(c->confidence);
	if (lowered)
		c->confidence = less(c->confidence);
}

static const struct candidate *pick(const struct weighing *w, enum rule_role role, enum rule_confidence least)
{
	for (size_t i = 0; i < w->n; i++)
		if (!w->of[i].dropped && w->of[i].rule->role == role && w->of[i].rule->confidence >= least)
			return &w->of[i];
	return NULL;
}

/* By the confidence that the rules allow: evidence that could not be read must not change the order of events. */
static const struct candidate *chosen(const struct weighing *w)
{
	static const struct {
		enum rule_role role;
		enum rule_confidence least;
	} order[] = {
		{RULE_ROOT, RULE_MEDIUM},
		{RULE_ROOT, RULE_LOW},
		{RULE_CASCADE, RULE_LOW},
		{RULE_CONFIRMATION, RULE_LOW},
	};
	const struct candidate *c = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(order) && !c; i++)
		c = pick(w, order[i].role, order[i].least);
	return c;
}

/* ---- texts ---- */

static uint32_t fact_number(const struct cause_set *s, const char *name, uint32_t otherwise)
{
	const struct cause_fact *f = cause_set_find_fact(s, name);
	uint64_t v;
	return f && span_u64(span_of(f->value), &v) == 0 && v < 64 ? (uint32_t)v : otherwise;
}

/* NCCL's default, which was raised twice over the years. */
static uint32_t ib_timeout_default(const struct cause_set *s)
{
	const struct cause_fact *f = cause_set_find_fact(s, "NCCL_VERSION");
	struct span minor = f ? span_after(span_of(f->value), "2.") : (struct span){NULL, 0};
	uint64_t v;
	if (!minor.p || minor.p != f->value + 2 || span_u64_prefix(minor, &v) < 0 || v >= 24)
		return 20;
	return v <= 10 ? 14 : 18;
}

static void ib_words(const struct cause_set *s, uint32_t exponent, struct buf *b)
{
	uint32_t retries = fact_number(s, "NCCL_IB_RETRY_CNT", IB_RETRIES);
	buf_printf(b, "4.096 us x 2^%u x %u = %.3g s", exponent, retries, causes_ib_timeout_s(exponent, retries));
}

/* A longer time-out is no advice where it is that long already. */
static void ib_longer(const struct cause_set *s, struct buf *b)
{
	uint32_t now = fact_number(s, "NCCL_IB_TIMEOUT", ib_timeout_default(s));
	if (now >= 22) {
		buf_printf(b, "NCCL_IB_TIMEOUT is %u already: waiting longer still would only tell it later", now);
		return;
	}
	buf_add(b, "set NCCL_IB_TIMEOUT=22, which waits ");
	ib_words(s, 22, b);
}

static bool ends_in(const struct buf *b, const char *word)
{
	size_t n = strlen(word);
	return b->len >= n && memcmp(b->text + b->len - n, word, n) == 0;
}

static void program_instead(struct buf *b)
{
	b->len -= strlen("rank ");
	bool first = b->text[b->len] == 'R';
	b->text[b->len] = '\0';
	buf_add(b, first ? "The program" : "the program");
}

static bool place_fill(const struct cause_set *s, const struct rule_match *m, struct span name, struct buf *b)
{
	if (span_eq(name, "ib_timeout")) {
		ib_words(s, fact_number(s, "NCCL_IB_TIMEOUT", ib_timeout_default(s)), b);
		return true;
	}
	if (span_eq(name, "ib_timeout_22")) {
		ib_words(s, 22, b);
		return true;
	}
	if (span_eq(name, "ib_timeout_longer")) {
		ib_longer(s, b);
		return true;
	}
	for (size_t i = 0; i < RULE_EXTRACTS; i++) {
		if (!span_eq(name, rule_extract_name((enum rule_extract)i)))
			continue;
		if (m->value[i][0])
			buf_add(b, m->value[i]);
		else if (i == RULE_RANK && m->rank != NO_RANK)
			buf_printf(b, "%d", m->rank);
		else if (i == RULE_RANK && (ends_in(b, "Rank ") || ends_in(b, "rank ")))
			program_instead(b); /* a job of one process has no ranks */
		else if (ends_in(b, "peer ") || ends_in(b, "adapter "))
			b->text[--b->len] = '\0'; /* "the peer is dead": an unknown name is left out */
		else
			buf_add(b, "?");
		return true;
	}
	return false;
}

/* A name in braces is replaced by what was found; other braces stay. */
static void words(const struct cause_set *s, const struct rule_match *m, const char *text, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	for (const char *at = text; *at;) {
		const char *close = *at == '{' ? strchr(at, '}') : NULL;
		if (close && place_fill(s, m, (struct span){at + 1, (size_t)(close - at) - 1}, &b)) {
			at = close + 1;
			continue;
		}
		buf_add_n(&b, at, 1);
		at++;
	}
}

static void evidence_add(const struct candidate *c, struct cause_verdict *v)
{
	const struct rule_match *m = &c->first->first;
	if (v->n_evidence == CAUSE_EVIDENCE)
		return;
	TEXT_FORMAT(v->evidence[v->n_evidence].source, "%.60s:%llu", m->file ? m->file : "?",
		    (unsigned long long)m->line);
	struct buf b = BUF_ON(v->evidence[v->n_evidence].text);
	buf_reset(&b);
	buf_printf(&b, "%s: ", c->rule->id);
	if (c->n > 1)
		buf_printf(&b, "%llu times%s", (unsigned long long)c->n, c->n_ranks > 1 ? "" : ": ");
	if (c->n > 1 && c->n_ranks > 1)
		buf_printf(&b, " on %zu ranks: ", c->n_ranks);
	buf_printf(&b, "%.260s", m->text);
	v->evidence[v->n_evidence++].time_unix_ms = m->has_time ? m->time_unix_ms : 0;
}

/* ---- culprits ---- */

static void culprit_add(struct cause_verdict *v, int64_t rank)
{
	for (size_t i = 0; i < v->n_culprits; i++)
		if (v->culprits[i] == rank)
			return;
	if (rank >= 0 && rank < INT32_MAX && v->n_culprits < CAUSE_CULPRITS)
		v->culprits[v->n_culprits++] = (int32_t)rank;
}

/* "0, 3" or "[0, 3]" */
static void culprits_listed(struct cause_verdict *v, const char *list)
{
	for (const char *at = list; *at;) {
		uint64_t n = 0;
		size_t digits = strspn(at, "0123456789");
		if (digits > 0 && span_u64((struct span){at, digits}, &n) == 0)
			culprit_add(v, (int64_t)MIN(n, (uint64_t)INT32_MAX));
		at += MAX(digits, (size_t)1);
	}
}

/* Blames the ranks of 0..nranks-1 that reported nothing, unless that is more than half of them. */
static void culprits_missing(struct cause_verdict *v, const struct candidate *c)
{
	uint64_t nranks;
	bool heard[CAUSE_RANKS] = {false};
	if (span_u64(span_of(c->first->first.value[RULE_NRANKS]), &nranks) < 0 || nranks > CAUSE_RANKS)
		return;
	for (size_t i = 0; i < c->n_ranks; i++)
		if (c->ranks[i] >= 0 && (uint64_t)c->ranks[i] < nranks)
			heard[c->ranks[i]] = true;
	if (c->n_ranks * 2 < nranks)
		return;
	for (uint64_t r = 0; r < nranks; r++)
		if (!heard[r])
			culprit_add(v, (int64_t)r);
}

static void culprits_fill(struct cause_verdict *v, const struct candidate *c)
{
	const struct rule_match *m = &c->first->first;
	const char *peer = m->value[RULE_PEER];
	switch (c->rule->blame) {
	case RULE_BLAME_SELF:
		/* A cause that all ranks report accuses none of them. */
		for (size_t i = 0; i < c->n_ranks && c->n_ranks < CAUSE_RANKS; i++)
			culprit_add(v, c->ranks[i]);
		break;
	case RULE_BLAME_PEER:
		culprits_listed(v, strspn(peer, "0123456789") == strlen(peer) ? peer : "");
		break;
	case RULE_BLAME_LISTED:
		culprits_listed(v, m->value[RULE_RANKS][0] ? m->value[RULE_RANKS] : m->value[RULE_RANK]);
		break;
	case RULE_BLAME_MISSING:
		culprits_missing(v, c);
		break;
	case RULE_BLAME_NONE:
		break;
	}
}

/* Where a rule on stacks matched: the judge of hangs compares it with who waits. */
static void stack_fill(const struct cause_set *s, const struct candidate *c, struct cause_verdict *v)
{
	v->of_stack = c->rule->source == RULE_STACK;
	for (size_t i = 0; v->of_stack && i < s->n; i++) {
		const struct rule_match *m = &s->groups[i].first;
		if (m->rule == c->rule && m->event == RULE_MATCH)
			v->of_main_thread |= strstr(m->text, " thread=other ") == NULL;
	}
	for (size_t i = 0; v->of_stack && i < c->n_ranks; i++)
		if (c->ranks[i] >= 0)
			v->stack_ranks[v->n_stack_ranks++] = c->ranks[i];
}

/* A report that names ranks says more than the time-out that it came with. */
static void confirm(const struct weighing *w, const struct candidate *c, struct cause_verdict *v)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct candidate *k = &w->of[i];
		if (k == c || k->dropped || k->rule->role != RULE_CONFIRMATION || k->rule->blame != RULE_BLAME_LISTED)
			continue;
		if (v->n_culprits == 0)
			culprits_fill(v, k);
		if (c->rule->role == RULE_CASCADE && v->n_culprits > 0)
			v->confidence = MIN(c->rule->confidence, RULE_MEDIUM);
	}
}

int causes_judge(const struct cause_set *s, struct cause_verdict *ret)
{
	struct weighing w = {.set = s};
	struct cause_verdict v = {.valid = true};
	causes_gather(&w);
	for (size_t i = 0; i < w.n; i++)
		weigh(&w, &w.of[i]);
	const struct candidate *c = chosen(&w);
	if (!c)
		return CAUSES_NONE;
	const struct rule_match *m = &c->first->first;
	TEXT_COPY(v.id, c->rule->id);
	v.role = c->rule->role;
	bool proof = v.role == RULE_CONFIRMATION && c->ours;
	v.confidence = v.role == RULE_ROOT ? c->confidence : proof ? MIN(c->confidence, RULE_MEDIUM) : RULE_LOW;
	words(s, m, c->rule->cause, v.text, sizeof(v.text));
	for (size_t i = 0; i < c->rule->n_advice && v.n_advice < CAUSE_ADVICE; i++)
		words(s, m, c->rule->advice[i], v.advice[v.n_advice++], sizeof(v.advice[0]));
	evidence_add(c, &v);
	culprits_fill(&v, c);
	stack_fill(s, c, &v);
	confirm(&w, c, &v);
	for (size_t i = 0; i < w.n; i++) {
		if (&w.of[i] == c || w.of[i].dropped)
			continue;
		evidence_add(&w.of[i], &v);
		if (v.n_others < CAUSE_OTHERS)
			TEXT_COPY(v.others[v.n_others++], w.of[i].rule->id);
	}
	*ret = v;
	return 0;
}
