/*
 * Finds the accelerators that a process has open, by the paths of its descriptors (/proc/PID/fd) and mappings
 * (/proc/PID/maps; kernel: filesystems/proc.rst). It is used where a driver's process list does not help: in a
 * container that list has the pids of another pid namespace.
 *
 * It is weaker evidence than such a list. CUDA opens every device that it can see, monitors open all of them, and a
 * forked child inherits its parent's descriptors. A device that is also mapped is used by the process, or was used by
 * its parent: drivers map no memory for a process that only monitors the device.
 *
 * The numbers are those in the names of the device files: /dev/nvidia3 has number 3 (NVML's minor number, which can
 * differ from its index). /dev/davinci3 and /dev/dri/card3 have number 3 too, and /dev/dri/renderD131, counted from
 * 128.
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

/* Adds the device that path names to *h. False if it names none; /dev/nvidiactl, for example, is none. Pure. */
bool gpuheld_add(struct gpuheld *h, struct span path);
/* Reads the open devices; only the first 8,192 descriptors are read. WORLD_GONE, WORLD_DENIED. */
int must_check gpuheld_read(const struct world *w, pid_t pid, struct gpuheld *ret);
/* Reads the mapped devices; takes milliseconds for a large program. WORLD_GONE, WORLD_DENIED. */
int must_check gpuheld_mapped(const struct world *w, pid_t pid, struct gpuheld *ret);
static inline bool gpuheld_bit(uint64_t bits, uint32_t n)
{
	return n < GPUHELD_NUMBERS && (bits >> n & 1);
}
/* True if h has the device of the sample; false if the number of that device is not known. Pure. */
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
/* The number of device files; a card that has two (card and render) counts twice. */
unsigned gpuheld_count(const struct gpuheld *h);
