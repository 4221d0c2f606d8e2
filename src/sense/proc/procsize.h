/*
 * The proportional size of a process (PSS: each page counts by the share of those who have it) and what it has alone
 * (USS). /proc/PID/smaps_rollup tells them, but walks all page tables meanwhile, 13 ms a GiB of small pages, and whoever
 * maps memory in the process waits for it. So a large process is looked at by a sample of its pages (sense/proc/pagemap), which
 * nobody waits for.
 */
#pragma once

#include <sys/types.h>

#include "sense/world.h"

struct procsize {
	uint64_t pss_bytes, private_bytes;
	bool sampled; /* within a twentieth of the resident size; 0.02 to 1.5 % off in eight that shared at random */
};

/*
 * Takes 9 to 22 ms of a large process. WORLD_GONE, WORLD_DENIED, WORLD_ABSENT: the sample does not say it, since it does not
 * add up to the resident size or too much is shared with nobody knows how many (that is for root to see). -ENOMEM.
 */
int must_check procsize_read(const struct world *w, pid_t pid, struct procsize *ret);
/* By the sample, whatever its size. rss_bytes: as the kernel counts it. */
int must_check procsize_sampled_read(const struct world *w, pid_t pid, uint64_t rss_bytes, struct procsize *ret);
