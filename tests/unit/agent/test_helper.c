#include "testing.h"

#include <sys/wait.h>

#include "agent/host/helper.h"

static struct helpers list;

static int begin(void **state)
{
	(void)state;
	memset(&list, 0, sizeof(list));
	helper_list_use(&list);
	return 0;
}

static int end(void **state)
{
	(void)state;
	helper_list_use(NULL);
	return 0;
}

static void a_fork_is_in_the_list_until_it_is_reaped(void **state)
{
	(void)state;
	struct tasks none = {.n = 0};
	pid_t found[4], pid = helper_fork();
	if (pid == 0)
		_exit(0);
	assert_true(pid > 0);
	assert_true(atomic_load(&list.since_ticks) == 0);
	assert_int_equal(helpers_find(&list, &none, getpid(), found, 4), 1);
	assert_int_equal(found[0], pid);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	helper_reaped(pid + 1); /* another child: nothing changes */
	assert_int_equal(helpers_find(&list, &none, getpid(), found, 4), 1);
	helper_reaped(pid);
	assert_int_equal(helpers_find(&list, &none, getpid(), found, 4), 0);
}

static void the_child_has_no_list(void **state)
{
	(void)state;
	int status;
	pid_t pid = helper_fork();
	if (pid == 0) {
		/* list is a copy here: a fork that used it would put a second number in */
		pid_t inner = helper_fork();
		if (inner == 0)
			_exit(0);
		(void)waitpid(inner, NULL, 0);
		for (size_t i = 0; i < HELPERS_MAX; i++)
			if (atomic_load(&list.pid[i]) == inner)
				_exit(1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void a_full_list_refuses_a_fork(void **state)
{
	(void)state;
	for (size_t i = 0; i < HELPERS_MAX; i++)
		atomic_store(&list.pid[i], 1000 + (int)i);
	errno = 0;
	pid_t pid = helper_fork();
	if (pid == 0)
		_exit(0);
	assert_int_equal(pid, -1);
	assert_int_equal(errno, EAGAIN);
	assert_true(atomic_load(&list.since_ticks) == 0);
}

static void while_a_fork_is_announced_new_children_are_helpers(void **state)
{
	(void)state;
	struct task_row rows[] = {
		{.pid = 11, .ppid = 10, .start_ticks = 499},
		{.pid = 12, .ppid = 10, .start_ticks = 500},
		{.pid = 13, .ppid = 12, .start_ticks = 501},
		{.pid = 14, .ppid = 10, .start_ticks = 502},
	};
	const struct tasks t = {.rows = rows, .n = ARRAY_SIZE(rows)};
	pid_t found[4];
	atomic_store(&list.pid[2], 77);
	assert_int_equal(helpers_find(&list, &t, 10, found, 4), 1);
	atomic_store(&list.since_ticks, 500);
	assert_int_equal(helpers_find(&list, &t, 10, found, 4), 3);
	assert_int_equal(found[0], 77);
	assert_int_equal(found[1], 12);
	assert_int_equal(found[2], 14);
	assert_int_equal(helpers_find(&list, &t, 10, found, 2), 2);
}

static void without_a_list_a_fork_is_a_fork(void **state)
{
	(void)state;
	helper_list_use(NULL);
	pid_t pid = helper_fork();
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	helper_reaped(pid);
	for (size_t i = 0; i < HELPERS_MAX; i++)
		assert_int_equal(atomic_load(&list.pid[i]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_fork_is_in_the_list_until_it_is_reaped, begin, end),
		cmocka_unit_test_setup_teardown(the_child_has_no_list, begin, end),
		cmocka_unit_test_setup_teardown(a_full_list_refuses_a_fork, begin, end),
		cmocka_unit_test_setup_teardown(while_a_fork_is_announced_new_children_are_helpers, begin, end),
		cmocka_unit_test_setup_teardown(without_a_list_a_fork_is_a_fork, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
