/*
 * What `vigil gpus` shows: the devices as sampled, the processes on them, and the errors that driver and kernel
 * reported. Plain data, filled by agent/gpu/gpus, shown by tell/gpu/gpu_show ("vigil.gpu/1"). Large: allocate it on
 * the heap.
 */
#pragma once

#include "model/jobs/role.h"
#include "sense/gpu/gpu.h"
#include "sense/gpu/xid.h"

/* What is known of the process with the same index in a sample. */
struct gpu_who {
	bool known; /* the process is one that we can see */
	bool has_role;
	struct role_info who;
	char job[64];
	char command[160];
};

#define GPUVIEW_XIDS 64

struct gpuview {
	char node[80];
	char subject[160]; /* empty: the whole node */
	bool not_used; /* the node has GPUs, but the subject is on none of them */
	bool pids_foreign; /* process numbers of the driver are not those of our namespace */
	struct gpu_set set;
	struct gpu_who who[GPU_MAX][GPU_PROCESSES];
	struct xid xid[GPUVIEW_XIDS]; /* from the kernel log, oldest first */
	size_t n_xids, n_xids_dropped;
	bool kernel_log_denied;
};
