/*
 * The values of a frame's local variables as text, read from outside: None, bool, int, float, str, bytes, tuple, list,
 * dict, set; for every other object its type, its address and, where they are simple to find, its size (numpy.ndarray:
 * shape and dtype; torch.Tensor: the type). No code of the process runs. Limits bound text and time: depth 3, 16 items
 * a container, 80 characters a text; cycles are shown as "...".
 */
#pragma once

#include "sense/python/pycode.h"

struct pylocal {
	char *name, *value; /* owned, UTF-8 */
	bool is_arg;
};

struct pylocals {
	struct pylocal *items;
	size_t n;
};

/*
 * frame: its address; code: the address of its code object. Arguments come first. REMOTE_FAULT, PYCODE_GARBAGE,
 * WORLD_GONE.
 */
int must_check pylocals_read(const struct pyrt *rt, struct remote *r, uint64_t frame, uint64_t code,
			     struct pylocals *ret);
void pylocals_done(struct pylocals *l);
