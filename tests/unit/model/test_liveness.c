#include "testing.h"

#include <string.h>

#include "model/hang/liveness.h"

struct bench {
	struct liveness_set p;
	struct liveness_sample look;
};

static struct bench *bench_new(int32_t ranks)
{
	struct bench *b = calloc(1, sizeof(*b));
	assert_non_null(b);
	b->look.now_ns = 1000 * NS_PER_S;
	for (int32_t r = 0; r < ranks; r++)
		b->look.rank[b->look.n++] = (struct liveness_counters){.rank = r, .state = 'S', .processes = 1};
	return b;
}

static void add(struct bench *b, size_t rank, enum liveness_counter s, uint64_t n)
{
	b->look.rank[rank].has |= 1u << s;
	b->look.rank[rank].count[s] += n;
}

static void look(struct bench *b)
{
	b->look.now_ns += NS_PER_S;
	liveness_take(&b->p, &b->look);
}

static uint64_t silent_s(const struct bench *b, int32_t rank)
{
	return (b->p.now_ns - liveness_alive_ns(liveness_find(&b->p, rank))) / NS_PER_S;
}

static void a_stream_of_bytes_is_life_until_it_ends(void **state)
{
	(void)state;
	struct bench *b = bench_new(1);
	for (int i = 0; i < 60; i++) {
		add(b, 0, LIVENESS_READ, 100 * KIB);
		look(b);
	}
	assert_int_equal(silent_s(b, 0), 0);
	assert_true(liveness_reads(&b->p, liveness_find(&b->p, 0)));
	assert_false(liveness_writes(&b->p, liveness_find(&b->p, 0)));
	for (int i = 0; i < 15; i++)
		look(b);
	/* told by the last look that saw it, not by when the window had forgotten it */
	assert_int_equal(silent_s(b, 0), 15);
	free(b);
}

static void a_logger_of_eleven_lines_a_minute_is_no_life(void **state)
{
	(void)state;
	struct bench *b = bench_new(1);
	add(b, 0, LIVENESS_WRITTEN, 0);
	for (int i = 0; i < 120; i++) {
		if (i % 5 == 0) {
			add(b, 0, LIVENESS_WRITTEN, 120);
			add(b, 0, LIVENESS_LOG_LINES, 1);
			add(b, 0, LIVENESS_LOG_BYTES, 120);
		}
		look(b);
	}
	assert_true(silent_s(b, 0) > 110);
	free(b);
}

static void a_flush_of_20_kib_now_and_then_is_none_either(void **state)
{
	(void)state;
	struct bench *b = bench_new(1);
	add(b, 0, LIVENESS_WRITTEN, 0);
	for (int i = 0; i < 120; i++) {
		if (i % 15 == 7)
			add(b, 0, LIVENESS_WRITTEN, 20 * KIB);
		look(b);
	}
	assert_true(silent_s(b, 0) > 100);
	free(b);
}

static void a_burst_of_a_megabyte_is(void **state)
{
	(void)state;
	struct bench *b = bench_new(1);
	add(b, 0, LIVENESS_WRITTEN, 0);
	for (int i = 0; i < 30; i++)
		look(b);
	add(b, 0, LIVENESS_WRITTEN, MIB);
	look(b);
	assert_int_equal(silent_s(b, 0), 0);
	free(b);
}

static void a_poll_of_the_store_each_second_is_no_life(void **state)
{
	(void)state;
	struct bench *b = bench_new(2);
	add(b, 0, LIVENESS_NET_RECEIVED, 0);
	add(b, 0, LIVENESS_CPU, 0);
	for (int i = 0; i < 60; i++) {
		add(b, 0, LIVENESS_NET_RECEIVED, 7 * 120);
		add(b, 0, LIVENESS_CPU, 3 * NS_PER_MS);
		look(b);
	}
	assert_true(silent_s(b, 0) > 50);
	free(b);
}

