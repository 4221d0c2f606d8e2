#include "testing.h"

#include "agent/jobs/jobpids.h"
#include "made_world.h"

static struct made_world made;
static struct jobpids pids;

static int begin(void **state)
{
	(void)state;
	made_begin(&made);
	const struct made_process list[] = {
		{.pid = 20, .ppid = 1, .comm = "vigil", .children = "30 21 29"},
		{.pid = 21, .ppid = 20, .comm = "python", .children = "25 "},
		{.pid = 25, .ppid = 21, .comm = "worker"},
		{.pid = 29, .ppid = 20, .comm = "guard", .children = "31"},
		{.pid = 30, .ppid = 20, .comm = "python"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		made_process(&made, &list[i]);
	/* a thread of 21 that is not its main one has a child */
	made_folder(&made, "proc/21/task/22");
	made_write(&made, "proc/21/task/22/children", "26\n", 3);
	made_folder(&made, "cgroup/job");
	made_write(&made, "cgroup/job/cgroup.procs", "40\n21\n41\n", 9);
	return 0;
}

static int end(void **state)
{
	(void)state;
	made_end(&made);
	return 0;
}

static int fresh(void **state)
{
	(void)state;
	memset(&pids, 0, sizeof(pids));
	return 0;
}

static void expect(const struct jobpids_want *want, bool all_threads, const pid_t *list, size_t n)
{
	jobpids_find(&pids, &made.w, want, all_threads);
	assert_int_equal(pids.n, n);
	assert_memory_equal(pids.pid, list, n * sizeof(*list));
	assert_int_equal(pids.dropped, 0);
}

static void a_walk_finds_descendants_without_the_supervisor_and_its_helpers(void **state)
{
	(void)state;
	const struct jobpids_want want = {.root = 20, .not_ours = {29}};
	expect(&want, false, (const pid_t[]){21, 25, 30}, 3);
}

static void the_root_may_belong_to_the_job(void **state)
{
	(void)state;
	const struct jobpids_want want = {.root = 20, .root_is_ours = true, .not_ours = {29}};
	expect(&want, false, (const pid_t[]){20, 21, 25, 30}, 4);
}

static void a_job_may_have_several_roots(void **state)
{
	(void)state;
	const struct jobpids_want want = {.root = 25, .root_is_ours = true, .also = {30, 29, 25}};
	expect(&want, false, (const pid_t[]){25, 29, 30, 31}, 4);
}

static void children_of_other_threads_are_found_on_request_and_stay(void **state)
{
	(void)state;
	const struct jobpids_want want = {.root = 21};
	expect(&want, false, (const pid_t[]){25, 26}, 2); /* the root's threads are all read */
	const struct jobpids_want above = {.root = 20, .not_ours = {29}};
	fresh(NULL);
	expect(&above, false, (const pid_t[]){21, 25, 30}, 3);
	expect(&above, true, (const pid_t[]){21, 25, 26, 30}, 4);
	expect(&above, false, (const pid_t[]){21, 25, 26, 30}, 4);
}

static void a_control_group_is_read_instead_of_a_walk(void **state)
{
	(void)state;
	const struct jobpids_want want = {.cgroup = "job", .root = 20, .not_ours = {41}};
	expect(&want, true, (const pid_t[]){21, 40}, 2);
}

static void without_its_group_the_job_is_walked(void **state)
{
	(void)state;
	const struct jobpids_want want = {.cgroup = "no-such-group", .root = 20, .not_ours = {29}};
	expect(&want, false, (const pid_t[]){21, 25, 30}, 3);
}

static void what_does_not_fit_is_counted(void **state)
{
	(void)state;
	static char list[(JOBPIDS_MAX + 5) * 8];
	struct buf b = {.text = list, .cap = sizeof(list)};
	const struct jobpids_want want = {.cgroup = "many"};
	buf_reset(&b);
	for (int i = 0; i < JOBPIDS_MAX - 1; i++)
		buf_printf(&b, "%d\n", 100 + i);
	made_folder(&made, "cgroup/many");
	made_write(&made, "cgroup/many/cgroup.procs", list, b.len);
	pids.n = 3;
	memcpy(pids.pid, (const pid_t[]){7, 8, 100}, 3 * sizeof(pid_t));
	jobpids_find(&pids, &made.w, &want, false);
	assert_int_equal(pids.n, JOBPIDS_MAX);
	assert_int_equal(pids.dropped, 1);
	assert_int_equal(pids.pid[0], 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_walk_finds_descendants_without_the_supervisor_and_its_helpers, fresh),
		cmocka_unit_test_setup(the_root_may_belong_to_the_job, fresh),
		cmocka_unit_test_setup(a_job_may_have_several_roots, fresh),
		cmocka_unit_test_setup(children_of_other_threads_are_found_on_request_and_stay, fresh),
		cmocka_unit_test_setup(a_control_group_is_read_instead_of_a_walk, fresh),
		cmocka_unit_test_setup(without_its_group_the_job_is_walked, fresh),
		cmocka_unit_test_setup(what_does_not_fit_is_counted, fresh),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
