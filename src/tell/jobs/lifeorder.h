/*
 * Orders of a job's processes, for qsort(3) and bsearch(3). A pid alone may be another process's later, so its start
 * goes with it.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

struct lifeorder {
	pid_t pid;
	uint64_t start_ticks;
};

int lifeorder_by_pid(const void *a, const void *b); /* of struct lifeorder */
/* Of struct series_process: 0 where both are records of one process. */
int lifeorder_same(const void *a, const void *b);
/* The same, and of one process the latest record last. */
int lifeorder_latest_last(const void *a, const void *b);
int lifeorder_by_start(const void *a, const void *b);