/* A program a second begins and ends, and reads so much; at each look of every few seconds the newest one is seen. */
static uint64_t silent_with_beginnings(int seconds, uint64_t each)
{
	struct bench *b = bench_new(1);
	add(b, 0, LIVENESS_READ, 0);
	for (int i = 0; i < 60; i += seconds) {
		b->look.rank[0].n_come++;
		add(b, 0, LIVENESS_READ, each * (uint64_t)seconds);
		for (int k = 1; k < seconds; k++)
			b->look.now_ns += NS_PER_S;
		look(b);
	}
	uint64_t silent = silent_s(b, 0);
	free(b);
	return silent;
}

static void what_a_small_program_reads_to_begin_is_no_life(void **state)
{
	(void)state;
	for (int seconds = 1; seconds <= 5; seconds += 4) {
		assert_true(silent_with_beginnings(seconds, 8500) > 50);
		assert_true(silent_with_beginnings(seconds, 40000) <= (uint64_t)seconds + 1);
	}
}

/* Seconds since it last worked, after so many seconds with this much processor time in each. */
static double idle_s(struct bench *b, int seconds, uint64_t cpu_ns)
{
	for (int i = 0; i < seconds; i++) {
		add(b, 0, LIVENESS_CPU, cpu_ns);
		look(b);
	}
	return (double)(b->p.now_ns - liveness_find(&b->p, 0)->works_ns) / 1e9;
}

static void a_loop_of_short_sleeps_is_no_work(void **state)
{
	(void)state;
	struct bench *b = bench_new(1);
	assert_true(idle_s(b, 30, 500 * NS_PER_MS) < 2);
	/* It is alive, but does not work. The window holds the work before it for a few seconds. */
	assert_in_range((uint64_t)idle_s(b, 40, 50 * NS_PER_MS), 28, 40);
	assert_true(silent_s(b, 0) < 2);
	assert_true(idle_s(b, 30, 150 * NS_PER_MS) < 2);
	free(b);
}

static void what_is_noise_grows_with_what_is_usual(void **state)
{
	(void)state;
	assert_true(liveness_floor(LIVENESS_CPU, 0) == 0.02e9);
	assert_true(liveness_floor(LIVENESS_CPU, 8e9) > 0.2e9);
	assert_true(liveness_floor(LIVENESS_IO_ALL, 1e9) == 0);
}

static void gpu(struct bench *b, double busy, double memory, double power, double limit)
{
	struct liveness_counters *s = &b->look.rank[0];
	s->gpu_has = 1u << LIVENESS_GPU_BUSY | 1u << LIVENESS_GPU_MEMORY_BUSY | 1u << LIVENESS_GPU_POWER;
	s->gpu[LIVENESS_GPU_BUSY] = busy;
	s->gpu[LIVENESS_GPU_MEMORY_BUSY] = memory;
	s->gpu[LIVENESS_GPU_POWER] = power;
	if (limit > 0) {
		s->gpu_has |= 1u << LIVENESS_GPU_POWER_LIMIT;
		s->gpu[LIVENESS_GPU_POWER_LIMIT] = limit;
	}
	for (int i = 0; i < 20; i++)
		look(b);
}

static void a_gpu_lives_when_it_works_not_when_it_spins_or_idles(void **state)
{
	(void)state;
	struct bench *b = bench_new(1);
	const struct liveness *p;
	gpu(b, 98, 45, 480, 700);
	p = liveness_find(&b->p, 0);
	assert_false(p->gpu_spins);
	assert_int_equal(silent_s(b, 0), 0);
	gpu(b, 100, 0, 150, 700);
	assert_true(p->gpu_spins);
	assert_true(silent_s(b, 0) >= 19);
	gpu(b, 0, 0, 90, 700);
	assert_false(p->gpu_spins);
	assert_true(silent_s(b, 0) >= 39);
	/* a kernel that computes in registers and caches */
	gpu(b, 100, 1, 600, 700);
	assert_false(p->gpu_spins);
	assert_int_equal(silent_s(b, 0), 0);
	free(b);
}

static void steps(struct bench *b, size_t rank, uint64_t count, uint64_t at_ns)
{
	struct liveness_counters *s = &b->look.rank[rank];
	s->has_progress = true;
	s->progress.has_step = true;
	s->progress.step = count;
	s->progress.last_step_ns = at_ns;
}

