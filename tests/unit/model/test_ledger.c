#include "testing.h"

#include "model/memory/ledger.h"

/* A group as a scenario gives it, in MiB. */
struct reading {
	const char *what;
	uint64_t limit, current, anon, file, shmem, inactive, active, dirty, writeback, slab, low;
	double least_ratio, most_ratio;
};

static struct cgroup_memory group(const struct reading *r)
{
	return (struct cgroup_memory){
		.current_bytes = r->current * MIB,
		.max_bytes = r->limit * MIB,
		.high_bytes = CGROUP_NO_LIMIT,
		.swap_max_bytes = CGROUP_NO_LIMIT,
		.low_bytes = r->low * MIB,
		.anon_bytes = r->anon * MIB,
		.file_bytes = r->file * MIB,
		.shmem_bytes = r->shmem * MIB,
		.inactive_file_bytes = r->inactive * MIB,
		.active_file_bytes = r->active * MIB,
		.dirty_bytes = r->dirty * MIB,
		.writeback_bytes = r->writeback * MIB,
		.slab_reclaimable_bytes = r->slab * MIB,
		.has_stat = true,
	};
}

/* The kernel says "full" in each of these: what is really used must decide. */
static void cache_never_makes_a_group_look_full(void **state)
{
	(void)state;
	static const struct reading scenario[] = {
		{.what = "reader of big files, once", .limit = 1024, .current = 1024, .anon = 60, .file = 950,
		 .inactive = 940, .active = 10, .least_ratio = 0.05, .most_ratio = 0.10},
		{.what = "reader of the same files again and again", .limit = 1024, .current = 1023, .anon = 40,
		 .file = 970, .inactive = 10, .active = 960, .least_ratio = 0.3, .most_ratio = 0.55},
		{.what = "mmap of twice the memory", .limit = 1024, .current = 1024, .anon = 20, .file = 1000,
		 .inactive = 500, .active = 500, .least_ratio = 0.2, .most_ratio = 0.35},
		{.what = "writer", .limit = 1024, .current = 1022, .anon = 20, .file = 990, .inactive = 980,
		 .active = 10, .dirty = 180, .writeback = 20, .least_ratio = 0.1, .most_ratio = 0.2},
		/* as seen in a v1 group of 256 MiB while dd wrote 1.5 GiB, which it did in 1.8 s and unharmed */
		{.what = "writer of one big file on v1", .limit = 256, .current = 255, .anon = 1, .file = 247,
		 .inactive = 240, .active = 7, .dirty = 247, .least_ratio = 0.4, .most_ratio = 0.55},
		{.what = "reader of that file while it is written", .limit = 256, .current = 255, .file = 249,
		 .inactive = 54, .active = 195, .writeback = 195, .least_ratio = 0.4, .most_ratio = 0.55},
		{.what = "file tree walker", .limit = 512, .current = 511, .anon = 10, .file = 20, .inactive = 20,
		 .slab = 470, .least_ratio = 0.03, .most_ratio = 0.06},
	};
	for (size_t i = 0; i < ARRAY_SIZE(scenario); i++) {
		struct cgroup_memory m = group(&scenario[i]);
		struct ledger_level v = ledger_group_level(&m, LEDGER_CONTAINER, 64 * GIB);
		double ratio = ledger_ratio(&v);
		if (ratio < scenario[i].least_ratio || ratio > scenario[i].most_ratio)
			fail_msg("%s: ratio %.3f is not within %.2f and %.2f", scenario[i].what, ratio,
				 scenario[i].least_ratio, scenario[i].most_ratio);
		assert_true(v.kernel_used_bytes >= v.total_bytes * 99 / 100);
		assert_true(v.used_bytes + v.available_bytes == v.total_bytes);
	}
}

static void memory_that_cannot_go_makes_a_group_full(void **state)
{
	(void)state;
	static const struct reading scenario[] = {
		{.what = "anonymous", .limit = 1024, .current = 1020, .anon = 1000, .file = 10, .inactive = 10,
		 .least_ratio = 0.97, .most_ratio = 1},
		{.what = "shared memory", .limit = 1024, .current = 1020, .anon = 20, .file = 990, .shmem = 980,
		 .inactive = 10, .least_ratio = 0.97, .most_ratio = 1},
		/* tmpfs pages are on the file lists of some kernels: they must not count as droppable twice */
		{.what = "shared memory on the lists", .limit = 1024, .current = 1020, .anon = 20, .file = 990,
		 .shmem = 980, .inactive = 990, .least_ratio = 0.97, .most_ratio = 1},
		{.what = "above its limit", .limit = 1024, .current = 4096, .anon = 4096, .least_ratio = 1,
		 .most_ratio = 1},
	};
	for (size_t i = 0; i < ARRAY_SIZE(scenario); i++) {
		struct cgroup_memory m = group(&scenario[i]);
		struct ledger_level v = ledger_group_level(&m, LEDGER_CONTAINER, 64 * GIB);
		double ratio = ledger_ratio(&v);
		if (ratio < scenario[i].least_ratio || ratio > scenario[i].most_ratio)
			fail_msg("%s: ratio %.3f", scenario[i].what, ratio);
	}
}

static void protected_memory_is_not_reclaimable(void **state)
{
	(void)state;
	const struct reading r = {.limit = 1024, .current = 600, .anon = 100, .file = 480, .inactive = 480, .low = 400};
	struct cgroup_memory m = group(&r);
	assert_true(ledger_group_reclaimable(&m) == 200 * MIB);
	m.low_bytes = CGROUP_NO_LIMIT;
	assert_true(ledger_group_reclaimable(&m) == 0);
	m.low_bytes = 0;
	m.has_stat = false;
	assert_true(ledger_group_reclaimable(&m) == 0);
}

