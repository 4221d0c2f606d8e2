#include "cli_fixture.h"

#include "cli/subject.h"

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
		    "there is no job 'digits' in %s; `vigil jobs` lists the jobs, a process is named by its number",
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

#define SUBJECT_TEST(t) cmocka_unit_test_setup_teardown(t, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SUBJECT_TEST(a_number_is_a_process_if_there_is_one),
		SUBJECT_TEST(a_job_is_found_by_id_name_and_last),
		SUBJECT_TEST(what_is_not_there_is_said_in_its_own_words),
		SUBJECT_TEST(numbers_that_no_process_can_have_are_names),
		SUBJECT_TEST(without_a_store_there_are_processes_only),
	};
	return cmocka_run_group_tests_name("cli/subject", tests, NULL, NULL);
}
