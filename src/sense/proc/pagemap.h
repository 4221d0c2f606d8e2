/*
 * How much of given addresses of a process lies in memory: /proc/PID/pagemap
 * (kernel: admin-guide/mm/pagemap.rst), one 64-bit word a page. Bit 63: in
 * memory, bit 62: in swap, bit 61: of a file or shared, bit 56: nobody else
 * has it. The numbers of frames are hidden from all but root; who sees them
 * finds in /proc/kpagecount how many share a page.
 *
 * The process is not touched. Large ranges are looked at in even steps, so
 * that the time does not grow with the size of the process: what was seen
 * stands for the rest.
 */
#pragma once

#include <sys/types.h>

#include "sense/world.h"

struct pagemap_range {
	uint64_t addr, bytes; /* in: where */
	uint64_t pages; /* out: pages that the range touches */
	uint64_t seen; /* of these looked at; 0: none, nothing is known */
	uint64_t present, swapped, shared; /* of those seen; shared: present ones of files or shared memory */
	uint64_t exclusive; /* present ones that no other process has */
	uint64_t told; /* of the other present ones: of so many it is known how many share them */
	double parts; /* sum of 1 / sharers of those */
};

/* Adds n words to the counts of a range. */
void pagemap_count(const uint64_t *words, size_t n, struct pagemap_range *to);

/*
 * Fills the ranges in the order given until the budget is used up (0: none);
 * the others keep seen 0. *ret_done: how many were looked at. WORLD_GONE,
 * WORLD_DENIED, WORLD_ABSENT (a recorded machine).
 */
int must_check pagemap_read(const struct world *w, pid_t pid, struct pagemap_range *ranges, size_t n,
			    uint64_t budget_ns, size_t *ret_done);
/*
 * The same with told and parts where they may be known, in more pieces of a large range: 4 ms of small pages each. At a
 * time no more than 2 MiB are held up.
 */
int must_check pagemap_shares_read(const struct world *w, pid_t pid, struct pagemap_range *ranges, size_t n,
				   uint64_t budget_ns, size_t *ret_done);
