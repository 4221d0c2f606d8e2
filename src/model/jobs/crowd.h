/*
 * Who is guarded where more programs match than there are places: the largest of each user come first, then the second
 * largest of each, and so on, and of those that are alike in this the larger ones. So nobody takes the places of others
 * by starting many programs, and what is large is not missed beside what is small. Whoever has a place keeps it until
 * another is twice as large.
 *
 * Pure; allocates nothing but the order.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

struct crowd_member {
	pid_t pid;
	uint64_t start_ticks;
	uid_t uid;
	uint64_t bytes; /* resident, with all its descendants */
	bool has_place; /* it is guarded now */
	bool chosen;
};

/* Sets chosen of at most `places` of them. -ENOMEM. */
int must_check crowd_choose(struct crowd_member *m, size_t n, size_t places);
