/*
 * What `vigil gpus` shows: the devices as sampled, whose processes are on
 * them, and the errors that driver and kernel told. Plain data, filled by
 * agent/gpu/gpus, shown by tell/gpu/gpu_show ("vigil.gpu/1"). Large: on the heap.
 */
#pragma once

#include "model/jobs/role.h"
#include "sense/gpu/gpu.h"
#include "sense/gpu/xid.h"

/* Stands beside the process of the same place in a sample. */
struct gpu_who {
	bool known; /* the process was found among ours */
	bool has_role;
	struct role_info who;
	char job[64];
	char command[160];
};

#define GPUVIEW_XIDS 64

struct gpuview {
	char node[80];
	char subject[160]; /* empty: the whole node */
	bool n_not_used; /* the node has GPUs, but the subject is on none of them */
	bool pids_foreign; /* the driver's process numbers are not those of our namespace */
	struct gpu_set set;
	struct gpu_who who[GPU_MAX][GPU_PROCESSES];
	struct xid xid[GPUVIEW_XIDS]; /* of the kernel log, oldest first */
	size_t n_xids, n_xids_dropped;
	bool kernel_log_denied;
	char looked_at[4][160]; /* files that were looked for, in words; "" ends them */
	size_t n_looked_at;
};
