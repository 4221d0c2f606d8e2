/*
 * Why an accelerator's memory was used up: from the numbers of PyTorch's own message to one of four causes, or to
 * "unknown". Pure.
 *
 * In this order: the request is larger than the device; PyTorch holds enough memory that no tensor uses, but not in one
 * piece (fragmentation); the request would have fitted without the other processes; what tensors hold grew from message
 * to message (leak); else the tensors and the request together are too big. A leak and a working set that is too big
 * look alike in a single message; the verdict says so.
 */
#pragma once

#include "model/incident/incident.h"

enum gpuoom_cause {
	GPUOOM_UNKNOWN,
	GPUOOM_FRAGMENTATION,
	GPUOOM_OTHER_PROCESS,
	GPUOOM_LEAK,
	GPUOOM_TOO_BIG,
};

struct gpuoom_verdict {
	enum gpuoom_cause cause;
	enum confidence confidence;
	char words[96]; /* for the summary: "failed because …" */
	char text[600]; /* whole sentences with the numbers */
	char advice[3][280];
	size_t n_advice;
};

const char *gpuoom_cause_id(enum gpuoom_cause c); /* "gpu_fragmentation"; "gpu_out_of_memory" */
/* h: a hint "cuda_oom". */
void gpuoom_judge(const struct log_hint *h, struct gpuoom_verdict *ret);
