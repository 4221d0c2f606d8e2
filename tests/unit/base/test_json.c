/* JSON values: what is written, what is read back, and what is refused. */
#include "testing.h"

#include <math.h>
#include <stdio.h>

#include "base/jsonpart.h"

static struct js *parsed(const char *text)
{
	struct js *j = NULL;
	struct fault f = {.line = 0};
	assert_int_equal(js_parse(text, strlen(text), &j, &f), 0);
	return j;
}

static void assert_written(const struct js *j, const char *expected)
{
	cleanup(freep) char *text = js_text(j, 0);
	assert_non_null(text);
	assert_string_equal(text, expected);
}

static void fields_are_written_in_the_order_they_were_put(void **state)
{
	(void)state;
	cleanup(js_freep) struct js *o = js_object();
	struct js *list = js_array();
	js_put_text(o, "name", "rank \"0\"");
	js_put_i64(o, "low", INT64_MIN);
	js_put_bool(o, "ok", true);
	js_add_text(list, "a");
	js_add_i64(list, -3);
	js_put(o, "list", list);
	assert_written(o, "{\"name\": \"rank \\\"0\\\"\", \"low\": -9223372036854775808, \"ok\": true, "
			  "\"list\": [\"a\", -3]}");
}

static void a_number_above_the_signed_range_is_written_as_its_end(void **state)
{
	(void)state;
	cleanup(js_freep) struct js *o = js_object();
	js_put_u64(o, "v", UINT64_MAX);
	assert_int_equal(js_get_i64(o, "v", 0), INT64_MAX);
}

static void numbers_that_json_lacks_become_null(void **state)
{
	(void)state;
	cleanup(js_freep) struct js *o = js_object();
	js_put_double(o, "nan", (double)NAN);
	js_put_double(o, "inf", (double)INFINITY);
	js_put_double(o, "half", 0.5);
	assert_written(o, "{\"nan\": null, \"inf\": null, \"half\": 0.5}");
}

static void empty_text_is_left_out_on_request_only(void **state)
{
	(void)state;
	cleanup(js_freep) struct js *o = js_object();
	js_put_text_if(o, "a", "");
	js_put_text_if(o, "b", NULL);
	js_put_text_if(o, "c", "x");
	js_put_text(o, "d", "");
	assert_written(o, "{\"c\": \"x\", \"d\": \"\"}");
}

static void bytes_that_are_not_utf8_become_question_marks(void **state)
{
	(void)state;
	cleanup(js_freep) struct js *o = js_object();
	js_put_text(o, "good", "\xc3\xa4");
	js_put_text(o, "bad", "a\xff\xc3z");
	assert_string_equal(js_get_text(o, "good", ""), "\xc3\xa4");
	assert_string_equal(js_get_text(o, "bad", ""), "a??z");
}

static void a_value_of_another_type_gives_the_fallback(void **state)
{
	(void)state;
	cleanup(js_freep) struct js *o = parsed("{\"n\": 4, \"t\": \"x\", \"b\": false, \"r\": 1.5, \"z\": null}");
	assert_int_equal(js_get_i64(o, "n", 9), 4);
	assert_int_equal(js_get_i64(o, "r", 9), 9);
	assert_int_equal(js_get_i64(o, "t", 9), 9);
	assert_true(js_get_double(o, "n", 9) == 4.0);
	assert_true(js_get_double(o, "r", 9) == 1.5);
	assert_true(js_get_double(o, "t", 9) == 9.0);
	assert_string_equal(js_get_text(o, "n", "none"), "none");
	assert_false(js_get_bool(o, "b", true));
	assert_true(js_get_bool(o, "n", true));
	assert_true(js_as_bool(js_get(o, "z"), true));
	assert_null(js_get(o, "absent"));
	assert_int_equal(js_as_i64(NULL, 7), 7);
}

static void lists_are_read_by_index_up_to_their_end(void **state)
{
	(void)state;
	cleanup(js_freep) struct js *a = parsed("[1, \"two\", {\"three\": 3}]");
	assert_int_equal(js_len(a), 3);
	assert_int_equal(js_as_i64(js_at(a, 0), 0), 1);
	assert_string_equal(js_as_text(js_at(a, 1), ""), "two");
	assert_int_equal(js_get_i64(js_at(a, 2), "three", 0), 3);
	assert_null(js_at(a, 3));
	assert_int_equal(js_len(js_at(a, 2)), 0);
}

static int stop_at_b(void *ctx, const char *key, const struct js *value)
{
	int64_t *sum = ctx;
	*sum += js_as_i64(value, 0);
	return strcmp(key, "b") == 0 ? 42 : 0;
}

static void each_key_is_visited_until_the_visitor_stops(void **state)
{
	(void)state;
	int64_t sum = 0;
	cleanup(js_freep) struct js *o = parsed("{\"a\": 1, \"b\": 20, \"c\": 300}");
	assert_int_equal(js_each(o, stop_at_b, &sum), 42);
	assert_int_equal(sum, 21);
	cleanup(js_freep) struct js *none = parsed("{}");
	assert_int_equal(js_each(none, stop_at_b, &sum), 0);
}

