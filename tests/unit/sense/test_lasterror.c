#include "testing.h"

#include <string.h>

#include "sense/death/facts.h"
#include "sense/framework/lasterror.h"

#define TRACEBACK "Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\n    f()\n"

static void the_end_of_an_output_is_its_error(void **state)
{
	(void)state;
	struct lasterror e;
	assert_int_equal(lasterror_find(SPAN("step 1\n" TRACEBACK "ValueError: no\nexiting\n"), 3, NULL, &e), 0);
	assert_int_equal(e.rank, 3);
	assert_false(e.follows);
	assert_string_equal(e.text, "ValueError: no");
	assert_int_equal(lasterror_find(SPAN("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB\n"),
					1, NULL, &e),
			 0);
	assert_int_equal(lasterror_find(SPAN("step 1 loss 2\nall is well\n"), 3, NULL, &e), LASTERROR_NONE);
	assert_int_equal(lasterror_find(SPAN(""), NO_RANK, NULL, &e), LASTERROR_NONE);
}

static void what_was_caught_is_none(void **state)
{
	(void)state;
	struct lasterror e;
	assert_int_equal(lasterror_find(SPAN(TRACEBACK "ValueError: no\nstep 7 loss 0.1\n"), 0, NULL, &e),
			 LASTERROR_NONE);
	/* the second of the same was not */
	assert_int_equal(
		lasterror_find(SPAN(TRACEBACK "ValueError: no\nstep 7 loss 0.1\n" TRACEBACK "ValueError: no\n"), 0,
			       NULL, &e),
		0);
	assert_int_equal(lasterror_find(SPAN(TRACEBACK "ValueError: no\r 10%|#    | 1/10 [00:01<00:09,  1.0it/s]\r"), 0,
					NULL, &e),
			 LASTERROR_NONE);
}

static void what_follows_from_a_loss_elsewhere_is_marked(void **state)
{
	(void)state;
	struct lasterror e;
	assert_int_equal(
		lasterror_find(SPAN(TRACEBACK "RuntimeError: [pair.cc:1] Connection closed by peer [10.0.0.1]:99\n"), 0,
			       NULL, &e),
		0);
	assert_true(e.follows);
	assert_int_equal(
		lasterror_find(SPAN(TRACEBACK "torch.distributed.DistBackendError: NCCL error\n"), 0, NULL, &e), 0);
	assert_true(e.follows);
}

static void the_line_says_whose_it_is(void **state)
{
	(void)state;
	struct lasterror e;
	const char *text =
		"[rank5]: Traceback (most recent call last):\n[rank5]:   File \"t.py\", line 1, in <module>\n"
		"[rank5]: KeyError: 'x'\n";
	assert_int_equal(lasterror_find(span_of(text), NO_RANK, NULL, &e), 0);
	assert_int_equal(e.rank, 5);
	assert_string_equal(e.text, "KeyError: 'x'");
}

/* Ranks that share one output: each has its own end, and another's steps say nothing of it. */
static void each_rank_of_a_shared_output_has_its_own_error(void **state)
{
	(void)state;
	struct lasterror e[4];
	char scratch[2000];
	bool named;
	const char *text =
		"[rank1]: Traceback (most recent call last):\n"
		"[rank0]: Traceback (most recent call last):\n"
		"[rank1]:   File \"t.py\", line 1, in <module>\n[rank1]: KeyError: 'x'\n"
		"[rank0]:   File \"t.py\", line 9, in <module>\n"
		"[rank0]: RuntimeError: [pair.cc:1] Connection closed by peer [10.0.0.1]:99\n"
		"[rank2]: step 7/10 loss 0.3\n[rank3]: Traceback (most recent call last):\n[rank3]: ValueError: no\n"
		"[rank3]: step 8/10 loss 0.3\n";
	assert_int_equal(lasterror_each(span_of(text), NO_RANK, NULL, scratch, e, 4, &named), 2);
	assert_true(named);
	assert_int_equal(e[0].rank, 1);
	assert_string_equal(e[0].text, "KeyError: 'x'");
	assert_false(e[0].follows);
	assert_int_equal(e[1].rank, 0);
	assert_true(e[1].follows);
	text = TRACEBACK "ValueError: no\n";
	assert_int_equal(lasterror_each(span_of(text), NO_RANK, NULL, scratch, e, 4, &named), 1);
	assert_true(!named && e[0].rank == NO_RANK);
	assert_int_equal(lasterror_each(span_of(text), 5, NULL, scratch, e, 4, &named), 1);
	assert_int_equal(e[0].rank, 5);
	assert_int_equal(lasterror_each(span_of(""), NO_RANK, NULL, scratch, e, 4, &named), 0);
}

static void steps_as_the_user_says_them_take_an_error_back(void **state)
{
	(void)state;
	struct lasterror e;
	struct progress_patterns user = {.n = 1};
	char why[160];
	size_t at;
	const char *text = TRACEBACK "ValueError: no\n[train] it=7 of 10\n";
	assert_int_equal(progress_pattern_init(&user.each[0], SPAN("it=(?<step>[0-9]+) of"), why, &at), 0);
	assert_int_equal(lasterror_find(span_of(text), 0, NULL, &e), 0);
	assert_int_equal(lasterror_find(span_of(text), 0, &user, &e), LASTERROR_NONE);
	progress_pattern_done(&user.each[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_end_of_an_output_is_its_error),
		cmocka_unit_test(what_was_caught_is_none),
		cmocka_unit_test(what_follows_from_a_loss_elsewhere_is_marked),
		cmocka_unit_test(the_line_says_whose_it_is),
		cmocka_unit_test(each_rank_of_a_shared_output_has_its_own_error),
		cmocka_unit_test(steps_as_the_user_says_them_take_an_error_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
