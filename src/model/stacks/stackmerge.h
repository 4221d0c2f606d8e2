/*
 * One thread's native frames and Python frames made one stack. Pure.
 *
 * The native walk, innermost first, is kept; at each frame of CPython's
 * evaluation loop the Python frames that this loop runs stand instead of it:
 * up to 3.10 one, from 3.11 on up to and including the next one marked as the
 * loop's entry. Nothing is ever thrown away: loops without a Python frame are
 * shown as what they are, Python frames left over are put in at the outermost
 * loop (or at the end) and the stack is marked approximate.
 */
#pragma once

#include "base/base.h"

struct merge_native {
	bool eval_loop; /* CPython's evaluation loop */
	bool trampoline; /* perf trampoline of one Python function: left out */
};
struct merge_python {
	bool entry; /* a C evaluation loop begins with this frame */
};
struct merge_item {
	bool python;
	uint32_t index; /* into the one or the other input */
};
struct merge_result {
	size_t n;
	bool approximate;
};

/* out has room for n_native + n_python. one_each: <= 3.10. */
struct merge_result stackmerge(const struct merge_native *native, size_t n_native, const struct merge_python *python,
			       size_t n_python, bool one_each, struct merge_item *out);
