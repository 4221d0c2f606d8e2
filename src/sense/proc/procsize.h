/*
 * The proportional size of a process (PSS: a page that n processes share counts as 1/n) and its private size (USS).
 * /proc/PID/smaps_rollup has both, but the kernel walks all page tables for it, 13 ms per GiB of small pages, and
 * blocks every thread of the process that maps memory meanwhile. The sizes of a large process are therefore estimated
 * from a sample of its pages (sense/proc/pagemap), which blocks no thread.
 */
#pragma once

#include <sys/types.h>

#include "sense/world.h"

struct procsize {
	uint64_t pss_bytes, private_bytes;
	bool sampled; /* estimated; error at most 5 % of the resident size, 0.02 to 1.5 % measured */
};

/*
 * Takes 9 to 22 ms for a large process. WORLD_GONE, WORLD_DENIED, -ENOMEM. WORLD_ABSENT: the sample gives no estimate,
 * because it does not add up to the resident size, or because the number of sharers of too many pages is unknown (only
 * root sees it).
 */
int must_check procsize_read(const struct world *w, pid_t pid, struct procsize *ret);
/* Estimates from a sample also for a small process. rss_bytes: the resident size that the kernel reports. */
int must_check procsize_sampled_read(const struct world *w, pid_t pid, uint64_t rss_bytes, struct procsize *ret);
