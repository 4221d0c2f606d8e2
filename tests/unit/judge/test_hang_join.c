/* What logs and the collective library add to a verdict. */
#include "testing.h"

#include "base/buf.h"
#include "judge/hang/hang_parts.h"

static struct hang_settings s;
static struct hang_history m;
static struct liveness_set p;
static struct hang_verdict v;
static struct hang_case c;
static struct hang_work w;
static struct hang_collective counters;
static struct cause_verdict book;

/* A verdict on rank 1, and both other sources empty. */
static int rank_one_accused(void **state)
{
	(void)state;
	memset(&v, 0, sizeof(v));
	memset(&c, 0, sizeof(c));
	memset(&counters, 0, sizeof(counters));
	memset(&book, 0, sizeof(book));
	w = (struct hang_work){.s = &s, .m = &m, .c = &c, .p = &p, .v = &v, .standstill_ns = 3600 * NS_PER_S};
	c.collective = &counters;
	c.book = &book;
	hang_is(&w, "missing_rank", CONFIDENCE_MEDIUM);
	hang_accuse(&w, 1);
	return 0;
}

static void counters_say(enum hang_collective_kind kind, enum confidence confidence, int32_t culprit)
{
	counters = (struct hang_collective){.valid = true,
					    .kind = kind,
					    .confidence = confidence,
					    .culprits = {culprit},
					    .n_culprits = 1,
					    .text = "ranks 0-2 entered, rank 3 did not"};
}

static void book_says(enum rule_confidence confidence, int32_t culprit)
{
	book = (struct cause_verdict){.valid = true,
				      .role = RULE_ROOT,
				      .confidence = confidence,
				      .id = "ib_timeout",
				      .text = "a link is down",
				      .advice = {"look at the link"},
				      .n_advice = 1,
				      .culprits = {culprit},
				      .n_culprits = 1};
}

static void a_rule_on_stacks_counts_where_the_accused_rank_waits(void **state)
{
	(void)state;
	static const struct {
		bool main;
		int32_t rank; /* -1: none */
		const char *id;
	} cases[] = {
		{true, 1, "ib_timeout"},
		{true, -1, "ib_timeout"},
		{false, 1, "missing_rank"}, /* a helper thread */
		{true, 0, "missing_rank"}, /* a rank that is not to blame */
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		(void)rank_one_accused(state);
		book_says(RULE_HIGH, 1);
		book.n_culprits = 0;
		book.of_stack = true;
		book.of_main_thread = cases[i].main;
		book.stack_ranks[0] = cases[i].rank;
		book.n_stack_ranks = cases[i].rank >= 0;
		hang_book_joins(&w);
		assert_string_equal(v.id, cases[i].id);
		assert_int_equal(v.n_advice > 0, strcmp(v.id, "ib_timeout") == 0);
	}
}

static void counters_that_name_the_same_rank_make_it_sure(void **state)
{
	(void)state;
	counters_say(HANG_COLLECTIVE_MISSING, CONFIDENCE_MEDIUM, 1);
	hang_collective_joins(&w);
	assert_int_equal(v.confidence, CONFIDENCE_MEDIUM);
	counters_say(HANG_COLLECTIVE_MISSING, CONFIDENCE_HIGH, 1);
	hang_collective_joins(&w);
	assert_int_equal(v.confidence, CONFIDENCE_HIGH);
	assert_string_equal(v.text, "");
}

static void counters_that_name_fewer_ranks_do_not(void **state)
{
	(void)state;
	hang_accuse(&w, 2);
	counters_say(HANG_COLLECTIVE_MISSING, CONFIDENCE_HIGH, 1);
	hang_collective_joins(&w);
	assert_int_equal(v.confidence, CONFIDENCE_MEDIUM);
}

static void counters_that_name_another_rank_make_it_less_sure(void **state)
{
	(void)state;
	v.confidence = CONFIDENCE_HIGH;
	counters_say(HANG_COLLECTIVE_MISSING, CONFIDENCE_HIGH, 3);
	hang_collective_joins(&w);
	assert_int_equal(v.confidence, CONFIDENCE_MEDIUM);
	assert_string_equal(v.text, "The collective library's own counters name rank 3 instead.");
}

