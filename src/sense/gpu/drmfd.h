/*
 * Parses /proc/PID/fdinfo/N of an open graphics device (kernel: gpu/drm-usage-stats.rst): busy time by engine and
 * memory by region of one client. Several descriptors can belong to one client; (pci, client) identifies it.
 *
 * Engine counters grow, but can step back a little. Compute work through KFD (ROCm) or CUDA does not appear here.
 */
#pragma once

#include "base/text.h"
#include "sense/world.h"

#define DRMFD_ENGINES 16

struct drmfd_engine {
	char name[24];
	uint64_t busy_ns; /* 0 where the driver counts cycles */
	uint64_t cycles, total_cycles;
	uint32_t capacity; /* engines of this name; 1 if not reported */
};

struct drmfd {
	char driver[24];
	char pci[24]; /* empty: not reported */
	bool has_client;
	uint64_t client;
	struct drmfd_engine engine[DRMFD_ENGINES];
	size_t n_engines, n_dropped;
	bool has_memory;
	uint64_t memory_bytes; /* resident in the device's own memory */
};

/* False if text is not the fdinfo of a graphics device. Pure. */
bool drmfd_parse(struct span text, struct drmfd *ret);
