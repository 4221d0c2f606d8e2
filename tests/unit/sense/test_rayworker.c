#include "testing.h"

#include "sense/framework/rayworker.h"
#include "sense/rank.h"

#define ID "2fe49167ed6756aa531026bfd251261eef72da961126bd85db777aae"

static void the_file_of_its_output_names_a_worker(void **state)
{
	(void)state;
	struct rayworker r;
	assert_true(rayworker_parse(SPAN("/tmp/ray/session_1/logs/worker-" ID "-01000000-5705.out"), &r));
	assert_string_equal(r.worker_id, ID);
	assert_string_equal(r.job_id, "01000000");
	assert_string_equal(r.logs, "/tmp/ray/session_1/logs");
	assert_true(rayworker_parse(SPAN("/s/worker-" ID "-ffffffff-5270.err"), &r));
	assert_string_equal(r.job_id, ""); /* started before a job wanted it */
}

static void other_files_name_none(void **state)
{
	(void)state;
	static const char *const paths[] = {
		"",
		"/dev/null",
		"pipe:[1886440]",
		"worker-" ID "-01000000-5705.out",
		"/s/worker-" ID,
		"/s/worker-" ID "-01000000",
		"/s/worker--01000000-5705.out",
		"/s/worker-" ID "--5705.out",
		"/s/worker-../../../etc-01000000-5705.out",
		"/s/worker-" ID "/x-01000000-5705.out",
		"/s/worker-" ID "-01000000-x/y",
		"/s/worker-" ID ID "-01000000-5705.out", /* longer than any id */
		"/s/worker-2fe4-01000000-5705.out",
	};
	struct rayworker r;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		assert_false(rayworker_parse(span_of(paths[i]), &r));
}

static void the_last_line_that_names_a_rank_counts(void **state)
{
	(void)state;
	struct rayworker_train t;
	assert_true(rayworker_train_parse(SPAN("process\": 1, \"world_rank\": 9}\n"
					       "{\"message\": \"start\", \"world_rank\": 3, \"local_rank\": 1}\n"
					       "{\"message\": \"no rank here\"}\n"
					       "{\"message\": \"\\\"world_rank\\\": 7\", \"world_rank\": 12, "
					       "\"local_rank\": 4, \"node_rank\": 2}\n"
					       "{\"message\": \"cut"),
					  &t));
	assert_int_equal(t.rank, 12);
	assert_int_equal(t.local_rank, 4);
	assert_string_equal(t.run, "");
	assert_true(rayworker_train_parse(SPAN("{\"message\": \"\\\"run_name\\\": \\\"no\\\"\", "
					       "\"run_name\": \"run a\", \"world_rank\": 1}"),
					  &t));
	assert_string_equal(t.run, "run a");
	assert_true(rayworker_train_parse(SPAN("{\"world_rank\":0}"), &t));
	assert_int_equal(t.rank, 0);
	assert_int_equal(t.local_rank, NO_RANK);
}

static void logs_without_a_rank_give_none(void **state)
{
	(void)state;
	static const char *const logs[] = {
		"",
		"plain text, \"world_rank\": 1",
		"{\"world_rank\": \"one\"}",
		"{\"world_rank\": -1}",
		"{\"world_rank\": 99999999999}",
		"{\"world_rank\":",
	};
	struct rayworker_train t;
	for (size_t i = 0; i < ARRAY_SIZE(logs); i++)
		assert_false(rayworker_train_parse(span_of(logs[i]), &t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_file_of_its_output_names_a_worker),
		cmocka_unit_test(other_files_name_none),
		cmocka_unit_test(the_last_line_that_names_a_rank_counts),
		cmocka_unit_test(logs_without_a_rank_give_none),
	};
	return cmocka_run_group_tests_name("sense/framework/rayworker", tests, NULL, NULL);
}
