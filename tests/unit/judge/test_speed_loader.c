/* A DataLoader without workers, or with workers that do not stay. */
#include "speed_scenario.h"

static struct scene s;

/* A program that computes alone, and was met so often in the reading of items. */
static struct speed_loader *scene_loader(uint32_t cpus, uint32_t fetches)
{
	scene_begin(&s, cpus);
	scene_one(&s, ROLE_MAIN, "R");
	s.f.loader = (struct speed_loader){.looks = 100, .reads = fetches};
	return &s.f.loader;
}

static void a_program_that_reads_its_data_itself_is_named(void **state)
{
	(void)state;
	scene_loader(8, 50);
	scene_expect(&s, "loader-in-main", 2);
	assert_non_null(strstr(s.found.row[0].advice[0], "num_workers=1 "));
	scene_loader(8, 75);
	scene_expect(&s, "loader-in-main", 4);
	assert_non_null(strstr(s.found.row[0].advice[0], "num_workers=3 "));
}

/* Loaders have no more than the processors that are left. */
static void two_processors_bring_no_more_than_two(void **state)
{
	(void)state;
	scene_loader(2, 75);
	scene_expect(&s, "loader-in-main", 2);
	assert_non_null(strstr(s.found.row[0].advice[0], "num_workers=2 "));
}

/* Data that are waited for take no processor. */
static void who_waits_for_a_file_server_gains_all_of_it(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "Rkkk");
	s.f.loader = (struct speed_loader){.looks = 100, .reads = 75};
	scene_expect(&s, "loader-in-main", 4);
}

static void beside_others_it_gains_what_they_leave(void **state)
{
	(void)state;
	scene_loader(2, 50);
	s.thread[0].run = 0.67;
	s.thread[0].queued = 0.33;
	s.f.machine.running += 2;
	const struct finding *f = scene_first(&s);
	while (f && strcmp(f->id, "loader-in-main") != 0)
		f = f < &s.found.row[s.found.n - 1] ? f + 1 : NULL;
	assert_non_null(f);
	assert_true(f->speedup > 1.9 && f->speedup_now > 1 && f->speedup_now < f->speedup);
}

static void with_a_gpu_no_gain_is_told(void **state)
{
	(void)state;
	scene_loader(8, 50)->gpu = true;
	scene_expect(&s, "loader-in-main", 0);
	assert_true(s.found.row[0].cost_ratio > 0.49 && s.found.row[0].cost_ratio < 0.51);
}

static void data_that_are_read_fast_are_well(void **state)
{
	(void)state;
	scene_loader(8, 8);
	scene_expect_nothing(&s);
}

/* Workers would take the processors from the ranks that compute on them. */
static void without_a_free_processor_workers_bring_nothing(void **state)
{
	(void)state;
	scene_loader(1, 50);
	scene_expect_nothing(&s);
	scene_loader(2, 50);
	scene_one(&s, ROLE_MAIN, "R");
	s.process[1].main = true;
	scene_expect_nothing(&s);
	scene_loader(1, 50)->gpu = true;
	scene_expect_nothing(&s);
}

static void what_could_not_be_read_is_not_judged(void **state)
{
	(void)state;
	scene_loader(8, 50)->missed = 60;
	scene_expect_nothing(&s);
	*scene_loader(8, 0) = (struct speed_loader){.looks = 20, .reads = 15};
	scene_expect_nothing(&s);
}

/* Its main thread starts or ends workers at so many of 100 looks, in so many times. */
static void scene_restarts(uint32_t starts, uint32_t ends, uint32_t times)
{
	scene_loader(8, 0);
	s.f.loader.starts = starts;
	s.f.loader.ends = ends;
	s.f.loader.times = times;
}

static void workers_that_are_started_in_each_epoch_are_named(void **state)
{
	(void)state;
	scene_restarts(30, 20, 10);
	scene_expect(&s, "loader-restarts", 0);
	assert_true(s.found.row[0].cost_ratio > 0.49 && s.found.row[0].cost_ratio < 0.51);
}

/* Workers that live for a tenth of a second are no programs for small tasks. */
static void workers_of_short_epochs_are_no_programs(void **state)
{
	(void)state;
	scene_restarts(30, 20, 10);
	s.process[0].children = 20;
	s.process[0].children_ratio = 0.9;
	scene_expect(&s, "loader-restarts", 0);
	assert_int_equal(s.found.n, 1);
}

/* Its workers write more than once for each batch, and its main process computes. */
static void small_batches_of_loaders_are_no_tiny_tasks(void **state)
{
	(void)state;
	for (uint32_t workers = 0; workers < 2; workers++) {
		scene_loader(2, 0)->workers = workers;
		memcpy(s.at[0], "RRRi", 4);
		for (int i = 0; i < 2; i++) {
			scene_one(&s, ROLE_WORKER, "Ri");
			s.process[s.f.n_processes - 1].writes = 1000;
		}
		if (workers)
			scene_expect_nothing(&s);
		else
			assert_string_equal(scene_first(&s)->id, "tiny-tasks");
	}
}

/* Training alone while the loaders are ahead is what they are for. */
static void training_beside_resting_loaders_is_no_serial_part(void **state)
{
	(void)state;
	for (uint32_t workers = 0; workers < 2; workers++) {
		scene_begin(&s, 4);
		scene_one(&s, ROLE_MAIN, "RRRRRRiiii");
		scene_one(&s, ROLE_WORKER, "iiiiiiRRRR");
		scene_one(&s, ROLE_WORKER, "iiiiiiRRRR");
		s.f.loader = (struct speed_loader){.looks = 100, .workers = workers};
		if (workers)
			scene_expect_nothing(&s);
		else
			assert_string_equal(scene_first(&s)->id, "serial-part");
	}
}

/* Of long epochs one begin is seen; a start of some milliseconds costs nothing. */
static void workers_that_are_started_once_are_well(void **state)
{
	(void)state;
	scene_restarts(60, 10, 2);
	scene_expect_nothing(&s);
	scene_restarts(4, 3, 5);
	scene_expect_nothing(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_that_reads_its_data_itself_is_named),
		cmocka_unit_test(two_processors_bring_no_more_than_two),
		cmocka_unit_test(who_waits_for_a_file_server_gains_all_of_it),
		cmocka_unit_test(beside_others_it_gains_what_they_leave),
		cmocka_unit_test(with_a_gpu_no_gain_is_told),
		cmocka_unit_test(data_that_are_read_fast_are_well),
		cmocka_unit_test(without_a_free_processor_workers_bring_nothing),
		cmocka_unit_test(workers_that_are_started_in_each_epoch_are_named),
		cmocka_unit_test(workers_of_short_epochs_are_no_programs),
		cmocka_unit_test(small_batches_of_loaders_are_no_tiny_tasks),
		cmocka_unit_test(training_beside_resting_loaders_is_no_serial_part),
		cmocka_unit_test(workers_that_are_started_once_are_well),
		cmocka_unit_test(what_could_not_be_read_is_not_judged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
