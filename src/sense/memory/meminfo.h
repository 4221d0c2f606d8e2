/*
 * The memory of the machine from /proc/meminfo (kernel: filesystems/proc.rst).
 * All values in bytes; `valid` has a bit (1 << enum meminfo_field) for each
 * field the file held. Implausible numbers (lxcfs lets SwapFree underflow to 1.8e19
 * kB; Available above Total) are clamped and marked in `clamped`, never an
 * error: a guard that exits on a strange number leaves the machine unguarded.
 * A number below zero becomes 0, one above its total becomes the total. An
 * estimated MemAvailable is marked as well: it is not what the file said.
 */
#pragma once

#include "base/text.h"

enum meminfo_field {
	MEMINFO_TOTAL,
	MEMINFO_FREE,
	MEMINFO_AVAILABLE,
	MEMINFO_BUFFERS,
	MEMINFO_CACHED,
	MEMINFO_SWAP_CACHED,
	MEMINFO_ACTIVE_FILE,
	MEMINFO_INACTIVE_FILE,
	MEMINFO_UNEVICTABLE,
	MEMINFO_MLOCKED,
	MEMINFO_SWAP_TOTAL,
	MEMINFO_SWAP_FREE,
	MEMINFO_DIRTY,
	MEMINFO_WRITEBACK,
	MEMINFO_ANON,
	MEMINFO_SHMEM,
	MEMINFO_SLAB_RECLAIMABLE,
	MEMINFO_HUGETLB,
	MEMINFO_MAX,
};

struct meminfo {
	uint64_t bytes[MEMINFO_MAX];
	uint32_t valid;
	uint32_t clamped;
};

/* -EBADMSG if there is no MemTotal above 0. MemAvailable is estimated when absent (kernels before 3.14). */
int must_check meminfo_parse(struct span text, struct meminfo *ret);
/* fd: /proc/meminfo kept open by the caller; one pread, no allocation. */
int must_check meminfo_read(int fd, struct meminfo *ret);
static inline bool meminfo_has(const struct meminfo *m, enum meminfo_field f)
{
	return m->valid >> f & 1;
}
