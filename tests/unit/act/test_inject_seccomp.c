#include "agent/made_world.h"

#include "act/inject/inject_parts.h"

static struct made_world m;

static int begin(void **state)
{
	(void)state;
	made_begin(&m);
	return 0;
}

static int end(void **state)
{
	(void)state;
	made_end(&m);
	return 0;
}

/* A process in the pid namespace `ns`, whose status has these lines. */
static void process(pid_t pid, pid_t ppid, const char *ns, const char *lines)
{
	char path[128], full[400], text[256];
	made_process(&m, &(struct made_process){.pid = pid, .ppid = ppid, .comm = "train"});
	TEXT_FORMAT(path, "proc/%d/task/%d/status", (int)pid, (int)pid);
	TEXT_FORMAT(text, "Name:\ttrain\nSigIgn:\t0000000001001000\n%s", lines);
	made_write(&m, path, text, strlen(text));
	TEXT_FORMAT(path, "proc/%d/ns", (int)pid);
	made_folder(&m, path);
	TEXT_FORMAT(full, "%s/proc/%d/ns/pid", m.dir, (int)pid);
	TEXT_FORMAT(text, "pid:[%s]", ns);
	assert_int_equal(symlink(text, full), 0);
}

static struct inject_seccomp seccomp_of(pid_t pid)
{
	struct inject_seccomp s;
	assert_int_equal(inject_seccomp_read(&m.w, pid, pid, &s), 0);
	return s;
}

static enum inject_filters whose(pid_t pid)
{
	struct inject_seccomp s = seccomp_of(pid);
	return inject_seccomp_whose(&m.w, pid, &s);
}

static void the_lines_of_status_are_read(void **state)
{
	(void)state;
	process(20, 1, "1", "Seccomp:\t2\nSeccomp_filters:\t3\n");
	struct inject_seccomp s = seccomp_of(20);
	assert_true(s.mode == 2 && s.filters == 3 && s.ignored_signals == 0x1001000);
	process(21, 1, "1", "");
	s = seccomp_of(21);
	assert_true(s.mode == 0 && s.filters == 0);
	assert_int_equal(inject_seccomp_read(&m.w, 99, 99, &s), WORLD_GONE);
}

static void filters_are_the_same_by_mode_and_number(void **state)
{
	(void)state;
	struct inject_seccomp a = {.mode = 2, .filters = 1}, b = {.mode = 2, .filters = 1, .ignored_signals = 4};
	assert_true(inject_seccomp_same(&a, &b));
	b.filters = 2;
	assert_false(inject_seccomp_same(&a, &b));
	b = a;
	b.mode = 1;
	assert_false(inject_seccomp_same(&a, &b));
}

static void a_process_without_filters_has_none(void **state)
{
	(void)state;
	process(20, 1, "1", "Seccomp:\t0\nSeccomp_filters:\t0\n");
	assert_int_equal(whose(20), FILTERS_NONE);
}

static void filters_of_the_first_process_are_the_containers(void **state)
{
	(void)state;
	process(10, 1, "1", "Seccomp:\t0\nSeccomp_filters:\t0\n"); /* outside: the container's runtime */
	process(20, 10, "2", "Seccomp:\t2\nSeccomp_filters:\t1\n");
	process(21, 20, "2", "Seccomp:\t2\nSeccomp_filters:\t1\n");
	process(22, 21, "2", "Seccomp:\t2\nSeccomp_filters:\t1\n");
	process(23, 22, "2", "Seccomp:\t2\nSeccomp_filters:\t2\n"); /* added one of its own */
	assert_int_equal(whose(22), FILTERS_OF_CONTAINER);
	assert_int_equal(whose(23), FILTERS_OWN);
	assert_int_equal(whose(20), FILTERS_UNKNOWN);
}

static void strict_mode_and_uncounted_filters_are_its_own(void **state)
{
	(void)state;
	process(20, 10, "2", "Seccomp:\t2\n");
	process(21, 20, "2", "Seccomp:\t2\n"); /* before Linux 5.9 */
	process(22, 20, "2", "Seccomp:\t1\nSeccomp_filters:\t0\n");
	assert_int_equal(whose(21), FILTERS_OWN);
	assert_int_equal(whose(22), FILTERS_OWN);
}

static void filters_that_vigil_has_too_are_ours(void **state)
{
	(void)state;
	process(getpid(), 1, "5", "Seccomp:\t2\nSeccomp_filters:\t1\n");
	process(getpid() + 1, 1, "5", "Seccomp:\t2\nSeccomp_filters:\t1\n");
	process(getpid() + 2, 1, "6", "Seccomp:\t2\nSeccomp_filters:\t1\n");
	assert_int_equal(whose(getpid() + 1), FILTERS_OURS);
	assert_int_not_equal(whose(getpid() + 2), FILTERS_OURS); /* another container */
}

#define MADE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MADE(the_lines_of_status_are_read),
		cmocka_unit_test(filters_are_the_same_by_mode_and_number),
		MADE(a_process_without_filters_has_none),
		MADE(filters_of_the_first_process_are_the_containers),
		MADE(strict_mode_and_uncounted_filters_are_its_own),
		MADE(filters_that_vigil_has_too_are_ours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
