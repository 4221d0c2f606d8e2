/* When a job counts as standing still: by steps, by counters, by a silent log. */
#include "testing.h"

#include "base/units.h"
#include "judge/standstill/hang_ask.h"

static struct liveness_set p;
static struct hang_settings s;
static char text[200];

#define NOW (1000 * NS_PER_S)

/* Two ranks, first seen 500 s ago, which last showed life so long ago. */
static int two_ranks(void **state)
{
	(void)state;
	memset(&p, 0, sizeof(p));
	memset(&s, 0, sizeof(s));
	p.now_ns = NOW;
	p.first_ns = NOW - 500 * NS_PER_S;
	p.has_ranks = true;
	p.n = 2;
	for (int32_t i = 0; i < 2; i++)
		p.rank[i] = (struct liveness){.rank = i, .seen.rank = i, .first_ns = p.first_ns};
	return 0;
}

static void moved(size_t i, enum liveness_counter sign, uint64_t ago_s)
{
	p.rank[i].trace[sign] =
		(struct liveness_trace){.known = true, .ever_moved = true, .moved_ns = NOW - ago_s * NS_PER_S};
}

static void stepped(uint64_t ago_s, double gap_s)
{
	p.progress_known = p.has_gap = true;
	p.step_ns = NOW - ago_s * NS_PER_S;
	p.gap_ns = gap_s * 1e9;
}

static uint64_t since(void)
{
	return hang_since(&s, &p, text, sizeof(text));
}

static void a_given_time_replaces_the_usual_one(void **state)
{
	(void)state;
	assert_int_equal(hang_time(0, 7), 7);
	assert_int_equal(hang_time(3, 7), 3);
}

static void a_multiple_of_a_gap_does_not_overflow(void **state)
{
	(void)state;
	assert_int_equal(hang_gap_times(2e9, 3), 6 * NS_PER_S);
	assert_int_equal(hang_gap_times(1e18, 1), UINT64_MAX / 2);
	assert_int_equal(hang_gap_times(1e300, 1e300), UINT64_MAX / 2);
}

static void only_ranks_that_live_and_do_not_serve_are_counted(void **state)
{
	(void)state;
	bool ended = true;
	assert_int_equal(hang_live_ranks(&p, &ended), 2);
	assert_false(ended);
	p.rank[0].seen.exited = true;
	assert_int_equal(hang_live_ranks(&p, &ended), 1);
	assert_true(ended);
	/* a launcher that has ended is not a rank that has ended */
	p.rank[0].serves = true;
	assert_int_equal(hang_live_ranks(&p, &ended), 1);
	assert_false(ended);
}

static void a_step_is_missed_after_ten_seconds_or_three_gaps(void **state)
{
	(void)state;
	p.gap_ns = 1e9;
	assert_int_equal(hang_missed_ns(&s, &p), 10 * NS_PER_S);
	p.gap_ns = 20e9;
	assert_int_equal(hang_missed_ns(&s, &p), 60 * NS_PER_S);
	s.has_after = true;
	s.after_ns = 90 * NS_PER_S;
	assert_int_equal(hang_missed_ns(&s, &p), 90 * NS_PER_S);
}

static void a_time_out_of_the_framework_makes_it_earlier_but_not_below_four_seconds(void **state)
{
	(void)state;
	p.timeout_ns = 18 * NS_PER_S;
	assert_int_equal(hang_missed_ns(&s, &p), 6 * NS_PER_S);
	p.timeout_ns = NS_PER_S;
	assert_int_equal(hang_missed_ns(&s, &p), 4 * NS_PER_S);
	p.timeout_ns = 3600 * NS_PER_S;
	assert_int_equal(hang_missed_ns(&s, &p), 10 * NS_PER_S);
}

static void a_missed_step_is_a_standstill_since_the_last_one(void **state)
{
	(void)state;
	moved(0, LIVENESS_READ, 0);
	moved(1, LIVENESS_READ, 0);
	stepped(9, 1);
	assert_int_equal(since(), 0);
	assert_string_equal(text, "");
	stepped(10, 1);
	assert_int_equal(since(), NOW - 10 * NS_PER_S);
	assert_string_equal(text, "no step for 10.0 s (usual: one in 1.0 s)");
	p.has_step_time = true; /* each look at the log brings three steps */
	p.step_time_ns = (double)NS_PER_S / 3;
	assert_int_equal(since(), NOW - 10 * NS_PER_S);
	assert_string_equal(text, "no step for 10.0 s (usual: one in 333 ms)");
}

