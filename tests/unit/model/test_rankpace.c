#include "testing.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "model/hang/rankerrors.h"
#include "model/hang/rankpace.h"

static struct rankpace p;
static struct rankpace_finding f;

static void fresh(void)
{
	memset(&p, 0, sizeof(p));
	memset(&f, 0, sizeof(f));
}

static void at(int32_t rank, double epoch, uint64_t step, uint64_t total)
{
	struct progress_line l = {.form = PROGRESS_WORDS,
				  .rank = NO_RANK,
				  .has_epoch = epoch >= 0,
				  .epoch = epoch,
				  .has_step = true,
				  .step = step,
				  .has_total = total > 0,
				  .total = total};
	rankpace_line(&p, &l, rank, 80);
}

static void ranks_side_by_side_are_even(void **state)
{
	(void)state;
	fresh();
	for (int32_t r = 0; r < 4; r++) {
		at(r, 3, 100, 0);
		at(r, 3, 110, 0);
	}
	at(0, 3, 120, 0); /* one has printed already */
	rankpace_compare(&p, &f);
	assert_int_equal(f.kind, RANKPACE_EVEN);
	assert_true(rankpace_steps(&p));
	fresh();
	rankpace_compare(&p, &f);
	assert_int_equal(f.kind, RANKPACE_EVEN);
	at(0, 1, 5, 0);
	rankpace_compare(&p, &f); /* one that prints is no comparison */
	assert_int_equal(f.kind, RANKPACE_EVEN);
}

static void across_the_border_of_an_epoch_they_are_together(void **state)
{
	(void)state;
	fresh();
	for (int32_t r = 0; r < 4; r++) {
		at(r, 3, 990, 1000);
		at(r, 3, 1000, 1000);
	}
	at(0, 4, 10, 1000);
	rankpace_compare(&p, &f);
	assert_int_equal(f.kind, RANKPACE_EVEN);
	for (int32_t r = 0; r < 3; r++) {
		at(r, 4, 10, 10000);
		at(r, 4, 5000, 10000);
	}
	rankpace_compare(&p, &f); /* half an epoch is not */
	assert_int_equal(f.kind, RANKPACE_EPOCHS);
	assert_int_equal(f.n_ranks, 1);
	assert_int_equal(f.ranks[0], 3);
}

static void output_that_waits_in_a_buffer_is_no_distance(void **state)
{
	(void)state;
	fresh();
	for (int32_t r = 0; r < 2; r++)
		for (uint64_t step = 1; step < 300; step++)
			at(r, -1, step, 0);
	for (uint64_t step = 300; step < 400; step++)
		at(0, -1, step, 0); /* 80 bytes each: the other's lie in its 8 KiB */
	rankpace_compare(&p, &f);
	assert_int_equal(f.kind, RANKPACE_EVEN);
	for (uint64_t step = 400; step < 450; step++)
		at(0, -1, step, 0);
	rankpace_compare(&p, &f);
	assert_int_equal(f.kind, RANKPACE_STEPS);
	assert_int_equal(f.spread, 150);
}

static void ranks_in_different_epochs_name_the_smaller_part(void **state)
{
	(void)state;
	char line[300];
	fresh();
	static const int epochs[] = {49, 48, 48, 49, 49, 48, 49, 49};
	for (int32_t r = 0; r < 8; r++)
		at(r, epochs[r], 20384, 0);
	rankpace_compare(&p, &f);
	assert_int_equal(f.kind, RANKPACE_EPOCHS);
	assert_int_equal(f.spread, 1);
	assert_int_equal(f.n_ranks, 3);
	assert_int_equal(f.ranks[0], 1);
	assert_int_equal(f.ranks[2], 5);
	rankpace_line_format(&f, line, sizeof(line));
	assert_non_null(strstr(line, "epoch_spread 1 ranks=1,2,5: rank 0: epoch 49 step 20384, rank 1: epoch 48"));
}

static void a_rank_that_is_far_behind_in_steps_is_named(void **state)
{
	(void)state;
	fresh();
	for (int32_t r = 0; r < 3; r++) {
		at(r, -1, 100, 0);
		at(r, -1, 101, 0);
	}
	at(0, -1, 1050, 0);
	at(1, -1, 1050, 0);
	rankpace_compare(&p, &f);
	assert_int_equal(f.kind, RANKPACE_STEPS);
	assert_int_equal(f.n_ranks, 1);
	assert_int_equal(f.ranks[0], 2);
}

