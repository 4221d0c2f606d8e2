#include "testing.h"

#include "base/buf.h"
#include "model/hang/rankerrors.h"

static void set(struct rankerrors *e, int32_t rank, int64_t time_unix_ms, const char *text)
{
	struct rankerror one = {.rank = rank, .time_unix_ms = time_unix_ms};
	TEXT_COPY(one.text, text);
	rankerrors_set(e, &one);
}

static void expect_line(const struct rankerrors *e, size_t n_ranks, const char *expected)
{
	char line[300];
	rankerrors_line(e, n_ranks, line, sizeof(line));
	assert_string_equal(line, expected);
}

static void one_failed_rank_of_four_is_a_line(void **state)
{
	(void)state;
	static struct rankerrors e;
	e.n = 0;
	expect_line(&e, 4, "");
	set(&e, 3, 1000, "RuntimeError: boom");
	expect_line(&e, 4, "rank_error 1 ranks=3: RuntimeError: boom");
	expect_line(&e, 1, "");
}

static void an_error_of_more_than_half_of_the_ranks_is_none(void **state)
{
	(void)state;
	static struct rankerrors e;
	e.n = 0;
	set(&e, 0, 0, "ValueError: x");
	set(&e, 2, 0, "ValueError: x");
	expect_line(&e, 4, "rank_error 2 ranks=0,2: ValueError: x");
	expect_line(&e, 3, "");
}

static void the_latest_error_of_a_rank_replaces_the_earlier_one(void **state)
{
	(void)state;
	static struct rankerrors e;
	e.n = 0;
	set(&e, 1, 1000, "first");
	set(&e, 1, 2000, "second");
	assert_int_equal(e.n, 1);
	expect_line(&e, 4, "rank_error 1 ranks=1: second");
	set(&e, 1, 3000, "");
	assert_int_equal(e.n, 0);
	set(&e, 1, 3000, "");
	assert_int_equal(e.n, 0);
}

static void removing_one_error_keeps_the_others(void **state)
{
	(void)state;
	static struct rankerrors e;
	e.n = 0;
	set(&e, 0, 0, "a");
	set(&e, 1, 0, "a");
	set(&e, 2, 0, "a");
	set(&e, 0, 0, "");
	assert_int_equal(e.n, 2);
	expect_line(&e, 8, "rank_error 2 ranks=2,1: a");
}

static void an_error_beyond_the_limit_is_left_out(void **state)
{
	(void)state;
	static struct rankerrors e;
	e.n = 0;
	for (int32_t rank = 0; rank < RANKERRORS_MAX + 1; rank++)
		set(&e, rank, 0, "a");
	assert_int_equal(e.n, RANKERRORS_MAX);
	assert_int_equal(e.of[RANKERRORS_MAX - 1].rank, RANKERRORS_MAX - 1);
	set(&e, 5, 0, "b"); /* a known rank can still be replaced */
	assert_string_equal(e.of[5].text, "b");
}

static void the_earliest_error_is_the_root_and_later_others_are_not_counted(void **state)
{
	(void)state;
	static struct rankerrors e;
	e.n = 0;
	set(&e, 0, 9000, "ConnectionError: reset");
	set(&e, 1, 5000, "CUDA out of memory");
	set(&e, 2, 7000, "CUDA out of memory");
	expect_line(&e, 8, "rank_error 2 ranks=1,2: CUDA out of memory");
}

static void a_known_time_comes_before_an_unknown_one(void **state)
{
	(void)state;
	static struct rankerrors e;
	e.n = 0;
	set(&e, 0, 0, "no time");
	set(&e, 1, 5000, "timed");
	expect_line(&e, 8, "rank_error 2 ranks=0,1: timed");
}

static void an_error_text_comes_before_a_mere_exit(void **state)
{
	(void)state;
	static struct rankerrors e;
	e.n = 0;
	rankerrors_set(&e, &(struct rankerror){.rank = 0, .exited = true, .text = "exited with 1"});
	set(&e, 1, 0, "KeyError: 'x'");
	expect_line(&e, 8, "rank_error 2 ranks=0,1: KeyError: 'x'");
}

static void errors_that_only_follow_are_no_line(void **state)
{
	(void)state;
	static struct rankerrors e;
	e.n = 0;
	rankerrors_set(&e, &(struct rankerror){.rank = 0, .follows = true, .text = "Connection closed by peer"});
	expect_line(&e, 8, "");
	set(&e, 4, 0, "boom");
	expect_line(&e, 8, "rank_error 1 ranks=4: boom");
}

static void the_root_is_the_first_that_blames_no_other(void **state)
{
	(void)state;
	const struct rank_error e[] = {
		{.rank = 0, .follows = true, .time_unix_ms = 1000},
		{.rank = 1, .time_unix_ms = 0},
		{.rank = 2, .time_unix_ms = 3000},
		{.rank = 3, .time_unix_ms = 2000},
	};
	assert_null(rank_error_root(e, 0));
	assert_ptr_equal(rank_error_root(e, 1), &e[0]);
	assert_ptr_equal(rank_error_root(e, 2), &e[1]);
	assert_ptr_equal(rank_error_root(e, 3), &e[2]);
	assert_ptr_equal(rank_error_root(e, 4), &e[3]);
}

static void an_error_is_shown_with_its_place(void **state)
{
	(void)state;
	char text[64];
	struct rank_error e = {.text = "RuntimeError: boom", .where = "/srv/train.py:40 (step)"};
	rank_error_text(&e, text, sizeof(text));
	assert_string_equal(text, "RuntimeError: boom, at /srv/train.py:40 (step)");
	e.where[0] = '\0';
	rank_error_text(&e, text, sizeof(text));
	assert_string_equal(text, "RuntimeError: boom");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_failed_rank_of_four_is_a_line),
		cmocka_unit_test(an_error_of_more_than_half_of_the_ranks_is_none),
		cmocka_unit_test(the_latest_error_of_a_rank_replaces_the_earlier_one),
		cmocka_unit_test(removing_one_error_keeps_the_others),
		cmocka_unit_test(an_error_beyond_the_limit_is_left_out),
		cmocka_unit_test(the_earliest_error_is_the_root_and_later_others_are_not_counted),
		cmocka_unit_test(a_known_time_comes_before_an_unknown_one),
		cmocka_unit_test(an_error_text_comes_before_a_mere_exit),
		cmocka_unit_test(errors_that_only_follow_are_no_line),
		cmocka_unit_test(the_root_is_the_first_that_blames_no_other),
		cmocka_unit_test(an_error_is_shown_with_its_place),
	};
	return cmocka_run_group_tests_name("model/hang/rankerrors", tests, NULL, NULL);
}
