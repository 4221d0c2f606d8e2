#include "testing.h"

#include "model/host/finding.h"

static struct findings all;

static int fresh(void **state)
{
	(void)state;
	memset(&all, 0, sizeof(all));
	return 0;
}

static void a_finding_holds_what_was_written_into_it(void **state)
{
	(void)state;
	struct finding *f = finding_add(&all, "low-swap", SEVERITY_WARNING, "%d of %d", 1, 8);
	finding_evidence(f, "SwapFree is %s", "0");
	finding_advice(f, "add swap");
	assert_int_equal(all.n, 1);
	assert_string_equal(all.row[0].id, "low-swap");
	assert_string_equal(all.row[0].text, "1 of 8");
	assert_int_equal(all.row[0].n_evidence, 1);
	assert_string_equal(all.row[0].evidence[0], "SwapFree is 0");
	assert_string_equal(all.row[0].advice[0], "add swap");
}

static void evidence_and_advice_beyond_the_room_are_left_out(void **state)
{
	(void)state;
	struct finding *f = finding_add(&all, "x", SEVERITY_NOTE, "x");
	for (int i = 0; i < 10; i++) {
		finding_evidence(f, "evidence %d", i);
		finding_advice(f, "advice %d", i);
	}
	assert_int_equal(f->n_evidence, FINDING_EVIDENCE);
	assert_int_equal(f->n_advice, FINDING_ADVICE);
	assert_string_equal(f->evidence[FINDING_EVIDENCE - 1], "evidence 5");
	assert_string_equal(f->advice[FINDING_ADVICE - 1], "advice 3");
}

static void a_finding_too_many_takes_the_last_row_and_is_counted(void **state)
{
	(void)state;
	for (int i = 0; i < FINDINGS_MAX + 2; i++)
		finding_evidence(finding_add(&all, "x", SEVERITY_NOTE, "number %d", i), "e");
	assert_int_equal(all.n, FINDINGS_MAX);
	assert_int_equal(all.dropped, 2);
	assert_string_equal(all.row[FINDINGS_MAX - 1].text, "number 49");
	assert_int_equal(all.row[FINDINGS_MAX - 1].n_evidence, 1);
}

static void the_worst_comes_first_and_equals_keep_their_order(void **state)
{
	(void)state;
	finding_add(&all, "a", SEVERITY_NOTE, "a");
	finding_add(&all, "b", SEVERITY_PROBLEM, "b");
	finding_add(&all, "c", SEVERITY_WARNING, "c");
	finding_add(&all, "d", SEVERITY_PROBLEM, "d");
	finding_add(&all, "e", SEVERITY_NOTE, "e");
	findings_sort(&all);
	static const char *const order[] = {"b", "d", "c", "a", "e"};
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		assert_string_equal(all.row[i].id, order[i]);
}

static void the_worst_of_nothing_is_a_note(void **state)
{
	(void)state;
	assert_int_equal(findings_worst(&all), SEVERITY_NOTE);
	finding_add(&all, "a", SEVERITY_WARNING, "a");
	finding_add(&all, "b", SEVERITY_NOTE, "b");
	assert_int_equal(findings_worst(&all), SEVERITY_WARNING);
	assert_string_equal(severity_name(SEVERITY_PROBLEM), "problem");
	assert_string_equal(severity_name((enum severity)9), "problem");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_finding_holds_what_was_written_into_it, fresh),
		cmocka_unit_test_setup(evidence_and_advice_beyond_the_room_are_left_out, fresh),
		cmocka_unit_test_setup(a_finding_too_many_takes_the_last_row_and_is_counted, fresh),
		cmocka_unit_test_setup(the_worst_comes_first_and_equals_keep_their_order, fresh),
		cmocka_unit_test_setup(the_worst_of_nothing_is_a_note, fresh),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
