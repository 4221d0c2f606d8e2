/*
 * The memory ledger: for every level that can run out (the node, each limited control group above the job, the limit
 * of the job itself) how much memory there is, how much is in use, and how much is left. Page cache that the kernel
 * can drop does not count as used, so cache never makes a level look full.
 *
 * Pure: built from samples, keeps nothing, reads no clock. Bytes throughout.
 */
#pragma once

#include "base/base.h"
#include "sense/memory/cgroup.h"
#include "sense/memory/meminfo.h"

enum ledger_scope { LEDGER_NODE, LEDGER_CONTAINER, LEDGER_JOB };

/* Room for the node, the groups that a guard of many jobs watches, and one more; a set of levels fits 32 bits. */
#define LEDGER_MAX_LEVELS 32

struct ledger_level {
	enum ledger_scope scope;
	uint64_t total_bytes;
	uint64_t used_bytes; /* total - available */
	uint64_t available_bytes;
	uint64_t kernel_used_bytes; /* as the kernel counts it, cache included */
	uint64_t reclaimable_bytes;
	uint64_t swap_total_bytes, swap_free_bytes;
};

struct ledger {
	uint64_t mono_ns;
	struct ledger_level level[LEDGER_MAX_LEVELS];
	size_t n;
};

/*
 * What the kernel can reclaim from a group without swap: clean cache and slab in full, half of the cache that is in
 * steady use or unwritten, no shared memory and nothing that memory.low protects.
 */
uint64_t ledger_group_reclaimable(const struct cgroup_memory *m);
/* The node level. arc_bytes: ZFS cache that can shrink, 0 without ZFS. */
struct ledger_level ledger_node_level(const struct meminfo *m, uint64_t arc_bytes);
/* A limited group; its limit is the smaller of max and high. total_cap: the node's total. */
struct ledger_level ledger_group_level(const struct cgroup_memory *m, enum ledger_scope scope, uint64_t total_cap);
/* The limit of a job without a group; used_bytes: sum of own bytes + the largest shared part. */
struct ledger_level ledger_job_level(uint64_t used_bytes, uint64_t limit_bytes);
/* Index of the level with the least available share; n must not be 0. */
size_t ledger_tightest(const struct ledger *l);
static inline double ledger_ratio(const struct ledger_level *v)
{
	return v->total_bytes ? (double)v->used_bytes / (double)v->total_bytes : 0;
}
const char *ledger_scope_name(enum ledger_scope s);
