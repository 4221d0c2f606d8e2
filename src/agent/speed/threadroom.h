/* The cores that a job started from here may use: those of our own processors, and the quota of our control group. */
#pragma once

#include "sense/world.h"

struct threadroom {
	uint32_t cores; /* at least 1 */
	uint32_t cpus; /* hardware threads */
	double quota_cores; /* 0: none */
};

void threadroom_read(const struct world *w, struct threadroom *ret);
