#include "testing.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "agent/jobs/forget.h"
#include "made_world.h"

#define NOW_MS INT64_C(1000000)

static struct made_world made;
static struct store *store;

static int begin(void **state)
{
	(void)state;
	char note[256];
	struct fault f = {.text = ""};
	made_begin(&made);
	return store_open(made.dir, STORE_WRITE, &store, note, &f);
}

static int end(void **state)
{
	(void)state;
	store = store_close(store);
	made_end(&made);
	return 0;
}

static void job_put(const char *id, enum job_state how, int64_t started, int64_t ended)
{
	struct job j = {.state = how, .started_unix_ms = started, .ended_unix_ms = ended};
	char path[128];
	TEXT_COPY(j.id, id);
	TEXT_COPY(j.name, id);
	assert_int_equal(store_put_job(store, &j), 0);
	TEXT_FORMAT(path, "jobs/%s/0", id);
	made_folder(&made, path);
	TEXT_FORMAT(path, "jobs/%s/0/rank-0.out", id);
	made_write(&made, path, "step 1\n", 7);
}

static bool is_there(const char *name)
{
	char path[200];
	TEXT_FORMAT(path, "%s/%s", made.dir, name);
	return access(path, F_OK) == 0;
}

static bool is_stored(const char *id)
{
	struct job j;
	return store_find_job(store, id, &j) == 0;
}

static bool lives(void *ctx, const struct job *j)
{
	return strcmp(j->id, ctx) == 0;
}

static struct forgotten forget(int64_t before_ms)
{
	struct forgotten r;
	struct fault f = {.text = ""};
	const struct forget_want want = {before_ms, before_ms, lives, (void *)(uintptr_t) "alive"};
	if (forget_jobs(store, made.dir, &want, &r, &f) != 0)
		fail_msg("%s", f.text);
	return r;
}

static void jobs_that_ended_before_are_removed_with_their_folders(void **state)
{
	(void)state;
	job_put("old", JOB_DONE, NOW_MS - 9000, NOW_MS - 1001);
	job_put("edge", JOB_FAILED, NOW_MS - 9000, NOW_MS - 1000);
	struct forgotten r = forget(NOW_MS - 1000);
	assert_int_equal(r.jobs, 1);
	assert_int_equal(r.kept, 1);
	assert_true(r.bytes >= 512);
	assert_false(is_stored("old") || is_there("jobs/old"));
	assert_true(is_stored("edge") && is_there("jobs/edge/0/rank-0.out"));
}

static void a_job_that_runs_is_kept_and_one_that_only_says_so_is_not(void **state)
{
	(void)state;
	job_put("alive", JOB_RUNNING, NOW_MS - 9000, 0);
	job_put("dead", JOB_RUNNING, NOW_MS - 9000, 0);
	job_put("lost", JOB_LOST, NOW_MS - 9000, 0);
	struct forgotten r = forget(NOW_MS);
	assert_int_equal(r.jobs, 2);
	assert_true(is_stored("alive") && is_there("jobs/alive"));
	assert_false(is_stored("dead") || is_there("jobs/dead") || is_stored("lost"));
}

static void a_link_is_removed_and_not_followed(void **state)
{
	(void)state;
	char path[200];
	job_put("old", JOB_DONE, 1, 2);
	made_folder(&made, "precious");
	made_write(&made, "precious/model.pt", "x", 1);
	char target[200];
	TEXT_FORMAT(target, "%s/precious", made.dir);
	TEXT_FORMAT(path, "%s/jobs/old/link", made.dir);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(forget(NOW_MS).jobs, 1);
	assert_false(is_there("jobs/old"));
	assert_true(is_there("precious/model.pt"));
}

static void a_record_with_a_path_for_an_id_removes_nothing(void **state)
{
	(void)state;
	made_folder(&made, "precious");
	struct job j = {.id = "../precious", .state = JOB_DONE, .started_unix_ms = 1, .ended_unix_ms = 2};
	assert_int_equal(store_put_job(store, &j), 0);
	TEXT_COPY(j.id, "..");
	assert_int_equal(store_put_job(store, &j), 0);
	made_folder(&made, "jobs/x");
	TEXT_COPY(j.id, "x/../../precious");
	assert_int_equal(store_put_job(store, &j), 0);
	struct forgotten r = forget(NOW_MS);
	assert_int_equal(r.jobs, 0);
	assert_int_equal(r.kept, 3);
	assert_true(is_there("precious"));
}

