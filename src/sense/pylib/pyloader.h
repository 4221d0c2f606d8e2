/*
 * The worker from which the iterator of a torch DataLoader wants its next batch, read from outside
 * (torch/utils/data/dataloader.py): workers answer in any order, batches are handed out in order, so the thread waits
 * for the worker that has _rcvd_idx, which _task_info maps to the worker's number. No code of the process runs.
 */
#pragma once

#include "sense/python/pyobj.h"
#include "sense/python/pystack.h"

struct pyloader {
	pid_t worker; /* in the process's own pid namespace; 0: none is waited for, or it cannot be told */
	uint64_t batch; /* its number, from 0 */
};

/* frames: of a thread that stands still, innermost first. WORLD_GONE, WORLD_DENIED. */
int must_check pyloader_awaited(const struct pyrt *rt, struct remote *r, const struct pyframe *frames, size_t n,
				struct pyloader *ret);
