#include "model/jobs/crowd.h"

#include <stdlib.h>

struct crowd_rank {
	struct crowd_member *m;
	uint64_t weight;
	size_t of_user; /* how many of its user's are larger */
};

static uint64_t crowd_weight(const struct crowd_member *m)
{
	return m->has_place ? add_cap(m->bytes, m->bytes) : m->bytes;
}

/* Largest first; who has a place before who has none, then the older number, so that an order stays as it is. */
static int crowd_by_weight(const struct crowd_rank *x, const struct crowd_rank *y)
{
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->m->has_place != y->m->has_place)
		return x->m->has_place ? -1 : 1;
	return x->m->pid < y->m->pid ? -1 : x->m->pid > y->m->pid;
}

static int by_user(const void *a, const void *b)
{
	const struct crowd_rank *x = a, *y = b;
	if (x->m->uid != y->m->uid)
		return x->m->uid < y->m->uid ? -1 : 1;
	return crowd_by_weight(x, y);
}

static int by_turn(const void *a, const void *b)
{
	const struct crowd_rank *x = a, *y = b;
	if (x->of_user != y->of_user)
		return x->of_user < y->of_user ? -1 : 1;
	return crowd_by_weight(x, y);
}

int crowd_choose(struct crowd_member *m, size_t n, size_t places)
{
	cleanup(freep) struct crowd_rank *order = calloc(n ? n : 1, sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		order[i] = (struct crowd_rank){.m = &m[i], .weight = crowd_weight(&m[i])};
	qsort(order, n, sizeof(*order), by_user);
	for (size_t i = 1; i < n; i++)
		order[i].of_user = order[i].m->uid == order[i - 1].m->uid ? order[i - 1].of_user + 1 : 0;
	qsort(order, n, sizeof(*order), by_turn);
	for (size_t i = 0; i < n; i++)
		order[i].m->chosen = i < places;
	return 0;
}
