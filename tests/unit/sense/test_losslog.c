#include "testing.h"

#include "sense/framework/losslog.h"

static void the_first_line_of_those_without_a_number_is_told(void **state)
{
	struct log_hint h;
	(void)state;
	const struct span log = SPAN("step 1 loss 0.5\nstep 2 loss nan\nstep 3 loss 0.4\nstep 4 loss=inf\nsaved\n"
				     "step 5 loss=nan\nTraceback (most recent call last):\n");
	assert_true(losslog_parse(log, "log stderr", 2, &h));
	assert_string_equal(h.id, "loss_broken");
	assert_string_equal(h.source, "log stderr");
	assert_string_equal(h.text, "the loss was infinite at step 4");
	assert_int_equal(h.line, 0);
	assert_int_equal(h.rank, 2);
}

static void a_bar_and_a_launcher_s_prefix_are_read(void **state)
{
	struct log_hint h;
	(void)state;
	const struct span bar =
		SPAN("\rEpoch 0:  31%|###  | 20/64 [00:00<00:00, 97.88it/s, loss=0.3]\rEpoch 0:  33%|###  | 21/64 "
		     "[00:00<00:00, 97.88it/s, loss=nan]");
	assert_true(losslog_parse(bar, "log stderr", NO_RANK, &h));
	assert_string_equal(h.text, "the loss was NaN at step 21");
	assert_true(losslog_parse(SPAN("[rank1]: step 7 loss nan\n"), "log stdout", NO_RANK, &h));
	assert_string_equal(h.text, "the loss was NaN at step 7");
	assert_true(losslog_parse(SPAN("loss: nan"), "log stdout", NO_RANK, &h));
	assert_string_equal(h.text, "the loss was NaN");
}

static void a_loss_that_is_a_number_again_is_not_told(void **state)
{
	struct log_hint h;
	(void)state;
	assert_false(losslog_parse(SPAN("step 1 loss nan\nstep 2 loss 0.4\n"), "log stderr", NO_RANK, &h));
	assert_false(losslog_parse(SPAN("best_loss: inf\nstep 2 loss 0.4\n"), "log stderr", NO_RANK, &h));
	assert_false(losslog_parse(SPAN("AssertionError: loss is bad\n"), "log stderr", NO_RANK, &h));
	assert_false(losslog_parse(SPAN(""), "log stderr", NO_RANK, &h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_line_of_those_without_a_number_is_told),
		cmocka_unit_test(a_bar_and_a_launcher_s_prefix_are_read),
		cmocka_unit_test(a_loss_that_is_a_number_again_is_not_told),
	};
	return cmocka_run_group_tests_name("sense/framework/losslog", tests, NULL, NULL);
}
