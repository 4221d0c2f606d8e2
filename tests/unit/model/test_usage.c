#include "testing.h"

#include "model/jobs/usage.h"

/* One that was waited for has had page faults. */
static struct usage_process process(pid_t pid, pid_t ppid, int32_t rank, uint64_t cpu, uint64_t reaped)
{
	return (struct usage_process){.pid = pid,
				      .ppid = ppid,
				      .start_ticks = (uint64_t)pid * 10,
				      .rank = rank,
				      .young = true,
				      .has_io = true,
				      .cpu_ns = cpu,
				      .reaped_cpu_ns = reaped,
				      .reaped_faults = reaped,
				      .own_bytes = 100,
				      .rss_bytes = 300};
}

static const struct usage_lane *lane(const struct usage *u, int32_t rank)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->lane[i].rank == rank)
			return &u->lane[i];
	fail_msg("no lane of rank %d", rank);
	return NULL;
}

static void what_a_process_used_since_the_last_look_is_counted(void **state)
{
	(void)state;
	struct usage u = {.n = 0};
	const struct usage_process was[] = {process(5, 1, 0, 1000, 0)}, now[] = {process(5, 1, 0, 1700, 0)};
	usage_step(&u, NULL, 0, was, 1);
	assert_int_equal(lane(&u, 0)->cpu_ns, 1000);
	usage_step(&u, was, 1, now, 1);
	assert_int_equal(lane(&u, 0)->cpu_ns, 1700);
	assert_int_equal(lane(&u, 0)->own_bytes, 100);
	assert_int_equal(lane(&u, 0)->processes, 1);
	assert_int_equal(usage_cpu_ns(&u), 1700);
}

static void what_was_used_before_the_job_was_watched_is_not_counted(void **state)
{
	(void)state;
	struct usage u = {.n = 0};
	struct usage_process old = process(5, 1, NO_RANK, 1000, 500);
	old.young = false;
	old.io_bytes[USAGE_READ] = 4096;
	usage_step(&u, NULL, 0, &old, 1);
	assert_int_equal(lane(&u, NO_RANK)->cpu_ns, 0);
	assert_int_equal(lane(&u, NO_RANK)->io_bytes[USAGE_READ], 0);
}

static void a_child_that_was_waited_for_is_counted_once_with_its_last_moments(void **state)
{
	(void)state;
	struct usage u = {.n = 0};
	const struct usage_process was[] = {process(5, 1, 0, 100, 0), process(6, 5, 0, 1000, 0)};
	const struct usage_process now[] = {process(5, 1, 0, 150, 1300)};
	usage_step(&u, NULL, 0, was, 2);
	assert_int_equal(lane(&u, 0)->cpu_ns, 1100);
	usage_step(&u, was, 2, now, 1);
	assert_int_equal(lane(&u, 0)->cpu_ns, 1450);
}

static void a_child_never_seen_is_counted_by_its_parent(void **state)
{
	(void)state;
	struct usage u = {.n = 0};
	const struct usage_process was[] = {process(5, 1, 0, 100, 0)}, now[] = {process(5, 1, 0, 100, 900)};
	usage_step(&u, NULL, 0, was, 1);
	usage_step(&u, was, 1, now, 1);
	assert_int_equal(lane(&u, 0)->cpu_ns, 1000);
}

static void a_chain_that_ended_together_is_counted_once(void **state)
{
	(void)state;
	struct usage u = {.n = 0};
	const struct usage_process was[] = {process(5, 1, 0, 100, 0), process(6, 5, 0, 200, 50),
					    process(7, 6, 0, 400, 0)};
	/* 7 ended with 450, 6 with 210 and what it had inherited */
	const struct usage_process now[] = {process(5, 1, 0, 100, 210 + 50 + 450)};
	usage_step(&u, NULL, 0, was, 3);
	assert_int_equal(lane(&u, 0)->cpu_ns, 750);
	usage_step(&u, was, 3, now, 1);
	assert_int_equal(lane(&u, 0)->cpu_ns, 750 + 10 + 50);
}