static void who_has_ended_well_leaves_the_others_waiting(void **state)
{
	(void)state;
	fresh();
	for (int32_t r = 0; r < 4; r++)
		at(r, 2, 99, 100);
	rankpace_ended(&p, 1, 0);
	rankpace_compare(&p, &f);
	assert_int_equal(f.kind, RANKPACE_ENDED_EARLY);
	assert_int_equal(f.spread, 1);
	assert_int_equal(f.ranks[0], 1);
	rankpace_ended(&p, 2, 1); /* a failure explains more */
	rankpace_compare(&p, &f);
	assert_int_equal(f.kind, RANKPACE_EVEN);
	rankpace_revive(&p);
	rankpace_compare(&p, &f);
	assert_int_equal(f.kind, RANKPACE_EVEN);
	for (int32_t r = 0; r < 4; r++)
		rankpace_ended(&p, r, 0);
	rankpace_compare(&p, &f); /* all are done */
	assert_int_equal(f.kind, RANKPACE_EVEN);
}

static void absurd_numbers_are_survived(void **state)
{
	(void)state;
	char line[400];
	fresh();
	at(0, INFINITY, UINT64_MAX, UINT64_MAX);
	at(1, NAN, 0, 0);
	at(2, 1e300, 5, 0);
	for (int32_t r = 0; r < 1000; r++)
		at(r, 1, (uint64_t)r, 0);
	assert_int_equal(p.n, RANKPACE_RANKS);
	assert_true(p.n_dropped > 0);
	rankpace_compare(&p, &f);
	rankpace_line_format(&f, line, sizeof(line));
	assert_true(f.n_ranks <= RANKPACE_LISTED);
}

static struct rankerrors e;

static void error_set(int32_t rank, int64_t time_unix_ms, const char *text)
{
	struct rankerror one = {.rank = rank, .time_unix_ms = time_unix_ms};
	one.follows = strstr(text, "closed by peer") != NULL;
	one.exited = strstr(text, "ended with") != NULL;
	TEXT_COPY(one.text, text);
	rankerrors_set(&e, &one);
}

static void errors_are_told_as(const char *expected, size_t n_ranks)
{
	char line[300];
	rankerrors_line(&e, n_ranks, line, sizeof(line));
	assert_string_equal(line, expected);
}

static void errors_of_few_ranks_are_told_and_of_most_are_not(void **state)
{
	(void)state;
	e.n = 0;
	error_set(1, 0, "Connection closed by peer");
	errors_are_told_as("", 4);
	error_set(3, 0, "its process ended with 1");
	error_set(2, 0, "KeyError: 'x'");
	errors_are_told_as("rank_error 2 ranks=3,2: KeyError: 'x'", 4);
	error_set(0, 0, "KeyError: 'x'");
	errors_are_told_as("", 4);
	error_set(0, 0, "");
	error_set(3, 0, "");
	errors_are_told_as("rank_error 1 ranks=2: KeyError: 'x'", 4);
	errors_are_told_as("", 1);
}

static void the_first_of_errors_with_a_time_is_the_root(void **state)
{
	(void)state;
	e.n = 0;
	error_set(0, 2000, "ValueError: a shape that a lost peer left behind");
	error_set(1, 2100, "ValueError: another");
	error_set(2, 1000, "RuntimeError: boom");
	errors_are_told_as("rank_error 1 ranks=2: RuntimeError: boom", 3);
	/* all the same: nobody's in particular */
	error_set(0, 1001, "RuntimeError: boom");
	error_set(1, 1002, "RuntimeError: boom");
	errors_are_told_as("", 3);
}

static void who_failed_first_is_the_root_unless_its_words_name_another(void **state)
{
	(void)state;
	const struct rank_error all[] = {
		{.rank = 0, .time_unix_ms = 5000, .text = "RuntimeError: late"},
		{.rank = 1, .time_unix_ms = 1000, .follows = true, .text = "Connection closed by peer"},
		{.rank = 2, .time_unix_ms = 0, .text = "no time"},
		{.rank = 3, .time_unix_ms = 4000, .text = "RuntimeError: boom", .where = "/srv/train.py:40 (step)"},
	};
	char text[200];
	assert_null(rank_error_root(all, 0));
	assert_int_equal(rank_error_root(all, 2)->rank, 0);
	assert_int_equal(rank_error_root(all, 4)->rank, 3);
	assert_int_equal(rank_error_root(all + 1, 1)->rank, 1);
	rank_error_text(&all[3], text, sizeof(text));
	assert_string_equal(text, "RuntimeError: boom, at /srv/train.py:40 (step)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_side_by_side_are_even),
		cmocka_unit_test(across_the_border_of_an_epoch_they_are_together),
		cmocka_unit_test(output_that_waits_in_a_buffer_is_no_distance),
		cmocka_unit_test(ranks_in_different_epochs_name_the_smaller_part),
		cmocka_unit_test(a_rank_that_is_far_behind_in_steps_is_named),
		cmocka_unit_test(who_has_ended_well_leaves_the_others_waiting),
		cmocka_unit_test(absurd_numbers_are_survived),
		cmocka_unit_test(errors_of_few_ranks_are_told_and_of_most_are_not),
		cmocka_unit_test(the_first_of_errors_with_a_time_is_the_root),
		cmocka_unit_test(who_failed_first_is_the_root_unless_its_words_name_another),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