static void a_folder_that_is_too_deep_keeps_its_record(void **state)
{
	(void)state;
	struct forgotten r;
	struct fault f = {.text = ""};
	job_put("deep", JOB_DONE, 1, 2);
	made_folder(&made, "jobs/deep/1/2/3/4/5/6/7/8");
	const struct forget_want want = {NOW_MS, NOW_MS, lives, (void *)(uintptr_t) "alive"};
	assert_int_equal(forget_jobs(store, made.dir, &want, &r, &f), -ELOOP);
	assert_non_null(strstr(f.text, "the folder of job deep could not be removed"));
	assert_true(is_stored("deep"));
}

static void profiles_without_a_job_go_by_their_age(void **state)
{
	(void)state;
	made_folder(&made, "heap/pid-812");
	made_write(&made, "heap/pid-812/a.heap", "x", 1);
	made_folder(&made, "heap/j-1");
	assert_int_equal(forget(1).folders, 0); /* younger than 1970 */
	assert_true(is_there("heap/pid-812"));
	assert_int_equal(forget(INT64_MAX / 2).folders, 1);
	assert_false(is_there("heap/pid-812"));
	assert_true(is_there("heap/j-1"));
}

/* Such a folder is its user's, who may put anything into it, and say of when it is. */
static void what_a_user_does_to_one_folder_of_profiles_keeps_no_other(void **state)
{
	(void)state;
	struct forgotten r;
	struct fault f = {.text = ""};
	const struct timespec later = {.tv_sec = 7258118400}, times[2] = {later, later};
	static const char *const names[] = {"heap/pid-1", "heap/pid-2", "heap/pid-3", "heap/pid-4",
					    "heap/pid-5", "heap/pid-6", "heap/pid-7"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char path[64];
		TEXT_FORMAT(path, "%s%s", names[i], i == 2 || i == 5 ? "/1/2/3/4/5/6/7/8/9" : "");
		made_folder(&made, path);
	}
	char first[200];
	TEXT_FORMAT(first, "%s/%s", made.dir, names[0]);
	assert_int_equal(utimensat(AT_FDCWD, first, times, 0), 0);
	const struct forget_want want = {0, clock_unix_ms() + 10000, lives, (void *)(uintptr_t) "alive"};
	assert_int_equal(forget_jobs(store, made.dir, &want, &r, &f), -ELOOP);
	assert_non_null(strstr(f.text, "heap/pid-"));
	assert_int_equal(r.folders, 5);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(is_there(names[i]), i == 2 || i == 5);
}

static void one_job_that_cannot_be_removed_keeps_no_other(void **state)
{
	(void)state;
	struct forgotten r;
	struct fault f = {.text = ""};
	job_put("one", JOB_DONE, 1, 2);
	job_put("two", JOB_DONE, 1, 2);
	job_put("three", JOB_DONE, 1, 2);
	made_folder(&made, "jobs/two/1/2/3/4/5/6/7/8");
	const struct forget_want want = {NOW_MS, NOW_MS, lives, (void *)(uintptr_t) "alive"};
	assert_int_equal(forget_jobs(store, made.dir, &want, &r, &f), -ELOOP);
	assert_int_equal(r.jobs, 2);
	assert_true(is_stored("two"));
	assert_false(is_stored("one") || is_stored("three"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(jobs_that_ended_before_are_removed_with_their_folders, begin, end),
		cmocka_unit_test_setup_teardown(a_job_that_runs_is_kept_and_one_that_only_says_so_is_not, begin, end),
		cmocka_unit_test_setup_teardown(a_link_is_removed_and_not_followed, begin, end),
		cmocka_unit_test_setup_teardown(a_record_with_a_path_for_an_id_removes_nothing, begin, end),
		cmocka_unit_test_setup_teardown(a_folder_that_is_too_deep_keeps_its_record, begin, end),
		cmocka_unit_test_setup_teardown(profiles_without_a_job_go_by_their_age, begin, end),
		cmocka_unit_test_setup_teardown(what_a_user_does_to_one_folder_of_profiles_keeps_no_other, begin, end),
		cmocka_unit_test_setup_teardown(one_job_that_cannot_be_removed_keeps_no_other, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
