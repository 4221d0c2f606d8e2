/* What the guard or the kernel saw at a kill, between two looks of the sampler. */
#include "testing.h"

#include "sense/rank.h"
#include "tell/jobs/killpoint.h"

#define AT INT64_C(1000003864)

static struct incident in; /* large */
static struct killpoint k;
static struct killpoints kills;
static struct series_record record;
static struct killwalk w;

static void candidate(int32_t rank, uint64_t mib)
{
	in.candidates[in.n_candidates++] = (struct incident_candidate){.rank = rank, .own_bytes = mib * MIB};
}

static int begin(void **state)
{
	(void)state;
	in = (struct incident){.kind = INCIDENT_MEMORY_KILL, .time_unix_ms = AT, .attempt = 1};
	in.victim.valid = in.victim.has_memory = in.memory.valid = in.action.valid = true;
	in.victim.rank = 2;
	in.victim.pid = 42;
	in.victim.own_bytes = 247 * MIB;
	in.memory.scope = MEMORY_SCOPE_JOB;
	in.memory.used_bytes = 475 * MIB;
	in.action.kill_us = 1804;
	in.action.dead_us = 46481;
	in.action.freed_us = 50799;
	kills.n = 0;
	w = (struct killwalk){.kills = &kills};
	record.kind = SERIES_SAMPLE;
	record.sample = (struct series_sample){.time_unix_ms = AT - 859,
				      .mono_ns = 5 * NS_PER_S,
				      .attempt = 1,
				      .job_bytes = 401 * MIB,
				      .n_lanes = 3,
				      .lane = {{.rank = 0, .own_bytes = 61 * MIB},
					       {.rank = 2, .own_bytes = 209 * MIB},
					       {.rank = NO_RANK, .own_bytes = 4 * MIB}}};
	return 0;
}

/* What is told of this incident behind the look before it. */
static void walk(void)
{
	assert_true(killpoint_of(&in, &kills.of[kills.n++]));
	killwalk_record(&w, &record);
	assert_false(killwalk_next(&w, AT - 500));
	assert_true(killwalk_next(&w, AT + 1000));
	assert_false(killwalk_next(&w, INT64_MAX));
}

static void by_the_kernel(int64_t seen_later_ms)
{
	in.kind = INCIDENT_CGROUP_OOM;
	in.action.valid = in.memory.valid = false;
	in.time_unix_ms = AT + seen_later_ms;
	in.evidence[in.n_evidence++] = (struct incident_evidence){.kind = "cgroup"};
	in.evidence[in.n_evidence++] = (struct incident_evidence){.kind = "kmsg", .time_unix_ms = AT};
}

static void the_peak_is_told_at_the_decision_and_gone_with_the_victim(void **state)
{
	(void)state;
	candidate(2, 247);
	candidate(0, 70);
	candidate(0, 4);
	candidate(NO_RANK, 3);
	walk();
	assert_int_equal(w.at.time_unix_ms, AT);
	assert_int_equal(w.at.mono_ns, record.sample.mono_ns + 859 * NS_PER_MS);
	assert_int_equal(w.at.job_bytes, 475 * MIB);
	assert_int_equal(w.at.lane[0].own_bytes, 74 * MIB);
	assert_int_equal(w.at.lane[1].own_bytes, 247 * MIB);
	assert_int_equal(w.at.lane[2].own_bytes, 4 * MIB);
	assert_int_equal(w.after.time_unix_ms, AT + 51);
	assert_int_equal(w.after.lane[0].own_bytes, 74 * MIB);
	assert_int_equal(w.after.lane[1].own_bytes, 0);
	assert_int_equal(w.after.job_bytes, (475 - 247) * MIB);
}

static void a_job_without_ranks_has_its_large_processes(void **state)
{
	(void)state;
	killwalk_record(&w, &record);
	record.kind = SERIES_BULK;
	record.bulk = (struct series_bulk){.n = 2,
					   .of = {{.pid = 42, .own_bytes = 266 * MIB}, {.pid = 43, .own_bytes = MIB}}};
	in.victim.rank = NO_RANK;
	in.victim.own_bytes = 285 * MIB;
	walk();
	assert_int_equal(w.bulk_at.n, 2);
	assert_int_equal(w.bulk_at.mono_ns, w.at.mono_ns);
	assert_int_equal(w.bulk_at.of[0].own_bytes, 285 * MIB);
	assert_int_equal(w.bulk_after.n, 1);
	assert_int_equal(w.bulk_after.of[0].pid, 43);
}

static void a_kill_by_the_kernel_is_told_at_the_time_in_its_log(void **state)
{
	(void)state;
	by_the_kernel(40);
	walk();
	assert_int_equal(w.at.time_unix_ms, AT);
	assert_int_equal(w.at.lane[1].own_bytes, 247 * MIB);
	assert_int_equal(w.at.job_bytes, (401 + 247 - 209) * MIB);
	assert_int_equal(w.after.time_unix_ms, AT + 1);
	assert_int_equal(w.after.lane[1].own_bytes, 0);
	assert_int_equal(w.after.lane[0].own_bytes, 61 * MIB);
	assert_int_equal(w.after.job_bytes, (401 - 209) * MIB);
}

static void who_is_told_apart_leaves_the_others_of_its_lane(void **state)
{
	(void)state;
	by_the_kernel(0);
	in.victim.rank = NO_RANK;
	record.sample.lane[2].own_bytes = 300 * MIB;
	killwalk_record(&w, &record);
	record.kind = SERIES_BULK;
	record.bulk = (struct series_bulk){.n = 1, .of = {{.pid = 42, .own_bytes = 200 * MIB}}};
	walk();
	assert_int_equal(w.at.lane[2].own_bytes, 347 * MIB);
	assert_int_equal(w.after.lane[2].own_bytes, 100 * MIB);
}

static void a_kill_of_the_kernels_without_numbers_has_no_look(void **state)
{
	(void)state;
	by_the_kernel(0);
	in.victim.has_memory = false;
	assert_false(killpoint_of(&in, &k));
}

static void a_rank_that_was_never_sampled_has_its_lane(void **state)
{
	(void)state;
	in.victim.rank = 7;
	walk();
	assert_int_equal(w.at.n_lanes, 4);
	assert_int_equal(w.at.lane[3].rank, 7);
	assert_int_equal(w.at.lane[3].own_bytes, 247 * MIB);
}

static void what_is_no_kill_has_no_look(void **state)
{
	(void)state;
	in.kind = INCIDENT_CRASH;
	assert_false(killpoint_of(&in, &k));
	in.kind = INCIDENT_MEMORY_KILL;
	in.action.kill_us = 0;
	assert_false(killpoint_of(&in, &k));
	in.action.kill_us = 1;
	in.victim.has_memory = false;
	assert_false(killpoint_of(&in, &k));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_peak_is_told_at_the_decision_and_gone_with_the_victim, begin),
		cmocka_unit_test_setup(a_job_without_ranks_has_its_large_processes, begin),
		cmocka_unit_test_setup(a_kill_by_the_kernel_is_told_at_the_time_in_its_log, begin),
		cmocka_unit_test_setup(who_is_told_apart_leaves_the_others_of_its_lane, begin),
		cmocka_unit_test_setup(a_kill_of_the_kernels_without_numbers_has_no_look, begin),
		cmocka_unit_test_setup(a_rank_that_was_never_sampled_has_its_lane, begin),
		cmocka_unit_test_setup(what_is_no_kill_has_no_look, begin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