static void without_steps_thirteen_seconds_of_silence_are_one(void **state)
{
	(void)state;
	moved(0, LIVENESS_READ, 12);
	assert_int_equal(since(), 0);
	moved(0, LIVENESS_READ, 13);
	assert_int_equal(since(), NOW - 13 * NS_PER_S);
	assert_string_equal(text, "nothing moved for 13.0 s");
}

static void once_a_rank_has_ended_ten_seconds_are_enough(void **state)
{
	(void)state;
	moved(0, LIVENESS_READ, 12);
	assert_int_equal(since(), 0);
	p.rank[1].seen.exited = true;
	assert_int_equal(since(), NOW - 12 * NS_PER_S);
}

static void a_given_time_holds_be_it_short_or_long(void **state)
{
	(void)state;
	s.has_after = true;
	s.after_ns = 5 * NS_PER_S;
	moved(0, LIVENESS_READ, 5);
	assert_int_equal(since(), NOW - 5 * NS_PER_S);
	s.after_ns = 60 * NS_PER_S;
	moved(0, LIVENESS_READ, 59);
	assert_int_equal(since(), 0);
}

static void processor_time_is_life_in_a_job_of_one_only(void **state)
{
	(void)state;
	moved(0, LIVENESS_CPU, 1);
	moved(1, LIVENESS_CPU, 1);
	assert_int_equal(since(), NOW - 500 * NS_PER_S);
	assert_string_equal(text, "nothing but processor time moved for 8 m 20 s");
	p.rank[0].works_ns = p.rank[1].works_ns = NOW - NS_PER_S;
	assert_int_equal(since(), NOW - 500 * NS_PER_S);
	p.n = 1;
	assert_int_equal(since(), 0);
}

static void a_little_processor_time_is_no_life_in_a_job_of_one_either(void **state)
{
	(void)state;
	p.n = 1;
	moved(0, LIVENESS_CPU, 1);
	p.rank[0].works_ns = NOW - 20 * NS_PER_S;
	assert_int_equal(since(), NOW - 20 * NS_PER_S);
	assert_string_equal(text, "nothing but processor time moved for 20.0 s");
}

static void the_text_names_what_moved_without_counting_as_life(void **state)
{
	(void)state;
	moved(0, LIVENESS_READ, 30);
	moved(0, LIVENESS_LOG_LINES, 2);
	since();
	assert_string_equal(text, "nothing but the log moved for 30.0 s");
	moved(1, LIVENESS_CPU, 2);
	since();
	assert_string_equal(text, "nothing but the log and processor time moved for 30.0 s");
	/* what moved before the standstill is not named */
	moved(0, LIVENESS_LOG_LINES, 31);
	moved(1, LIVENESS_CPU, 31);
	since();
	assert_string_equal(text, "nothing moved for 30.0 s");
}

static void a_network_card_that_moves_is_life(void **state)
{
	(void)state;
	moved(0, LIVENESS_READ, 100);
	p.rdma = (struct liveness_trace){.known = true, .moved_ns = NOW - 3 * NS_PER_S};
	assert_int_equal(since(), 0);
}

static void a_job_without_living_ranks_does_not_stand(void **state)
{
	(void)state;
	p.rank[0].seen.exited = p.rank[1].seen.exited = true;
	assert_int_equal(since(), 0);
}

/* Rank 1 is silent and makes no steps, rank 0 goes on. */
static void stalled(uint64_t ago_s)
{
	stepped(1, 1);
	for (size_t i = 0; i < 2; i++)
		p.rank[i].stepping = true;
	p.rank[0].step_ns = NOW - NS_PER_S;
	p.rank[1].step_ns = NOW - ago_s * NS_PER_S;
	moved(0, LIVENESS_READ, 0);
	moved(1, LIVENESS_READ, ago_s);
}

