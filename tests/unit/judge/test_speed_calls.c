/* What a job asks of the kernel and of those outside it: pieces, programs, readers, files that are read again. */
#include "speed_scenario.h"

static struct scene s;

/* A main process that has two workers, and moves 200 MB a second in large pieces. */
static void scene_feeds(const char *lead, double worker_system)
{
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, lead);
	s.process[0].writes = 3000;
	s.process[0].write_bytes = 200e6;
	for (int i = 0; i < 2; i++) {
		scene_one(&s, ROLE_WORKER, i == 0 ? "RRRRiiiiii" : "iiiiRRRRii")->system = worker_system;
		s.process[s.f.n_processes - 1].writes = 20;
	}
}

static void two_processes_that_take_turns_at_one_lock_are_named(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "c");
	for (int i = 0; i < 2; i++) {
		struct speed_thread *t = scene_one(&s, ROLE_WORKER, i == 0 ? "RRLL" : "LLRR");
		t->lock = 77;
		t->lock_shared = true;
	}
	scene_expect(&s, "lock-contention", 2);
	for (size_t i = 0; i < s.found.n; i++)
		assert_string_not_equal(s.found.row[i].id, "one-at-a-time");
}

static void who_takes_turns_gains_no_more_than_their_number(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "c");
	for (int i = 0; i < 2; i++) {
		struct speed_thread *t = scene_one(&s, ROLE_WORKER, i == 0 ? "RRLL" : "LLRR");
		t->lock = 77;
		t->lock_shared = true;
		t->run = 0.2; /* neighbours take the rest */
		t->queued = 0.3;
	}
	scene_expect(&s, "lock-contention", 2);
}

static void equal_places_of_two_processes_are_two_locks(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "c");
	for (int i = 0; i < 2; i++)
		scene_one(&s, ROLE_WORKER, i == 0 ? "RRLL" : "LLRR")->lock = 77;
	scene_expect(&s, "one-at-a-time", 2);
}

static void a_main_thread_that_looks_for_a_thread_now_and_then_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	size_t p = scene_process(&s, ROLE_MAIN);
	scene_thread(&s, p, "Rsssssssss", 0);
	scene_thread(&s, p, "LRRRRRLLLL", 0);
	scene_expect(&s, "sleeping", 1 / (1 - 0.4));
}

static void a_thread_that_sleeps_between_its_own_work_is_well(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	size_t p = scene_process(&s, ROLE_MAIN);
	scene_thread(&s, p, "Rsssssssss", 0);
	scene_thread(&s, p, "L", 0);
	scene_expect_nothing(&s);
}

static void output_that_nobody_takes_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "Rwww");
	scene_expect(&s, "output-wait", 4);
}

static void output_that_a_worker_takes_is_the_workers_pace(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "Rwww");
	scene_one(&s, ROLE_WORKER, "iRRR");
	const struct finding *f = scene_first(&s);
	assert_true(!f || strcmp(f->id, "output-wait") != 0);
}

static void waits_for_a_processor_end_with_the_wait(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_thread(&s, scene_process(&s, ROLE_MAIN), "RDDD", 0.15);
	scene_expect(&s, "disk-wait", 10);
}

static void tiny_reads_are_named(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "R")->system = 0.4;
	s.process[0].reads = 500e3;
	s.process[0].read_bytes = 16 * 500e3;
	scene_expect(&s, "small-io", 0);
	assert_true(s.found.row[0].cost_ratio > 0.39 && s.found.row[0].cost_ratio < 0.41);
	s.process[0].read_bytes = 4096 * 500e3;
	scene_expect_nothing(&s);
}

static void a_process_for_each_task_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "Rccc");
	s.process[0].children = 20;
	s.process[0].children_ratio = 0.7;
	scene_expect(&s, "process-each", 0);
	assert_non_null(strstr(s.found.row[0].text, "35 ms"));
}

static void children_that_live_long_are_well(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "Rccc");
	s.process[0].children = 4;
	s.process[0].children_ratio = 1;
	scene_expect_nothing(&s);
	s.process[0].children = 0.4;
	s.process[0].children_ratio = 0.05;
	scene_expect_nothing(&s);
}

static void a_main_process_that_hands_out_the_data_itself_is_named(void **state)
{
	(void)state;
	scene_feeds("RRRRRRRRRi", 0.3);
	scene_expect(&s, "main-bound", 0);
	scene_feeds("RRRRRwwwww", 0.3);
	scene_expect(&s, "main-bound", 0);
}

