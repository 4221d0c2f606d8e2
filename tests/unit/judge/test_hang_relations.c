/* What the parts of the hang judge ask about a rank, and how long each kind of proof has to wait. */
#include "testing.h"

#include "base/units.h"
#include "judge/standstill/hang_ask.h"

static struct liveness_set p;
static struct hang_settings s;
static struct hang_history m;
static struct hang_verdict v;
static struct hang_case c;
static struct hang_work w;

#define NOW (1000 * NS_PER_S)

static int two_ranks(void **state)
{
	(void)state;
	memset(&p, 0, sizeof(p));
	memset(&s, 0, sizeof(s));
	memset(&v, 0, sizeof(v));
	memset(&c, 0, sizeof(c));
	p.now_ns = NOW;
	p.n = 2;
	for (int32_t i = 0; i < 2; i++)
		p.rank[i] = (struct liveness){.rank = i, .seen.rank = i};
	w = (struct hang_work){.s = &s, .m = &m, .c = &c, .p = &p, .v = &v, .many = true};
	w.g.n = 2;
	for (int32_t i = 0; i < 2; i++)
		w.g.rank[i] = (struct stackgroup_rank){
			.rank = i, .has_stack = true, .compared = true, .unchanged = true, .idle = true};
	return 0;
}

/* The least standstill, in whole seconds, at which a proof is old enough. */
static uint64_t least_s(enum hang_proof proof)
{
	for (uint64_t at_s = 0; at_s < 10000; at_s++) {
		w.standstill_ns = at_s * NS_PER_S;
		if (hang_old_enough(&w, proof))
			return at_s;
	}
	return UINT64_MAX;
}

static void each_proof_has_its_own_least_time(void **state)
{
	(void)state;
	assert_int_equal(least_s(HANG_CERTAIN), 10);
	assert_int_equal(least_s(HANG_FIRM), 40);
	assert_int_equal(least_s(HANG_VAGUE), 120);
	w.first_step = true;
	assert_int_equal(least_s(HANG_VAGUE), 300);
	w.stepping = true;
	assert_int_equal(least_s(HANG_CERTAIN), 10);
	assert_int_equal(least_s(HANG_FIRM), 25);
	assert_int_equal(least_s(HANG_VAGUE), 60);
}

static void long_steps_need_more_of_them(void **state)
{
	(void)state;
	w.stepping = true;
	w.gap_ns = 30e9;
	assert_int_equal(least_s(HANG_FIRM), 90);
	assert_int_equal(least_s(HANG_VAGUE), 150);
}

static void a_given_time_replaces_all_of_them_but_not_three_gaps(void **state)
{
	(void)state;
	s.has_after = true;
	s.after_ns = 7 * NS_PER_S;
	assert_int_equal(least_s(HANG_CERTAIN), 7);
	assert_int_equal(least_s(HANG_VAGUE), 7);
	w.stepping = true;
	w.gap_ns = 10e9;
	assert_int_equal(least_s(HANG_CERTAIN), 30);
}

static void the_rule_io_gpu_waits_for_no_proof(void **state)
{
	(void)state;
	s.rule = HANG_RULE_IO_GPU;
	assert_int_equal(least_s(HANG_VAGUE), 0);
}

static void a_young_proof_takes_the_verdict_back_and_says_when_to_ask_again(void **state)
{
	(void)state;
	hang_is(&w, "dead_rank", CONFIDENCE_HIGH);
	hang_accuse(&w, 1);
	w.standstill_ns = 4 * NS_PER_S;
	assert_false(hang_old_enough(&w, HANG_CERTAIN));
	assert_int_equal(v.kind, HANG_NONE);
	assert_string_equal(v.id, "");
	assert_int_equal(v.n_culprits, 0);
	assert_int_equal(v.again_ns, 6 * NS_PER_S);
	w.standstill_ns = 10 * NS_PER_S - 1;
	assert_false(hang_old_enough(&w, HANG_CERTAIN));
	assert_int_equal(v.again_ns, NS_PER_S);
}

static void a_gpu_works_if_it_did_within_five_seconds(void **state)
{
	(void)state;
	p.rank[1].gpu_alive_ns = NOW - 5 * NS_PER_S + 1;
	assert_false(hang_gpu_works(&w, 1));
	p.rank[1].gpu_known = true;
	assert_true(hang_gpu_works(&w, 1));
	p.rank[1].gpu_alive_ns--;
	assert_false(hang_gpu_works(&w, 1));
	assert_false(hang_gpu_works(&w, 7));
}

static void time_without_a_processor_is_a_share_of_a_second(void **state)
{
	(void)state;
	assert_float_equal(hang_queues(&w, 0), 0, 0);
	p.rank[0].trace[LIVENESS_RUN_WAIT] = (struct liveness_trace){.known = true, .rate = 0.25e9};
	assert_float_equal(hang_queues(&w, 0), 0.25, 1e-9);
	assert_float_equal(hang_queues(&w, 9), 0, 0);
}

