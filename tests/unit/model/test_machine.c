#include "testing.h"

#include "model/host/machine.h"

static void each_oom_daemon_has_a_name_and_a_rule(void **state)
{
	(void)state;
	for (int k = OOM_DAEMON_NONE + 1; k < OOM_DAEMON_MAX; k++) {
		assert_non_null(oom_daemon_name((enum oom_daemon_kind)k));
		assert_true(strlen(oom_daemon_rule((enum oom_daemon_kind)k)) > 20);
		for (int other = 0; other < k; other++)
			assert_string_not_equal(oom_daemon_name((enum oom_daemon_kind)k),
						oom_daemon_name((enum oom_daemon_kind)other));
	}
	assert_string_equal(oom_daemon_name(OOM_DAEMON_SYSTEMD_OOMD), "systemd-oomd");
}

static void no_daemon_has_no_rule(void **state)
{
	(void)state;
	assert_string_equal(oom_daemon_name(OOM_DAEMON_NONE), "none");
	assert_string_equal(oom_daemon_rule(OOM_DAEMON_NONE), "");
	assert_string_equal(oom_daemon_name(OOM_DAEMON_MAX), "none");
	assert_string_equal(oom_daemon_rule(OOM_DAEMON_MAX), "");
}

static void the_layout_of_control_groups_is_named_by_where_memory_is(void **state)
{
	(void)state;
	struct probe p = {.memory_version = CGROUP_V2};
	assert_string_equal(machine_cgroup_layout(&p), "v2");
	p.memory_version = CGROUP_V1;
	assert_string_equal(machine_cgroup_layout(&p), "v1");
	p.hybrid = true;
	assert_string_equal(machine_cgroup_layout(&p), "hybrid (memory on v1)");
	p = (struct probe){.hybrid = false};
	assert_string_equal(machine_cgroup_layout(&p), "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_oom_daemon_has_a_name_and_a_rule),
		cmocka_unit_test(no_daemon_has_no_rule),
		cmocka_unit_test(the_layout_of_control_groups_is_named_by_where_memory_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
