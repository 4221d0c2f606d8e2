#include "agent/made_world.h"

#include "act/jobscope.h"

static void set(const struct made_world *m, const char *file, const char *text)
{
	char path[128];
	TEXT_FORMAT(path, "cgroup/system.slice/vigil.service/%s", file);
	made_write(m, path, text, strlen(text));
}

static void a_group_is_bare_only_while_it_sets_nothing(void **state)
{
	(void)state;
	static const struct {
		const char *file, *neutral, *set;
	} cases[] = {
		{"memory.max", "max\n", "1073741824\n"},  {"memory.high", "max\n", "0\n"},
		{"memory.swap.max", "max\n", "0\n"},      {"memory.low", "0\n", "4096\n"},
		{"memory.min", "0\n", "1\n"},             {"memory.oom.group", "0\n", "1\n"},
		{"cpu.max", "max 100000\n", "50000 100000\n"}, {"cpu.weight", "100\n", "1000\n"},
		{"cpuset.cpus", "\n", "0-3\n"},           {"cpuset.mems", "\n", "0\n"},
		{"io.max", "\n", "8:0 rbps=1048576\n"},
	};
	struct made_world m;
	struct cgroup_place ours = {.memory_version = CGROUP_V2, .memory = "system.slice/vigil.service"};
	made_begin(&m);
	made_folder(&m, "cgroup/system.slice/vigil.service");
	assert_true(jobscope_bare(&m.w, &ours)); /* no controller: no file */
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		set(&m, cases[i].file, cases[i].neutral);
		assert_true(jobscope_bare(&m.w, &ours));
		set(&m, cases[i].file, cases[i].set);
		if (jobscope_bare(&m.w, &ours))
			fail_msg("%s is not seen", cases[i].file);
		set(&m, cases[i].file, ""); /* cpuset.cpus has no newline on some kernels */
		assert_true(jobscope_bare(&m.w, &ours));
	}
	made_end(&m);
}

static void a_recorded_machine_has_no_systemd_to_ask(void **state)
{
	(void)state;
	struct made_world m;
	struct cgroup_place ours = {.memory_version = CGROUP_V2, .memory = "system.slice/vigil.service"};
	made_begin(&m);
	assert_false(jobscope_kept_by_systemd(&m.w, &ours));
	made_end(&m);
}

static void a_scope_that_was_never_made_ends_quietly(void **state)
{
	(void)state;
	struct jobscope s = {};
	jobscope_end(&s);
	assert_int_equal(s.holder, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_is_bare_only_while_it_sets_nothing),
		cmocka_unit_test(a_recorded_machine_has_no_systemd_to_ask),
		cmocka_unit_test(a_scope_that_was_never_made_ends_quietly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