static void a_main_process_that_computes_beside_idle_workers_is_well(void **state)
{
	(void)state;
	scene_feeds("RRRRRRRRRR", 0);
	s.process[0].write_bytes = 1e6;
	scene_expect_nothing(&s);
	scene_feeds("RRRRRRRRRR", 0.02); /* what takes their time is their work */
	scene_expect_nothing(&s);
}

static void files_that_do_not_fit_into_the_groups_memory_are_named(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "Rmmm")->major_faults = 900;
	s.f.machine.limit_is_group = s.f.machine.group_full = true;
	scene_expect(&s, "memory-pressure", 0);
	s.thread[0].major_faults = 1; /* the first reads of a file are no sign of it */
	scene_expect_nothing(&s);
}

static void many_that_are_hardly_felt_take_little_of_a_gain(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	size_t p = scene_process(&s, ROLE_MAIN);
	scene_thread(&s, p, "RRGG", 0.02);
	scene_thread(&s, p, "GGRR", 0.02);
	s.f.machine.running += 20; /* of a lower weight, or the job would wait most of the time */
	scene_expect(&s, "gil-bound", 2);
	assert_true(s.found.row[0].speedup_now > 1.85);
}

static void asks(struct speed_thread *t, uint32_t caught, uint32_t calls, uint32_t n)
{
	t->caught = caught;
	t->calls = calls;
	t->asks = n;
	t->ask_sweeps = n / 2;
	TEXT_COPY(t->ask, "poll");
}

static void a_thread_that_asks_beside_two_that_work_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	struct speed_thread *lead = scene_one(&s, ROLE_MAIN, "R");
	for (int i = 0; i < 2; i++)
		scene_one(&s, ROLE_WORKER, "R");
	for (int i = 0; i < 3; i++) {
		s.thread[i].run = 2.0 / 3;
		s.thread[i].queued = 1.0 / 3;
	}
	asks(lead, 100, 30, 30);
	scene_expect(&s, "busy-waiting", 0);
	assert_true(s.found.row[0].weight > 0.3);
	lead->ask_sweeps = 3; /* that may be chance */
	assert_true(!scene_first(&s) || strcmp(scene_first(&s)->id, "busy-waiting") != 0);
	asks(lead, 39, 30, 30); /* too few instants */
	assert_true(!scene_first(&s) || strcmp(scene_first(&s)->id, "busy-waiting") != 0);
}

static void a_thread_that_asks_beside_idle_processors_costs_no_time(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	struct speed_thread *lead = scene_one(&s, ROLE_MAIN, "R");
	scene_one(&s, ROLE_WORKER, "R");
	asks(lead, 100, 32, 30);
	const struct finding *f = scene_first(&s);
	assert_non_null(f);
	assert_string_equal(f->id, "busy-waiting");
	assert_true(f->speedup == 0 && f->weight < 0.2);
}

static void a_thread_that_asks_between_work_is_well(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	struct speed_thread *lead = scene_one(&s, ROLE_MAIN, "R");
	asks(lead, 100, 20, 20); /* it computes most of the time */
	scene_expect_nothing(&s);
	asks(lead, 100, 60, 40); /* and gets something by each second call */
	scene_expect_nothing(&s);
	asks(lead, 100, 0, 0);
	scene_expect_nothing(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_processes_that_take_turns_at_one_lock_are_named),
		cmocka_unit_test(who_takes_turns_gains_no_more_than_their_number),
		cmocka_unit_test(equal_places_of_two_processes_are_two_locks),
		cmocka_unit_test(a_main_thread_that_looks_for_a_thread_now_and_then_is_named),
		cmocka_unit_test(a_thread_that_sleeps_between_its_own_work_is_well),
		cmocka_unit_test(output_that_nobody_takes_is_named),
		cmocka_unit_test(output_that_a_worker_takes_is_the_workers_pace),
		cmocka_unit_test(waits_for_a_processor_end_with_the_wait),
		cmocka_unit_test(tiny_reads_are_named),
		cmocka_unit_test(a_process_for_each_task_is_named),
		cmocka_unit_test(children_that_live_long_are_well),
		cmocka_unit_test(a_main_process_that_hands_out_the_data_itself_is_named),
		cmocka_unit_test(a_main_process_that_computes_beside_idle_workers_is_well),
		cmocka_unit_test(files_that_do_not_fit_into_the_groups_memory_are_named),
		cmocka_unit_test(many_that_are_hardly_felt_take_little_of_a_gain),
		cmocka_unit_test(a_thread_that_asks_beside_two_that_work_is_named),
		cmocka_unit_test(a_thread_that_asks_beside_idle_processors_costs_no_time),
		cmocka_unit_test(a_thread_that_asks_between_work_is_well),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
