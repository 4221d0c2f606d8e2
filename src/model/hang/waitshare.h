/*
 * How much of its time each rank waits for the others, from many quick looks
 * at the stacks of the main threads. In a job whose ranks step together all
 * are equally slow; the one that holds up the others is the one that waits
 * least. Pure; zeroed by its owner.
 */
#pragma once

#include "model/hang/activity.h"

#define WAITSHARE_RANKS 64

struct waitshare_rank {
	int32_t rank;
	uint32_t n; /* looks with a stack */
	uint32_t ranks; /* … in a wait for other ranks */
	uint32_t gpu; /* … in a wait for the device */
	uint32_t loader; /* … in a wait for data */
	uint32_t running; /* … on a processor, or wanting one */
	uint32_t sleeping; /* … in a declared sleep */
	uint32_t other; /* … in any other wait */
};

struct waitshare {
	struct waitshare_rank rank[WAITSHARE_RANKS];
	size_t n;
	uint32_t looks;
	uint64_t took_ns; /* all the looks together; filled by the owner */
	uint64_t last_ns; /* when the last look was over; filled by the owner */
};

/* One look: the dump may hold main threads alone, without detail of waits. Ranks beyond 64 are left out. */
void waitshare_add(struct waitshare *w, const struct stackdump *d);
/* 0 to 1 of its looks; 0 without looks. */
double waitshare_waiting(const struct waitshare_rank *r);
