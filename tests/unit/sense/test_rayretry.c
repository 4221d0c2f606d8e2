#include "testing.h"

#include "sense/framework/rayretry.h"

#define FROM "2026-11-24 12:51:02,000"
#define TO "2026-11-24 12:52:00,000"
#define LEFT(at, id, left)                                                                                             \
	"[2026-11-24 " at " I 15038 18703] task_manager.cc:1557: task " id " retries left: " left                      \
	", oom retries left: -1, task failed due to oom: 0\n"
#define AGAIN(at, id, name, attempt)                                                                                   \
	"[2026-11-24 " at " I 15038 18703] core_worker.cc:5147: Will resubmit task after a 0ms delay: "                \
	"Type=NORMAL_TASK, Language=PYTHON, Resources: {CPU: 1, }, function_descriptor={function_name=f}, task_id=" id \
	", task_name=" name ", job_id=01000000, num_args=2, max_retries=2, depth=1, attempt_number=" attempt           \
	", dependencies={}\n"

static void a_task_that_is_submitted_again_tells_how_many_retries_are_left(void **state)
{
	(void)state;
	struct rayretry r;
	static const char log[] = LEFT("12:50:59,000", "aa01", "9") AGAIN("12:50:59,001", "aa01", "leak", "1")
		LEFT("12:51:03,833", "c8ef", "1") AGAIN("12:51:03,834", "c8ef", "leak", "2")
			LEFT("12:51:09,000", "c8ef", "0") AGAIN("12:51:09,001", "c8ef", "leak", "3");
	assert_true(rayretry_parse(SPAN(log), "leak", FROM, TO, &r));
	assert_string_equal(r.task_id, "c8ef");
	assert_true(r.has_left);
	assert_int_equal(r.left, 1);
	assert_int_equal(r.attempt, 2);
	assert_string_equal(r.when, "2026-11-24 12:51:03,834");
	assert_false(rayretry_parse(SPAN(log), "lea", FROM, TO, &r));
	assert_false(rayretry_parse(SPAN(log), "leak", "2026-11-24 12:51:10,000", TO, &r));
	assert_false(rayretry_parse(SPAN(log), "leak", "", "", &r));
}

static void a_number_of_another_task_is_not_taken(void **state)
{
	(void)state;
	struct rayretry r;
	assert_true(rayretry_parse(SPAN(LEFT("12:51:03,000", "aaaa", "7") AGAIN("12:51:03,001", "bbbb", "a, b", "1")),
				   "a, b", FROM, TO, &r));
	assert_string_equal(r.task_id, "bbbb");
	assert_false(r.has_left);
	assert_true(rayretry_parse(SPAN(LEFT("12:51:03,000", "aaaa", "-1") AGAIN("12:51:03,001", "aaaa", "x", "1")),
				   "x", FROM, TO, &r));
	assert_int_equal(r.left, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_that_is_submitted_again_tells_how_many_retries_are_left),
		cmocka_unit_test(a_number_of_another_task_is_not_taken),
	};
	return cmocka_run_group_tests_name("sense/framework/rayretry", tests, NULL, NULL);
}
