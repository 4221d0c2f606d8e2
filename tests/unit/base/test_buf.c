#include "testing.h"

#include <time.h>

#include "base/buf.h"
#include "base/clock.h"

static void parts_are_put_one_behind_the_other(void **state)
{
	(void)state;
	char text[32] = "";
	struct buf b = BUF_ON(text);
	buf_add(&b, "step ");
	buf_printf(&b, "%d of %s", 3, "10");
	buf_add_n(&b, "!!!", 1);
	assert_string_equal(text, "step 3 of 10!");
	assert_int_equal(b.len, 13);
	assert_false(b.cut);
	buf_reset(&b);
	assert_string_equal(text, "");
	assert_int_equal(b.len, 0);
}

static void text_that_just_fits_is_not_cut(void **state)
{
	(void)state;
	char text[8] = "";
	struct buf b = BUF_ON(text);
	buf_add(&b, "1234567");
	assert_false(b.cut);
	buf_printf(&b, "%s", "");
	buf_add(&b, "");
	assert_false(b.cut);
	buf_reset(&b);
	buf_printf(&b, "%d", 1234567);
	assert_false(b.cut);
	assert_string_equal(text, "1234567");
}

static void text_that_does_not_fit_is_cut_and_marked(void **state)
{
	(void)state;
	char text[10];
	memset(text, '#', sizeof(text));
	struct buf b = {.text = text, .cap = 8};
	buf_reset(&b);
	buf_add(&b, "12345678");
	assert_true(b.cut);
	assert_string_equal(text, "1234567");
	buf_add(&b, "9");
	buf_printf(&b, "%d", 9);
	assert_string_equal(text, "1234567");
	assert_int_equal(b.len, 7);
	buf_reset(&b);
	assert_false(b.cut);
	buf_add(&b, "12");
	buf_printf(&b, "%d", 345678);
	assert_true(b.cut);
	assert_string_equal(text, "1234567");
	assert_memory_equal(text + 8, "##", 2); /* behind the memory of the owner */
}

static void no_memory_at_all_is_fine(void **state)
{
	(void)state;
	char text[1] = "#";
	struct buf b = {.text = text, .cap = 0};
	buf_reset(&b);
	buf_add(&b, "a");
	buf_printf(&b, "%d", 1);
	assert_int_equal(b.len, 0);
	assert_int_equal(text[0], '#');
}

static void a_copy_ends_between_characters(void **state)
{
	(void)state;
	char text[6];
	assert_ptr_equal(TEXT_COPY(text, "abcde"), text);
	assert_string_equal(text, "abcde");
	assert_string_equal(TEXT_COPY(text, "abcdef"), "abcde");
	assert_string_equal(TEXT_COPY(text, "abcd\xc3\xa4"), "abcd");     /* two bytes, one of which fits */
	assert_string_equal(TEXT_COPY(text, "abc\xc3\xa4"), "abc\xc3\xa4"); /* both fit */
	assert_string_equal(TEXT_COPY(text, "abc\xe2\x82\xac"), "abc");   /* three bytes, two of which fit */
	assert_string_equal(TEXT_COPY(text, "\x80\x80\x80\x80\x80\x80"), "");
}

static void a_copy_may_overlap_its_source(void **state)
{
	(void)state;
	char text[16] = "vigil: message";
	assert_string_equal(text_copy(text, sizeof(text), text + 7), "message");
}

static void a_format_reports_the_length_it_needs(void **state)
{
	(void)state;
	char text[5];
	assert_int_equal(text_format(text, sizeof(text), "%d", 1234), 4);
	assert_string_equal(text, "1234");
	assert_int_equal(text_format(text, sizeof(text), "%d", 12345), 5);
	assert_string_equal(text, "1234");
}

static uint64_t system_ns(clockid_t which)
{
	struct timespec t;
	assert_int_equal(clock_gettime(which, &t), 0);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void a_sentence_begins_with_a_capital(void **state)
{
	char lower[] = "rank 3 waits", other[] = "→ rank 3", none[] = "";
	(void)state;
	text_capital(lower);
	text_capital(other);
	text_capital(none);
	assert_string_equal(lower, "Rank 3 waits");
	assert_string_equal(other, "→ rank 3");
	assert_string_equal(none, "");
}

static void the_clocks_are_those_of_the_system(void **state)
{
	(void)state;
	uint64_t before = system_ns(CLOCK_MONOTONIC), now = clock_mono_ns(), after = system_ns(CLOCK_MONOTONIC);
	assert_true(before <= now && now <= after);
	before = system_ns(CLOCK_BOOTTIME);
	now = clock_boot_ns();
	after = system_ns(CLOCK_BOOTTIME);
	assert_true(before <= now && now <= after);
}

static void unix_time_is_in_milliseconds(void **state)
{
	(void)state;
	const int64_t minute_ms = 60000; /* the clock may be set meanwhile */
	int64_t now = (int64_t)(system_ns(CLOCK_REALTIME) / NS_PER_MS);
	int64_t got = clock_unix_ms();
	assert_true(got >= now - minute_ms && got <= now + minute_ms);
}

static void numbers_are_told_as_runs(void **state)
{
	(void)state;
	static const int32_t numbers[] = {0, 1, 2, 4, 7, 8};
	char text[64];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	assert_int_equal(buf_runs(&b, numbers, 4, 8, " and "), 4);
	assert_string_equal(text, "0-2 and 4");
	buf_reset(&b);
	assert_int_equal(buf_runs(&b, numbers, 6, 8, " and "), 6);
	assert_string_equal(text, "0-2, 4, 7 and 8");
	buf_reset(&b);
	assert_int_equal(buf_runs(&b, numbers + 4, 2, 8, " and "), 2);
	assert_string_equal(text, "7 and 8");
	buf_reset(&b);
	assert_int_equal(buf_runs(&b, numbers, 6, 2, ", "), 4);
	assert_string_equal(text, "0-2, 4");
	buf_reset(&b);
	assert_int_equal(buf_runs(&b, numbers, 0, 2, ", "), 0);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_put_one_behind_the_other),
		cmocka_unit_test(text_that_just_fits_is_not_cut),
		cmocka_unit_test(text_that_does_not_fit_is_cut_and_marked),
		cmocka_unit_test(numbers_are_told_as_runs),
		cmocka_unit_test(no_memory_at_all_is_fine),
		cmocka_unit_test(a_copy_ends_between_characters),
		cmocka_unit_test(a_copy_may_overlap_its_source),
		cmocka_unit_test(a_format_reports_the_length_it_needs),
		cmocka_unit_test(a_sentence_begins_with_a_capital),
		cmocka_unit_test(the_clocks_are_those_of_the_system),
		cmocka_unit_test(unix_time_is_in_milliseconds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
