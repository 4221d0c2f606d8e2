#include "cli_fixture.h"

#include "cli/options/subject.h"

static struct made_world made;
static struct subject got;
static struct fault fault;

static int begin(void **state)
{
	(void)state;
	made_begin(&made);
	made_process(&made, &(struct made_process){.pid = 812, .ppid = 1, .start_ticks = 100, .comm = "python"});
	got = (struct subject){.pid = -7};
	fault = (struct fault){.text = ""};
	return 0;
}

static int end(void **state)
{
	(void)state;
	made_end(&made);
	return 0;
}

static int find(const char *what)
{
	return subject_find(&made.w, made.dir, what, &got, &fault);
}

static void fill(void)
{
	struct job jobs[] = {
		job_of("train-1", "train", JOB_DONE, 1000),
		job_of("train-2", "train", JOB_RUNNING, 2000),
		job_of("812", "812", JOB_DONE, 500),
		job_of("900", "900", JOB_DONE, 400),
	};
	jobs[1].pid = 4242;
	store_fill(made.dir, jobs, ARRAY_SIZE(jobs));
}

static void a_number_is_a_process_if_there_is_one(void **state)
{
	(void)state;
	fill();
	assert_int_equal(find("812"), 0); /* the job of that name comes second */
	assert_false(got.is_job);
	assert_int_equal(got.pid, 812);
	assert_string_equal(got.text, "process 812 and its descendants");
	assert_string_equal(got.key, "pid-812");
	assert_int_equal(find("900"), 0);
	assert_true(got.is_job);
	assert_string_equal(got.key, "900");
}

static void a_job_is_found_by_id_name_and_last(void **state)
{
	(void)state;
	fill();
	assert_int_equal(find("train-1"), 0);
	assert_true(got.is_job);
	assert_string_equal(got.text, "job train-1");
	assert_int_equal(got.pid, 0);
	static const char *const names[] = {"train", "last"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(find(names[i]), 0);
		assert_string_equal(got.key, "train-2");
		assert_int_equal(got.pid, 4242);
	}
}

static void what_is_not_there_is_said_in_its_own_words(void **state)
{
	(void)state;
	char want[400];
	fill();
	assert_int_equal(find("digits"), SUBJECT_NONE);
	TEXT_FORMAT(want,
		    "there is no job 'digits' in %s, and no Ray worker runs a task or actor of that name; `vigil jobs` "
		    "lists the jobs, `vigil ps` their processes, and a process is named by its number",
		    made.dir);
	assert_string_equal(fault.text, want);
	assert_int_equal(find("813"), SUBJECT_NONE);
	TEXT_FORMAT(want, "there is no process 813, and no job of that name in %s; `vigil jobs` lists the jobs",
		    made.dir);
	assert_string_equal(fault.text, want);
	assert_int_equal(got.pid, -7); /* untouched */
}

static void numbers_that_no_process_can_have_are_names(void **state)
{
	(void)state;
	static const char *const names[] = {"0", "-812", "4294968108", "812x"}; /* the third is 812 in 32 bits */
	fill();
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(find(names[i]), SUBJECT_NONE);
		assert_non_null(strstr(fault.text, "there is no job '"));
	}
}

static void without_a_store_there_are_processes_only(void **state)
{
	(void)state;
	assert_int_equal(find("812"), 0);
	assert_int_equal(find("last"), SUBJECT_NONE);
	assert_true(fault.text[0] != '\0');
}

/* A worker of the user who runs the test. parent 0: a raylet. */
static void worker(pid_t pid, const char *title, pid_t parent)
{
	char path[64], status[96], comm[16];
	TEXT_COPY(comm, title);
	made_process(
		&made,
		&(struct made_process){
			.pid = pid, .ppid = parent ? parent : 700, .start_ticks = 200, .comm = comm, .command = title});
	TEXT_FORMAT(path, "proc/%d/status", (int)pid);
	TEXT_FORMAT(status, "Name:\t%s\nPid:\t%d\nUid:\t%d\t%d\t%d\t%d\nNSpid:\t%d\n", comm, (int)pid, (int)getuid(),
		    (int)getuid(), (int)getuid(), (int)getuid(), (int)pid);
	made_write(&made, path, status, strlen(status));
}

