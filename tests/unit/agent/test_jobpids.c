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
		{.pid = 20, .start_ticks = 20, .ppid = 1, .comm = "vigil", .children = "30 21 29"},
		{.pid = 21, .start_ticks = 21, .ppid = 20, .comm = "python", .children = "25 "},
		{.pid = 25, .start_ticks = 25, .ppid = 21, .comm = "worker"},
		{.pid = 26, .start_ticks = 26, .ppid = 21, .comm = "worker"},
		{.pid = 29, .start_ticks = 29, .ppid = 20, .comm = "guard", .children = "31"},
		{.pid = 30, .start_ticks = 30, .ppid = 20, .comm = "python"},
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
	for (size_t i = 0; i < n; i++)
		assert_int_equal(pids.of[i].pid, list[i]);
	assert_int_equal(pids.dropped, 0);
}

/* Takes over what was found, as those do who read the processes. */
static void keep_all(void)
{
	size_t n = pids.n, kept = 0;
	for (size_t i = 0; i < n; i++) {
		struct proc_stat st;
		if (proc_stat_read(&made.w, pids.of[i].pid, &st) == 0 && jobpids_is(&pids, i, st.ppid, st.start_ticks))
			jobpids_keep(&pids, kept++, st.pid, st.start_ticks);
	}
	pids.n = kept;
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
	const struct jobpids_want want = {.root = 25, .root_is_ours = true, .also = {{30, 0}, {29, 0}, {25, 0}}};
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
	keep_all();
	expect(&above, false, (const pid_t[]){21, 25, 26, 30}, 4);
}

static void a_control_group_is_read_and_the_children_of_who_is_in_it(void **state)
{
	(void)state;
	const struct jobpids_want want = {.cgroup = "job", .root = 20, .not_ours = {41}};
	expect(&want, true, (const pid_t[]){21, 25, 26, 40}, 4);
	for (size_t i = 0; i < pids.n; i++) /* whoever is not in it has left it */
		assert_int_equal(pids.of[i].outside, pids.of[i].pid == 25 || pids.of[i].pid == 26);
}

static void without_its_group_the_job_is_walked(void **state)
{
	(void)state;
	const struct jobpids_want want = {.cgroup = "no-such-group", .root = 20, .not_ours = {29}};
	expect(&want, false, (const pid_t[]){21, 25, 30}, 3);
}

static void a_stranger_who_gets_the_number_is_none_of_the_job(void **state)
{
	(void)state;
	const struct jobpids_want want = {.root = 21, .root_is_ours = true};
	expect(&want, true, (const pid_t[]){21, 25, 26}, 3);
	keep_all();
	assert_int_equal(pids.n, 3);
	/* 25 and 26 are left by their parent: they stay */
	made_process(&made, &(struct made_process){.pid = 21, .start_ticks = 21, .ppid = 20, .comm = "python"});
	made_write(&made, "proc/21/task/22/children", "", 0);
	made_gone(&made, 26);
	expect(&want, true, (const pid_t[]){21, 25}, 2);
	keep_all();
	/* its number is somebody else's now, and so is that of the job's first process */
	made_process(&made, &(struct made_process){.pid = 25, .start_ticks = 99, .ppid = 1, .comm = "other"});
	expect(&want, true, (const pid_t[]){21}, 1);
	const struct jobpids_want root = {.root = 21, .root_start_ticks = 77, .root_is_ours = true};
	fresh(NULL);
	expect(&root, true, NULL, 0);
}

static void who_started_since_the_search_is_not_who_was_found(void **state)
{
	(void)state;
	const struct jobpids_want want = {.cgroup = "job"};
	jobpids_find(&pids, &made.w, &want, true);
	assert_int_equal(pids.of[0].pid, 21);
	assert_true(jobpids_is(&pids, 0, 1, 21));
	assert_false(jobpids_is(&pids, 0, 1, pids.found_ticks + 1));
	assert_true(jobpids_is(&pids, 0, 40, pids.found_ticks + 1)); /* a child of one of the job is of the job */
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
	for (size_t i = 0; i < 3; i++) {
		const pid_t pid = (const pid_t[]){7, 8, 100}[i];
		made_process(&made, &(struct made_process){.pid = pid, .start_ticks = 5, .ppid = 1, .comm = "p"});
		jobpids_keep(&pids, i, pid, 5);
	}
	jobpids_find(&pids, &made.w, &want, false);
	assert_int_equal(pids.n, JOBPIDS_MAX);
	assert_int_equal(pids.dropped, 1);
	assert_int_equal(pids.of[0].pid, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_walk_finds_descendants_without_the_supervisor_and_its_helpers, fresh),
		cmocka_unit_test_setup(the_root_may_belong_to_the_job, fresh),
		cmocka_unit_test_setup(a_job_may_have_several_roots, fresh),
		cmocka_unit_test_setup(children_of_other_threads_are_found_on_request_and_stay, fresh),
		cmocka_unit_test_setup(a_control_group_is_read_and_the_children_of_who_is_in_it, fresh),
		cmocka_unit_test_setup(without_its_group_the_job_is_walked, fresh),
		cmocka_unit_test_setup(who_started_since_the_search_is_not_who_was_found, fresh),
		cmocka_unit_test_setup(what_does_not_fit_is_counted, fresh),
		cmocka_unit_test_setup(a_stranger_who_gets_the_number_is_none_of_the_job, fresh),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
