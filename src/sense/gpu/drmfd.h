/*
 * What the kernel tells of one open graphics device (/proc/PID/fdinfo/N;
 * kernel: gpu/drm-usage-stats.rst): busy time by engine and memory by region
 * of one client. Descriptors that were passed on show the same client: (pci,
 * client) tells them apart.
 *
 * Numbers of engines count up, but may go back a little. Compute through KFD
 * (ROCm) and CUDA do not appear here.
 */
#pragma once

#include "base/text.h"
#include "sense/world.h"

#define DRMFD_ENGINES 16

struct drmfd_engine {
	char name[24];
	uint64_t busy_ns; /* 0 where the driver counts cycles */
	uint64_t cycles, total_cycles;
	uint32_t capacity; /* engines of this name; 1 if not told */
};

struct drmfd {
	char driver[24];
	char pci[24]; /* empty: not told */
	bool has_client;
	uint64_t client;
	struct drmfd_engine engine[DRMFD_ENGINES];
	size_t n_engines, n_dropped;
	bool has_memory;
	uint64_t memory_bytes; /* resident in the device's own memory */
};

/* False if it is no graphics device. Pure. */
bool drmfd_parse(struct span text, struct drmfd *ret);
