/*
 * What the memory controllers have moved, by their own counters, for the machine as a whole: Intel's uncore_imc and
 * uncore_imc_free_running (kernel: arch/x86/events/intel/uncore_*.c, which name their events in /sys with what a count
 * stands for), and AMD's amd_umc (Zen 4 and later: two events that /sys does not name; processor manual, PPR, "UMC
 * performance monitors": commands that move 64 bytes each). Counting takes root or CAP_PERFMON. Units of other makers
 * are left out: the kernel's documents do not say what a count of theirs stands for.
 */
#pragma once

#include "sense/speed/pmuevent.h"
#include "sense/world.h"

enum {
	MEMCOUNT_REFUSED = 4, /* there are units, and the kernel opens none of their events */
};

/* read(2) of a counter with both times. */
struct memcount_value {
	uint64_t count, enabled_ns, running_ns;
};

struct memcount_ops {
	/* A counter of all that one processor's unit does: a descriptor, or -errno. */
	int (*open)(const struct pmuevent *e, uint32_t type, uint32_t cpu);
	/* -errno; -ENODATA: the unit is gone with its processor. */
	int (*read)(int fd, struct memcount_value *ret);
};
extern const struct memcount_ops memcount_kernel;

struct memcount_one {
	int fd;
	uint32_t cpu; /* whose unit: one for each package or part of it */
	bool writes;
	double bytes; /* of one count */
	bool has_begun;
	struct memcount_value begun;
};

#define MEMCOUNT_MOST 512

struct memcount {
	const struct memcount_ops *ops;
	struct memcount_one *one; /* owned */
	size_t n;
	size_t lost; /* counters that would belong to it and could not be opened */
};

#define MEMCOUNT_PARTS 64

/* Bytes since memcount_begin. */
struct memcount_sum {
	double reads, writes;
	size_t lost; /* counters that did not count: the sums are too small then */
	bool cut; /* there are more parts than are told apart */
	uint32_t n_parts; /* units counted by different processors: those of one package together */
	struct {
		uint32_t cpu;
		double bytes;
	} part[MEMCOUNT_PARTS];
};

/* WORLD_ABSENT: no unit that is known. WORLD_DENIED, MEMCOUNT_REFUSED, -ENOMEM: then there is nothing to be done. */
int must_check memcount_open(const struct world *w, const struct memcount_ops *ops, struct memcount *ret);
void memcount_begin(struct memcount *m);
/* WORLD_ABSENT: nothing was counted: all stood still. */
int must_check memcount_end(const struct memcount *m, struct memcount_sum *ret);
void memcount_close(struct memcount *m);
