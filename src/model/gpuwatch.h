/*
 * Clocks of GPUs over time, for the cause book's source counter: how long
 * each has worked at a low clock, and how long its driver has held it back
 * and why. Fed with samples at any distance; a gap of more than a minute
 * begins anew. Pure, fixed size. Times are nanoseconds of one clock.
 */
#pragma once

#include "sense/gpu/gpu.h"

/* Below that clock a GPU that is busy is throttled or stuck (no data-centre GPU works so slowly by design). */
#define GPUWATCH_LOW_MHZ 800
#define GPUWATCH_BUSY_PERCENT 50

struct gpuwatch_row {
	char uuid[96];
	uint32_t index;
	uint64_t seen_ns;
	bool low, held;
	uint64_t low_since_ns, held_since_ns;
	uint64_t held_by; /* bits of GPU_REASON_*, all that were seen since */
};

struct gpuwatch {
	struct gpuwatch_row row[GPU_MAX];
	size_t n;
};

void gpuwatch_feed(struct gpuwatch *g, const struct gpu_set *set, uint64_t now_ns);

typedef void gpuwatch_line_fn(void *data, const char *line);
/* "sm_clock_low_s{gpu3} 900", "gpu_held_back_s{gpu3} 40 hw_thermal,power_brake": only what is so now. */
void gpuwatch_lines(const struct gpuwatch *g, gpuwatch_line_fn *fn, void *data);
