/*
 * What a thread does inside PyTorch's DataLoader, by its frames, innermost first (PyTorch 1.13, tried). Without workers
 * it reads the items itself: fetch() of torch/utils/data/_utils/fetch.py, called by _next_data() of
 * torch/utils/data/dataloader.py; with workers it is their loop (_utils/worker.py) that calls fetch(). Workers that do
 * not persist are started at the begin of each epoch, by _get_iterator(), and ended by _shutdown_workers(). Whoever
 * writes such functions in such files is believed. Pure.
 */
#pragma once

#include "sense/python/pystack.h"

enum loadercall {
	LOADERCALL_NONE,
	LOADERCALL_WORKS, /* as a worker */
	LOADERCALL_READS, /* items, itself */
	LOADERCALL_STARTS, /* workers */
	LOADERCALL_ENDS,
};

enum loadercall loadercall_of(const struct pyframe *frame, size_t n);
