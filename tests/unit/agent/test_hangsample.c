#include "testing.h"

#include "agent/hang/hangsample.h"
#include "agent/hang/hangshares.h"
#include "made_world.h"

static struct made_world made;
static struct procstats *procstats;
static struct hangsample sample;
static struct hang_job job;
static struct liveness_sample seen;

static struct made_process rank0 = {
	.pid = 71, .ppid = 70, .start_ticks = 110, .comm = "python", .command = "python train.py", .environ = "RANK=0"};

static int begin(void **state)
{
	(void)state;
	made_begin(&made);
	made_folder(&made, "log");
	made_write(&made, "log/rank-0.out", "start\n", 6);
	made_process(&made, &(struct made_process){.pid = 70, .ppid = 1, .comm = "vigil", .children = "71"});
	made_process(&made, &rank0);
	procstats = procstats_new(&made.w, 0); /* no file stays open: it would show the state before */
	assert_true(hangsample_init(&sample, procstats, NULL));
	job = (struct hang_job){.active = true, .root = 70, .started_ns = made_now_ns, .n_ranks = 2};
	job.rank[0] = (struct hang_rank){.pid = 71, .start_ticks = 110, .rank = 0};
	job.rank[1] = (struct hang_rank){
		.pid = 72, .start_ticks = 110, .rank = 1, .ended = true, .has_status = true, .wait_status = 9};
	TEXT_FORMAT(job.log_dir, "%s/log", made.dir);
	hangsample_begin(&sample, &job);
	return 0;
}

static int end(void **state)
{
	(void)state;
	hangprocs_free(sample.procs);
	hanglogs_free(sample.logs);
	free(sample.use[0]);
	free(sample.use[1]);
	procstats = procstats_free(procstats);
	made_end(&made);
	return 0;
}

static const struct liveness_counters *sampled(int32_t rank)
{
	uint64_t thread_ns = NS_PER_S;
	made_now_ns += NS_PER_S;
	hangsample_take(&sample, &made.w, &job, HANGSAMPLE_NORMAL, &thread_ns, NULL, &seen);
	for (size_t i = 0; i < seen.n; i++)
		if (seen.rank[i].rank == rank)
			return &seen.rank[i];
	fail_msg("no rank %d", rank);
	return NULL;
}

static void a_rank_has_its_process_its_age_and_its_log(void **state)
{
	(void)state;
	const struct liveness_counters *c = sampled(0);
	assert_int_equal(c->pid, 71);
	assert_int_equal(c->state, 'S');
	assert_int_equal(c->processes, 1);
	assert_false(c->exited);
	assert_true(seen.job_age_ns == NS_PER_S);
	assert_true(c->has & 1u << LIVENESS_LOG_BYTES);
	uint64_t before = c->count[LIVENESS_LOG_BYTES];
	made_write(&made, "log/rank-0.out", "start\nmore\n", 11);
	assert_true(sampled(0)->count[LIVENESS_LOG_BYTES] >= before);
}

static void processor_time_is_added_up_over_processes(void **state)
{
	(void)state;
	uint64_t first = sampled(0)->count[LIVENESS_CPU];
	struct made_process busy = rank0;
	busy.cpu_ticks = 300;
	made_process(&made, &busy);
	assert_true(sampled(0)->count[LIVENESS_CPU] - first == 3 * NS_PER_S);
}

static void a_rank_that_ended_before_the_first_sample_is_one(void **state)
{
	(void)state;
	const struct liveness_counters *c = sampled(1);
	assert_true(c->exited && c->has_status);
	assert_int_equal(c->pid, 72);
	assert_int_equal(c->wait_status, 9);
}

static void a_process_that_ends_is_counted_and_named(void **state)
{
	(void)state;
	assert_int_equal(sampled(0)->n_gone, 0);
	made_gone(&made, 71);
	const struct liveness_counters *c = sampled(0);
	assert_int_equal(c->n_gone, 1);
	assert_true(c->exited);
	assert_int_equal(c->pid, 71);
	assert_int_equal(sampled(0)->n_gone, 1);
}

static void how_it_ended_is_taken_from_who_was_told(void **state)
{
	(void)state;
	static struct hang_respawns told;
	told = (struct hang_respawns){.n_ends = HANG_ENDS + 2};
	told.end[0] = (struct hang_end){.pid = 71, .start_ticks = 110, .wait_status = 256, .time_unix_ms = 5};
	told.end[1] = (struct hang_end){.pid = 71, .start_ticks = 109, .wait_status = 9, .time_unix_ms = 6};
	sample.ends = &told;
	(void)sampled(0);
	made_gone(&made, 71);
	const struct liveness_counters *c = sampled(0);
	assert_true(c->exited && c->has_status);
	assert_int_equal(c->wait_status, 256);
	assert_int_equal(c->ended_unix_ms, 5);
	told.n_ends = 0;
	assert_true(sampled(0)->has_status);
}

static void what_was_told_of_another_attempt_does_not_count(void **state)
{
	(void)state;
	static struct hang_respawns told;
	told = (struct hang_respawns){.attempt = 1, .n_ends = 1};
	told.end[0] = (struct hang_end){.pid = 71, .start_ticks = 110, .wait_status = 256, .time_unix_ms = 5};
	sample.ends = &told;
	(void)sampled(0);
	made_gone(&made, 71);
	assert_false(sampled(0)->has_status);
}

static void another_attempt_begins_at_zero(void **state)
{
	(void)state;
	(void)sampled(0);
	made_gone(&made, 71);
	(void)sampled(0);
	hangsample_begin(&sample, &job);
	assert_int_equal(sample.n_lanes, 0);
	made_process(&made, &rank0);
	const struct liveness_counters *c = sampled(0);
	assert_int_equal(c->n_gone, 0);
	assert_false(c->exited);
}

/* Processes of a made world have no memory to read: each is left out, and no sample is counted. */
static void shares_of_processes_that_cannot_be_read_are_empty(void **state)
{
	(void)state;
	static struct waitshare to;
	(void)sampled(0);
	struct hangshares *s = hangshares_new(&made.w, sample.procs, NULL);
	assert_non_null(s);
	made_gone(&made, 71);
	hangshares_sample(s, sample.procs, &to);
	assert_int_equal(to.n, 0);
	assert_int_equal(to.samples, 0);
	assert_null(hangshares_free(s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_rank_has_its_process_its_age_and_its_log, begin, end),
		cmocka_unit_test_setup_teardown(processor_time_is_added_up_over_processes, begin, end),
		cmocka_unit_test_setup_teardown(a_rank_that_ended_before_the_first_sample_is_one, begin, end),
		cmocka_unit_test_setup_teardown(a_process_that_ends_is_counted_and_named, begin, end),
		cmocka_unit_test_setup_teardown(how_it_ended_is_taken_from_who_was_told, begin, end),
		cmocka_unit_test_setup_teardown(what_was_told_of_another_attempt_does_not_count, begin, end),
		cmocka_unit_test_setup_teardown(another_attempt_begins_at_zero, begin, end),
		cmocka_unit_test_setup_teardown(shares_of_processes_that_cannot_be_read_are_empty, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