static void a_launcher_that_reaps_a_rank_does_not_inherit_its_life(void **state)
{
	(void)state;
	struct usage u = {.n = 0};
	const struct usage_process was[] = {process(5, 1, NO_RANK, 10, 0), process(6, 5, 3, 5000, 0)};
	const struct usage_process now[] = {process(5, 1, NO_RANK, 10, 5020)};
	usage_step(&u, NULL, 0, was, 2);
	usage_step(&u, was, 2, now, 1);
	assert_int_equal(lane(&u, 3)->cpu_ns, 5000);
	assert_int_equal(lane(&u, 3)->processes, 0);
	assert_int_equal(lane(&u, NO_RANK)->cpu_ns, 30);
}

static void io_of_a_child_is_not_counted_twice(void **state)
{
	(void)state;
	struct usage u = {.n = 0};
	struct usage_process was[] = {process(5, 1, 0, 1, 0), process(6, 5, 0, 1, 0)}, now[] = {process(5, 1, 0, 1, 1)};
	was[0].io_bytes[USAGE_WRITTEN] = 1000;
	was[1].io_bytes[USAGE_WRITTEN] = 7000;
	now[0].io_bytes[USAGE_WRITTEN] = 1000 + 7500 + 20;
	usage_step(&u, NULL, 0, was, 2);
	assert_int_equal(lane(&u, 0)->io_bytes[USAGE_WRITTEN], 8000);
	usage_step(&u, was, 2, now, 1);
	assert_int_equal(lane(&u, 0)->io_bytes[USAGE_WRITTEN], 8520);
}

static void io_of_a_parent_that_waits_for_nobody_is_all_its_own(void **state)
{
	(void)state;
	struct usage u = {.n = 0};
	struct usage_process was[] = {process(5, 1, 0, 1, 0), process(6, 5, 0, 1, 0)}, now[] = {process(5, 1, 0, 1, 0)};
	was[1].io_bytes[USAGE_READ] = 7000;
	now[0].io_bytes[USAGE_READ] = 300;
	usage_step(&u, NULL, 0, was, 2);
	usage_step(&u, was, 2, now, 1);
	assert_int_equal(lane(&u, 0)->io_bytes[USAGE_READ], 7300);
}

static void a_number_used_again_is_another_process(void **state)
{
	(void)state;
	struct usage u = {.n = 0};
	const struct usage_process was[] = {process(5, 1, 0, 1000, 0)};
	struct usage_process now[] = {process(5, 1, 0, 30, 0)};
	now[0].start_ticks = 99;
	usage_step(&u, NULL, 0, was, 1);
	usage_step(&u, was, 1, now, 1);
	assert_int_equal(lane(&u, 0)->cpu_ns, 1030);
}

static void counters_that_run_backwards_take_nothing_away(void **state)
{
	(void)state;
	struct usage u = {.n = 0};
	const struct usage_process was[] = {process(5, 1, 0, 1000, 800)}, now[] = {process(5, 1, 0, 900, 700)};
	usage_step(&u, NULL, 0, was, 1);
	usage_step(&u, was, 1, now, 1);
	assert_int_equal(lane(&u, 0)->cpu_ns, 1800);
}

static void more_ranks_than_lanes_share_the_first(void **state)
{
	(void)state;
	struct usage u = {.n = 0};
	static struct usage_process now[100];
	for (int i = 0; i < 100; i++)
		now[i] = process(i + 2, 1, i, 1, 0);
	usage_step(&u, NULL, 0, now, 100);
	assert_int_equal(u.n, USAGE_LANES);
	assert_int_equal(usage_cpu_ns(&u), 100);
	assert_int_equal(lane(&u, NO_RANK)->processes, 36);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_process_used_since_the_last_look_is_counted),
		cmocka_unit_test(what_was_used_before_the_job_was_watched_is_not_counted),
		cmocka_unit_test(a_child_that_was_waited_for_is_counted_once_with_its_last_moments),
		cmocka_unit_test(a_child_never_seen_is_counted_by_its_parent),
		cmocka_unit_test(a_chain_that_ended_together_is_counted_once),
		cmocka_unit_test(a_launcher_that_reaps_a_rank_does_not_inherit_its_life),
		cmocka_unit_test(io_of_a_child_is_not_counted_twice),
		cmocka_unit_test(io_of_a_parent_that_waits_for_nobody_is_all_its_own),
		cmocka_unit_test(a_number_used_again_is_another_process),
		cmocka_unit_test(counters_that_run_backwards_take_nothing_away),
		cmocka_unit_test(more_ranks_than_lanes_share_the_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
