/*
 * How much of given addresses of a process lies in memory: /proc/PID/pagemap
 * (kernel: admin-guide/mm/pagemap.rst), one 64-bit word a page. Bit 63: in
 * memory, bit 62: in swap, bit 61: of a file or shared, bit 56: mapped by
 * this process alone. Only root sees frame numbers, and with them the number of
 * processes that share a page (/proc/kpagecount).
 *
 * The process is not disturbed. Large ranges are sampled in even steps, so that
 * the time does not grow with the size of the process.
 */
#pragma once

#include <sys/types.h>

#include "sense/world.h"

struct pagemap_range {
	uint64_t addr, bytes; /* in: where */
	uint64_t pages; /* out: pages that the range touches */
	uint64_t seen; /* out: pages that were read; 0: unknown */
	uint64_t present, swapped, shared; /* of the pages seen; shared: present pages of files or shared memory */
	uint64_t exclusive; /* present pages that no other process maps */
	uint64_t counted; /* present pages, not exclusive, whose number of sharers is known */
	double parts; /* sum of 1 / sharers over the counted pages */
};

/* Adds n words to the counts of a range. */
void pagemap_count(const uint64_t *words, size_t n, struct pagemap_range *to);

/*
 * Fills the ranges in the order given until the budget is used up (0: none);
 * the others keep seen 0. *ret_done: number of ranges read. WORLD_GONE,
 * WORLD_DENIED, WORLD_ABSENT (a recorded machine).
 */
int must_check pagemap_read(const struct world *w, pid_t pid, struct pagemap_range *ranges, size_t n,
			    uint64_t budget_ns, size_t *ret_done);
/*
 * The same with counted and parts, where the kernel shows them. A large range is read in more chunks, 4 ms each for
 * small pages, and at most 2 MiB of it are locked at a time.
 */
int must_check pagemap_shares_read(const struct world *w, pid_t pid, struct pagemap_range *ranges, size_t n,
				   uint64_t budget_ns, size_t *ret_done);
