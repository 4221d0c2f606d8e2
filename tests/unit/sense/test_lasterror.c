#include "testing.h"

#include <string.h>

#include "sense/facts.h"
#include "sense/lasterror.h"

#define TRACEBACK "Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\n    f()\n"

static void the_end_of_an_output_is_its_error(void **state)
{
	(void)state;
	struct lasterror e;
	assert_int_equal(lasterror_find(SPAN("step 1\n" TRACEBACK "ValueError: no\nexiting\n"), 3, &e), 0);
	assert_int_equal(e.rank, 3);
	assert_false(e.follows);
	assert_string_equal(e.text, "ValueError: no");
	assert_int_equal(
		lasterror_find(SPAN("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB\n"), 1, &e),
		0);
	assert_int_equal(lasterror_find(SPAN("step 1 loss 2\nall is well\n"), 3, &e), LASTERROR_NONE);
	assert_int_equal(lasterror_find(SPAN(""), NO_RANK, &e), LASTERROR_NONE);
}

static void what_was_caught_is_none(void **state)
{
	(void)state;
	struct lasterror e;
	assert_int_equal(lasterror_find(SPAN(TRACEBACK "ValueError: no\nstep 7 loss 0.1\n"), 0, &e), LASTERROR_NONE);
	/* the second of the same was not */
	assert_int_equal(
		lasterror_find(SPAN(TRACEBACK "ValueError: no\nstep 7 loss 0.1\n" TRACEBACK "ValueError: no\n"), 0, &e),
		0);
	assert_int_equal(
		lasterror_find(SPAN(TRACEBACK "ValueError: no\r 10%|#    | 1/10 [00:01<00:09,  1.0it/s]\r"), 0, &e),
		LASTERROR_NONE);
}

static void what_follows_from_a_loss_elsewhere_is_marked(void **state)
{
	(void)state;
	struct lasterror e;
	assert_int_equal(
		lasterror_find(SPAN(TRACEBACK "RuntimeError: [pair.cc:1] Connection closed by peer [10.0.0.1]:99\n"), 0,
			       &e),
		0);
	assert_true(e.follows);
	assert_int_equal(lasterror_find(SPAN(TRACEBACK "torch.distributed.DistBackendError: NCCL error\n"), 0, &e), 0);
	assert_true(e.follows);
}

static void the_line_says_whose_it_is(void **state)
{
	(void)state;
	struct lasterror e;
	const char *text =
		"[rank5]: Traceback (most recent call last):\n[rank5]:   File \"t.py\", line 1, in <module>\n"
		"[rank5]: KeyError: 'x'\n";
	assert_int_equal(lasterror_find(span_of(text), NO_RANK, &e), 0);
	assert_int_equal(e.rank, 5);
	assert_string_equal(e.text, "KeyError: 'x'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_end_of_an_output_is_its_error),
		cmocka_unit_test(what_was_caught_is_none),
		cmocka_unit_test(what_follows_from_a_loss_elsewhere_is_marked),
		cmocka_unit_test(the_line_says_whose_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