static void a_worker_of_ray_is_found_by_the_name_of_its_actor_or_task(void **state)
{
	(void)state;
	worker(821, "ray::Learner.learn", 0);
	worker(822, "ray::Learner.learn", 821);
	worker(823, "ray::train", 0);
	worker(824, "ray::preprocess_all", 0);
	static const char *const names[] = {"Learner", "Learner.learn", "ray::Learner"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(find(names[i]), 0);
		assert_false(got.is_job);
		assert_int_equal(got.pid, 821); /* and not its fork */
		assert_int_equal(got.n_also, 0);
		assert_string_equal(got.text, "Ray worker 821, Learner.learn");
	}
	assert_string_equal(got.key, "ray-ray__Learner");
	assert_int_equal(find("preprocess"), SUBJECT_NONE);
	fill();
	assert_int_equal(find("train"), 0); /* a job comes first */
	assert_true(got.is_job);
}

static void several_workers_of_ray_are_listed_where_one_is_expected(void **state)
{
	(void)state;
	worker(831, "ray::preprocess", 0);
	worker(832, "ray::preprocess", 0);
	worker(833, "ray::preprocess", 0);
	assert_int_equal(find("preprocess"), -EINVAL);
	assert_string_equal(fault.text, "3 Ray workers are called 'preprocess', and one is expected; give its pid: 831 "
					"(preprocess), 832 (preprocess), 833 (preprocess)");
	assert_int_equal(got.pid, -7);
	assert_int_equal(subject_find_all(&made.w, made.dir, "preprocess", &got, &fault), 0);
	assert_int_equal(got.pid, 831);
	assert_int_equal(got.n_also, 2);
	assert_int_equal(got.also[1], 833);
	assert_string_equal(got.text, "3 Ray workers called preprocess");
	struct members_want want = subject_members(&got);
	assert_true(members_is_root(&want, 831) && members_is_root(&want, 832) && members_is_root(&want, 833));
	assert_false(members_is_root(&want, 834));
}

static void more_workers_of_ray_than_there_is_room_for_are_counted(void **state)
{
	(void)state;
	for (pid_t i = 0; i < RAYFIND_MOST + 6; i++)
		worker(840 + i, "ray::work", 0);
	assert_int_equal(find("work"), -EINVAL);
	assert_non_null(strstr(fault.text, "70 Ray workers are called 'work'"));
	assert_non_null(strstr(fault.text, " and 62 more"));
	assert_int_equal(subject_find_all(&made.w, made.dir, "work", &got, &fault), 0);
	assert_int_equal(got.n_also, RAYFIND_MOST - 1);
	assert_string_equal(got.text, "the first 64 of 70 Ray workers called work");
}

static void the_workers_of_running_jobs_go_before_others(void **state)
{
	(void)state;
	struct job jobs[] = {
		job_of("node-1", "node", JOB_RUNNING, 1000),
		job_of("old-1", "old", JOB_DONE, 900),
	};
	jobs[0].pid = 700; /* the raylet, adopted */
	jobs[1].pid = 900;
	store_fill(made.dir, jobs, ARRAY_SIZE(jobs));
	made_process(&made, &(struct made_process){.pid = 700, .ppid = 1, .start_ticks = 90, .comm = "raylet"});
	worker(851, "ray::work", 0);
	made_process(&made, &(struct made_process){.pid = 900, .ppid = 1, .start_ticks = 90, .comm = "raylet"});
	worker(852, "ray::work", 900);
	worker(853, "ray::other", 900);
	assert_int_equal(find("work"), 0);
	assert_int_equal(got.pid, 851);
	assert_int_equal(find("other"), 0); /* no running job has one */
	assert_int_equal(got.pid, 853);
}

#define SUBJECT_TEST(t) cmocka_unit_test_setup_teardown(t, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SUBJECT_TEST(a_number_is_a_process_if_there_is_one),
		SUBJECT_TEST(a_job_is_found_by_id_name_and_last),
		SUBJECT_TEST(what_is_not_there_is_said_in_its_own_words),
		SUBJECT_TEST(numbers_that_no_process_can_have_are_names),
		SUBJECT_TEST(without_a_store_there_are_processes_only),
		SUBJECT_TEST(a_worker_of_ray_is_found_by_the_name_of_its_actor_or_task),
		SUBJECT_TEST(several_workers_of_ray_are_listed_where_one_is_expected),
		SUBJECT_TEST(the_workers_of_running_jobs_go_before_others),
		SUBJECT_TEST(more_workers_of_ray_than_there_is_room_for_are_counted),
	};
	return cmocka_run_group_tests_name("cli/subject", tests, NULL, NULL);
}
