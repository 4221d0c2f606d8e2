/* What the first sample of a suspicion adds to the report of a job that ended before it was judged. */
#include "testing.h"

#include "base/buf.h"
#include "judge/hang/hang.h"

static struct incident in;
static struct hang_verdict glance;

static int ended_by_an_error(void **state)
{
	(void)state;
	in = (struct incident){
		.kind = INCIDENT_ERROR_EXIT, .summary = "rank 0 failed", .culprit_ranks = {0}, .n_culprits = 1};
	TEXT_COPY(in.cause.id, "python_exception");
	TEXT_COPY(in.cause.text, "RuntimeError: Timed out");
	in.cause.confidence = CONFIDENCE_HIGH;
	incident_advice_add(&in, "read the traceback");
	glance = (struct hang_verdict){.kind = HANG_HANG,
				       .id = "missing_rank",
				       .confidence = CONFIDENCE_HIGH,
				       .text = "Rank 3 sleeps.",
				       .culprits = {3},
				       .n_culprits = 1,
				       .advice = {"look at rank 3"},
				       .n_advice = 1,
				       .evidence = {{"stacks", "stacks of all ranks", "rank 3: sleep"}},
				       .n_evidence = 1};
	return 0;
}

static void words_for_a_wait_that_took_too_long_are_known(void **state)
{
	(void)state;
	static const char *const yes[] = {"Timed out waiting 20000ms", "Watchdog caught collective operation TIMEOUT",
					  "time-out", "a time out", "timeout", "ConnectTimeoutError"};
	static const char *const no[] = {"", "time", "timed", "out of time", "runtime output", "KeyError: 'lr'"};
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		assert_true(hang_says_time_out(yes[i]));
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		assert_false(hang_says_time_out(no[i]));
}

static void a_time_out_takes_the_cause_of_the_standstill_with_medium_confidence(void **state)
{
	(void)state;
	hang_ended(&glance, "no step for 30 s", 12 * NS_PER_S, &in);
	assert_string_equal(in.cause.id, "missing_rank");
	assert_int_equal(in.cause.confidence, CONFIDENCE_MEDIUM);
	assert_string_equal(in.cause.text,
			    "It hung before a time-out ended it. Rank 3 sleeps. Then: RuntimeError: Timed out");
	assert_string_equal(in.summary, "rank 0 failed. It hung before: rank 3 held up the others (missing_rank).");
	assert_true(in.n_culprits == 1 && in.culprit_ranks[0] == 3);
	assert_string_equal(in.cause.advice[0], "look at rank 3");
	assert_string_equal(in.cause.advice[1], "read the traceback");
	assert_string_equal(in.evidence[0].text,
			    "12.0 s before its end it stood still: no step for 30 s; Rank 3 sleeps.");
	assert_string_equal(in.evidence[1].text, "by its end alone: python_exception");
	assert_string_equal(in.evidence[2].text, "rank 3: sleep");
}

static void a_time_out_in_the_log_or_an_error_file_counts_as_well(void **state)
{
	(void)state;
	TEXT_COPY(in.cause.text, "RuntimeError: NCCL error");
	incident_evidence_add(&in, "kmsg", "", 0, "link timeout");
	hang_ended(&glance, "", 0, &in);
	assert_string_equal(in.cause.id, "python_exception");
	incident_evidence_add(&in, "error_file", "", 0, "rank 1: Timed out");
	hang_ended(&glance, "", 0, &in);
	assert_string_equal(in.cause.id, "missing_rank");
}

static void a_kill_for_memory_is_no_time_out(void **state)
{
	(void)state;
	in.kind = INCIDENT_KERNEL_OOM;
	hang_ended(&glance, "", 0, &in);
	assert_string_equal(in.cause.id, "python_exception");
	in.kind = INCIDENT_PEER_LOST;
	hang_ended(&glance, "", 0, &in);
	assert_string_equal(in.cause.id, "missing_rank");
}

static void without_culprits_the_summary_stays(void **state)
{
	(void)state;
	glance.n_culprits = 0;
	hang_ended(&glance, "", 0, &in);
	assert_string_equal(in.summary, "rank 0 failed");
	assert_int_equal(in.n_culprits, 0);
}

static void the_last_stacks_are_evidence_for_each_rank(void **state)
{
	(void)state;
	char all_reduce[] = "all_reduce",
	     file[] = "/usr/lib/python3/site-packages/torch/distributed/distributed_c10d.py";
	struct dump_frame frame = {.kind = FRAME_PYTHON, .name = all_reduce, .file = file, .line = 1};
	struct dump_thread waits = {.tid = 1, .main = true, .has_python = true, .frames = &frame, .n_frames = 1};
	struct dump_thread unknown = {.tid = 2, .main = true};
	struct dump_process processes[] = {
		{.pid = 1, .rank = 0, .threads = &waits, .n_threads = 1},
		{.pid = 2, .rank = 1, .threads = &unknown, .n_threads = 1},
		{.pid = 3, .rank = NO_RANK, .threads = &unknown, .n_threads = 1},
		{.pid = 4, .rank = 2},
	};
	struct stackdump d = {.captured_unix_ms = 77, .processes = processes, .n = ARRAY_SIZE(processes)};
	hang_last_stacks(&d, &in);
	assert_int_equal(in.n_evidence, 2);
	assert_string_equal(in.evidence[0].kind, "stacks");
	assert_int_equal(in.evidence[0].time_unix_ms, 77);
	assert_non_null(strstr(in.evidence[0].text, "rank 0: all_reduce"));
	assert_non_null(strstr(in.evidence[0].text, "; it waits for other ranks"));
	assert_string_equal(in.evidence[1].text, "rank 1: at a place that could not be named");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_for_a_wait_that_took_too_long_are_known),
		cmocka_unit_test_setup(a_time_out_takes_the_cause_of_the_standstill_with_medium_confidence,
				       ended_by_an_error),
		cmocka_unit_test_setup(a_time_out_in_the_log_or_an_error_file_counts_as_well, ended_by_an_error),
		cmocka_unit_test_setup(a_kill_for_memory_is_no_time_out, ended_by_an_error),
		cmocka_unit_test_setup(without_culprits_the_summary_stays, ended_by_an_error),
		cmocka_unit_test_setup(the_last_stacks_are_evidence_for_each_rank, ended_by_an_error),
	};
	return cmocka_run_group_tests_name("judge/hang/hang_end", tests, NULL, NULL);
}