static void the_time_of_a_step_is_learned_although_looks_are_slower(void **state)
{
	(void)state;
	struct bench *b = bench_new(2);
	for (int i = 1; i <= 30; i++) {
		steps(b, 0, (uint64_t)i * 4, b->look.now_ns + NS_PER_S);
		look(b);
	}
	assert_true(b->p.progress_known && b->p.has_step_time && b->p.has_gap);
	assert_true(b->p.step_time_ns > 0.249e9 && b->p.step_time_ns < 0.251e9);
	assert_true(b->p.gap_ns > 0.99e9 && b->p.gap_ns < 1.01e9);
	assert_int_equal(b->p.n_steps, 29 * 4);
	/* a new epoch begins at 1: no step time of its own, and none that is negative */
	steps(b, 0, 1, b->look.now_ns + NS_PER_S);
	uint64_t n = b->p.n_step_times;
	look(b);
	assert_int_equal(b->p.n_step_times, n);
	free(b);
}

/* Steps of so long, looked at each second or so; exact: their times are known, else only that they were made since. */
static double learned_s(double step_s, bool exact)
{
	struct bench *b = bench_new(1);
	double t = 0;
	uint64_t zero_ns = b->look.now_ns;
	for (int i = 0; i < 240; i++) {
		double before = t;
		t += 1.0 + (i % 7) * 0.004;
		uint64_t count = (uint64_t)(t / step_s);
		b->look.now_ns = zero_ns + (uint64_t)(before * 1e9);
		if (count > (uint64_t)(before / step_s)) {
			double at = exact ? (double)count * step_s : t;
			steps(b, 0, count, zero_ns + (uint64_t)(at * 1e9));
			b->look.rank[0].progress.last_step_slack_ns = exact ? 0 : (uint64_t)((t - before) * 1e9);
		}
		b->look.now_ns = zero_ns + (uint64_t)(t * 1e9) - NS_PER_S;
		look(b);
	}
	double learned = b->p.has_step_time ? b->p.step_time_ns / 1e9 : 0;
	free(b);
	return learned;
}

static void a_step_s_time_is_no_multiple_of_looks(void **state)
{
	(void)state;
	static const double times[] = {0.2, 0.23, 0.26, 0.37, 0.65, 0.9, 1.1, 1.4, 2.6};
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		double exact = learned_s(times[i], true), seen = learned_s(times[i], false);
		if (exact < times[i] * 0.99 || exact > times[i] * 1.01)
			fail_msg("%.2f s are %.3f where times are known", times[i], exact);
		if (seen < times[i] * 0.93 || seen > times[i] * 1.07)
			fail_msg("%.2f s are %.3f where they are not", times[i], seen);
	}
}

static void what_is_usual_is_learned_while_steps_advance(void **state)
{
	(void)state;
	struct bench *b = bench_new(1);
	const struct liveness *p;
	for (int i = 1; i <= 60; i++) {
		steps(b, 0, (uint64_t)i, b->look.now_ns + NS_PER_S);
		add(b, 0, LIVENESS_CPU, 8 * NS_PER_S);
		struct liveness_counters *x = &b->look.rank[0];
		x->gpu_has = 1u << LIVENESS_GPU_BUSY | 1u << LIVENESS_GPU_POWER;
		x->gpu[LIVENESS_GPU_BUSY] = 98;
		x->gpu[LIVENESS_GPU_POWER] = 480;
		look(b);
	}
	p = liveness_find(&b->p, 0);
	assert_true(p->trace[LIVENESS_CPU].has_usual && p->trace[LIVENESS_CPU].usual > 7.5e9);
	assert_true(p->has_usual_power && p->usual_power > 470);
	/* no limit is known, and no memory activity: half of the usual power only spins */
	b->look.rank[0].gpu[LIVENESS_GPU_BUSY] = 100;
	b->look.rank[0].gpu[LIVENESS_GPU_POWER] = 240;
	for (int i = 0; i < 30; i++) {
		add(b, 0, LIVENESS_CPU, 150 * NS_PER_MS); /* much for one, noise for eight cores */
		look(b);
	}
	assert_true(p->gpu_spins);
	assert_true(silent_s(b, 0) >= 20);
	/* nothing more is learned where no step is made */
	assert_true(p->usual_power > 470);
	b->look.rank[0].gpu[LIVENESS_GPU_POWER] = 400;
	look(b);
	assert_false(p->gpu_spins);
	assert_int_equal(silent_s(b, 0), 0);
	free(b);
}

