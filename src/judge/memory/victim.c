#include "judge/memory/victim.h"

#include <string.h>

#include "base/buf.h"
#include "base/units.h"

static const char *const policy_names[POLICY_MAX] = {
	[POLICY_GROUP] = "group",
	[POLICY_NEWEST] = "newest",
	[POLICY_LARGEST] = "largest",
	[POLICY_FASTEST] = "fastest",
};

/* Negative: a goes first. Equal units keep a fixed order: newer first, then the larger pid. */
static int by_newest(const struct unit *a, const struct unit *b)
{
	if (a->start_ticks != b->start_ticks)
		return a->start_ticks > b->start_ticks ? -1 : 1;
	return a->pid > b->pid ? -1 : 1;
}

static int by_policy(const struct unit *a, const struct unit *b, enum victim_policy policy)
{
	switch (policy) {
	case POLICY_LARGEST:
		if (unit_weight(a) != unit_weight(b))
			return unit_weight(a) > unit_weight(b) ? -1 : 1;
		break;
	case POLICY_FASTEST:
		if (a->growth_bytes_per_s != b->growth_bytes_per_s)
			return a->growth_bytes_per_s > b->growth_bytes_per_s ? -1 : 1;
		break;
	case POLICY_GROUP:
		if (a->group_size != b->group_size)
			return a->group_size > b->group_size ? -1 : 1;
		break;
	case POLICY_NEWEST:
	case POLICY_MAX:
		break;
	}
	return by_newest(a, b);
}

/*
 * Ray ends with any of its own programs, and these hold little: to end them gives no room back and takes the node away.
 * Programs that have grown are no such case, nor are many that hold 2 GiB together.
 */
static bool is_spared(const struct unit *u)
{
	return u->launcher && u->role == ROLE_RAY_SYSTEM && unit_weight(u) < 512 * MIB;
}

/* All that are spared hold little together: names are no licence to fill the machine with many. */
static bool sparing_is_cheap(const struct unit_table *units)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < units->n; i++)
		bytes += is_spared(&units->unit[i]) ? unit_weight(&units->unit[i]) : 0;
	return bytes < 2 * GIB;
}

static int victim_compare(const struct unit *a, const struct unit *b, enum victim_policy policy, uint64_t worthwhile)
{
	bool small_a = unit_weight(a) < worthwhile, small_b = unit_weight(b) < worthwhile;
	if (is_spared(a) != is_spared(b))
		return is_spared(a) ? 1 : -1;
	if (a->launcher != b->launcher)
		return a->launcher ? 1 : -1;
	if ((a->wish == WISH_AVOID) != (b->wish == WISH_AVOID))
		return a->wish == WISH_AVOID ? 1 : -1;
	if (small_a != small_b)
		return small_a ? 1 : -1;
	if (a->wish != b->wish)
		return a->wish == WISH_PREFER ? -1 : 1;
	if (a->retriable != b->retriable)
		return a->retriable ? -1 : 1;
	/*
	 * Ranks of one job end together whichever goes: the one that holds most is taken, so that the right one is
	 * named.
	 */
	if (a->job == b->job && a->rank != NO_RANK && b->rank != NO_RANK)
		return by_policy(a, b, POLICY_LARGEST);
	return by_policy(a, b, policy);
}

static void sort_units(const struct unit_table *units, enum victim_policy policy, uint64_t worthwhile,
		       struct victim_choice *c)
{
	/* Insertion sort: no allocation, and the units are nearly sorted by age already. */
	for (size_t i = 1; i < c->n; i++) {
		uint16_t x = c->order[i];
		size_t j = i;
		for (; j > 0 && victim_compare(&units->unit[x], &units->unit[c->order[j - 1]], policy, worthwhile) < 0;
		     j--)
			c->order[j] = c->order[j - 1];
		c->order[j] = x;
	}
}

void victim_choose(const struct unit_table *units, enum victim_policy policy, uint64_t deficit_bytes,
		   struct victim_choice *ret)
{
	ret->n = ret->n_chosen = 0;
	ret->freed_bytes = 0;
	ret->enough = ret->last_of_group = false;
	uint64_t biggest = 0;
	for (size_t i = 0; i < units->n; i++) {
		if (units->unit[i].protected_)
			continue;
		ret->order[ret->n++] = (uint16_t)i;
		biggest = MAX(biggest, unit_weight(&units->unit[i]));
	}
	if (ret->n == 0)
		return;
	/*
	 * A unit is worth ending when it covers the deficit alone, or, where none does, holds half of the biggest one's
	 * bytes.
	 */
	uint64_t worthwhile = MIN(deficit_bytes, biggest / 2);
	sort_units(units, policy, worthwhile, ret);
	/* all others would come before one that is spared */
	if (is_spared(&units->unit[ret->order[0]]) && sparing_is_cheap(units)) {
		ret->n = 0;
		return;
	}
	while (ret->n_chosen < ret->n) {
		const struct unit *u = &units->unit[ret->order[ret->n_chosen]];
		if (ret->n_chosen > 0 && (ret->freed_bytes >= deficit_bytes || u->launcher || u->wish == WISH_AVOID))
			break;
		ret->freed_bytes += unit_weight(u);
		ret->n_chosen++;
	}
	const struct unit *first = &units->unit[ret->order[0]];
	ret->enough = ret->freed_bytes >= deficit_bytes;
	ret->last_of_group = policy == POLICY_GROUP && first->group_size == 1;
}

static void explain_place(struct buf *b, const struct unit *u, enum victim_policy policy, bool first)
{
	char size[16];
	switch (policy) {
	case POLICY_LARGEST:
		buf_printf(b, "%s, with %s", first ? "the largest" : "smaller", size_format(unit_weight(u), size));
		break;
	case POLICY_FASTEST:
		buf_printf(b, "%s, by %s/s", first ? "the fastest growing" : "slower growing",
			   size_format((uint64_t)MAX(u->growth_bytes_per_s, 0), size));
		break;
	case POLICY_GROUP:
		buf_printf(b, "%s of its group of %u", first ? "the newest" : "an older one", u->group_size);
		break;
	case POLICY_NEWEST:
	case POLICY_MAX:
		buf_add(b, first ? "the most recently started" : "started earlier");
		break;
	}
}

void victim_explain(const struct unit_table *units, enum victim_policy policy, const struct victim_choice *c, size_t p,
		    char *dst, size_t cap)
{
	const struct unit *u = &units->unit[c->order[p]];
	struct buf b = {.text = dst, .cap = cap};
	char size[16];
	buf_reset(&b);
	bool rank_of_many = u->rank != NO_RANK && c->n > 1;
	if (c->n == 1)
		buf_printf(&b, "the only candidate, with %s", size_format(unit_weight(u), size));
	else if (is_spared(u))
		buf_add(&b, "only starts others, and all of Ray ends with it: spared");
	else if (u->launcher)
		buf_add(&b, "only starts others: ended when nothing else is left");
	else
		explain_place(&b, u, rank_of_many ? POLICY_LARGEST : policy, p == 0);
	if (u->wish == WISH_PREFER)
		buf_add(&b, ", and --prefer names it");
	if (u->wish == WISH_AVOID)
		buf_add(&b, p == 0 ? ", to be avoided, but nobody else is left" : ", to be avoided");
	if (c->n > 1 && u->retriable)
		buf_add(&b, ", and can be retried");
}

const char *victim_policy_name(enum victim_policy p)
{
	return p < POLICY_MAX ? policy_names[p] : "unknown";
}
