/*
 * On which NUMA nodes the memory of a process lies: /proc/PID/numa_maps (kernel: filesystems/proc.rst). Reading it
 * walks the page tables and takes the memory lock of the process.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

#define NUMAMAPS_NODES 64

struct numamaps {
	uint64_t bytes[NUMAMAPS_NODES];
	uint64_t all_bytes;
};

/* Lines that do not say where their pages lie are skipped. Pure. */
void numamaps_parse(struct span text, struct numamaps *ret);
/* WORLD_GONE, WORLD_DENIED, WORLD_ABSENT (a kernel without NUMA), -ETIMEDOUT (sense/lockwait). */
int must_check numamaps_read(const struct world *w, pid_t pid, struct numamaps *ret);
