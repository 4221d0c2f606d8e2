#include "sense/pylib/loadercall.h"

#define LOADER "/torch/utils/data/dataloader.py"

enum loadercall loadercall_of(const struct pyframe *frame, size_t n)
{
	bool starts = false; /* a process, further in */
	for (size_t i = 0; i < n; i++) {
		starts |= pyframe_is(&frame[i], "start", "/multiprocessing/process.py");
		if (pyframe_is(&frame[i], "_shutdown_workers", LOADER))
			return LOADERCALL_ENDS;
		if (pyframe_is(&frame[i], "_get_iterator", LOADER))
			return starts ? LOADERCALL_STARTS : LOADERCALL_NONE;
		if (pyframe_is(&frame[i], "_worker_loop", "/torch/utils/data/_utils/worker.py"))
			return LOADERCALL_WORKS;
		if (pyframe_is(&frame[i], "_next_data", LOADER) && i > 0 &&
		    pyframe_is(&frame[i - 1], "fetch", "/torch/utils/data/_utils/fetch.py"))
			return LOADERCALL_READS;
	}
	return LOADERCALL_NONE;
}
