/*
 * Which processes of a job without ranks hold so much memory that each is told apart: those with at least 16 MiB and a
 * thirty-second part of what all have of their own, at most 16, the largest. One that was told apart before stays so
 * until it has a quarter less than that, so that processes of one size do not take each other's places at each look.
 * Pure.
 */
#pragma once

#include "model/jobs/usage.h"

#define BULK_MOST 16
#define BULK_LEAST_BYTES (16 * MIB)
#define BULK_PARTS 32

struct bulk_process {
	pid_t pid;
	uint64_t start_ticks;
	uint64_t own_bytes;
};

/* Zeroed: nobody was told apart yet. */
struct bulk {
	struct bulk_process of[BULK_MOST]; /* by pid */
	size_t n;
};

/* now: a sample, sorted by pid. b: the choice of the sample before, replaced by the one of this. */
void bulk_choose(struct bulk *b, const struct usage_process *now, size_t n_now);
