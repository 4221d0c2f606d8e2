#include "testing.h"

#include "base/buf.h"
#include "sense/format/chrometrace.h"

static struct chrometrace_event seen[64];
static size_t n_seen;

static void keep(void *ctx, const struct chrometrace_event *e)
{
	(void)ctx;
	if (n_seen < ARRAY_SIZE(seen))
		seen[n_seen] = *e;
	n_seen++;
}

/* The result of the last part. */
static int feed(const char *text, size_t part)
{
	static struct chrometrace t;
	const size_t len = strlen(text);
	int r = 0;
	n_seen = 0;
	memset(seen, 0, sizeof(seen));
	chrometrace_init(&t, keep, NULL);
	for (size_t i = 0; i < len && r == 0; i += part)
		r = chrometrace_feed(&t, text + i, MIN(part, len - i));
	return r;
}

static const char array[] =
	"[{\"cat\": \"task::f\", \"name\": \"task::f\", \"pid\": \"node:10.0.0.3\", \"tid\": \"worker:3f2a\", \"ts\": "
	"1700000000123456.789, \"dur\": 1500, \"ph\": \"X\", \"args\": {\"name\": \"inner\", \"a\": [1, {\"ph\": "
	"\"M\"}]}},\n"
	" {\"name\": \"b\", \"ph\": \"B\", \"pid\": 7, \"tid\": -8, \"ts\": 1e3}, {\"ph\": \"E\", \"pid\": 7, \"tid\": "
	"-8, "
	"\"ts\": 2000}]";

static void an_array_of_events_is_read_in_parts_of_any_size(void **state)
{
	(void)state;
	for (size_t part = 1; part < sizeof(array); part = part * 2 + 1) {
		assert_int_equal(feed(array, part), 0);
		assert_int_equal(n_seen, 3);
		assert_int_equal(seen[0].ph, 'X');
		assert_string_equal(seen[0].name, "task::f");
		assert_string_equal(seen[0].pid, "node:10.0.0.3");
		assert_string_equal(seen[0].tid, "worker:3f2a");
		assert_string_equal(seen[0].arg_name, "inner");
		assert_true(seen[0].has_ts && seen[0].ts_ns == 1700000000123456789);
		assert_true(seen[0].has_dur && seen[0].dur_ns == 1500000);
		assert_string_equal(seen[1].tid, "-8");
		assert_int_equal(seen[1].ts_ns, 1000000);
		assert_int_equal(seen[2].ph, 'E');
		assert_false(seen[2].has_dur);
	}
}

static void an_object_with_events_among_other_things_is_read(void **state)
{
	(void)state;
	assert_int_equal(feed("{\"schemaVersion\": 1, \"deviceProperties\": [{\"name\": \"GPU\", \"ph\": \"X\"}], "
			      "\"traceEvents\": [{\"ph\": \"X\", \"name\": \"a\", \"ts\": 1, \"dur\": 2}], "
			      "\"traceName\": \"x\"}",
			      7),
			 0);
	assert_int_equal(n_seen, 1);
	assert_string_equal(seen[0].name, "a");
}

static void a_cut_off_trace_gives_the_events_before_the_cut(void **state)
{
	(void)state;
	char text[sizeof(array)];
	for (size_t cut = 0; cut < sizeof(array); cut++) {
		TEXT_COPY(text, array);
		text[cut] = '\0';
		assert_int_equal(feed(text, 16), 0);
		assert_true(n_seen <= 3);
	}
	assert_int_equal(feed("[{\"ph\": \"X\"}, {\"ph\": \"X\"", 4), 0);
	assert_int_equal(n_seen, 1);
}

static void what_is_no_json_is_refused_after_what_was(void **state)
{
	(void)state;
	static const char *const bad[] = {"[{\"ph\": \"X\"} {",		"[{\"ph\": \"X\"}, }",
					  "[{\"ph\": \"X\"}, {ph: 1}]", "[{\"ph\": \"X\"}}",
					  "[{\"ph\": \"X\"}, \"\\q\"]", "[{\"ph\": \"X\"}, \"\\u12g4\"]"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(feed(bad[i], 3), JSONSTREAM_BROKEN);
		assert_int_equal(n_seen, 1);
	}
	char deep[JSONSTREAM_DEPTH + 3];
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	assert_int_equal(feed(deep, 5), JSONSTREAM_BROKEN);
}

static void texts_are_decoded_and_cut(void **state)
{
	(void)state;
	assert_int_equal(feed("[{\"name\": \"a\\u00e9\\ud83d\\ude00\\n\\\"b\", \"cat\": \"\\ud83dx\"}]", 3), 0);
	assert_string_equal(seen[0].name, "a\xc3\xa9\xf0\x9f\x98\x80?\"b"); /* control characters are shown as '?' */
	char text[900] = "[{\"name\": \"";
	memset(text + 11, 'x', 800);
	memcpy(text + 811, "\"}]", 4);
	assert_int_equal(feed(text, 100), 0);
	assert_int_equal(strlen(seen[0].name), sizeof(seen[0].name) - 1);
}

static void times_are_exact_and_bounded(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {{"0", 0},
		    {"1.5", 1500},
		    {"-2", -2000},
		    {"1e3", 1000000},
		    {"1.25e-1", 125},
		    {"0.0004", 0},
		    {"12.34567", 12345},
		    {"1E+2", 100000},
		    {"1700000000123456.789", 1700000000123456789}};
	int64_t ns;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(chrometrace_time_parse(span_of(good[i].text), &ns), 0);
		assert_true(ns == good[i].ns);
	}
	static const char *const bad[] = {"", "-", "x", "1x", "1e", "1e999", "99999999999999999999", "1e300", "."};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_true(chrometrace_time_parse(span_of(bad[i]), &ns) < 0);
}

static void other_json_has_no_events(void **state)
{
	(void)state;
	static const char *const other[] = {
		"{\"a\": [{\"ph\": \"X\"}]}", "5", "\"x\"", "null", "[]", "[1, 2, [{}]]", ""};
	for (size_t i = 0; i < ARRAY_SIZE(other); i++) {
		assert_int_equal(feed(other[i], 2), 0);
		assert_int_equal(n_seen, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_array_of_events_is_read_in_parts_of_any_size),
		cmocka_unit_test(an_object_with_events_among_other_things_is_read),
		cmocka_unit_test(a_cut_off_trace_gives_the_events_before_the_cut),
		cmocka_unit_test(what_is_no_json_is_refused_after_what_was),
		cmocka_unit_test(texts_are_decoded_and_cut),
		cmocka_unit_test(times_are_exact_and_bounded),
		cmocka_unit_test(other_json_has_no_events),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