static void absurd_counters_never_wrap(void **state)
{
	(void)state;
	struct cgroup_memory m = {
		.current_bytes = 100,
		.max_bytes = 200,
		.high_bytes = CGROUP_NO_LIMIT,
		.file_bytes = UINT64_MAX,
		.inactive_file_bytes = UINT64_MAX,
		.active_file_bytes = UINT64_MAX,
		.slab_reclaimable_bytes = UINT64_MAX,
		.dirty_bytes = UINT64_MAX,
		.writeback_bytes = UINT64_MAX,
		.swap_max_bytes = 5,
		.swap_bytes = 10,
		.has_stat = true,
	};
	struct ledger_level v = ledger_group_level(&m, LEDGER_CONTAINER, GIB);
	assert_int_equal(v.used_bytes, 0);
	assert_int_equal(v.available_bytes, 200);
	assert_int_equal(v.swap_free_bytes, 0);
	m.dirty_bytes = 0;
	m.writeback_bytes = 0;
	assert_int_equal(ledger_group_reclaimable(&m), 100);
}

static void the_smallest_limit_counts(void **state)
{
	(void)state;
	struct cgroup_memory m = {.current_bytes = MIB, .max_bytes = 4 * GIB, .high_bytes = 3 * GIB,
				  .swap_max_bytes = CGROUP_NO_LIMIT};
	assert_true(ledger_group_level(&m, LEDGER_JOB, 64 * GIB).total_bytes == 3 * GIB);
	assert_true(ledger_group_level(&m, LEDGER_JOB, 2 * GIB).total_bytes == 2 * GIB);
	m.hierarchy_max_bytes = GIB;
	assert_true(ledger_group_level(&m, LEDGER_JOB, 64 * GIB).total_bytes == GIB);
	m.max_bytes = m.high_bytes = CGROUP_NO_LIMIT;
	m.hierarchy_max_bytes = CGROUP_NO_LIMIT;
	assert_true(ledger_group_level(&m, LEDGER_JOB, 64 * GIB).total_bytes == 64 * GIB);
}

static void the_node_has_what_the_kernel_calls_available(void **state)
{
	(void)state;
	struct meminfo m = {};
	m.bytes[MEMINFO_TOTAL] = 100 * GIB;
	m.bytes[MEMINFO_FREE] = 2 * GIB;
	m.bytes[MEMINFO_AVAILABLE] = 70 * GIB;
	m.bytes[MEMINFO_SWAP_TOTAL] = 8 * GIB;
	m.bytes[MEMINFO_SWAP_FREE] = 3 * GIB;
	struct ledger_level v = ledger_node_level(&m, 0);
	assert_true(v.used_bytes == 30 * GIB && v.available_bytes == 70 * GIB);
	assert_true(v.kernel_used_bytes == 98 * GIB && v.reclaimable_bytes == 68 * GIB);
	assert_true(v.swap_total_bytes == 8 * GIB && v.swap_free_bytes == 3 * GIB);
	v = ledger_node_level(&m, 20 * GIB);
	assert_true(v.available_bytes == 90 * GIB);
	v = ledger_node_level(&m, UINT64_MAX);
	assert_true(v.available_bytes == 100 * GIB && v.used_bytes == 0);
}

static void a_nonsense_total_never_looks_full(void **state)
{
	(void)state;
	struct meminfo m;
	assert_int_equal(meminfo_parse(SPAN("MemTotal: 18446744073709551615 kB\nMemAvailable: 100 kB\n"), &m), 0);
	struct ledger_level v = ledger_node_level(&m, 0);
	assert_true(ledger_ratio(&v) == 0);
}

static void the_job_has_its_own_limit(void **state)
{
	(void)state;
	struct ledger_level v = ledger_job_level(3 * GIB, 4 * GIB);
	assert_true(v.available_bytes == GIB && ledger_ratio(&v) == 0.75);
	v = ledger_job_level(5 * GIB, 4 * GIB);
	assert_true(v.available_bytes == 0 && v.kernel_used_bytes == 5 * GIB);
}

static void the_tightest_level_is_the_one_with_the_least_share_left(void **state)
{
	(void)state;
	struct ledger l = {.n = 3};
	l.level[0] = ledger_job_level(50 * GIB, 100 * GIB);
	l.level[1] = ledger_job_level(900 * MIB, GIB);
	l.level[2] = ledger_job_level(0, 0);
	assert_int_equal(ledger_tightest(&l), 1);
	l.n = 1;
	assert_int_equal(ledger_tightest(&l), 0);
	assert_string_equal(ledger_scope_name(LEDGER_CONTAINER), "container");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cache_never_makes_a_group_look_full),
		cmocka_unit_test(memory_that_cannot_go_makes_a_group_full),
		cmocka_unit_test(protected_memory_is_not_reclaimable),
		cmocka_unit_test(absurd_counters_never_wrap),
		cmocka_unit_test(the_smallest_limit_counts),
		cmocka_unit_test(the_node_has_what_the_kernel_calls_available),
		cmocka_unit_test(a_nonsense_total_never_looks_full),
		cmocka_unit_test(the_job_has_its_own_limit),
		cmocka_unit_test(the_tightest_level_is_the_one_with_the_least_share_left),
	};
	return cmocka_run_group_tests_name("model/memory/ledger", tests, NULL, NULL);
}
