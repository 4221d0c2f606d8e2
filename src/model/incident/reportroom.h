/*
 * How many reports are still made of what users' programs decide: so many at once, and then one each so often. Each
 * node has its own room, and each user one for all nodes, as a user starts as many as there are places. Pure.
 */
#pragma once

#include "base/base.h"

#define REPORTROOM_USERS 64

struct reportroom {
	uint32_t made; /* lately */
	uint64_t since_ns; /* since when one is taken off that number each each_ns */
	bool told; /* more were due, which was told */
};

struct reportroom_limit {
	uint32_t at_once;
	uint64_t each_ns;
};

/* Of the users who had reports lately; where there are more, all further ones have the last together. */
struct reportrooms {
	struct reportroom_user {
		uint32_t uid;
		struct reportroom room;
	} user[REPORTROOM_USERS];
	size_t n;
};

/* Whether one more fits. It is not taken. */
bool reportroom_has(struct reportroom *r, struct reportroom_limit limit, uint64_t now_ns);
void reportroom_take(struct reportroom *r);
/* The user's; never NULL. */
struct reportroom *reportrooms_of(struct reportrooms *all, uint32_t uid, struct reportroom_limit limit,
				  uint64_t now_ns);
