#include "testing.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "world_fixture.h"

#include "base/buf.h"

#include "sense/memory/cgroup.h"

static struct cgroup_place place_of(const char *world, pid_t pid)
{
	struct cgroup_place p;
	struct world w = fixture_world(world);
	assert_int_equal(cgroup_place_read(&w, pid, &p), 0);
	fixture_close(&w);
	return p;
}

static struct cgroup_memory memory_of(const char *world, enum cgroup_version v, const char *path)
{
	struct cgroup g;
	struct cgroup_memory m;
	struct world w = fixture_world(world);
	assert_int_equal(cgroup_open(&w, v, path, &g), 0);
	assert_int_equal(cgroup_read_full(&g, &m), 0);
	cgroup_close(&g);
	fixture_close(&w);
	return m;
}

static void a_hybrid_machine_charges_memory_in_v1(void **state)
{
	(void)state;
	struct cgroup_place p = place_of("hybrid-v1", 4242);
	assert_int_equal(p.memory_version, CGROUP_V1);
	assert_string_equal(p.memory, "memory/job/rank0");
	assert_string_equal(p.freezer, "freezer/job");
	assert_string_equal(p.unified, "unified");
	assert_string_equal(p.name, "/job/rank0");
}

static void a_group_that_cannot_be_seen_falls_back_to_its_mount(void **state)
{
	(void)state;
	struct cgroup_place p = place_of("hybrid-v1", 4343);
	assert_string_equal(p.memory, "memory");
	assert_string_equal(p.name, "/gone/elsewhere");
}

static void a_container_on_v2_sees_its_group_at_the_top(void **state)
{
	(void)state;
	struct cgroup_place p = place_of("docker-v2", 0);
	assert_int_equal(p.memory_version, CGROUP_V2);
	assert_string_equal(p.memory, ".");
	assert_string_equal(p.freezer, ".");
	p = place_of("docker-v2", 77);
	assert_string_equal(p.memory, ".");
	assert_string_equal(p.name, "/../sibling");
}

static void a_session_on_v2_has_its_whole_path(void **state)
{
	(void)state;
	struct cgroup_place p = place_of("systemd-v2", 0);
	assert_string_equal(p.memory, "user.slice/user-1000.slice/session-3.scope");
	assert_string_equal(p.freezer, p.memory);
	assert_string_equal(place_of("systemd-v2", 55).memory, "system.slice/foo\\x2dbar.service");
}

static void the_root_of_a_container_mount_is_taken_off(void **state)
{
	(void)state;
	struct cgroup_place p;
	struct span groups = SPAN("4:cpu,memory:/docker/a\\x2db/sub\n0::/docker/a\\x2db\n");
	struct span mounts = SPAN("5 4 0:1 /docker/a\\134x2db /sys/fs/cgroup/memory ro - cgroup cgroup rw,cpu,memory\n"
				  "6 4 0:2 /docker/a\\134x2db /sys/fs/cgroup/unified ro - cgroup2 cgroup2 rw\n");
	assert_int_equal(cgroup_place_parse(groups, mounts, &p), 0);
	assert_int_equal(p.memory_version, CGROUP_V1);
	assert_string_equal(p.memory, "memory/sub");
	assert_string_equal(p.unified, "unified");
	assert_string_equal(p.freezer, "unified");
}

