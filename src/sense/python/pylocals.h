/*
 * What the local variables of a frame hold, as text, read from outside:
 * None, bool, int, float, str, bytes, tuple, list, dict, set, and for every
 * other object its type, its address and, where they are simple to find, its
 * size (numpy.ndarray: shape and dtype; torch.Tensor: the type). Nothing of
 * the process runs. Limits keep it short and end it: depth 3, 16 items a
 * container, 80 characters a text, cycles shown as "...".
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

/* frame: its address; code: what it runs. Arguments first. REMOTE_FAULT, PYCODE_GARBAGE, WORLD_GONE. */
int must_check pylocals_read(const struct pyrt *rt, struct remote *r, uint64_t frame, uint64_t code,
			     struct pylocals *ret);
void pylocals_done(struct pylocals *l);
