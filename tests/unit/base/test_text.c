#include "testing.h"

#include "base/text.h"
#include "base/units.h"

static void lines_come_off_one_by_one(void **state)
{
	(void)state;
	struct span rest = SPAN("a\n\nb"), line;
	assert_true(span_line(&rest, &line));
	assert_true(span_eq(line, "a"));
	assert_true(span_line(&rest, &line));
	assert_int_equal(line.len, 0);
	assert_true(span_line(&rest, &line));
	assert_true(span_eq(line, "b"));
	assert_false(span_line(&rest, &line));
}

static void numbers_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	uint64_t v = 7;
	assert_int_equal(span_u64(SPAN("18446744073709551615"), &v), 0);
	assert_true(v == UINT64_MAX);
	v = 7;
	assert_int_equal(span_u64(SPAN("18446744073709551616"), &v), -ERANGE);
	assert_int_equal(span_u64(SPAN("12x"), &v), -EINVAL);
	assert_int_equal(span_u64(SPAN(""), &v), -EINVAL);
	assert_int_equal(span_u64(SPAN("-1"), &v), -EINVAL);
	assert_true(v == 7);
	int64_t s;
	assert_int_equal(span_i64(SPAN("-17"), &s), 0);
	assert_int_equal(s, -17);
}

static void fields_are_found_by_their_whole_name(void **state)
{
	(void)state;
	struct span text = SPAN("MemTotalX: 1 kB\nMemTotal:    24 kB\nanon 7\nanon_thp 9\n");
	uint64_t v;
	assert_int_equal(text_field_u64(text, "MemTotal", &v), 0);
	assert_int_equal(v, 24);
	assert_int_equal(text_field_u64(text, "anon", &v), 0);
	assert_int_equal(v, 7);
	assert_int_equal(text_field_u64(text, "ano", &v), -ENOENT);
}

static void sizes_ratios_and_times_parse_as_people_write_them(void **state)
{
	(void)state;
	uint64_t b, ns;
	double r;
	struct fault f;
	assert_int_equal(size_parse("1.5G", &b, &f), 0);
	assert_true(b == 3 * GIB / 2);
	assert_int_equal(size_parse("512MiB", &b, &f), 0);
	assert_true(b == 512 * MIB);
	assert_int_equal(size_parse("7", &b, &f), 0);
	assert_true(b == 7);
	assert_int_equal(size_parse("-1", &b, &f), -EINVAL);
	assert_int_equal(size_parse("1X", &b, &f), -EINVAL);
	assert_int_equal(size_parse("99999999P", &b, &f), -ERANGE);
	assert_int_equal(ratio_parse("95%", &r, &f), 0);
	assert_true(r > 0.9499 && r < 0.9501);
	assert_int_equal(ratio_parse("1.2", &r, &f), -ERANGE);
	assert_int_equal(ratio_parse("nan", &r, &f), -EINVAL);
	assert_int_equal(duration_parse("2m", &ns, &f), 0);
	assert_true(ns == 120 * NS_PER_S);
	assert_int_equal(duration_parse("250ms", &ns, &f), 0);
	assert_true(ns == 250 * NS_PER_MS);
	assert_int_equal(duration_parse("5 parsecs", &ns, &f), -EINVAL);
}

static void times_that_no_calendar_has_are_written_as_nothing(void **state)
{
	char local[24], utc[32];
	(void)state;
	memset(local, 'x', sizeof(local));
	memset(utc, 'x', sizeof(utc));
	assert_string_equal(time_format(INT64_MAX, local), "");
	assert_int_equal(time_format_utc(INT64_MAX, utc)[0], '.');
	assert_int_equal(strlen(time_format(0, local)), 19);
	assert_string_equal(time_format_utc(1700000000123, utc), "2023-11-14T22:13:20.123Z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_off_one_by_one),
		cmocka_unit_test(numbers_that_do_not_fit_are_refused),
		cmocka_unit_test(fields_are_found_by_their_whole_name),
		cmocka_unit_test(sizes_ratios_and_times_parse_as_people_write_them),
		cmocka_unit_test(times_that_no_calendar_has_are_written_as_nothing),
	};
	return cmocka_run_group_tests_name("base/text", tests, NULL, NULL);
}
