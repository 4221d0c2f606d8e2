/*
 * PyTorch's message that an accelerator's memory is used up, taken apart.
 * The wordings of 1.0 to 2.9 are known: the older ones list numbers in
 * brackets behind "(GPU 0;", the newer ones (2.1 on) in sentences, of CUDA,
 * ROCm ("HIP"), Ascend ("NPU") and Intel ("XPU") devices. Numbers that a
 * wording does not have are not valid.
 *
 * Pure; bytes of any kind are tolerated. The message may be wrapped over
 * lines: blanks and newlines are the same.
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
	struct gpuoom_size tried; /* what was asked for */
	struct gpuoom_size total, free; /* of the device */
	struct gpuoom_size allowed; /* by set_per_process_memory_fraction */
	struct gpuoom_size process; /* all that this process holds, libraries included */
	struct gpuoom_size allocated; /* in tensors */
	struct gpuoom_size reserved; /* held by PyTorch's allocator: allocated and unallocated */
	struct gpuoom_size private_pools; /* of allocated: CUDA graphs and the like */
	struct {
		pid_t pid; /* as the driver numbers it: often not as the container does */
		uint64_t bytes;
	} other[GPUOOM_OTHERS];
	size_t n_other; /* other processes on the device that were named */
	uint64_t other_bytes; /* …and all that they hold, those without a place above too */
};

/* Looks for the first such message in text. false: there is none with a number in it. */
bool gpuoom_parse(struct span text, struct gpuoom *ret);
