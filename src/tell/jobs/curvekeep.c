#include "tell/jobs/curvekeep.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void curvekeep_done(struct curvekeep *k)
{
	free(k->of);
	*k = (struct curvekeep){.of = NULL};
}

static bool is_it(const struct curve *c, int64_t lane, const char *name)
{
	return c->lane == lane && strcmp(c->name, name) == 0;
}

static struct curve *curve_find(struct curvekeep *k, int64_t lane, const char *name)
{
	for (size_t i = 0; i < k->n; i++) {
		size_t at = (k->next + i) % k->n;
		if (!is_it(&k->of[at], lane, name))
			continue;
		k->next = at + 1;
		return &k->of[at];
	}
	return NULL;
}

static bool is_same(double a, double b)
{
	return a <= b && a >= b;
}

bool curvekeep_changes(struct curvekeep *k, int64_t lane, const char *name, double a, double b)
{
	struct curve *c = curve_find(k, lane, name);
	if (c && is_same(c->value[0], a) && is_same(c->value[1], b))
		return false;
	if (!c && vec_room(&k->of, &k->cap, k->n + 1) < 0)
		return true; /* it is only told again */
	c = c ? c : &k->of[k->n++];
	*c = (struct curve){.lane = lane, .name = name, .value = {a, b}};
	return true;
}
