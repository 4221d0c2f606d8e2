/*
 * GPUs over time, for the source `counter` of the rule book: how long each GPU has worked at a low clock, how long
 * its driver has held it back and why, and how long a driver has not answered or has given a device up. Samples may
 * come at any distance; a gap of more than a minute restarts the clock durations. Xids that a driver reported are
 * kept in the form the kernel writes, for machines with an unreadable kernel log. Pure, fixed size. Times are
 * nanoseconds of one clock.
 */
#pragma once

#include "sense/gpu/gpu.h"

/* A busy GPU below this clock is throttled or stuck (no data-centre GPU works so slowly by design). */
#define GPUWATCH_LOW_MHZ 800
#define GPUWATCH_BUSY_PERCENT 50

struct gpuwatch_row {
	char uuid[96];
	uint32_t index;
	uint64_t seen_ns;
	bool low, held;
	uint64_t low_since_ns, held_since_ns;
	uint64_t held_by; /* bits of GPU_REASON_*; all that were seen since held_since_ns */
};

#define GPUWATCH_TROUBLES 16
#define GPUWATCH_XIDS 32
/*
 * A blocked driver and a lost device are asked again after one minute; a trouble counts as present for this time
 * after it was last seen.
 */
#define GPUWATCH_TROUBLE_NS (150 * NS_PER_S)

struct gpuwatch_trouble {
	enum gpu_trouble trouble;
	char what[64]; /* "gpu3", or the call if the whole driver is concerned */
	uint64_t first_ns, seen_ns;
};

struct gpuwatch {
	struct gpuwatch_row row[GPU_MAX];
	size_t n;
	struct gpuwatch_trouble trouble[GPUWATCH_TROUBLES];
	size_t n_troubles;
	struct {
		char pci[32];
		uint64_t number;
	} xid[GPUWATCH_XIDS]; /* oldest first; later ones are dropped when it is full */
	size_t n_xids;
};

void gpuwatch_feed(struct gpuwatch *g, const struct gpu_set *set, uint64_t now_ns);

typedef void gpuwatch_line_fn(void *data, const char *line);
/*
 * Calls fn with what is so now: "sm_clock_low_s{gpu3} 900", "gpu_held_back_s{gpu3} 40 hw_thermal,power_brake",
 * "gpu_driver_blocked_s{nvmlDeviceGetPowerUsage} 30", "gpu_lost_s{gpu3} 12", "gpu_reset_required_s{gpu3} 12".
 */
void gpuwatch_lines(const struct gpuwatch *g, uint64_t now_ns, gpuwatch_line_fn *fn, void *data);
/* "NVRM: Xid (PCI:0000:17:00): 79, told by NVML" */
void gpuwatch_kernel_lines(const struct gpuwatch *g, gpuwatch_line_fn *fn, void *data);
