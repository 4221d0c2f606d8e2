#include "testing.h"

#include "agent/jobs/retention.h"
#include "made_world.h"

#define NOW_MS INT64_C(1800000000000)
#define HOUR_MS (INT64_C(3600) * 1000)
#define HOUR_NS (3600 * NS_PER_S)

static struct made_world made;

static int begin(void **state)
{
	(void)state;
	made_begin(&made);
	return 0;
}

static int end(void **state)
{
	(void)state;
	made_end(&made);
	return 0;
}

static struct store *opened(enum store_mode mode)
{
	char note[256];
	struct fault f = {.text = ""};
	struct store *s;
	if (store_open(made.dir, mode, &s, note, &f) != 0)
		fail_msg("%s", f.text);
	return s;
}

/* A job that ended so many hours ago and left a report of so many KiB, and output. */
static void job_put_of(uid_t uid, const char *id, enum job_state how, int hours, size_t kib)
{
	static char filler[256 * 1024];
	struct job j = {.uid = uid, .state = how, .started_unix_ms = NOW_MS - hours * HOUR_MS};
	char path[128];
	cleanup(store_closep) struct store *s = opened(STORE_WRITE);
	TEXT_COPY(j.id, id);
	j.ended_unix_ms = job_is_open(&j) ? 0 : j.started_unix_ms;
	j.supervisor_pid = 70;
	j.supervisor_start_ticks = 5000;
	assert_int_equal(store_put_job(s, &j), 0);
	TEXT_FORMAT(path, "jobs/%s/attempt-0", id);
	made_folder(&made, path);
	TEXT_FORMAT(path, "jobs/%s/report.json", id);
	made_write(&made, path, filler, kib * 1024);
	TEXT_FORMAT(path, "jobs/%s/attempt-0/rank-0.out", id);
	made_write(&made, path, filler, sizeof(filler));
}

static void job_put(const char *id, enum job_state how, int hours, size_t kib)
{
	job_put_of(1000, id, how, hours, kib);
}

static bool is_kept(const char *id)
{
	char path[200];
	struct job j;
	cleanup(store_closep) struct store *s = opened(STORE_READ);
	bool stored = store_find_job(s, id, &j) == 0;
	TEXT_FORMAT(path, "%s/jobs/%s/attempt-0/rank-0.out", made.dir, id);
	assert_int_equal(access(path, F_OK) == 0, stored);
	return stored;
}

static int sweep(uint64_t most_bytes, uint64_t longest_ns, int64_t now_unix_ms, struct forgotten *ret)
{
	const struct retention keep = {.most_bytes = most_bytes, .longest_ns = longest_ns};
	struct fault f = {.text = ""};
	int r = retention_sweep(&made.w, made.dir, &keep, now_unix_ms, ret, &f);
	if (r < 0)
		fail_msg("%s", f.text);
	return r;
}

static void the_jobs_that_ended_first_make_room(void **state)
{
	(void)state;
	struct forgotten gone;
	job_put("second", JOB_FAILED, 3, 100);
	job_put("first", JOB_DONE, 4, 100);
	job_put("third", JOB_DONE, 2, 100);
	assert_int_equal(sweep(220 * KIB, 0, NOW_MS, &gone), 0);
	assert_int_equal(gone.jobs, 1);
	assert_false(is_kept("first"));
	assert_true(is_kept("second") && is_kept("third"));
}

static void the_jobs_of_the_user_who_left_most_make_room(void **state)
{
	(void)state;
	struct forgotten gone;
	job_put_of(1001, "others", JOB_FAILED, 90, 100);
	job_put("first", JOB_DONE, 4, 100);
	job_put("second", JOB_DONE, 3, 100);
	job_put("third", JOB_DONE, 2, 100);
	assert_int_equal(sweep(220 * KIB, 0, NOW_MS, &gone), 0);
	assert_int_equal(gone.jobs, 2);
	assert_true(is_kept("others") && is_kept("third"));
}

static void what_fits_is_kept_and_output_does_not_count(void **state)
{
	(void)state;
	struct forgotten gone;
	job_put("first", JOB_DONE, 4, 100);
	job_put("second", JOB_DONE, 3, 100);
	assert_int_equal(sweep(256 * KIB, 0, NOW_MS, &gone), 0);
	assert_int_equal(gone.jobs, 0);
	assert_true(is_kept("first") && is_kept("second"));
}

static void what_is_too_old_goes_though_there_is_room(void **state)
{
	(void)state;
	struct forgotten gone;
	job_put("old", JOB_DONE, 30, 1);
	job_put("young", JOB_DONE, 20, 1);
	assert_int_equal(sweep(UINT64_MAX, 24 * HOUR_NS, NOW_MS, &gone), 0);
	assert_false(is_kept("old"));
	assert_true(is_kept("young"));
}

static void a_job_that_runs_stays_and_a_lost_one_goes(void **state)
{
	(void)state;
	struct forgotten gone;
	job_put("long", JOB_RUNNING, 90, 200);
	made_process(&made, &(struct made_process){.pid = 70, .ppid = 1, .start_ticks = 5000, .comm = "vigil"});
	assert_int_equal(sweep(KIB, 24 * HOUR_NS, NOW_MS, &gone), 0);
	assert_true(is_kept("long"));
	made_gone(&made, 70);
	assert_int_equal(sweep(KIB, 24 * HOUR_NS, NOW_MS + 2 * HOUR_MS, &gone), 0);
	assert_false(is_kept("long"));
}

static void there_is_one_sweep_an_hour(void **state)
{
	(void)state;
	struct forgotten gone;
	job_put("first", JOB_DONE, 4, 1);
	assert_int_equal(sweep(UINT64_MAX, 0, NOW_MS, &gone), 0);
	assert_int_equal(sweep(0, HOUR_NS, NOW_MS + HOUR_MS - 1000, &gone), RETENTION_LATER);
	assert_true(is_kept("first"));
	assert_int_equal(sweep(0, HOUR_NS, NOW_MS + HOUR_MS, &gone), 0);
	assert_false(is_kept("first"));
}

static void a_clock_that_was_set_back_stops_no_sweep(void **state)
{
	(void)state;
	struct forgotten gone;
	job_put("first", JOB_DONE, 4, 1);
	assert_int_equal(sweep(UINT64_MAX, 0, NOW_MS + 1000 * HOUR_MS, &gone), 0);
	assert_int_equal(sweep(0, HOUR_NS, NOW_MS, &gone), 0);
	assert_false(is_kept("first"));
}

static void no_limit_at_all_looks_at_nothing(void **state)
{
	(void)state;
	struct forgotten gone;
	job_put("first", JOB_DONE, 4000, 200);
	assert_int_equal(sweep(0, 0, NOW_MS, &gone), RETENTION_LATER);
	assert_true(is_kept("first"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_jobs_that_ended_first_make_room, begin, end),
		cmocka_unit_test_setup_teardown(the_jobs_of_the_user_who_left_most_make_room, begin, end),
		cmocka_unit_test_setup_teardown(what_fits_is_kept_and_output_does_not_count, begin, end),
		cmocka_unit_test_setup_teardown(what_is_too_old_goes_though_there_is_room, begin, end),
		cmocka_unit_test_setup_teardown(a_job_that_runs_stays_and_a_lost_one_goes, begin, end),
		cmocka_unit_test_setup_teardown(there_is_one_sweep_an_hour, begin, end),
		cmocka_unit_test_setup_teardown(a_clock_that_was_set_back_stops_no_sweep, begin, end),
		cmocka_unit_test_setup_teardown(no_limit_at_all_looks_at_nothing, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
