/*
 * Parses PyTorch's "out of memory" message for CUDA, ROCm ("HIP"), Ascend ("NPU") and Intel ("XPU") devices. The
 * wordings of PyTorch 1.0 to 2.9 are known: the older ones list sizes in brackets after "(GPU 0;", the newer ones
 * (from 2.1) in sentences. A size that a wording does not contain is not valid.
 *
 * Pure; any bytes are accepted. The message may be wrapped over lines: newlines count as blanks.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"

#define GPUOOM_OTHERS 8

struct gpuoom_size {
	bool valid;
	uint64_t bytes;
};

struct gpuoom {
	char kind[8]; /* "CUDA", "HIP", "NPU", "XPU" */
	bool has_device;
	uint32_t device;
	struct gpuoom_size tried; /* the allocation that failed */
	struct gpuoom_size total, free; /* of the device */
	struct gpuoom_size allowed; /* limit of set_per_process_memory_fraction */
	struct gpuoom_size process; /* all that this process holds, including libraries */
	struct gpuoom_size allocated; /* in tensors */
	struct gpuoom_size reserved; /* held by PyTorch's allocator: allocated and unallocated */
	struct gpuoom_size private_pools; /* part of allocated: CUDA graphs and the like */
	struct {
		pid_t pid; /* the driver's number, often of another pid namespace */
		uint64_t bytes;
	} other[GPUOOM_OTHERS];
	size_t n_other; /* entries of other */
	uint64_t other_bytes; /* of all named processes, including those that did not fit into other */
};

/* Parses the first such message in text. False if there is none, or none with a size in it. */
bool gpuoom_parse(struct span text, struct gpuoom *ret);
