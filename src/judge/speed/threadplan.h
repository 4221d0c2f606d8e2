/*
 * How many threads each rank of a job may start, so that ranks times threads fit the cores, and which variables say so
 * to the numeric libraries. What the user has set stays, also where it stands in for a variable that is not set. Pure.
 */
#pragma once

#include "base/base.h"

/* cores: physical ones that the job may use; quota_cores 0: none. At least 1. */
uint32_t threadplan_threads(uint32_t cores, double quota_cores, uint32_t ranks);

#define THREADPLAN_VARIABLES 7

struct threadplan {
	char item[THREADPLAN_VARIABLES][40]; /* "OMP_NUM_THREADS=4": to be set */
	size_t n;
	const char *kept[THREADPLAN_VARIABLES]; /* names that the user has set; static */
	size_t n_kept;
};

/* is_set: whether the user's environment has a variable. */
void threadplan_make(uint32_t threads, bool (*is_set)(void *ctx, const char *name), void *ctx, struct threadplan *ret);
