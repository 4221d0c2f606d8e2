/* Which calls of one number do not fit each other. */
#include <string.h>

#include "model/collective/collective_parts.h"

int collective_text_order(const char *a, const char *b)
{
	return a == b ? 0 : strcmp(a, b);
}

/* The sizes that must be equal on all ranks. Bit 0: input, bit 1: output; 0: none. */
static unsigned size_rule(const char *op)
{
	static const struct {
		const char *start;
		unsigned rule;
	} rules[] = {
		{"all_to_all", 0}, {"alltoall", 0},   {"all_reduce", 3}, {"allreduce", 3},   {"reduce_scatter", 1},
		{"_reduce", 1},	   {"reduce", 1},     {"all_gather", 2}, {"_all_gather", 2}, {"broadcast", 2},
		{"_broadcast", 2}, {"gather", 1},     {"scatter", 2},	 {"send", 0},	     {"recv", 0},
		{"coalesced", 0},  {"_coalesced", 0}, {"barrier", 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (strncmp(op, rules[i].start, strlen(rules[i].start)) == 0)
			return rules[i].rule;
	return 0;
}

static bool differ(const char *a, const char *b)
{
	return a[0] && b[0] && collective_text_order(a, b) != 0;
}

bool collective_needs_all(const char *op)
{
	static const char *const starts[] = {"all_reduce", "allreduce",	  "all_gather",
					     "allgather",  "_all_gather", "reduce_scatter",
					     "barrier",	   "_allgather",  "_reduce_scatter"};
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (strncmp(op, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

bool collective_is_odd(const struct collective_call *c)
{
	return size_rule(c->op) == 3 && c->has_in && c->has_out && c->in_elements != c->out_elements;
}

bool collective_pair_clashes(const struct collective_call *a, const struct collective_call *b, const char **ret_what)
{
	bool has_a = a->has_in || a->has_out, has_b = b->has_in || b->has_out;
	uint64_t n_a = a->has_in ? a->in_elements : a->out_elements;
	uint64_t n_b = b->has_out ? b->out_elements : b->in_elements;
	const char *what = NULL;
	if (has_a && has_b && n_a != n_b)
		what = "size";
	else if (differ(a->in_dtypes, b->out_dtypes))
		what = "data type";
	if (what)
		*ret_what = what;
	return what != NULL;
}

bool collective_clashes(const struct collective_call *a, const struct collective_call *b, const char **ret_what)
{
	unsigned rule = size_rule(a->op);
	const char *what = NULL;
	if (collective_text_order(a->op, b->op) != 0)
		what = "operation";
	else if ((rule & 1 && differ(a->in_dtypes, b->in_dtypes)) || (rule & 2 && differ(a->out_dtypes, b->out_dtypes)))
		what = "data type";
	else if (rule & 1 && a->has_in && b->has_in && a->in_elements != b->in_elements)
		what = "size";
	else if (rule & 2 && a->has_out && b->has_out && a->out_elements != b->out_elements)
		what = "size";
	if (what)
		*ret_what = what;
	return what != NULL;
}

/* True if that rank made a call like this one under its number, too: its batch has parts, or lost its end. */
static bool made_too(struct collective_range r, size_t first, uint32_t rank, const struct collective_call *c)
{
	for (size_t i = first; i < r.n && r.calls[i].seq == c->seq; i++)
		if (r.calls[i].rank == rank && collective_text_order(r.calls[i].op, c->op) == 0)
			return true;
	return false;
}

/* Bounds the time for a crafted dump; no real number has as many calls that differ. */
#define CLASH_LOOKS 4096

/* What the calls of one number and part say of each other. */
struct clash_found {
	size_t n; /* calls */
	bool clash, serious, done;
	bool reduces; /* what came out is a sum of things that do not fit */
	unsigned looks; /* searches among the calls of the number */
};

static struct clash_found clash_among(struct collective_range r, size_t number, size_t first,
				      const struct collective_front *f)
{
	struct clash_found found = {.done = true};
	const struct collective_call *a = &r.calls[first];
	for (size_t i = first; i < r.n && r.calls[i].seq == a->seq && r.calls[i].part == a->part; i++) {
		const struct collective_call *c = &r.calls[i];
		const char *what = "";
		found.n++;
		found.done &= collective_ended(c, f);
		if (c->rank == a->rank || !collective_clashes(a, c, &what))
			continue;
		bool op = strcmp(what, "operation") == 0;
		if (op && found.serious)
			continue;
		if (op &&
		    (found.looks++ > CLASH_LOOKS || made_too(r, number, c->rank, a) || made_too(r, number, a->rank, c)))
			continue;
		found.clash = true;
		found.serious |= op;
		found.reduces |= !op && strstr(c->op, "reduce");
	}
	return found;
}

/*
 * If the call ended on all ranks, only different operations count: some libraries allow different sizes. The result of
 * a reduction of different sizes or types is not defined, so that is kept as minor.
 */
int collective_seal_clash(struct collective_set *s, struct collective_range r, const struct collective_front *f)
{
	struct collective_clash worst = {.n = 0}, *list;
	size_t number = 0;
	struct clash_found c;
	for (size_t first = 0; first < r.n; first += c.n) {
		if (r.calls[first].seq != r.calls[number].seq)
			number = first;
		c = clash_among(r, number, first, f);
		if (!c.clash)
			continue;
		struct collective_clash one = {.group = r.calls->group,
					       .first = (size_t)(r.calls + first - s->calls),
					       .n = c.n,
					       .done = c.done,
					       .minor = c.done && !c.serious};
		if (one.minor) {
			worst = worst.n || !c.reduces ? worst : one;
			continue;
		}
		worst = one;
		break;
	}
	if (worst.n == 0)
		return 0;
	list = collective_more(s, s->clashes, &s->n_clashes, &s->cap_clashes, sizeof(*s->clashes));
	if (!list)
		return -ENOMEM;
	s->clashes = list;
	s->clashes[s->n_clashes++] = worst;
	return 0;
}
