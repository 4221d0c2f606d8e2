/*
 * Whose a thread is: the library in which it begins, as the C library keeps it. glibc puts its struct pthread at the
 * upper end of a thread's stack; it has its own address twice (the ABI for x86-64 wants it), the number of the thread,
 * and the function that the thread was started with.
 */
#pragma once

#include <sys/types.h>

#include "sense/proc/maps.h"
#include "sense/world.h"

struct threadstart {
	pid_t tid;
	unsigned lib; /* enum threadlib; 0: something else */
};

/*
 * The start of a thread in the last bytes of its stack, which end at `end`. True: *ret is filled; lib by the mappings.
 * Pure.
 */
bool threadstart_find(const void *bytes, size_t len, uint64_t end, const struct maps *m, struct threadstart *ret);
/*
 * All that are found, at most cap. A stack that the kernel has joined with the memory above it is not, nor is one that
 * the program has allocated itself; on other machines than x86-64 none is. No error where memory may not be read.
 */
void threadstarts_read(const struct world *w, pid_t pid, const struct maps *m, struct threadstart *ret, size_t cap,
		       size_t *ret_n);
