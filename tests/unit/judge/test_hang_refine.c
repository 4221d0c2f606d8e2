#include "testing.h"

#include "base/buf.h"
#include "judge/rules/hang_refine.h"
#include "judge/plain_words.h"

static struct cause_verdict rule(const char *id, bool of_stack)
{
	struct cause_verdict b = {.valid = true, .role = RULE_ROOT, .of_stack = of_stack, .of_main_thread = of_stack};
	TEXT_COPY(b.id, id);
	return b;
}

static void a_place_does_not_replace_a_wait_whose_end_is_known(void **state)
{
	(void)state;
	const struct cause_verdict place = rule("slow_checkpoint", true), log = rule("shm_full", false),
				   why = rule("tqdm_lock_after_fork", true);
	static const char *const known[] = {"lock_wait", "orphaned_wait", "abandoned_wait", "waits_for_visitor",
					    "waits_for_input"};
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		assert_false(hang_may_refine(known[i], &place));
		assert_true(hang_may_refine(known[i], &log));
		assert_true(hang_may_refine(known[i], &why));
	}
}

static void a_place_refines_what_only_says_where(void **state)
{
	(void)state;
	const struct cause_verdict place = rule("slow_checkpoint", true), log = rule("shm_full", false);
	static const char *const where[] = {"hang_unknown", "missing_rank", "checkpoint_stuck", "loader_stuck"};
	for (size_t i = 0; i < ARRAY_SIZE(where); i++) {
		assert_true(hang_may_refine(where[i], &place));
		assert_true(hang_may_refine(where[i], &log));
	}
}

static void what_is_proved_or_named_is_never_replaced(void **state)
{
	(void)state;
	const struct cause_verdict place = rule("slow_checkpoint", true), log = rule("shm_full", false);
	static const char *const firm[] = {"deadlock",	"dead_rank",   "rank_stopped",
					   "gpu_stuck", "rank_sleeps", "no_such"};
	for (size_t i = 0; i < ARRAY_SIZE(firm); i++) {
		assert_int_equal(hang_refine_of(firm[i]), HANG_REFINE_NEVER);
		assert_false(hang_may_refine(firm[i], &place));
		assert_false(hang_may_refine(firm[i], &log));
	}
}

/* Counted, so that a new id is thought about. */
static void every_id_is_in_the_table(void **state)
{
	(void)state;
	size_t n[3] = {0};
	for (size_t i = 0; i < ARRAY_SIZE(hang_cause_ids); i++)
		n[hang_refine_of(hang_cause_ids[i])]++;
	assert_int_equal(n[HANG_REFINE_BY_ANY], 11);
	assert_int_equal(n[HANG_REFINE_BY_REASON], 8);
	assert_int_equal(n[HANG_REFINE_NEVER], 35);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_does_not_replace_a_wait_whose_end_is_known),
		cmocka_unit_test(a_place_refines_what_only_says_where),
		cmocka_unit_test(what_is_proved_or_named_is_never_replaced),
		cmocka_unit_test(every_id_is_in_the_table),
	};
	return cmocka_run_group_tests_name("judge/hang_refine", tests, NULL, NULL);
}