static void a_wait_for_the_device_is_one_for_the_others_in_a_job_of_many(void **state)
{
	(void)state;
	struct stackgroup_rank *r = &w.g.rank[0];
	r->activity.kind = ACTIVITY_COLLECTIVE;
	assert_true(hang_waits(&w, r));
	r->activity.kind = ACTIVITY_SLEEP;
	assert_false(hang_waits(&w, r));
	r->activity.kind = ACTIVITY_GPU_SYNC;
	assert_true(hang_waits(&w, r));
	w.many = false;
	assert_false(hang_waits(&w, r));
	w.many = true;
	p.rank[0].gpu_known = true;
	p.rank[0].gpu_alive_ns = NOW;
	assert_false(hang_waits(&w, r));
}

static void a_rank_works_by_its_stack_its_cores_its_bytes_or_its_gpu(void **state)
{
	(void)state;
	struct stackgroup_rank *r = &w.g.rank[0];
	assert_false(hang_works(&w, r));
	r->idle = false;
	r->cores = 0.19;
	assert_false(hang_works(&w, r));
	r->cores = 0.2;
	assert_true(hang_works(&w, r));
	r->cores = 0;
	r->unchanged = false;
	assert_true(hang_works(&w, r));
	r->idle = true;
	assert_false(hang_works(&w, r));
	p.rank[0].trace[LIVENESS_WRITTEN] = (struct liveness_trace){.known = true, .ever_moved = true, .moved_ns = NOW};
	assert_true(hang_works(&w, r));
}

static void without_a_second_dump_processor_time_is_work(void **state)
{
	(void)state;
	struct stackgroup_rank *r = &w.g.rank[0];
	p.rank[0].trace[LIVENESS_CPU] = (struct liveness_trace){.known = true, .ever_moved = true, .moved_ns = NOW};
	assert_false(hang_works(&w, r));
	r->compared = false;
	assert_true(hang_works(&w, r));
}

static void the_culprit_is_the_first_that_may_not_stand_there(void **state)
{
	(void)state;
	assert_null(hang_culprit(&w));
	w.n_blocking = 2;
	w.blocking[1] = 1;
	w.benign[0] = true;
	assert_ptr_equal(hang_culprit(&w), &w.g.rank[1]);
	w.benign[1] = true;
	assert_null(hang_culprit(&w));
}

static void all_are_still_when_each_was_seen_twice_unchanged_and_idle(void **state)
{
	(void)state;
	assert_false(hang_all_still(&w));
	c.n_dumps = 2;
	assert_true(hang_all_still(&w));
	w.g.rank[1].idle = false;
	assert_false(hang_all_still(&w));
	/* a wait may spin */
	w.g.rank[1].activity.kind = ACTIVITY_COLLECTIVE;
	assert_true(hang_all_still(&w));
	assert_ptr_equal(hang_first_waiting(&w), &w.g.rank[1]);
	w.g.rank[0].unchanged = false;
	assert_false(hang_all_still(&w));
	w.g.rank[0].unchanged = true;
	w.g.n = 1;
	assert_false(hang_all_still(&w));
	p.rank[1].seen.exited = true;
	assert_true(hang_all_still(&w));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_proof_has_its_own_least_time, two_ranks),
		cmocka_unit_test_setup(long_steps_need_more_of_them, two_ranks),
		cmocka_unit_test_setup(a_given_time_replaces_all_of_them_but_not_three_gaps, two_ranks),
		cmocka_unit_test_setup(the_rule_io_gpu_waits_for_no_proof, two_ranks),
		cmocka_unit_test_setup(a_young_proof_takes_the_verdict_back_and_says_when_to_ask_again, two_ranks),
		cmocka_unit_test_setup(a_gpu_works_if_it_did_within_five_seconds, two_ranks),
		cmocka_unit_test_setup(time_without_a_processor_is_a_share_of_a_second, two_ranks),
		cmocka_unit_test_setup(a_wait_for_the_device_is_one_for_the_others_in_a_job_of_many, two_ranks),
		cmocka_unit_test_setup(a_rank_works_by_its_stack_its_cores_its_bytes_or_its_gpu, two_ranks),
		cmocka_unit_test_setup(without_a_second_dump_processor_time_is_work, two_ranks),
		cmocka_unit_test_setup(the_culprit_is_the_first_that_may_not_stand_there, two_ranks),
		cmocka_unit_test_setup(all_are_still_when_each_was_seen_twice_unchanged_and_idle, two_ranks),
	};
	return cmocka_run_group_tests_name("judge/hang/hang_relations", tests, NULL, NULL);
}
