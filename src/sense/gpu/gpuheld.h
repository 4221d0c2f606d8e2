/*
 * Which accelerators a process has open, by the names behind its descriptors
 * (/proc/PID/fd) and mappings (/proc/PID/maps; kernel: filesystems/proc.rst).
 * For where a driver's list of processes does not help: in a container it has
 * the numbers of another pid namespace.
 *
 * It says less than such a list. CUDA opens each device that it may see, and
 * so do monitors; a forked child has open what its parent had. A device that
 * is mapped as well is worked with, or was by a parent: with one that somebody
 * only looks at, no driver shares memory.
 *
 * Numbers are those in the names of the device files: /dev/nvidia3 has number
 * 3 (what NVML calls the minor number, which need not be its index), so have
 * /dev/davinci3, /dev/dri/card3 and, counted from 128, /dev/dri/renderD131.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/gpu/gpu.h"
#include "sense/world.h"

#define GPUHELD_NUMBERS 64
#define GPUHELD_RENDER_FIRST 128

struct gpuheld {
	uint64_t nvidia, davinci, render, card; /* 1 << number */
};

/* True if path names a device, which is added to what *h has. /dev/nvidiactl and the like are none. Pure. */
bool gpuheld_add(struct gpuheld *h, struct span path);
/* What is open. WORLD_GONE, WORLD_DENIED; of a process with very many descriptors, what the first thousands are. */
int must_check gpuheld_read(const struct world *w, pid_t pid, struct gpuheld *ret);
/* What is mapped; costs milliseconds of a large program. WORLD_GONE, WORLD_DENIED. */
int must_check gpuheld_mapped(const struct world *w, pid_t pid, struct gpuheld *ret);
static inline bool gpuheld_bit(uint64_t bits, uint32_t n)
{
	return n < GPUHELD_NUMBERS && (bits >> n & 1);
}
/* False also where the number of the sample's device is not known. Pure. */
static inline bool gpuheld_has(const struct gpuheld *h, const struct gpu_sample *g)
{
	switch (g->vendor) {
	case GPU_NVIDIA:
		return g->has_number && gpuheld_bit(h->nvidia, g->number);
	case GPU_HUAWEI:
		return g->has_number && gpuheld_bit(h->davinci, g->number);
	case GPU_AMD:
	case GPU_INTEL:
		return gpuheld_bit(h->card, g->index) || (g->has_number && gpuheld_bit(h->render, g->number));
	case GPU_OTHER:
		break;
	}
	return false;
}
void gpuheld_join(struct gpuheld *h, const struct gpuheld *more);
/* How many device files; those of one card that has two (card and render) count twice. */
unsigned gpuheld_count(const struct gpuheld *h);
