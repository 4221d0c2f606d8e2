/* Sizes, ratios and times as people write and read them. */
#include "testing.h"

#include "base/units.h"

static void sizes_are_binary_multiples(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{"0", 0},
		{"512", 512},
		{"1k", KIB},
		{"2KiB", 2 * KIB},
		{"1.5G", GIB * 3 / 2},
		{"256 MiB", 256 * MIB},
		{".5kb", 512},
		{"8191P", UINT64_C(8191) << 50},
	};
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		uint64_t bytes = 1;
		assert_int_equal(size_parse(good[i].text, &bytes, NULL), 0);
		if (bytes != good[i].bytes)
			fail_msg("%s: %llu", good[i].text, (unsigned long long)bytes);
	}
}

static void sizes_that_cannot_be_are_refused_with_a_sentence(void **state)
{
	(void)state;
	struct fault f = {.line = 0};
	uint64_t bytes = 7;
	assert_int_equal(size_parse("12x", &bytes, &f), -EINVAL);
	assert_string_equal(f.text, "'12x' is not a size: unknown unit 'x'; use K, M, G, T or P");
	assert_int_equal(size_parse("-1", &bytes, &f), -EINVAL);
	assert_int_equal(size_parse("", &bytes, &f), -EINVAL);
	assert_int_equal(size_parse(".", &bytes, &f), -EINVAL);
	assert_int_equal(size_parse("1ki", &bytes, &f), -EINVAL);
	assert_int_equal(size_parse("8192P", &bytes, &f), -ERANGE);
	assert_int_equal(bytes, 7);
}

static void ratios_are_parts_of_one_or_per_cent(void **state)
{
	(void)state;
	double v = -1;
	assert_int_equal(ratio_parse("0.25", &v, NULL), 0);
	assert_true(v == 0.25);
	assert_int_equal(ratio_parse("50%", &v, NULL), 0);
	assert_true(v == 0.5);
	assert_int_equal(ratio_parse("1", &v, NULL), 0);
	assert_true(v == 1.0);
	assert_int_equal(ratio_parse("101%", &v, NULL), -ERANGE);
	assert_int_equal(ratio_parse("50 %", &v, NULL), -EINVAL);
	assert_int_equal(ratio_parse("nan", &v, NULL), -EINVAL);
	assert_true(v == 1.0);
}

static void durations_without_a_unit_are_seconds(void **state)
{
	(void)state;
	uint64_t ns = 7;
	assert_int_equal(duration_parse("90", &ns, NULL), 0);
	assert_true(ns == 90 * NS_PER_S);
	assert_int_equal(duration_parse("500ms", &ns, NULL), 0);
	assert_true(ns == 500 * NS_PER_MS);
	assert_int_equal(duration_parse("1.5 h", &ns, NULL), 0);
	assert_true(ns == 5400 * NS_PER_S);
	assert_int_equal(duration_parse("1d", &ns, NULL), 0);
	assert_true(ns == 86400 * NS_PER_S);
	assert_int_equal(duration_parse("1y", &ns, NULL), -EINVAL);
	assert_int_equal(duration_parse("100000d", &ns, NULL), -ERANGE);
	assert_true(ns == 86400 * NS_PER_S);
}

static void sizes_are_shown_with_three_digits(void **state)
{
	(void)state;
	char dst[24];
	assert_string_equal(size_format(0, dst), "0 B");
	assert_string_equal(size_format(1023, dst), "1023 B");
	assert_string_equal(size_format(1024, dst), "1.00 KiB");
	assert_string_equal(size_format(10 * MIB, dst), "10.0 MiB");
	assert_string_equal(size_format(100 * GIB, dst), "100 GiB");
	assert_string_equal(size_format(UINT64_MAX, dst), "16.0 EiB");
	assert_string_equal(size_format_gb(GIB + GIB / 4, dst), "1.25GB");
}

static void what_was_this_instant_is_now(void **state)
{
	(void)state;
	char dst[32];
	assert_string_equal(ago_format(0, dst), "now");
	assert_string_equal(ago_format(NS_PER_MS - 1, dst), "now");
	assert_string_equal(ago_format(12400 * NS_PER_MS, dst), "12.4 s ago");
}

static void durations_are_shown_in_their_own_unit(void **state)
{
	(void)state;
	char dst[24];
	assert_string_equal(duration_format(250 * NS_PER_US, dst), "250 us");
	assert_string_equal(duration_format(2500 * NS_PER_US, dst), "2.5 ms");
	assert_string_equal(duration_format(320 * NS_PER_MS, dst), "320 ms");
	assert_string_equal(duration_format(12400 * NS_PER_MS, dst), "12.4 s");
	assert_string_equal(duration_format(200 * NS_PER_S, dst), "3 m 20 s");
	assert_string_equal(duration_format(7500 * NS_PER_S, dst), "2 h 05 m");
	assert_string_equal(duration_format(49 * 3600 * NS_PER_S, dst), "49 h 00 m");
	assert_string_equal(duration_format(30 * 86400 * NS_PER_S, dst), "30 d 00 h");
	assert_string_equal(duration_format((86400 * 9 + 3599) * NS_PER_S, dst), "9 d 00 h");
}

static void a_time_beyond_all_years_is_shown_as_nothing(void **state)
{
	(void)state;
	char dst[32];
	assert_string_equal(time_format_utc(1795255481123, dst), "2026-11-21T10:04:41.123Z");
	assert_string_equal(time_format(INT64_MAX, dst), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_binary_multiples),
		cmocka_unit_test(sizes_that_cannot_be_are_refused_with_a_sentence),
		cmocka_unit_test(ratios_are_parts_of_one_or_per_cent),
		cmocka_unit_test(durations_without_a_unit_are_seconds),
		cmocka_unit_test(sizes_are_shown_with_three_digits),
		cmocka_unit_test(what_was_this_instant_is_now),
		cmocka_unit_test(durations_are_shown_in_their_own_unit),
		cmocka_unit_test(a_time_beyond_all_years_is_shown_as_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
