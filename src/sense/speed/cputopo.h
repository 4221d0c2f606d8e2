/*
 * The processors of the machine: which are on, which share a core (simultaneous multithreading), which memory is near
 * them, and how fast they run now. From /sys/devices/system (kernel: admin-guide/cputopology.rst, ABI
 * sysfs-devices-system-cpu). A file that is missing leaves its part unknown.
 */
#pragma once

#include "base/text.h"
#include "sense/world.h"

#define CPUTOPO_MAX 1024 /* processors with higher numbers are left out */

struct cpuset_bits {
	uint64_t word[CPUTOPO_MAX / 64];
};

static inline bool cpuset_has(const struct cpuset_bits *s, uint32_t cpu)
{
	return cpu < CPUTOPO_MAX && (s->word[cpu / 64] >> (cpu % 64) & 1);
}

struct cputopo {
	struct cpuset_bits online;
	uint32_t core[CPUTOPO_MAX]; /* lowest processor of the same core; of those that are on */
	uint16_t node[CPUTOPO_MAX]; /* NUMA node */
	uint32_t n_nodes; /* at least 1 */
	bool has_cores; /* core is known; else each processor counts as a core */
	bool has_clock; /* the two below are known: sums over the processors that are on */
	double clock_ratio; /* present frequency over the highest */
	uint64_t throttles; /* times that heat or power lowered the clock of a core, over all cores */
	bool has_throttles;
};

/* "0-3,8,10-11". -EINVAL. Pure. */
int must_check cpulist_parse(struct span text, struct cpuset_bits *ret);
uint32_t cpuset_count(const struct cpuset_bits *s);
/* Number of cores that the processors of s are on. */
uint32_t cputopo_cores(const struct cputopo *t, const struct cpuset_bits *s);
/* WORLD_ABSENT: the machine does not tell which processors it has. */
int must_check cputopo_read(const struct world *w, struct cputopo *ret);