static void a_rank_that_stands_while_others_step_on_is_stalled_after_a_minute(void **state)
{
	(void)state;
	stalled(60);
	assert_null(hang_stalled_rank(&p));
	stalled(61);
	assert_ptr_equal(hang_stalled_rank(&p), &p.rank[1]);
	assert_int_equal(since(), NOW - 61 * NS_PER_S);
	assert_string_equal(text, "rank 1 has made no step for 1 m 01 s, others have");
}

static void a_rank_that_has_made_all_its_steps_or_shows_life_is_not_stalled(void **state)
{
	(void)state;
	stalled(200);
	p.rank[1].seen.progress = (struct liveness_progress){.has_total = true, .total = 100, .step = 100};
	assert_null(hang_stalled_rank(&p));
	p.rank[1].seen.progress.step = 99;
	assert_non_null(hang_stalled_rank(&p));
	moved(1, LIVENESS_CPU, 10);
	assert_null(hang_stalled_rank(&p));
}

/* Lines every 2 s over many minutes, the last so long ago. */
static void printed(size_t i, uint64_t ago_s)
{
	struct cadence *c = &p.rank[i].log;
	memset(c, 0, sizeof(*c));
	for (uint64_t at = 0; at <= 400; at += 2)
		cadence_lines(c, NOW - (ago_s + 400 - at) * NS_PER_S);
}

static void a_regular_log_that_is_silent_is_a_reason_where_no_steps_are_known(void **state)
{
	(void)state;
	double usual_s, missed_s;
	moved(0, LIVENESS_READ, 0);
	printed(0, 0);
	assert_true(cadence_known(&p.rank[0].log, &usual_s, &missed_s));
	printed(0, (uint64_t)missed_s - 1);
	assert_int_equal(hang_log_silent(&s, &p, &usual_s), 0);
	printed(0, (uint64_t)missed_s + 1);
	assert_int_equal(hang_log_silent(&s, &p, &usual_s), p.rank[0].log.last_ns);
	assert_float_equal(usual_s, 2, 0.1);
	assert_int_equal(since(), p.rank[0].log.last_ns);
	assert_non_null(strstr(text, "(usual: one in 2.0 s), and no steps are known"));
	/* steps are the better measure */
	stepped(1, 1);
	assert_int_equal(since(), 0);
	p.has_gap = false;
	s.rule = HANG_RULE_IO_GPU;
	assert_int_equal(hang_log_silent(&s, &p, &usual_s), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_given_time_replaces_the_usual_one),
		cmocka_unit_test(a_multiple_of_a_gap_does_not_overflow),
		cmocka_unit_test_setup(only_ranks_that_live_and_do_not_serve_are_counted, two_ranks),
		cmocka_unit_test_setup(a_step_is_missed_after_ten_seconds_or_three_gaps, two_ranks),
		cmocka_unit_test_setup(a_time_out_of_the_framework_makes_it_earlier_but_not_below_four_seconds,
				       two_ranks),
		cmocka_unit_test_setup(a_missed_step_is_a_standstill_since_the_last_one, two_ranks),
		cmocka_unit_test_setup(without_steps_thirteen_seconds_of_silence_are_one, two_ranks),
		cmocka_unit_test_setup(once_a_rank_has_ended_ten_seconds_are_enough, two_ranks),
		cmocka_unit_test_setup(a_given_time_holds_be_it_short_or_long, two_ranks),
		cmocka_unit_test_setup(processor_time_is_life_in_a_job_of_one_only, two_ranks),
		cmocka_unit_test_setup(a_little_processor_time_is_no_life_in_a_job_of_one_either, two_ranks),
		cmocka_unit_test_setup(the_text_names_what_moved_without_counting_as_life, two_ranks),
		cmocka_unit_test_setup(a_network_card_that_moves_is_life, two_ranks),
		cmocka_unit_test_setup(a_job_without_living_ranks_does_not_stand, two_ranks),
		cmocka_unit_test_setup(a_rank_that_stands_while_others_step_on_is_stalled_after_a_minute, two_ranks),
		cmocka_unit_test_setup(a_rank_that_has_made_all_its_steps_or_shows_life_is_not_stalled, two_ranks),
		cmocka_unit_test_setup(a_regular_log_that_is_silent_is_a_reason_where_no_steps_are_known, two_ranks),
	};
	return cmocka_run_group_tests_name("judge/hang/hang_standstill", tests, NULL, NULL);
}
