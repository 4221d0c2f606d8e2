/*
 * Which devices are a rank's, and by what that is known. Pure.
 *
 * A driver that names its process settles it. In a container most drivers
 * name numbers of the host; there the rank's device files tell, from strong
 * to weak: mapped, open and named by CUDA_VISIBLE_DEVICES, open. Where the
 * driver names processes that we know, open files say nothing: CUDA opens
 * what it does not use, too.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/gpu/gpuheld.h"

struct gpuclaim {
	uint32_t devices; /* bit i: gpu[i] of the set; 0: none is known to be its */
	enum gpu_by by;
};

struct gpuclaim_rank {
	const pid_t *pids; /* of the rank, sorted */
	size_t n;
	struct gpuheld open, mapped; /* by any of them; only asked for where the driver settles nothing */
	bool has_visible; /* CUDA_VISIBLE_DEVICES was set at its start */
	struct span visible;
	bool by_bus; /* CUDA_DEVICE_ORDER=PCI_BUS_ID */
};

/* Devices whose driver's numbers of processes tell nothing here: theirs are worth looking for among open files. */
uint32_t gpuclaim_unsettled(const struct gpu_set *set, bool pids_foreign);
/* By the driver alone. */
struct gpuclaim gpuclaim_by_driver(const struct gpu_set *set, const struct gpuclaim_rank *r);
/* By what is open as well; `unsettled` of the above. */
struct gpuclaim gpuclaim_of(const struct gpu_set *set, uint32_t unsettled, const struct gpuclaim_rank *r);
/*
 * What CUDA_VISIBLE_DEVICES means: indices, GPU-… (also the beginning of a uuid). Like CUDA it stops at the first that
 * there is not. False: it cannot be told (unlike devices, whose order CUDA makes up; instances of a divided GPU).
 */
bool gpuclaim_visible(const struct gpu_set *set, struct span text, bool by_bus, uint32_t *ret);
