#include "world_fixture.h"

#include "sense/speed/cputopo.h"
#include "sense/speed/numamaps.h"

static void lists_of_processors_are_read(void **state)
{
	(void)state;
	struct cpuset_bits s;
	assert_int_equal(cpulist_parse(SPAN("0-3,8,10-11\n"), &s), 0);
	assert_int_equal(cpuset_count(&s), 7);
	assert_true(cpuset_has(&s, 3) && cpuset_has(&s, 8) && cpuset_has(&s, 11) && !cpuset_has(&s, 9));
	assert_int_equal(cpulist_parse(SPAN(""), &s), 0);
	assert_int_equal(cpuset_count(&s), 0);
	assert_int_equal(cpulist_parse(SPAN("1000-4000"), &s), 0);
	assert_int_equal(cpuset_count(&s), 24); /* those above CPUTOPO_MAX are left out */
}

static void what_is_no_list_is_refused(void **state)
{
	(void)state;
	struct cpuset_bits s = {{7}};
	static const char *const bad[] = {"x", "1-", "-1", "3-1", "1,,2", "1-2-3", "99999999999999999999"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_true(cpulist_parse(span_of(bad[i]), &s) < 0);
	assert_int_equal(s.word[0], 7);
}

static void cores_nodes_and_clocks_are_read(void **state)
{
	(void)state;
	int root = fixture_dir("smt-numa", "sys");
	assert_true(root >= 0);
	struct world w = {.sys_fd = root};
	static struct cputopo t;
	assert_int_equal(cputopo_read(&w, &t), 0);
	assert_int_equal(cpuset_count(&t.online), 4);
	assert_int_equal(cputopo_cores(&t, &t.online), 2);
	struct cpuset_bits pair = {{5}}; /* 0 and 2: one core */
	assert_int_equal(cputopo_cores(&t, &pair), 1);
	assert_int_equal(t.n_nodes, 2);
	assert_int_equal(t.node[3], 1);
	assert_true(t.has_clock && t.clock_ratio == 0.5);
	assert_true(t.has_throttles && t.throttles == 20);
	close(root);
}

static void a_machine_that_does_not_tell_is_absent(void **state)
{
	(void)state;
	static struct cputopo t;
	struct world w = {.sys_fd = -1};
	assert_int_equal(cputopo_read(&w, &t), WORLD_ABSENT);
}

static void memory_is_counted_by_its_node(void **state)
{
	(void)state;
	struct numamaps m;
	numamaps_parse(SPAN("00400000 default file=/bin/N1=9 mapped=3 N0=2 N1=1 kernelpagesize_kB=4\n"
			    "7f0000000000 default anon=512 dirty=512 N1=2 kernelpagesize_kB=2048\n"
			    "7f0000400000 default\nN99=7\nNx=1 N=2 N2=\n"),
		       &m);
	assert_int_equal(m.bytes[0], 8192);
	assert_int_equal(m.bytes[1], 4096 + 4 * MIB);
	assert_int_equal(m.all_bytes, 8192 + 4096 + 4 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_of_processors_are_read),
		cmocka_unit_test(what_is_no_list_is_refused),
		cmocka_unit_test(cores_nodes_and_clocks_are_read),
		cmocka_unit_test(a_machine_that_does_not_tell_is_absent),
		cmocka_unit_test(memory_is_counted_by_its_node),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
