#include "testing.h"

#include "agent/jobs/members.h"
#include "made_world.h"

static struct made_world made;
static struct tasks tasks;

static void user_set(pid_t pid, uid_t uid)
{
	char path[64], text[128];
	TEXT_FORMAT(path, "proc/%d/status", (int)pid);
	TEXT_FORMAT(
		text,
		"Name:\tx\nState:\tS (sleeping)\nTgid:\t%d\nPid:\t%d\nPPid:\t1\nUid:\t%u\t%u\t%u\t%u\nThreads:\t1\n",
		(int)pid, (int)pid, uid, uid, uid, uid);
	made_write(&made, path, text, strlen(text));
}

static int begin(void **state)
{
	(void)state;
	made_begin(&made);
	/* launcher 10 with rank 11; 13 double forked and kept the environment; 14 is in the group; 99 is a stranger */
	const struct made_process list[] = {
		{.pid = 1, .comm = "init", .start_ticks = 1},
		{.pid = 10, .ppid = 1, .comm = "torchrun", .start_ticks = 100},
		{.pid = 11, .ppid = 10, .comm = "python", .start_ticks = 110, .environ = "RANK=0\nVIGIL_JOB_ID=j-1"},
		{.pid = 9, .ppid = 11, .comm = "sh", .start_ticks = 400},
		{.pid = 13, .ppid = 1, .comm = "python", .start_ticks = 120, .environ = "A=b\nVIGIL_JOB_ID=j-1"},
		{.pid = 14, .ppid = 1, .comm = "tool", .start_ticks = 130, .group = "/vigil-j/sub"},
		{.pid = 15, .ppid = 1, .comm = "tool", .start_ticks = 130, .group = "/vigil-jj"},
		{.pid = 99, .ppid = 1, .comm = "other", .start_ticks = 140, .environ = "VIGIL_JOB_ID=j-11"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		made_process(&made, &list[i]);
		user_set(list[i].pid, 1000);
	}
	return tasks_init(&tasks, 64, -1) | tasks_scan(&tasks, &made.w);
}

static int end(void **state)
{
	(void)state;
	tasks_done(&tasks);
	made_end(&made);
	return 0;
}

static void expect(const struct members_want *want, const pid_t *pids, size_t n)
{
	struct members m;
	assert_int_equal(members_read(&made.w, &tasks, want, &m), 0);
	assert_int_equal(m.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(m.row[i].task->pid, pids[i]);
	members_done(&m);
	assert_null(m.row);
}

static void a_process_is_found_by_its_environment(void **state)
{
	(void)state;
	const struct members_want want = {.job_id = "j-1", .uid = 1000};
	expect(&want, (const pid_t[]){9, 11, 13}, 3); /* 9 descends from 11, whose number is higher */
}

static void another_users_process_that_names_the_job_is_none_of_it(void **state)
{
	(void)state;
	const struct members_want want = {.job_id = "j-1", .uid = 1000},
				  of_root = {.job_id = "j-1", .uid = 0, .root = 10};
	user_set(13, 1001);
	expect(&want, (const pid_t[]){9, 11}, 2);
	user_set(13, 1000);
	expect(&of_root, (const pid_t[]){9, 10, 11, 13}, 4); /* the job has processes of that user by descent */
}

static void a_process_is_found_by_descent(void **state)
{
	(void)state;
	const struct members_want want = {.root = 10};
	expect(&want, (const pid_t[]){9, 10, 11}, 3);
}

static void a_process_is_found_by_its_group_and_groups_below_it(void **state)
{
	(void)state;
	const struct members_want want = {.group = "/vigil-j"}, root = {.group = "/"}, none = {.group = ""};
	expect(&want, (const pid_t[]){14}, 1);
	expect(&root, NULL, 0);
	expect(&none, NULL, 0);
}

static void without_a_job_every_process_is_a_row(void **state)
{
	(void)state;
	expect(NULL, (const pid_t[]){1, 9, 10, 11, 13, 14, 15, 99}, 8);
}

static void a_row_has_the_job_the_rank_and_the_command(void **state)
{
	(void)state;
	const struct members_want want = {.job_id = "j-1", .uid = 1000};
	struct members m;
	assert_int_equal(members_read(&made.w, &tasks, &want, &m), 0);
	assert_string_equal(m.row[1].job, "j-1");
	assert_string_equal(m.row[1].command, "python");
	assert_int_equal(m.row[1].who.rank, 0);
	assert_string_equal(m.row[0].job, "");
	members_done(&m);
}

/* Ray's own programs of a node begin beside its raylet, as children of whoever started it. */
static void a_node_of_ray_has_its_programs_beside_the_raylet(void **state)
{
	(void)state;
	static const struct made_process list[] = {
		{.pid = 200,
		 .ppid = 1,
		 .comm = "python",
		 .start_ticks = 1,
		 .command = "python drive.py /tmp/ray/session_1_2"},
		{.pid = 201,
		 .ppid = 200,
		 .comm = "gcs_server",
		 .start_ticks = 2,
		 .command = "/x/gcs_server --log_dir=/r/session_1_2/logs"},
		{.pid = 202,
		 .ppid = 200,
		 .comm = "raylet",
		 .start_ticks = 3,
		 .command = "/x/raylet --raylet_socket_name=/r/s --session-name=session_1_2"},
		{.pid = 203, .ppid = 202, .comm = "ray::work", .start_ticks = 4, .command = "ray::work"},
		{.pid = 204,
		 .ppid = 200,
		 .comm = "python",
		 .start_ticks = 5,
		 .command = "python /l/ray/_private/log_monitor.py --session-dir=/r/session_1_2"},
		{.pid = 205,
		 .ppid = 1,
		 .comm = "gcs_server",
		 .start_ticks = 6,
		 .command = "/x/gcs_server --log_dir=/r/session_1_22/logs"},
		{.pid = 206,
		 .ppid = 1,
		 .comm = "gcs_server",
		 .start_ticks = 7,
		 .command = "/x/gcs_server --log_dir=/r/session_1_2/logs"},
		{.pid = 207, .ppid = 204, .comm = "sh", .start_ticks = 8},
	};
	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		made_process(&made, &list[i]);
		user_set(list[i].pid, list[i].pid == 206 ? 1001 : 1000);
	}
	assert_int_equal(tasks_scan(&tasks, &made.w), 0);
	const struct members_want node = {.job_id = "ray-1", .uid = 1000, .root = 202}, below = {.root = 202};
	expect(&node, (const pid_t[]){201, 202, 203, 204, 207}, 5); /* the driver is the user's */
	expect(&below, (const pid_t[]){202, 203}, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_found_by_its_environment),
		cmocka_unit_test(another_users_process_that_names_the_job_is_none_of_it),
		cmocka_unit_test(a_process_is_found_by_descent),
		cmocka_unit_test(a_process_is_found_by_its_group_and_groups_below_it),
		cmocka_unit_test(without_a_job_every_process_is_a_row),
		cmocka_unit_test(a_row_has_the_job_the_rank_and_the_command),
		cmocka_unit_test(a_node_of_ray_has_its_programs_beside_the_raylet),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
