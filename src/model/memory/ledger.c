#include "model/memory/ledger.h"

/*
 * Of these pages every second one counts as not reclaimable: pages read more than once (without them the job reads
 * its files again and again) and pages not yet written (they can be reclaimed only as fast as the disk writes).
 * Counting all unwritten pages as used would be wrong: copying a large file fills a v1 group with them, and the
 * kernel kills no process for it.
 */
#define SLOW_SHARE 2

uint64_t ledger_group_reclaimable(const struct cgroup_memory *m)
{
	if (!m->has_stat)
		return 0;
	const uint64_t slow = add_cap(m->active_file_bytes, add_cap(m->dirty_bytes, m->writeback_bytes));
	const uint64_t lists = add_cap(m->inactive_file_bytes, m->active_file_bytes);
	/* `file` includes shared memory, which cannot be reclaimed without swap. */
	const uint64_t files = MIN(lists, sub_floor(m->file_bytes, m->shmem_bytes));
	const uint64_t sum = add_cap(files - MIN(slow, files) / SLOW_SHARE, m->slab_reclaimable_bytes);
	return MIN(sum, sub_floor(m->current_bytes, m->low_bytes));
}

struct ledger_level ledger_node_level(const struct meminfo *m, uint64_t arc_bytes)
{
	const uint64_t total = m->bytes[MEMINFO_TOTAL];
	uint64_t available = MIN(add_cap(m->bytes[MEMINFO_AVAILABLE], arc_bytes), total);
	/* An implausible total proves nothing; do not kill for it. */
	if (m->clamped >> MEMINFO_TOTAL & 1)
		available = total;
	const uint64_t kernel_used = sub_floor(total, m->bytes[MEMINFO_FREE]);
	return (struct ledger_level){
		.scope = LEDGER_NODE,
		.total_bytes = total,
		.used_bytes = total - available,
		.available_bytes = available,
		.kernel_used_bytes = kernel_used,
		.reclaimable_bytes = sub_floor(kernel_used, total - available),
		.swap_total_bytes = m->bytes[MEMINFO_SWAP_TOTAL],
		.swap_free_bytes = m->bytes[MEMINFO_SWAP_FREE],
	};
}

struct ledger_level ledger_group_level(const struct cgroup_memory *m, enum ledger_scope scope, uint64_t total_cap)
{
	uint64_t total = MIN(MIN(m->max_bytes, m->high_bytes), total_cap);
	/* v1 reports limits of ancestors that a container cannot see. */
	if (m->hierarchy_max_bytes != 0)
		total = MIN(total, m->hierarchy_max_bytes);
	const uint64_t reclaimable = ledger_group_reclaimable(m);
	const uint64_t used = MIN(sub_floor(m->current_bytes, reclaimable), total);
	struct ledger_level v = {
		.scope = scope,
		.total_bytes = total,
		.used_bytes = used,
		.available_bytes = total - used,
		.kernel_used_bytes = m->current_bytes,
		.reclaimable_bytes = reclaimable,
	};
	if (m->swap_max_bytes != CGROUP_NO_LIMIT) {
		v.swap_total_bytes = m->swap_max_bytes;
		v.swap_free_bytes = sub_floor(m->swap_max_bytes, m->swap_bytes);
	}
	return v;
}

struct ledger_level ledger_job_level(uint64_t used_bytes, uint64_t limit_bytes)
{
	/* Use may exceed the limit between two samples; used_bytes shows it. */
	return (struct ledger_level){
		.scope = LEDGER_JOB,
		.total_bytes = limit_bytes,
		.used_bytes = used_bytes,
		.available_bytes = sub_floor(limit_bytes, used_bytes),
		.kernel_used_bytes = used_bytes,
	};
}

size_t ledger_tightest(const struct ledger *l)
{
	size_t tightest = 0;
	for (size_t i = 1; i < l->n; i++)
		if (ledger_ratio(&l->level[i]) > ledger_ratio(&l->level[tightest]))
			tightest = i;
	return tightest;
}

const char *ledger_scope_name(enum ledger_scope s)
{
	switch (s) {
	case LEDGER_NODE:
		return "node";
	case LEDGER_CONTAINER:
		return "container";
	case LEDGER_JOB:
		return "job";
	}
	return "node";
}
