#include "model/incident/reportroom.h"

bool reportroom_has(struct reportroom *r, struct reportroom_limit limit, uint64_t now_ns)
{
	const uint64_t passed = sub_floor(now_ns, r->since_ns) / limit.each_ns;
	r->made -= (uint32_t)MIN((uint64_t)r->made, passed);
	r->since_ns = r->made == 0 ? now_ns : r->since_ns + passed * limit.each_ns;
	return r->made < limit.at_once;
}

void reportroom_take(struct reportroom *r)
{
	r->made++;
}

struct reportroom *reportrooms_of(struct reportrooms *all, uint32_t uid, struct reportroom_limit limit, uint64_t now_ns)
{
	struct reportroom_user *free_one = NULL;
	for (size_t i = 0; i < all->n; i++) {
		struct reportroom_user *u = &all->user[i];
		if (u->uid == uid)
			return &u->room;
		(void)reportroom_has(&u->room, limit, now_ns);
		if (u->room.made == 0)
			free_one = u;
	}
	if (!free_one && all->n == ARRAY_SIZE(all->user))
		return &all->user[all->n - 1].room;
	if (!free_one)
		free_one = &all->user[all->n++];
	*free_one = (struct reportroom_user){.uid = uid};
	return &free_one->room;
}
