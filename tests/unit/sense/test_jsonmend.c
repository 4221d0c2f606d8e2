#include "testing.h"

#include "sense/format/jsonmend.h"

static void mends_to(const char *in, const char *want, uint32_t n_commas, bool cut)
{
	cleanup(jsonmend_done) struct jsonmend m = {.text = NULL};
	assert_int_equal(jsonmend_text(span_of(in), &m), 0);
	assert_string_equal(m.text, want);
	assert_int_equal(m.len, strlen(want));
	assert_int_equal(m.n_commas, n_commas);
	assert_int_equal(m.cut, cut);
}

static void sound_json_is_copied_byte_by_byte(void **state)
{
	(void)state;
	mends_to("{\"a\": [1, -2.5e+3, true], \"b\": {}}\n", "{\"a\": [1, -2.5e+3, true], \"b\": {}}\n", 0, false);
	mends_to("[\"} ] , \\\" \\\\\"]", "[\"} ] , \\\" \\\\\"]", 0, false);
}

static void a_missing_comma_is_added(void **state)
{
	(void)state;
	mends_to("[{\"r\": 1} {\"r\": 2}]", "[{\"r\": 1} ,{\"r\": 2}]", 1, false);
	mends_to("{\"a\": 1 \"b\": 2}", "{\"a\": 1 ,\"b\": 2}", 1, false);
}

static void a_comma_before_a_closing_bracket_becomes_a_blank(void **state)
{
	(void)state;
	mends_to("[1, 2,]", "[1, 2 ]", 1, false);
	mends_to("{\"a\": 1 , }", "{\"a\": 1   }", 1, false);
}

static void what_a_cut_left_open_is_closed_after_the_last_value(void **state)
{
	(void)state;
	mends_to("{\"a\": [1, 2, 3", "{\"a\": [1, 2]}", 0, true);
	mends_to("{\"a\": \"one\", \"b\": \"tw", "{\"a\": \"one\"}", 0, true);
	mends_to("{\"a\": 1, \"b", "{\"a\": 1}", 0, true);
	mends_to("{\"a\": 1, \"b\":", "{\"a\": 1}", 0, true);
	mends_to("[{\"a\": {", "[{\"a\": {}}]", 0, true);
}

static void brackets_that_do_not_match_are_refused(void **state)
{
	(void)state;
	struct jsonmend m = {.text = NULL};
	assert_int_equal(jsonmend_text(span_of("[1}"), &m), -EBADMSG);
	assert_int_equal(jsonmend_text(span_of("}"), &m), -EBADMSG);
	assert_null(m.text);
}

static void nesting_deeper_than_64_is_refused(void **state)
{
	(void)state;
	char text[66];
	memset(text, '[', sizeof(text));
	cleanup(jsonmend_done) struct jsonmend m = {.text = NULL};
	assert_int_equal(jsonmend_text((struct span){text, 65}, &m), -EBADMSG);
	assert_int_equal(jsonmend_text((struct span){text, 64}, &m), 0);
	assert_int_equal(m.len, 128);
	assert_true(m.cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sound_json_is_copied_byte_by_byte),
		cmocka_unit_test(a_missing_comma_is_added),
		cmocka_unit_test(a_comma_before_a_closing_bracket_becomes_a_blank),
		cmocka_unit_test(what_a_cut_left_open_is_closed_after_the_last_value),
		cmocka_unit_test(brackets_that_do_not_match_are_refused),
		cmocka_unit_test(nesting_deeper_than_64_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
