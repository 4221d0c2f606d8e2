/* The error files of torchrun's ranks. */
#include "testing.h"

#include "sense/framework/elastic.h"

static void an_error_has_its_first_line_its_place_and_its_time(void **state)
{
	(void)state;
	struct elastic_error e;
	struct fault f = {.line = 0};
	const char *text =
		"{\"message\": {\"message\": \"RuntimeError: CUDA error\\nmore\", \"extraInfo\": "
		"{\"py_callstack\": \"Traceback\\n  File \\\"a.py\\\", line 3, in main\\n    step()\\n  "
		"File \\\"train.py\\\", line 40, in step\\n    loss()\\n\", \"timestamp\": \"1700000000\"}}}";
	assert_int_equal(elastic_parse(span_of(text), &e, &f), 0);
	assert_string_equal(e.message, "RuntimeError: CUDA error");
	assert_string_equal(e.where, "train.py:40 (step)");
	assert_true(e.has_time);
	assert_int_equal(e.time_unix_s, 1700000000);
	assert_false(e.cut);
}

static void a_message_may_be_plain_text_without_a_stack(void **state)
{
	(void)state;
	struct elastic_error e;
	assert_int_equal(elastic_parse(SPAN("{\"message\": \"killed\"}"), &e, NULL), 0);
	assert_string_equal(e.message, "killed");
	assert_string_equal(e.where, "");
	assert_false(e.has_time);
	assert_int_equal(
		elastic_parse(SPAN("{\"message\": {\"message\": \"x\", \"extraInfo\": {\"timestamp\": 5}}}"), &e, NULL),
		0);
	assert_true(e.has_time && e.time_unix_s == 5);
}

static void another_file_is_refused_with_a_sentence(void **state)
{
	(void)state;
	struct elastic_error e = {.message = "kept"};
	struct fault f = {.line = 0};
	assert_int_equal(elastic_parse(SPAN("{\"a\": 1}"), &e, &f), ELASTIC_FOREIGN);
	assert_string_equal(f.text, "not an error file of torchrun: JSON with a 'message' is expected (8 bytes)");
	assert_int_equal(elastic_parse(SPAN("text"), &e, &f), ELASTIC_FOREIGN);
	assert_string_equal(e.message, "kept");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_has_its_first_line_its_place_and_its_time),
		cmocka_unit_test(a_message_may_be_plain_text_without_a_stack),
		cmocka_unit_test(another_file_is_refused_with_a_sentence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
