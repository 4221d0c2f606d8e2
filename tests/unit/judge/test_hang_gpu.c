/* The rule io-gpu: when it suspects, and what it makes of a verdict. */
#include "testing.h"

#include "base/buf.h"
#include "judge/hang/hang_parts.h"

static struct liveness_set p;
static struct hang_settings s;
static struct hang_history m;
static char text[200];

/* One rank whose IO can be read, first seen at 1000 s. */
static int one_rank(void **state)
{
	(void)state;
	memset(&p, 0, sizeof(p));
	memset(&m, 0, sizeof(m));
	s = (struct hang_settings){.rule = HANG_RULE_IO_GPU, .has_after = true, .after_ns = 100 * NS_PER_S};
	p.now_ns = 1000 * NS_PER_S;
	p.n = 1;
	p.rank[0] = (struct liveness){.seen.rank = 0, .seen.has = 1u << LIVENESS_IO_ALL};
	return 0;
}

static uint64_t check(void)
{
	return hang_io_gpu(&m, &s, &p, text, sizeof(text));
}

/* Checks once a second; busy: percent, or negative without a device. The first non-zero answer, or 0. */
static uint64_t run(uint64_t seconds, double busy)
{
	for (uint64_t i = 0; i < seconds; i++) {
		p.now_ns += NS_PER_S;
		p.rank[0].seen.gpu_has = busy < 0 ? 0 : 1u << LIVENESS_GPU_BUSY;
		p.rank[0].seen.gpu[LIVENESS_GPU_BUSY] = busy;
		uint64_t since = check();
		if (since)
			return since;
	}
	return 0;
}

static void a_job_without_devices_is_suspected_when_no_io_changed_for_the_whole_time(void **state)
{
	(void)state;
	assert_int_equal(check(), 0);
	assert_int_equal(run(99, -1), 0);
	assert_int_equal(run(1, -1), 1000 * NS_PER_S);
	assert_string_equal(text, "no IO of any process for 1 m 40 s, and no GPU to look at");
}

static void io_that_changes_begins_the_time_anew(void **state)
{
	(void)state;
	check();
	assert_int_equal(run(90, -1), 0);
	p.rank[0].seen.count[LIVENESS_IO_ALL]++;
	assert_int_equal(run(100, -1), 0);
	assert_int_equal(run(1, -1), 1091 * NS_PER_S);
}

static void a_process_that_comes_counts_as_a_change(void **state)
{
	(void)state;
	check();
	assert_int_equal(run(90, -1), 0);
	p.rank[0].seen.n_come++;
	assert_int_equal(run(100, -1), 0);
}

static void without_any_readable_io_nothing_is_suspected(void **state)
{
	(void)state;
	p.rank[0].seen.has = 0;
	check();
	assert_int_equal(run(500, -1), 0);
}

static void the_default_time_is_half_an_hour(void **state)
{
	(void)state;
	s.has_after = false;
	check();
	assert_int_equal(run(1799, -1), 0);
	assert_true(run(1, -1) > 0);
}

static void with_devices_their_use_is_compared_over_a_minute_more(void **state)
{
	(void)state;
	check();
	assert_int_equal(run(159, 97), 0);
	assert_true(m.util_ns > 0);
	assert_int_equal(run(2, 97), 1000 * NS_PER_S);
	assert_non_null(strstr(text, "and the use of the GPUs does not change"));
}

static void use_that_changes_is_no_hang(void **state)
{
	(void)state;
	check();
	run(100, 0);
	for (int i = 0; i < 200; i++)
		assert_int_equal(run(1, i % 2 ? 90 : 10), 0);
}

static void use_that_drifts_by_its_median_is_no_hang(void **state)
{
	(void)state;
	check();
	assert_int_equal(run(130, 50), 0);
	assert_int_equal(run(31, 53), 0);
}

static void a_driver_that_stops_answering_proves_nothing(void **state)
{
	(void)state;
	check();
	assert_int_equal(run(120, 97), 0);
	assert_int_equal(run(300, -1), 0);
	assert_true(m.util_seen);
}

/* The verdict after the evidence was judged, with this text and kind before. */
static struct hang_verdict judged(enum hang_kind kind, bool benign, const char *was)
{
	static struct hang_verdict v;
	static struct hang_case c;
	static struct hang_work w;
	v = (struct hang_verdict){.kind = kind, .benign = benign, .again_ns = 7, .confidence = CONFIDENCE_HIGH};
	TEXT_COPY(v.text, was);
	TEXT_COPY(v.id, kind == HANG_NONE ? "" : "dead_rank");
	w = (struct hang_work){.s = &s, .m = &m, .c = &c, .p = &p, .v = &v, .standstill_ns = 1800 * NS_PER_S};
	hang_io_gpu_judge(&w);
	return v;
}

static void a_benign_standstill_is_an_alarm_that_says_so(void **state)
{
	(void)state;
	struct hang_verdict v = judged(HANG_NONE, true, "idle by design: time.sleep(3600)");
	assert_int_equal(v.kind, HANG_HANG);
	assert_string_equal(v.id, "io_gpu_idle");
	assert_int_equal(v.confidence, CONFIDENCE_LOW);
	assert_false(v.benign);
	assert_int_equal(v.again_ns, 0);
	assert_non_null(
		strstr(v.text, "the evidence says that it may stand still (idle by design: time.sleep(3600))."));
	assert_int_equal(v.n_advice, 1);
}

static void a_cause_by_evidence_keeps_its_name_and_confidence(void **state)
{
	(void)state;
	struct hang_verdict v = judged(HANG_HANG, false, "Rank 1 has ended.");
	assert_string_equal(v.id, "dead_rank");
	assert_int_equal(v.confidence, CONFIDENCE_HIGH);
	assert_string_equal(v.text,
			    "By the rule io-gpu: the IO of no process has changed for 30 m 00 s, and there is no GPU "
			    "whose use could. Rank 1 has ended.");
	p.rank[0].seen.gpu_has = 1u << LIVENESS_GPU_BUSY;
	p.rank[0].seen.gpu_by = GPU_BY_OPEN;
	v = judged(HANG_HANG, false, "");
	assert_non_null(strstr(v.text, "(which GPUs are the job's is known by their device files)."));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_job_without_devices_is_suspected_when_no_io_changed_for_the_whole_time,
				       one_rank),
		cmocka_unit_test_setup(io_that_changes_begins_the_time_anew, one_rank),
		cmocka_unit_test_setup(a_process_that_comes_counts_as_a_change, one_rank),
		cmocka_unit_test_setup(without_any_readable_io_nothing_is_suspected, one_rank),
		cmocka_unit_test_setup(the_default_time_is_half_an_hour, one_rank),
		cmocka_unit_test_setup(with_devices_their_use_is_compared_over_a_minute_more, one_rank),
		cmocka_unit_test_setup(use_that_changes_is_no_hang, one_rank),
		cmocka_unit_test_setup(use_that_drifts_by_its_median_is_no_hang, one_rank),
		cmocka_unit_test_setup(a_driver_that_stops_answering_proves_nothing, one_rank),
		cmocka_unit_test_setup(a_benign_standstill_is_an_alarm_that_says_so, one_rank),
		cmocka_unit_test_setup(a_cause_by_evidence_keeps_its_name_and_confidence, one_rank),
	};
	return cmocka_run_group_tests_name("judge/hang/hang_io_gpu", tests, NULL, NULL);
}
