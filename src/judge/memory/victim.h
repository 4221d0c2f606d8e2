/*
 * Which units to end when memory runs out. Pure and without allocation.
 *
 * A unit is the smallest set of processes that can end together without leaving a broken half behind
 * (model/memory/unit). Candidates are ranked by the policy; units are then taken from the top until what they free
 * covers the deficit. Preferred ones come first, avoided ones when nobody else is left, and then they do: a wish
 * never spares anybody into letting the machine die. Retriable units come first under every policy, protected ones
 * never. A unit that would not free enough alone is passed over as long as another one would, so that no unit is
 * ended only for being new.
 */
#pragma once

#include "base/base.h"
#include "model/memory/unit.h"

enum victim_policy {
	POLICY_GROUP, /* the newest unit of the largest group; the last of its group is not retried */
	POLICY_NEWEST,
	POLICY_LARGEST, /* most own bytes */
	POLICY_FASTEST, /* grows fastest */
	POLICY_MAX,
};

#define VICTIM_MAX UNIT_MAX

struct victim_choice {
	uint16_t order[VICTIM_MAX]; /* indexes of units, the first to end first */
	size_t n; /* candidates in order */
	size_t n_chosen; /* the first n_chosen of order are to be ended */
	uint64_t freed_bytes; /* what ending them is expected to free */
	bool enough; /* that covers the deficit */
	bool last_of_group; /* the first victim is the last of its group: it is not retried */
};

void victim_choose(const struct unit_table *units, enum victim_policy policy, uint64_t deficit_bytes,
		   struct victim_choice *ret);
/* Writes why the unit at place p of the order stands there, in one clause. */
void victim_explain(const struct unit_table *units, enum victim_policy policy, const struct victim_choice *c, size_t p,
		    char *dst, size_t cap);
const char *victim_policy_name(enum victim_policy p);