static void another_rank_is_timed_when_the_first_falls_silent(void **state)
{
	(void)state;
	struct bench *b = bench_new(2);
	for (int i = 1; i <= 100; i++) {
		if (i <= 20)
			steps(b, 0, (uint64_t)i, b->look.now_ns + NS_PER_S);
		steps(b, 1, (uint64_t)i * 2, b->look.now_ns + NS_PER_S);
		look(b);
		if (i == 20)
			assert_int_equal(b->p.step_rank, 0);
	}
	assert_int_equal(b->p.step_rank, 1);
	assert_true(b->p.step_time_ns > 0.49e9 && b->p.step_time_ns < 0.51e9);
	free(b);
}

static void output_in_lumps_makes_long_gaps_and_true_step_times(void **state)
{
	(void)state;
	struct bench *b = bench_new(1);
	for (int i = 1; i <= 200; i++) {
		if (i % 20 == 0)
			steps(b, 0, (uint64_t)i * 2, b->look.now_ns + NS_PER_S);
		look(b);
	}
	assert_true(b->p.step_time_ns > 0.49e9 && b->p.step_time_ns < 0.51e9);
	assert_true(b->p.gap_ns > 19.9e9 && b->p.gap_ns < 20.1e9);
	free(b);
}

static void epochs_alone_are_progress_as_well(void **state)
{
	(void)state;
	struct bench *b = bench_new(1);
	struct liveness_counters *s = &b->look.rank[0];
	s->has_progress = s->progress.has_epoch = true;
	for (int i = 0; i < 50; i++) {
		if (i % 10 == 0) {
			s->progress.epoch += 0.25;
			s->progress.n_lines++;
		}
		look(b);
	}
	assert_true(b->p.progress_known);
	assert_true(b->p.gap_ns > 9.9e9 && b->p.gap_ns < 10.1e9);
	free(b);
}

static void sixty_four_ranks_come_in_any_order_and_a_66th_is_counted(void **state)
{
	(void)state;
	struct bench *b = bench_new(0);
	for (int32_t r = 63; r >= NO_RANK; r--)
		b->look.rank[b->look.n++] = (struct liveness_counters){.rank = r};
	look(b);
	assert_int_equal(b->p.n, LIVENESS_RANKS);
	for (size_t i = 0; i < b->p.n; i++)
		assert_int_equal(b->p.rank[i].rank, (int32_t)i - 1);
	assert_true(b->p.rank[0].serves && !b->p.rank[1].serves && b->p.has_ranks);
	b->look.n = 1;
	b->look.rank[0].rank = 64;
	look(b);
	assert_int_equal(b->p.n, LIVENESS_RANKS);
	assert_int_equal(b->p.n_dropped, 1);
	free(b);
}

static void counters_that_go_back_or_vanish_are_no_movement(void **state)
{
	(void)state;
	struct bench *b = bench_new(1);
	add(b, 0, LIVENESS_READ, GIB);
	for (int i = 0; i < 20; i++)
		look(b);
	b->look.rank[0].count[LIVENESS_READ] = 5;
	look(b);
	assert_true(silent_s(b, 0) >= 20);
	b->look.rank[0].has = 0;
	look(b);
	b->look.rank[0].has = 1u << LIVENESS_READ;
	b->look.rank[0].count[LIVENESS_READ] = 100 * GIB;
	look(b);
	assert_true(silent_s(b, 0) >= 22);
	/* the same look twice divides by no time */
	liveness_take(&b->p, &b->look);
	free(b);
}

/* Looks once a second; 'r': a process ran, '.': none did, '?': threads were stopped. Returns since when it stands */
static int64_t stilled_s(struct bench *b, const char *samples)
{
	const uint64_t begin_ns = b->look.now_ns;
	b->look.has_ran = true;
	for (; *samples; samples++) {
		b->look.ran = *samples != '.';
		b->look.looked = *samples == '?';
		look(b);
	}
	return b->p.stilled_ns ? (int64_t)((b->p.stilled_ns - begin_ns) / NS_PER_S) : -1;
}