static void counters_alone_become_the_verdict(void **state)
{
	(void)state;
	static const struct {
		enum hang_collective_kind kind;
		const char *id;
	} kinds[] = {
		{HANG_COLLECTIVE_MISSING, "missing_rank"},     {HANG_COLLECTIVE_MISMATCH, "mismatched_collective"},
		{HANG_COLLECTIVE_EQUAL, "equal_count_stall"},  {HANG_COLLECTIVE_P2P, "p2p_wait"},
		{HANG_COLLECTIVE_DEAD, "dead_rank"},	       {HANG_COLLECTIVE_INIT, "rendezvous"},
		{HANG_COLLECTIVE_UNEVEN, "uneven_last_epoch"}, {HANG_COLLECTIVE_CYCLE, "collective_order"},
		{HANG_COLLECTIVE_DEVICE, "gpu_stuck"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		counters_say(kinds[i].kind, CONFIDENCE_HIGH, 3);
		assert_true(hang_collective_alone(&w));
		assert_string_equal(v.id, kinds[i].id);
		assert_true(v.n_culprits == 1 && v.culprits[0] == 3);
		assert_string_equal(v.text, "ranks 0-2 entered, rank 3 did not.");
	}
	counters_say(HANG_COLLECTIVE_INIT, CONFIDENCE_HIGH, 3);
	w.stepping = true; /* it has met before */
	assert_true(hang_collective_alone(&w));
	assert_string_equal(v.id, "missing_rank");
}

static void counters_without_a_finding_decide_nothing(void **state)
{
	(void)state;
	counters_say(HANG_COLLECTIVE_NONE, CONFIDENCE_HIGH, 3);
	assert_false(hang_collective_alone(&w));
	counters_say(HANG_COLLECTIVE_MISSING, CONFIDENCE_HIGH, 3);
	counters.valid = false;
	assert_false(hang_collective_alone(&w));
	c.collective = NULL;
	assert_false(hang_collective_alone(&w));
	hang_collective_joins(&w);
	assert_string_equal(v.id, "missing_rank");
}

static void a_rank_that_stands_outside_of_every_wait_is_the_better_witness(void **state)
{
	(void)state;
	counters_say(HANG_COLLECTIVE_MISSING, CONFIDENCE_HIGH, 3);
	w.g.n = 1;
	w.n_blocking = 1;
	assert_false(hang_collective_says(&w));
	w.benign[0] = true;
	assert_true(hang_collective_says(&w));
}

static void the_book_explains_a_verdict_that_does_not_say_why(void **state)
{
	(void)state;
	book_says(RULE_HIGH, 1);
	hang_book_joins(&w);
	assert_string_equal(v.id, "ib_timeout");
	assert_int_equal(v.confidence, CONFIDENCE_MEDIUM);
	assert_string_equal(v.advice[0], "look at the link");
	assert_string_equal(v.text, "The cause book says: a link is down");
	assert_string_equal(v.evidence[0].text, "before the cause book was asked: missing_rank of rank 1");
	assert_true(v.n_culprits == 1 && v.culprits[0] == 1);
}

static void a_verdict_that_says_why_stays_and_shows_the_book_as_evidence(void **state)
{
	(void)state;
	TEXT_COPY(v.id, "deadlock");
	book_says(RULE_HIGH, 1);
	hang_book_joins(&w);
	assert_string_equal(v.id, "deadlock");
	assert_string_equal(v.evidence[0].kind, "cause_book");
	assert_string_equal(v.evidence[0].text, "ib_timeout: a link is down");
}

static void a_book_that_is_unsure_or_accuses_another_rank_explains_nothing(void **state)
{
	(void)state;
	book_says(RULE_LOW, 1);
	hang_book_joins(&w);
	assert_string_equal(v.id, "missing_rank");
	book_says(RULE_HIGH, 2);
	hang_book_joins(&w);
	assert_string_equal(v.id, "missing_rank");
	book_says(RULE_HIGH, 1);
	book.role = RULE_CASCADE;
	hang_book_joins(&w);
	assert_string_equal(v.id, "missing_rank");
	assert_int_equal(v.n_evidence, 3);
}

static void a_rule_of_medium_confidence_lowers_a_sure_verdict_and_raises_an_unsure_one(void **state)
{
	(void)state;
	v.confidence = CONFIDENCE_HIGH;
	book_says(RULE_MEDIUM, 1);
	hang_book_joins(&w);
	assert_int_equal(v.confidence, CONFIDENCE_MEDIUM);
	/* of a line without a time it is not known whether the job has outlived it */
	hang_is(&w, "hang_unknown", CONFIDENCE_LOW);
	hang_book_joins(&w);
	assert_int_equal(v.confidence, CONFIDENCE_LOW);
	c.now_unix_ms = 1700000100000;
	book.n_evidence = 1;
	book.evidence[0].time_unix_ms = c.now_unix_ms - 4000000;
	hang_is(&w, "hang_unknown", CONFIDENCE_LOW);
	hang_book_joins(&w);
	assert_int_equal(v.confidence, CONFIDENCE_LOW);
	book.evidence[0].time_unix_ms = c.now_unix_ms - 20000;
	hang_is(&w, "hang_unknown", CONFIDENCE_LOW);
	hang_book_joins(&w);
	assert_int_equal(v.confidence, CONFIDENCE_MEDIUM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_rule_on_stacks_counts_where_the_accused_rank_waits, rank_one_accused),
		cmocka_unit_test_setup(counters_that_name_the_same_rank_make_it_sure, rank_one_accused),
		cmocka_unit_test_setup(counters_that_name_fewer_ranks_do_not, rank_one_accused),
		cmocka_unit_test_setup(counters_that_name_another_rank_make_it_less_sure, rank_one_accused),
		cmocka_unit_test_setup(counters_alone_become_the_verdict, rank_one_accused),
		cmocka_unit_test_setup(counters_without_a_finding_decide_nothing, rank_one_accused),
		cmocka_unit_test_setup(a_rank_that_stands_outside_of_every_wait_is_the_better_witness,
				       rank_one_accused),
		cmocka_unit_test_setup(the_book_explains_a_verdict_that_does_not_say_why, rank_one_accused),
		cmocka_unit_test_setup(a_verdict_that_says_why_stays_and_shows_the_book_as_evidence, rank_one_accused),
		cmocka_unit_test_setup(a_book_that_is_unsure_or_accuses_another_rank_explains_nothing,
				       rank_one_accused),
		cmocka_unit_test_setup(a_rule_of_medium_confidence_lowers_a_sure_verdict_and_raises_an_unsure_one,
				       rank_one_accused),
	};
	return cmocka_run_group_tests_name("judge/hang/hang_join", tests, NULL, NULL);
}
