/*
 * The devices of a rank, and the evidence for that. Pure.
 *
 * A driver that names the processes of a device settles it. In a container most drivers name process numbers of the
 * host; there the device files of the rank are the evidence, from strong to weak: mapped, open and named by
 * CUDA_VISIBLE_DEVICES, open. Where the driver names processes that we know, open files prove nothing: CUDA also
 * opens devices it does not use.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/gpu/gpuheld.h"

struct gpuclaim {
	uint32_t devices; /* bit i: gpu[i] of the set; 0: no device is known */
	enum gpu_by by;
};

struct gpuclaim_rank {
	const pid_t *pids; /* processes of the rank, sorted */
	size_t n;
	struct gpuheld open, mapped; /* by any of its processes; only needed if the driver settles nothing */
	bool has_visible; /* CUDA_VISIBLE_DEVICES was set at its start */
	struct span visible;
	bool by_bus; /* CUDA_DEVICE_ORDER=PCI_BUS_ID */
};

/* Devices with a driver that lists no usable process numbers; only for these open files are searched. */
uint32_t gpuclaim_unsettled(const struct gpu_set *set, bool pids_foreign);
/* By the process list of the driver alone. */
struct gpuclaim gpuclaim_by_driver(const struct gpu_set *set, const struct gpuclaim_rank *r);
/* By open device files as well. unsettled: result of gpuclaim_unsettled. */
struct gpuclaim gpuclaim_of(const struct gpu_set *set, uint32_t unsettled, const struct gpuclaim_rank *r);
/*
 * The devices that CUDA_VISIBLE_DEVICES names: indices, GPU-… (also the beginning of a uuid). Like CUDA it stops at
 * the first name without a device. False: undecidable (unlike devices, which CUDA orders by its own estimate;
 * instances of a divided GPU).
 */
bool gpuclaim_visible(const struct gpu_set *set, struct span text, bool by_bus, uint32_t *ret);