static void a_mistake_is_reported_with_its_place(void **state)
{
	(void)state;
	struct js *j = NULL;
	struct fault f = {.line = 0};
	const char text[] = "{\n\"a\": }";
	assert_int_equal(js_parse(text, sizeof(text) - 1, &j, &f), -EBADMSG);
	assert_null(j);
	assert_int_equal(f.line, 2);
	assert_int_equal(strncmp(f.text, "not valid JSON: ", 16), 0);
	assert_int_equal(js_parse("[1", 2, &j, NULL), -EBADMSG);
	assert_int_equal(js_parse("", 0, &j, &f), -EBADMSG);
	/* the length bounds the text, not a NUL */
	assert_int_equal(js_parse("[1]x", 3, &j, &f), 0);
	js_free(j);
}

static void a_file_ends_with_a_newline_and_a_full_one_is_an_error(void **state)
{
	(void)state;
	char text[64] = "";
	cleanup(js_freep) struct js *a = parsed("[1, 2]");
	FILE *to = fmemopen(text, sizeof(text), "w");
	assert_non_null(to);
	assert_int_equal(js_write(a, to, 1), 0);
	assert_int_equal(fclose(to), 0);
	assert_string_equal(text, "[\n 1,\n 2\n]\n");
	FILE *full = fopen("/dev/full", "w");
	assert_non_null(full);
	assert_int_equal(setvbuf(full, NULL, _IONBF, 0), 0);
	assert_int_equal(js_write(a, full, 0), -EIO);
	(void)fclose(full);
}

static void some_members_are_read_without_the_others(void **state)
{
	(void)state;
	static const struct jsonpart parts[] = {{"a", 0}, {"list", 0}, {"none", 0}};
	const char *text =
		" {\"x\": {\"a\": [1, \"}\\\"]\"]}, \"a\" : -3e2, \"y\":\"a\\\\\",\n\"list\":[{\"b\":\"]\"}, 2] } ";
	cleanup(js_freep) struct js *j = NULL, *empty = NULL;
	assert_int_equal(jsonpart_parse(text, strlen(text), parts, 3, &j), 0);
	assert_written(j, "{\"a\": -300.0, \"list\": [{\"b\": \"]\"}, 2]}");
	assert_int_equal(jsonpart_parse("{ }", 3, parts, 3, &empty), 0);
	assert_written(empty, "{}");
}

static void of_a_list_so_many_values_are_read_as_are_asked_for(void **state)
{
	(void)state;
	static const struct jsonpart parts[] = {{"a", 2}};
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{"{\"a\":[ ]}", "{\"a\": []}"},
		{"{\"a\":[[1,2,3]]}", "{\"a\": [[1, 2, 3]]}"},
		{"{\"a\":[1,{\"b\":[\",\"]}]}", "{\"a\": [1, {\"b\": [\",\"]}]}"},
		{"{\"a\":[1, \"]\" , 3, 4],\"b\":5}", "{\"a\": [1, \"]\"]}"},
		{"{\"a\":7}", "{\"a\": 7}"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(js_freep) struct js *j = NULL;
		assert_int_equal(jsonpart_parse(cases[i].text, strlen(cases[i].text), parts, 1, &j), 0);
		assert_written(j, cases[i].expected);
	}
}

static void what_is_no_object_has_no_members(void **state)
{
	(void)state;
	static const struct jsonpart parts[] = {{"a", 2}};
	static const char *const bad[] = {"",	       "[]",	   "{",		"{}x",
					  "{\"a\"}",    "{\"a\":1", "{\"a\":}", "{\"a\":1,}",
					  "{\"b\":[}", "{\"b\":1]", "{b:1}",    "{\"b\":\"\\",
					  "{\"a\":1}}"};
	struct js *j = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(jsonpart_parse(bad[i], strlen(bad[i]), parts, 1, &j), -EBADMSG);
	assert_null(j);
}

static void a_copy_lives_longer_than_what_it_was_made_of(void **state)
{
	(void)state;
	struct js *first = parsed("{\"a\":[1,{\"b\":\"c\"}]}");
	cleanup(js_freep) struct js *copy = js_copy(first);
	js_free(first);
	assert_written(copy, "{\"a\": [1, {\"b\": \"c\"}]}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_written_in_the_order_they_were_put),
		cmocka_unit_test(a_number_above_the_signed_range_is_written_as_its_end),
		cmocka_unit_test(numbers_that_json_lacks_become_null),
		cmocka_unit_test(empty_text_is_left_out_on_request_only),
		cmocka_unit_test(bytes_that_are_not_utf8_become_question_marks),
		cmocka_unit_test(a_value_of_another_type_gives_the_fallback),
		cmocka_unit_test(lists_are_read_by_index_up_to_their_end),
		cmocka_unit_test(each_key_is_visited_until_the_visitor_stops),
		cmocka_unit_test(a_mistake_is_reported_with_its_place),
		cmocka_unit_test(some_members_are_read_without_the_others),
		cmocka_unit_test(of_a_list_so_many_values_are_read_as_are_asked_for),
		cmocka_unit_test(what_is_no_object_has_no_members),
		cmocka_unit_test(a_copy_lives_longer_than_what_it_was_made_of),
		cmocka_unit_test(a_file_ends_with_a_newline_and_a_full_one_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
