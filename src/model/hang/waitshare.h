/*
 * How much of its time each rank waits for the others, from many quick samples of the stacks of main threads. In a job
 * whose ranks step together all ranks are equally slow; the rank that delays the others is the one that waits least.
 * Pure; zeroed by its owner.
 */
#pragma once

#include "model/hang/activity.h"

#define WAITSHARE_RANKS 64
#define WAITSHARE_WHOM 120

struct waitshare_rank {
	int32_t rank;
	uint32_t n; /* samples with a stack; the sum of the counts below */
	uint32_t ranks; /* samples in a wait for other ranks */
	uint32_t gpu; /* samples in a wait for the device */
	uint32_t loader; /* samples in a wait for data */
	uint32_t running; /* samples on a processor or ready to run, or of unknown state */
	uint32_t sleeping; /* samples in a sleep */
	uint32_t other; /* samples in any other wait */
	char whom[WAITSHARE_WHOM]; /* what such a wait was for, as last seen: "loader 812 (read, pipe 4711)" */
};

struct waitshare {
	struct waitshare_rank rank[WAITSHARE_RANKS];
	size_t n;
	uint32_t samples;
	uint64_t took_ns; /* duration of all samples together; filled by the owner */
	uint64_t last_ns; /* end of the last sample; filled by the owner */
};

/* What is known of a sampled main thread beside its stack. */
enum waitshare_sign {
	WAITSHARE_FOR_RANKS = 1, /* by the kernel's facts it waits for another rank */
	WAITSHARE_NATIVE = 2, /* a program without Python: it counts without a stack */
};

/*
 * Adds one sample. The dump may hold main threads only, without details of waits. Ranks beyond 64 are left out. signs:
 * of each process of the dump, WAITSHARE_*; NULL: nothing.
 */
void waitshare_add(struct waitshare *w, const struct stackdump *d, const uint8_t *signs);
/* What a rank's wait that is for no other rank is for. */
void waitshare_whom(struct waitshare *w, int32_t rank, const char *whom);
/* Ratio of samples in a wait for other ranks, 0 to 1; 0 without samples. */
double waitshare_waiting(const struct waitshare_rank *r);
