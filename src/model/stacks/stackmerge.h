/*
 * Merges the native frames and the Python frames of one thread into one stack. All stacks are innermost first. Pure.
 *
 * The native frames stay in order. Each frame of CPython's evaluation loop is replaced by the Python frames that this
 * loop runs: up to 3.10 one frame, from 3.11 on all frames up to and including the next one marked as the loop's entry.
 * No Python frame is lost: surplus ones are put at the outermost loop, or at the end, and loops without a Python frame
 * stay as native frames. In both cases the stack is marked approximate.
 */
#pragma once

#include "base/base.h"

struct merge_native {
	bool eval_loop; /* CPython's evaluation loop */
	bool trampoline; /* perf trampoline of one Python function; it is left out */
};
struct merge_python {
	bool entry; /* a C evaluation loop begins with this frame */
};
struct merge_item {
	bool python;
	uint32_t index; /* into python or native */
};
struct merge_result {
	size_t n;
	bool approximate;
};

/* out: room for n_native + n_python items. one_each: one Python frame for each loop, as up to Python 3.10. */
struct merge_result stackmerge(const struct merge_native *native, size_t n_native, const struct merge_python *python,
			       size_t n_python, bool one_each, struct merge_item *out);