static void memory_of_v1_that_is_not_mounted_here_is_not_looked_for_in_v2(void **state)
{
	(void)state;
	struct cgroup_place p;
	struct span groups = SPAN("4:memory:/a\n0::/b\n");
	struct span mounts = SPAN("6 4 0:2 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
	assert_int_equal(cgroup_place_parse(groups, mounts, &p), 0);
	assert_int_equal(p.memory_version, CGROUP_NONE);
	assert_string_equal(p.memory, "");
	assert_string_equal(p.unified, "unified/b");
	assert_string_equal(p.name, "/a");
}

static void mounts_elsewhere_and_broken_lines_are_passed_over(void **state)
{
	(void)state;
	struct cgroup_place p;
	struct span groups = SPAN("\n:\n::\n1\n0::relative\n0::/g\n7:memory\n");
	struct span mounts = SPAN(
		"6 4 0:2 / /mnt/cg rw - cgroup2 cgroup2 rw\n6 4 0:2\n- \n6 4 0:2 / /sys/fs/cgroupx rw - cgroup2 c rw");
	assert_int_equal(cgroup_place_parse(groups, mounts, &p), 0);
	assert_string_equal(p.unified, "");
	assert_int_equal(p.memory_version, CGROUP_NONE);
	assert_int_equal(cgroup_place_parse(SPAN(""), mounts, &p), WORLD_ABSENT);
}

static void names_never_lead_out_of_the_tree(void **state)
{
	(void)state;
	struct cgroup_place p;
	struct span mounts = SPAN("6 4 0:2 / /sys/fs/cgroup//u rw - cgroup2 cgroup2 rw\n");
	assert_int_equal(cgroup_place_parse(SPAN("0::/a/../../../etc\n"), mounts, &p), 0);
	assert_string_equal(p.unified, "u");
	assert_int_equal(cgroup_place_parse(SPAN("0::/a..b/..c\n"), mounts, &p), 0);
	assert_string_equal(p.unified, "u/a..b/..c");
	mounts = SPAN("6 4 0:2 / /sys/fs/cgroup/../u rw - cgroup2 cgroup2 rw\n");
	assert_int_equal(cgroup_place_parse(SPAN("0::/a\n"), mounts, &p), 0);
	assert_string_equal(p.unified, "");
}

static void limits_are_numbers_or_none(void **state)
{
	(void)state;
	uint64_t v = 5;
	assert_int_equal(cgroup_limit_parse(SPAN("max\n"), &v), 0);
	assert_true(v == CGROUP_NO_LIMIT);
	assert_int_equal(cgroup_limit_parse(SPAN("9223372036854771712\n"), &v), 0);
	assert_true(v == CGROUP_NO_LIMIT);
	assert_int_equal(cgroup_limit_parse(SPAN("99999999999999999999999"), &v), 0);
	assert_true(v == CGROUP_NO_LIMIT);
	assert_int_equal(cgroup_limit_parse(SPAN("1048576\n"), &v), 0);
	assert_true(v == MIB);
	assert_int_equal(cgroup_limit_parse(SPAN(""), &v), -EBADMSG);
	assert_int_equal(cgroup_limit_parse(SPAN("maximum"), &v), -EBADMSG);
	assert_true(v == MIB);
}

static void a_v1_group_counts_the_groups_below_it(void **state)
{
	(void)state;
	struct cgroup_memory m = memory_of("hybrid-v1", CGROUP_V1, "memory/job");
	assert_true(m.current_bytes == 900 * MIB);
	assert_true(m.max_bytes == GIB);
	assert_true(m.hierarchy_max_bytes == GIB);
	assert_true(m.high_bytes == CGROUP_NO_LIMIT);
	assert_true(m.low_bytes == 0);
	assert_true(m.has_stat && m.has_events);
	assert_true(m.anon_bytes == 290 * MIB);
	assert_true(m.file_bytes == 600 * MIB);
	assert_true(m.shmem_bytes == 100 * MIB);
	assert_true(m.inactive_file_bytes == 300 * MIB && m.active_file_bytes == 200 * MIB);
	assert_true(m.dirty_bytes == 8 * MIB && m.writeback_bytes == 2 * MIB);
	assert_true(m.swap_bytes == 8192);
	assert_true(m.swap_max_bytes == 512 * MIB);
	assert_int_equal(m.oom_kills, 2);
	assert_int_equal(m.oom_kills_local, 2);
	assert_int_equal(m.max_events, 17 + 5); /* memory alone, and with swap */
	assert_true(m.under_oom);
}

static void a_v2_group_tells_its_events_apart(void **state)
{
	(void)state;
	struct cgroup_memory m = memory_of("docker-v2", CGROUP_V2, ".");
	assert_true(m.current_bytes == 1000 * MIB && m.max_bytes == GIB);
	assert_true(m.swap_bytes == 10 * MIB && m.swap_max_bytes == 256 * MIB);
	assert_true(m.slab_reclaimable_bytes == 8 * MIB);
	assert_true(m.dirty_bytes == 30 * MIB && m.writeback_bytes == 10 * MIB);
	assert_int_equal(m.oom_kills, 1);
	assert_int_equal(m.max_events, 44);
	assert_int_equal(m.high_events, 3);
	m = memory_of("systemd-v2", CGROUP_V2, "user.slice/user-1000.slice");
	assert_true(m.high_bytes == 8192 * MIB && m.low_bytes == 512 * MIB);
}

static void old_v1_statistics_without_totals_still_count(void **state)
{
	(void)state;
	struct cgroup_memory m = {};
	assert_int_equal(cgroup_stat_parse(SPAN("cache 10\nrss 20\nnonsense\nshmem x\n"), CGROUP_V1, &m), 0);
	assert_int_equal(m.file_bytes, 10);
	assert_int_equal(m.anon_bytes, 20);
	assert_int_equal(cgroup_stat_parse(SPAN("\n\n\nx"), CGROUP_V1, &m), -EBADMSG);
	assert_int_equal(cgroup_stat_parse(SPAN("anon 99999999999999999999999"), CGROUP_V2, &m), 0);
	assert_true(m.anon_bytes == UINT64_MAX);
	assert_int_equal(cgroup_events_parse(SPAN(""), CGROUP_V2, &m), -EBADMSG);
}

static void the_chain_holds_the_innermost_and_the_limited_levels(void **state)
{
	(void)state;
	struct cgroup_chain c;
	struct world w = fixture_world("systemd-v2");
	struct cgroup_place p = place_of("systemd-v2", 0);
	assert_int_equal(cgroup_chain_open(&w, &p, &c), 0);
	assert_int_equal(c.n, 2);
	assert_string_equal(c.level[0].path, "user.slice/user-1000.slice/session-3.scope");
	assert_string_equal(c.level[1].path, "user.slice/user-1000.slice");
	cgroup_chain_close(&c);
	fixture_close(&w);

	w = fixture_world("hybrid-v1");
	p = place_of("hybrid-v1", 4242);
	assert_int_equal(cgroup_chain_open(&w, &p, &c), 0);
	assert_int_equal(c.n, 2);
	assert_string_equal(c.level[1].path, "memory/job");
	cgroup_chain_close(&c);
	fixture_close(&w);
}

static void groups_that_are_gone_or_uncounted_are_told_apart(void **state)
{
	(void)state;
	struct cgroup g;
	struct world w = fixture_world("systemd-v2");
	assert_int_equal(cgroup_open(&w, CGROUP_V2, "user.slice/none", &g), WORLD_GONE);
	assert_int_equal(cgroup_open(&w, CGROUP_V2, "system.slice", &g), WORLD_ABSENT);
	assert_int_equal(cgroup_open(&w, CGROUP_NONE, ".", &g), WORLD_ABSENT);
	fixture_close(&w);
	w = fixture_world("lxcfs-underflow");
	assert_int_equal(cgroup_open(&w, CGROUP_V2, ".", &g), WORLD_ABSENT);
	fixture_close(&w);
}

static void pids_beyond_the_room_are_counted(void **state)
{
	(void)state;
	pid_t pids[2];
	size_t n;
	struct world w = fixture_world("systemd-v2");
	assert_int_equal(cgroup_pids(&w, "user.slice/user-1000.slice/session-3.scope", pids, 2, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(pids[0], 55);
	assert_int_equal(pids[1], 56);
	assert_int_equal(cgroup_pids(&w, "nowhere", pids, 2, &n), WORLD_GONE);
	fixture_close(&w);
}

static void pids_of_groups_below_are_found_with_those_of_the_group(void **state)
{
	(void)state;
	pid_t pids[8];
	size_t n;
	struct world w = fixture_world("systemd-v2");
	assert_int_equal(cgroup_pids(&w, "user.slice/user-1000.slice", pids, 8, &n), WORLD_GONE); /* no file there */
	assert_int_equal(cgroup_tree_pids(&w, "user.slice/user-1000.slice", pids, 8, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(pids[2], 57);
	assert_int_equal(cgroup_tree_pids(&w, "user.slice/user-1000.slice/session-3.scope", pids, 2, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(cgroup_tree_pids(&w, "nowhere", pids, 2, &n), WORLD_GONE);
	fixture_close(&w);
}

static void group_make(const char *path, const char *pids)
{
	char file[600];
	TEXT_FORMAT(file, "%s/cgroup.procs", path);
	assert_int_equal(mkdir(path, 0755), 0);
	if (!pids) { /* it cannot be read, as that of a threaded group */
		assert_int_equal(mkdir(file, 0755), 0);
		return;
	}
	FILE *f = fopen(file, "we");
	assert_non_null(f);
	(void)fputs(pids, f);
	(void)fclose(f);
}

static int group_remove(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

/* Its user makes groups threaded, which says no processes, and groups in groups. */
static void a_group_hides_none_behind_another(void **state)
{
	(void)state;
	char top[] = "/tmp/vigil-unit-XXXXXX", path[500];
	pid_t pids[8];
	size_t n = 0;
	assert_non_null(mkdtemp(top));
	struct world w = {.cgroup_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	TEXT_FORMAT(path, "%s/wa", top);
	group_make(path, "11\n");
	TEXT_FORMAT(path, "%s/wa/threaded", top);
	group_make(path, NULL);
	TEXT_FORMAT(path, "%s/wa/threaded/below", top);
	group_make(path, "22\n");
	assert_int_equal(cgroup_tree_pids(&w, "wa", pids, 8, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(pids[1], 22);
	for (int i = 0; i < 40; i++) {
		(void)text_format(path + strlen(path), sizeof(path) - strlen(path), "/d");
		group_make(path, i == 39 ? "33\n" : "");
	}
	assert_int_equal(cgroup_tree_pids(&w, "wa", pids, 8, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(pids[2], 33);
	(void)close(w.cgroup_fd);
	assert_int_equal(nftw(top, group_remove, 64, FTW_DEPTH | FTW_PHYS), 0);
}

static void this_machine_can_be_read(void **state)
{
	(void)state;
	struct world w = live_world();
	struct cgroup_place p;
	struct cgroup_chain c;
	int r = cgroup_place_read(&w, 0, &p);
	assert_true(r >= 0);
	if (r == 0 && cgroup_chain_open(&w, &p, &c) == 0) {
		struct cgroup_memory m;
		assert_int_equal(cgroup_read_full(&c.level[0], &m), 0);
		assert_true(m.has_stat && m.current_bytes > 0);
		cgroup_chain_close(&c);
	}
	assert_int_equal(cgroup_place_read(&w, INT32_MAX, &p), WORLD_GONE);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hybrid_machine_charges_memory_in_v1),
		cmocka_unit_test(a_group_that_cannot_be_seen_falls_back_to_its_mount),
		cmocka_unit_test(a_container_on_v2_sees_its_group_at_the_top),
		cmocka_unit_test(a_session_on_v2_has_its_whole_path),
		cmocka_unit_test(the_root_of_a_container_mount_is_taken_off),
		cmocka_unit_test(memory_of_v1_that_is_not_mounted_here_is_not_looked_for_in_v2),
		cmocka_unit_test(mounts_elsewhere_and_broken_lines_are_passed_over),
		cmocka_unit_test(names_never_lead_out_of_the_tree),
		cmocka_unit_test(limits_are_numbers_or_none),
		cmocka_unit_test(a_v1_group_counts_the_groups_below_it),
		cmocka_unit_test(a_v2_group_tells_its_events_apart),
		cmocka_unit_test(old_v1_statistics_without_totals_still_count),
		cmocka_unit_test(the_chain_holds_the_innermost_and_the_limited_levels),
		cmocka_unit_test(groups_that_are_gone_or_uncounted_are_told_apart),
		cmocka_unit_test(pids_beyond_the_room_are_counted),
		cmocka_unit_test(pids_of_groups_below_are_found_with_those_of_the_group),
		cmocka_unit_test(a_group_hides_none_behind_another),
		cmocka_unit_test(this_machine_can_be_read),
	};
	return cmocka_run_group_tests_name("sense/memory/cgroup", tests, NULL, NULL);
}
