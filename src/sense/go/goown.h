/*
 * What a Go runtime has for itself: each g and each p, by which the program does not come to anything, and the timers
 * of the processors, which will call functions of the program or send to its channels.
 */
#pragma once

#include "sense/go/goheap.h"

struct goown {
	uint64_t *addr; /* of each g, also of goroutines that have ended, each p, and their objects; sorted; owned */
	size_t n, cap;
	uint64_t *processor; /* the p among them; owned */
	size_t n_processors;
	bool cut; /* there are too many goroutines, or no processor was found */
};

/* -ENOMEM; errors of remote_read but for REMOTE_FAULT, which cuts it. */
int must_check goown_read(struct goproc *p, struct goheap *heap, struct goown *ret);
void goown_done(struct goown *o);
bool goown_has(const struct goown *o, uint64_t addr);
/*
 * Where the timers of a processor are, as a range of words of which one in timer_bytes points to a timer. False: they
 * cannot be read, or *ret_cut: there are too many.
 */
bool goown_timers(struct goproc *p, uint64_t processor, uint64_t *ret_from, uint64_t *ret_to, bool *ret_cut);
