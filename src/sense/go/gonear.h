/*
 * Which goroutines come to what another one waits for, and over how many objects: whoever has it in hand comes to it in
 * fewer steps than who would find it in a table of all connections, say. From the stack of each goroutine the objects
 * that are pointed to are followed, as goreach.h does it for all together; the program's variables are left out, as by
 * these all come to all.
 *
 * It names who is likely meant, and proves nothing: old words of a stack count, and what has been given up is missing.
 */
#pragma once

#include "sense/go/goroutine.h"

struct gonear_link {
	uint32_t by, to; /* indexes of goroutines: `by` comes to what `to` waits for */
	uint16_t steps; /* 1: its stack points to it */
};

struct gonear {
	struct gonear_link *link; /* by `by`; owned */
	size_t n, cap;
	bool *clock; /* of each goroutine: a timer may end its wait, or comes to what it waits for; owned */
	bool cut; /* there was too much to look at: links are missing */
};

/*
 * Of a goroutine that waits for a descriptor, its poll.FD is what is come to. Errors as goroutine_frames; -ENOMEM.
 */
int must_check gonear_find(struct goproc *p, const struct goroutines *s, struct gonear *ret);
void gonear_done(struct gonear *n);