static int64_t stilled_of(const char *samples)
{
	struct bench *b = bench_new(1);
	int64_t ret = stilled_s(b, samples);
	free(b);
	return ret;
}

static void a_job_that_ran_all_along_stands_from_the_end_of_that(void **state)
{
	(void)state;
	assert_int_equal(stilled_of("rrrrrrrrrrrrrr.."), -1); /* it may go on */
	assert_int_equal(stilled_of("rrrrrrrrrrrrrr..."), 14);
	assert_int_equal(stilled_of("rrr...rrr..rrr....r..rrr..."), -1);
	assert_int_equal(stilled_of("rr.rr.rr.rr.rr.rr..."), 17); /* each second or so is all along */
	/* what looks do is not the job's: neither to one that stands nor to one that runs */
	assert_int_equal(stilled_of("rrrr........?????...?????????????..."), -1);
	assert_int_equal(stilled_of("rrrrrrrrrrr?????rrrr..."), 20);
}

static void who_tries_now_and_then_stands_meanwhile(void **state)
{
	(void)state;
	static const char first[] = "rrrrrrrrrrrrrr...";
	static const char tries[] = "....................rrrrrrrrrrrrr...";
	static const char works[] = "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr...";
	struct bench *b = bench_new(1);
	assert_int_equal(stilled_s(b, first), 14);
	const uint64_t once = b->p.stilled_ns;
	stilled_s(b, tries);
	assert_int_equal(b->p.stilled_ns, once);
	stilled_s(b, works);
	assert_int_equal(b->p.stilled_ns, b->p.now_ns - 3 * NS_PER_S);
	free(b);
}

static void service_threads_are_known_by_name(void **state)
{
	(void)state;
	assert_true(liveness_service_thread("NCCL Progress 0") && liveness_service_thread("pt_nccl_watchdg"));
	assert_true(liveness_service_thread("cuda-EvtHandlr") && liveness_service_thread("NCCL RAS"));
	assert_false(liveness_service_thread("python") || liveness_service_thread("pt_autograd_0") ||
		     liveness_service_thread("pt_main_thread") || liveness_service_thread("pt_data_worker") ||
		     liveness_service_thread("pt_data_pin"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_of_bytes_is_life_until_it_ends),
		cmocka_unit_test(a_logger_of_eleven_lines_a_minute_is_no_life),
		cmocka_unit_test(a_flush_of_20_kib_now_and_then_is_none_either),
		cmocka_unit_test(a_burst_of_a_megabyte_is),
		cmocka_unit_test(a_poll_of_the_store_each_second_is_no_life),
		cmocka_unit_test(what_a_small_program_reads_to_begin_is_no_life),
		cmocka_unit_test(a_loop_of_short_sleeps_is_no_work),
		cmocka_unit_test(what_is_noise_grows_with_what_is_usual),
		cmocka_unit_test(a_gpu_lives_when_it_works_not_when_it_spins_or_idles),
		cmocka_unit_test(the_time_of_a_step_is_learned_although_looks_are_slower),
		cmocka_unit_test(a_step_s_time_is_no_multiple_of_looks),
		cmocka_unit_test(what_is_usual_is_learned_while_steps_advance),
		cmocka_unit_test(another_rank_is_timed_when_the_first_falls_silent),
		cmocka_unit_test(output_in_lumps_makes_long_gaps_and_true_step_times),
		cmocka_unit_test(epochs_alone_are_progress_as_well),
		cmocka_unit_test(sixty_four_ranks_come_in_any_order_and_a_66th_is_counted),
		cmocka_unit_test(counters_that_go_back_or_vanish_are_no_movement),
		cmocka_unit_test(a_job_that_ran_all_along_stands_from_the_end_of_that),
		cmocka_unit_test(who_tries_now_and_then_stands_meanwhile),
		cmocka_unit_test(service_threads_are_known_by_name),
	};
	return cmocka_run_group_tests_name("model/hang/liveness", tests, NULL, NULL);
}
