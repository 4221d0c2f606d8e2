#include "testing.h"

#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"
#include "tell/jobs/trace_json.h"

static char *text;
static size_t len;
static struct js *parsed;

static int drop(void **state)
{
	(void)state;
	free(text);
	js_free(parsed);
	text = NULL;
	parsed = NULL;
	return 0;
}

static void parse(FILE *f)
{
	struct fault fault = {.text = ""};
	assert_int_equal(fclose(f), 0);
	if (js_parse(text, len, &parsed, &fault) != 0)
		fail_msg("%s in %s", fault.text, text);
}

static const struct js *event(size_t i)
{
	return js_at(js_get(parsed, "traceEvents"), i);
}

static void an_empty_trace_is_json(void **state)
{
	(void)state;
	struct trace_json t;
	FILE *f = open_memstream(&text, &len);
	trace_json_begin(&t, f);
	trace_json_other(&t);
	trace_json_end(&t);
	parse(f);
	assert_int_equal(js_len(js_get(parsed, "traceEvents")), 0);
	assert_string_equal(js_get_text(parsed, "displayTimeUnit", ""), "ms");
}

static void each_kind_of_event_has_the_fields_of_its_phase(void **state)
{
	(void)state;
	struct trace_json t;
	FILE *f = open_memstream(&text, &len);
	trace_json_begin(&t, f);
	trace_json_row(&t, 10, 3, "main");
	trace_json_span(&t, 10, 3, "process", "python", 5, 7);
	trace_json_i64(&t, "pid", 99);
	trace_json_text(&t, "command", "a b");
	trace_json_close(&t);
	trace_json_instant(&t, 1, 2, "event", "kill", 12, TRACE_ALL);
	trace_json_close(&t);
	trace_json_counter(&t, 10, "CPU", 1);
	trace_json_double(&t, "cores", 0.5);
	trace_json_close(&t);
	trace_json_other(&t);
	trace_json_text(&t, "job", "j");
	trace_json_end(&t);
	parse(f);
	assert_int_equal(t.events, 5);
	assert_string_equal(js_get_text(event(0), "name", ""), "thread_name");
	assert_string_equal(js_get_text(js_get(event(0), "args"), "name", ""), "main");
	const struct js *span = event(2);
	assert_string_equal(js_get_text(span, "ph", ""), "X");
	assert_int_equal(js_get_i64(span, "ts", 0), 5);
	assert_int_equal(js_get_i64(span, "dur", 0), 7);
	assert_int_equal(js_get_i64(js_get(span, "args"), "pid", 0), 99);
	assert_string_equal(js_get_text(event(3), "s", ""), "g");
	assert_string_equal(js_get_text(event(4), "ph", ""), "C");
	assert_true(js_get_double(js_get(event(4), "args"), "cores", 0) > 0.49);
	assert_string_equal(js_get_text(js_get(parsed, "otherData"), "job", ""), "j");
}

static void hostile_text_stays_inside_its_string(void **state)
{
	(void)state;
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"\"}]}\\", "\"}]}\\"},
		{"a\nb\t\x01\x7f", "a\nb\t\x01\x7f"},
		{"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
		{"\xff", "\xef\xbf\xbd"},
		{"\xc3", "\xef\xbf\xbd"},
		{"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd"}, /* overlong */
		{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* a surrogate */
		{"\xf4\x90\x80\x80x", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx"},
		{"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct trace_json t;
		FILE *f = open_memstream(&text, &len);
		trace_json_begin(&t, f);
		trace_json_instant(&t, 1, 1, "event", cases[i].in, 0, TRACE_ROW);
		trace_json_text(&t, cases[i].in, cases[i].in);
		trace_json_close(&t);
		trace_json_other(&t);
		trace_json_end(&t);
		parse(f);
		assert_string_equal(js_get_text(event(0), "name", ""), cases[i].out);
		assert_string_equal(js_get_text(js_get(event(0), "args"), cases[i].out, ""), cases[i].out);
		(void)drop(NULL);
	}
}

static void numbers_are_exact_or_text_or_null(void **state)
{
	(void)state;
	struct trace_json t;
	FILE *f = open_memstream(&text, &len);
	trace_json_begin(&t, f);
	trace_json_counter(&t, 1, "n", INT64_C(1) << 50);
	trace_json_u64(&t, "most", UINT64_MAX);
	trace_json_i64(&t, "least", INT64_MIN);
	trace_json_u64(&t, "exact", UINT64_C(1) << 53);
	trace_json_double(&t, "nan", (double)NAN);
	trace_json_double(&t, "bytes", 137438953472.0);
	trace_json_close(&t);
	trace_json_other(&t);
	trace_json_end(&t);
	parse(f);
	const struct js *args = js_get(event(0), "args");
	assert_true(js_get_i64(event(0), "ts", 0) == INT64_C(1) << 50);
	assert_string_equal(js_get_text(args, "most", ""), "18446744073709551615");
	assert_string_equal(js_get_text(args, "least", ""), "-9223372036854775808");
	assert_true(js_get_i64(args, "exact", 0) == INT64_C(1) << 53);
	assert_non_null(js_get(args, "nan"));
	assert_true(js_get_i64(args, "bytes", 0) == 137438953472);
}

/* As %.12g writes them, whichever way is taken. */
static void numbers_with_a_point_are_as_printf_has_them(void **state)
{
	(void)state;
	static const double values[] = {
		0,	0.5,	1e-9,	0.001,	 0.01,	   0.1,	     0.3,    0.999,	  1.25,	   12,	   9.001,
		63.999, 0.0005, 1.0005, 1.0 / 3, 2.0 / 3,  1e9,	     1e12,   1e9 - 1,	  1e12 - 1, 1.5e300, 5e-324,
		-1,	-0.25,	4.35,	0.029,	 1000.001, 123456789.5, 100.1, 999999999.999, 8589934592.0,
		1099511627776.0};
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		char expected[64];
		struct trace_json t;
		FILE *f = open_memstream(&text, &len);
		t = (struct trace_json){.to = f};
		trace_json_double(&t, "v", values[i]);
		assert_int_equal(fclose(f), 0);
		TEXT_FORMAT(expected, "\"v\":%.12g", values[i]);
		assert_string_equal(text, expected);
		(void)drop(NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(an_empty_trace_is_json, drop),
		cmocka_unit_test_teardown(each_kind_of_event_has_the_fields_of_its_phase, drop),
		cmocka_unit_test_teardown(hostile_text_stays_inside_its_string, drop),
		cmocka_unit_test_teardown(numbers_are_exact_or_text_or_null, drop),
		cmocka_unit_test_teardown(numbers_with_a_point_are_as_printf_has_them, drop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
