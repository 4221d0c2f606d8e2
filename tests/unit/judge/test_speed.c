#include "speed_scenario.h"

static struct scene s;

/* What is planted: the first finding names it. */

static void a_stopped_process_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	scene_one(&s, ROLE_MAIN, "T");
	scene_expect(&s, "stopped", 0);
}

static void a_quota_that_holds_back_is_named_with_what_is_wanted(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	scene_thread(&s, scene_process(&s, ROLE_MAIN), "R", 0.5);
	s.f.machine.quota_cores = 0.5;
	s.f.machine.periods = 50;
	s.f.machine.throttled = 48;
	s.f.machine.throttled_cores = 0.5;
	scene_expect(&s, "cpu-quota", 2);
}

static void a_quota_of_two_stops_four_threads(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	size_t p = scene_process(&s, ROLE_MAIN);
	for (int i = 0; i < 4; i++)
		scene_thread(&s, p, "R", 0.5);
	s.f.machine.quota_cores = 2;
	s.f.machine.periods = 50;
	s.f.machine.throttled = 40;
	scene_expect(&s, "cpu-quota", 2);
}

static void a_quota_costs_only_the_time_that_it_took(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_thread(&s, scene_process(&s, ROLE_MAIN), "R", 0.7); /* others want the processors as well */
	s.f.machine.running += 9;
	s.f.machine.quota_cores = 0.4;
	s.f.machine.periods = 50;
	s.f.machine.throttled = 23;
	s.f.machine.throttled_cores = 0.25;
	(void)scene_first(&s);
	for (size_t i = 0; i < s.found.n; i++)
		if (strcmp(s.found.row[i].id, "cpu-quota") == 0) {
			assert_true(s.found.row[i].speedup > 1.3 && s.found.row[i].speedup < 1.4);
			return;
		}
	fail();
}

static void a_small_cpuset_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	size_t p = scene_process(&s, ROLE_MAIN);
	for (int i = 0; i < 2; i++)
		scene_thread(&s, p, "R", 0.5);
	s.f.machine.job_cpus = s.f.machine.job_cores = 1;
	s.f.machine.idle_elsewhere = 3;
	scene_expect(&s, "cpuset-small", 2);
}

static void beside_others_a_wider_cpuset_promises_only_a_fair_share(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	size_t p = scene_process(&s, ROLE_MAIN);
	for (int i = 0; i < 2; i++)
		scene_thread(&s, p, "R", 0.5);
	s.f.machine.job_cpus = s.f.machine.job_cores = 1;
	s.f.machine.running += 1; /* somebody else has the other processor */
	scene_expect(&s, "cpuset-small", 2);
	assert_true(s.found.row[0].speedup_now > 1.3 && s.found.row[0].speedup_now < 1.36);
}

static void stolen_time_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "R");
	s.f.machine.busy = 1;
	s.f.machine.steal = 0.5;
	scene_expect(&s, "cpu-stolen", 1.5);
}

static void a_lowered_clock_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "R");
	scene_one(&s, ROLE_MAIN, "R");
	s.f.machine.has_clock = true;
	s.f.machine.clock_ratio = 0.5;
	s.f.machine.throttles = 3;
	scene_expect(&s, "clock-throttled", 2);
}

static void other_programs_on_the_same_processors_are_named(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_thread(&s, scene_process(&s, ROLE_MAIN), "R", 0.5);
	s.f.machine.running += 3;
	s.f.other[0] = (struct speed_other){.pid = 7, .name = "cc1", .run = 1.5};
	s.f.n_others = 1;
	scene_expect(&s, "others-busy", 2);
	assert_non_null(strstr(s.found.row[0].evidence[1], "cc1"));
}

static void a_job_that_gets_no_processor_at_all_is_told_so(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_thread(&s, scene_process(&s, ROLE_MAIN), "R", 0.97);
	s.f.machine.running += 14;
	scene_expect(&s, "others-busy", 1 / 0.03);
}

static void a_quota_that_hardly_binds_hides_no_others(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_thread(&s, scene_process(&s, ROLE_MAIN), "R", 0.78);
	s.f.machine.running += 6;
	s.f.machine.quota_cores = 0.5;
	s.f.machine.periods = 50;
	s.f.machine.throttled = 8;
	s.f.machine.throttled_cores = 0.04;
	scene_expect(&s, "others-busy", 0.5 / 0.22);
}

static void a_job_that_rests_beside_others_lacks_no_processor(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_thread(&s, scene_process(&s, ROLE_MAIN), "SSSSSSSSSR", 0.05);
	s.f.machine.running += 14;
	scene_expect_nothing(&s);
}

/*
 * Workers of low priority that wake up now and then are seen waiting for a processor nearly all the time: more of them
 * than there are processors. Who takes these is somebody else.
 */
static void a_job_that_others_leave_next_to_nothing_is_not_at_fault(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_process(&s, ROLE_MAIN);
	s.process[0].libs = THREADLIB_OPENBLAS;
	for (int i = 0; i < 4; i++)
		scene_thread(&s, 0, "R", 0.95);
	s.f.machine.running += 16;
	scene_expect(&s, "others-busy", 10);
	assert_int_equal(s.found.n, 1);
}

static void busy_siblings_of_one_core_are_named(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	s.f.machine.job_cores = s.f.machine.cores = 4;
	s.f.machine.job_pairs = 1;
	size_t p = scene_process(&s, ROLE_MAIN);
	scene_thread(&s, p, "R", 0);
	scene_thread(&s, p, "R", 0);
	scene_expect(&s, "smt-shared", 0);
}

static void logical_processors_taken_for_cores_are_a_note(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	s.f.machine.job_cores = s.f.machine.cores = 4;
	size_t p = scene_process(&s, ROLE_MAIN);
	s.process[p].libs = THREADLIB_MKL;
	for (int i = 0; i < 8; i++)
		scene_thread(&s, p, "R", 0);
	scene_expect(&s, "logical-cores", 0);
	assert_int_equal(s.found.row[0].severity, SEVERITY_NOTE);
}

static void memory_of_another_node_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	s.f.machine.nodes = 2;
	s.f.machine.has_remote = true;
	s.f.machine.remote_ratio = 0.8;
	scene_one(&s, ROLE_MAIN, "R");
	scene_expect(&s, "numa-remote", 0);
}

static void threads_that_take_turns_for_the_gil_are_named(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	size_t p = scene_process(&s, ROLE_MAIN);
	scene_thread(&s, p, "L", 0);
	scene_thread(&s, p, "RRGG", 0);
	scene_thread(&s, p, "GGRR", 0);
	scene_expect(&s, "gil-bound", 2);
}

static void four_threads_at_the_gil_gain_as_much_as_there_are_processors(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	size_t p = scene_process(&s, ROLE_MAIN);
	for (int i = 0; i < 4; i++)
		scene_thread(&s, p, i == 0 ? "RGGG" : i == 1 ? "GRGG" : i == 2 ? "GGRG" : "GGGR", 0);
	scene_expect(&s, "gil-bound", 2);
}

static void threads_that_take_turns_at_a_mutex_are_named(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	size_t p = scene_process(&s, ROLE_MAIN);
	for (int i = 0; i < 4; i++)
		scene_thread(&s, p, i == 0 ? "RMMM" : i == 1 ? "MRMM" : i == 2 ? "MMRM" : "MMMR", 0)->lock = 77;
	scene_expect(&s, "lock-contention", 4);
	assert_string_equal(s.found.row[0].confidence, "high");
}

static void threads_of_which_always_one_runs_at_a_futex_are_named(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	size_t p = scene_process(&s, ROLE_MAIN);
	scene_thread(&s, p, "RRLL", 0)->lock = 77;
	scene_thread(&s, p, "LLRR", 0)->lock = 77;
	scene_expect(&s, "lock-contention", 2);
}

static void a_main_process_that_looks_now_and_then_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "Rsssssssss");
	scene_one(&s, ROLE_WORKER, "iRRRRRiiii");
	scene_expect(&s, "sleeping", 1 / (1 - 0.4));
	/* looks may miss some of the work; what it cost is counted */
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "Rsssssssss");
	scene_one(&s, ROLE_WORKER, "iRRRiiiiii")->run = 0.4;
	scene_expect(&s, "sleeping", 1 / (0.1 + 0.4));
	/* that of a thread which works beside it is no later work */
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "RRRRssssss");
	scene_one(&s, ROLE_WORKER, "RRRRiiiiii");
	scene_expect(&s, "sleeping", 1 / 0.4);
}

static void waiting_for_a_disk_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "RDDD");
	scene_expect(&s, "disk-wait", 4);
}

static void a_loader_that_cannot_keep_up_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	scene_one(&s, ROLE_MAIN, "Rppp");
	scene_one(&s, ROLE_LOADER, "R");
	scene_expect(&s, "loader-bound", 4);
}

/* With a GPU the main process takes hardly any processor time; seen on an H200, 7.6 % of it. */
static void a_loader_that_cannot_keep_up_with_a_gpu_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 16);
	scene_one(&s, ROLE_MAIN, "RLLLLLLLLLLLLLLLLLLLLLLLLLLLLL");
	for (int i = 0; i < 2; i++) {
		scene_one(&s, ROLE_LOADER, "R");
		TEXT_COPY(s.process[s.f.n_processes - 1].name, "pt_data_worker");
	}
	scene_expect(&s, "loader-bound", 8);
	/* the same of workers that may be a pool: its main process has nothing else to do */
	for (size_t i = 1; i < s.f.n_processes; i++)
		TEXT_COPY(s.process[i].name, "python3");
	scene_expect_nothing(&s);
}

static void more_loaders_do_not_bring_more_than_the_processors(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "Rppp");
	scene_one(&s, ROLE_LOADER, "R");
	scene_expect(&s, "loader-bound", 1.6);
}

static void one_worker_that_serves_everything_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	scene_one(&s, ROLE_MAIN, "i");
	scene_one(&s, ROLE_WORKER, "R");
	for (int i = 0; i < 4; i++)
		scene_one(&s, ROLE_WORKER, "i");
	scene_expect(&s, "one-worker", 5);
}

static void one_busy_actor_of_ray_among_idle_ones_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	scene_one(&s, ROLE_MAIN, "k");
	size_t raylet = scene_process(&s, ROLE_RAY_SYSTEM);
	scene_thread(&s, raylet, "p", 0);
	for (int i = 0; i < 6; i++) {
		scene_one(&s, ROLE_RAY_WORKER, i == 0 ? "R" : "L");
		s.process[s.f.n_processes - 1].parent = raylet;
		TEXT_COPY(s.process[s.f.n_processes - 1].name, i < 4 ? "ray::Sleeper" : "ray::IDLE");
	}
	scene_expect(&s, "one-worker", 4);
}

static void workers_that_are_waited_for_one_by_one_are_named(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	scene_one(&s, ROLE_MAIN, "i");
	for (int i = 0; i < 4; i++)
		scene_one(&s, ROLE_WORKER, i == 0 ? "Riii" : i == 1 ? "iRii" : i == 2 ? "iiRi" : "iiiR");
	scene_expect(&s, "one-at-a-time", 4);
}

static void uneven_tasks_are_named(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	scene_one(&s, ROLE_MAIN, "i");
	scene_one(&s, ROLE_WORKER, "RRRR");
	scene_one(&s, ROLE_WORKER, "Riii");
	scene_one(&s, ROLE_WORKER, "Riii");
	scene_one(&s, ROLE_WORKER, "RRii");
	scene_expect(&s, "uneven-tasks", 2);
}

static void ray_worker(struct scene *to, const char *name, const char *pattern)
{
	scene_one(to, ROLE_RAY_WORKER, pattern);
	TEXT_COPY(to->process[to->f.n_processes - 1].name, name);
}

static void uneven_tasks_of_ray_are_named(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	scene_one(&s, ROLE_MAIN, "L");
	ray_worker(&s, "ray::resize", "RRRR");
	ray_worker(&s, "ray::resize", "RLLL");
	ray_worker(&s, "ray::resize", "RRLL");
	ray_worker(&s, "ray::IDLE", "L");
	scene_expect(&s, "uneven-tasks", 3 / 1.75);
}

/* Who is of another kind does not wait for the busy one. */
static void tasks_and_actors_of_several_kinds_are_well(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	scene_one(&s, ROLE_MAIN, "L");
	ray_worker(&s, "ray::Learner.le", "R");
	ray_worker(&s, "ray::preprocess", "RLLL");
	ray_worker(&s, "ray::Quiet", "L");
	scene_expect_nothing(&s);
}

/* Of an adopted node the driver is not seen: nobody knows what it waits for. */
static void workers_of_a_raylet_without_its_driver_are_well(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	scene_one(&s, ROLE_RAY_SYSTEM, "p");
	ray_worker(&s, "ray::resize", "RRRR");
	ray_worker(&s, "ray::resize", "RLLL");
	ray_worker(&s, "ray::resize", "RRLL");
	scene_expect_nothing(&s);
}

static void one_busy_actor_is_named_where_its_caller_is_not_seen(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	scene_one(&s, ROLE_RAY_SYSTEM, "p");
	ray_worker(&s, "ray::Sleeper.na", "R");
	for (int i = 0; i < 3; i++)
		ray_worker(&s, "ray::Sleeper", "L");
	scene_expect(&s, "one-worker", 4);
	assert_null(strstr(s.found.row[0].evidence[0], "main process"));
}

/* A request may come at any time, from anywhere; who sleeps does so by its own wish. */
static void workers_that_wait_for_requests_are_well(void **state)
{
	static const char *const rests[] = {"RRRkRRkkR", "RRRpRRppR", "RRRsRRssR"};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rests); i++) {
		scene_begin(&s, 8);
		scene_one(&s, ROLE_MAIN, "p");
		for (size_t k = 0; k < 4; k++)
			scene_one(&s, ROLE_WORKER, rests[i] + k);
		scene_expect_nothing(&s);
	}
	/* one client, that asks again once it is answered */
	scene_begin(&s, 8);
	scene_one(&s, ROLE_MAIN, "p");
	scene_one(&s, ROLE_WORKER, "RRkk");
	scene_one(&s, ROLE_WORKER, "kkRR");
	scene_expect_nothing(&s);
}

static void a_serial_part_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	scene_one(&s, ROLE_MAIN, "RRii");
	for (int i = 0; i < 4; i++)
		scene_one(&s, ROLE_WORKER, "iiRR");
	scene_expect(&s, "serial-part", 1.6);
}

static void tiny_tasks_are_named_with_a_batch(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	scene_one(&s, ROLE_MAIN, "R");
	for (int i = 0; i < 2; i++) {
		struct speed_thread *t = scene_one(&s, ROLE_WORKER, "RRii");
		t->voluntary = 10000;
		t->system = 0.1;
	}
	scene_expect(&s, "tiny-tasks", 0);
	assert_true(s.found.row[0].cost_ratio > 0.59 && s.found.row[0].cost_ratio < 0.61);
	assert_non_null(strstr(s.found.row[0].advice[0], "200 of them"));
}

static void page_faults_of_every_step_are_named(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	struct speed_thread *t = scene_one(&s, ROLE_MAIN, "R");
	t->minor_faults = 400000;
	t->system = 0.5;
	scene_expect(&s, "page-faults", 0);
	assert_true(s.found.row[0].cost_ratio > 0.49 && s.found.row[0].cost_ratio < 0.51);
}

static void swapping_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	struct speed_thread *t = scene_one(&s, ROLE_MAIN, "Rmmm");
	t->major_faults = 2000;
	s.f.machine.has_swap = true;
	s.f.machine.swap_in_bytes = 50e6;
	scene_expect(&s, "swapping", 4);
}

static void memory_pressure_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "RRmm");
	s.f.machine.has_pressure = true;
	s.f.machine.memory_pressure = 0.6;
	scene_expect(&s, "memory-pressure", 2);
}

static void workers_that_do_not_fit_are_named_with_how_many_do(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	scene_one(&s, ROLE_MAIN, "i");
	for (int i = 0; i < 8; i++) {
		scene_one(&s, ROLE_WORKER, "R");
		s.process[s.f.n_processes - 1].own_bytes = 1000 * MIB;
	}
	s.f.machine.limit_bytes = 8400 * MIB;
	s.f.machine.used_bytes = 8100 * MIB;
	s.f.machine.limit_is_group = true;
	scene_expect(&s, "memory-fit", 0);
	assert_non_null(strstr(s.found.row[0].advice[0], "start 6 workers"));
}

static void a_small_dev_shm_is_named_where_loaders_use_it(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	scene_one(&s, ROLE_MAIN, "R");
	scene_one(&s, ROLE_LOADER, "Riii");
	s.f.machine.shm_total_bytes = s.f.machine.shm_free_bytes = 64 * MIB;
	scene_expect(&s, "shm-small", 0);
}

static void a_loss_that_is_no_number_is_named_before_all_else(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	scene_one(&s, ROLE_MAIN, "Rppp");
	scene_one(&s, ROLE_LOADER, "R");
	s.f.steps = (struct speed_steps){.broken = true, .has_broken_step = true, .broken_step = 412};
	scene_expect(&s, "loss-broken", 0);
	assert_non_null(strstr(s.found.row[0].evidence[0], "412"));
	assert_string_equal(s.found.row[1].id, "loader-bound");
}

static void steps_that_slow_down_are_named(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	scene_one(&s, ROLE_MAIN, "R");
	s.f.steps = (struct speed_steps){.has_rate = true, .rate_before = 10, .rate_now = 4, .step = 1000};
	scene_expect(&s, "steps-slower", 0);
	assert_true(s.found.row[0].cost_ratio > 0.59 && s.found.row[0].cost_ratio < 0.61);
}

/* What nothing holds back, and what only looks as if something did. */

static void one_busy_thread_is_well(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	scene_one(&s, ROLE_MAIN, "R");
	scene_expect_nothing(&s);
}

static void a_process_that_sleeps_is_well(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	scene_one(&s, ROLE_MAIN, "s");
	scene_expect_nothing(&s);
}

static void a_server_that_waits_is_well(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	size_t p = scene_process(&s, ROLE_MAIN);
	scene_thread(&s, p, "p", 0);
	for (int i = 0; i < 10; i++)
		scene_thread(&s, p, "L", 0)->lock = 77;
	scene_expect_nothing(&s);
}

static void a_lone_process_that_paces_itself_is_well(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	scene_one(&s, ROLE_MAIN, "Rsss");
	scene_expect_nothing(&s);
}

static void a_quota_that_is_not_used_up_is_well(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	scene_one(&s, ROLE_MAIN, "R");
	s.f.machine.quota_cores = 2;
	s.f.machine.periods = 50;
	scene_expect_nothing(&s);
}

static void a_small_cpuset_that_is_enough_is_well(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	scene_one(&s, ROLE_MAIN, "R");
	s.f.machine.job_cpus = s.f.machine.job_cores = 1;
	scene_expect_nothing(&s);
}

static void a_pool_whose_workers_are_all_busy_is_well(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	scene_one(&s, ROLE_MAIN, "i");
	for (int i = 0; i < 4; i++)
		scene_one(&s, ROLE_WORKER, "R");
	scene_expect_nothing(&s);
}

static void a_pool_that_nobody_uses_is_well(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	scene_one(&s, ROLE_MAIN, "R");
	for (int i = 0; i < 4; i++)
		scene_one(&s, ROLE_WORKER, "i");
	scene_expect_nothing(&s);
}

static void loaders_that_are_ahead_are_well(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	scene_one(&s, ROLE_MAIN, "R");
	scene_one(&s, ROLE_LOADER, "RLLLL");
	scene_one(&s, ROLE_LOADER, "LRLLL");
	scene_expect_nothing(&s);
}

static void numeric_threads_that_fit_are_well(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	size_t p = scene_process(&s, ROLE_MAIN);
	s.process[p].libs = THREADLIB_OPENBLAS;
	for (int i = 0; i < 4; i++)
		scene_thread(&s, p, "RRRL", 0)->lock = 5;
	scene_expect_nothing(&s);
}

static void more_processes_than_processors_that_do_not_wait_for_each_other_are_well(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "i");
	for (int i = 0; i < 4; i++)
		scene_thread(&s, scene_process(&s, ROLE_WORKER), "R", 0.5);
	scene_expect_nothing(&s);
}

static void threads_that_release_the_gil_are_well(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	size_t p = scene_process(&s, ROLE_MAIN);
	scene_thread(&s, p, "L", 0);
	scene_thread(&s, p, "RRRRRRRRRG", 0);
	scene_thread(&s, p, "RRRRRGRRRR", 0);
	scene_expect_nothing(&s);
}

static void the_gil_costs_nothing_on_one_processor(void **state)
{
	(void)state;
	scene_begin(&s, 1);
	size_t p = scene_process(&s, ROLE_MAIN);
	scene_thread(&s, p, "RRGG", 0);
	scene_thread(&s, p, "GGRR", 0);
	scene_expect_nothing(&s);
}

static void a_pool_of_threads_that_waits_for_work_is_well(void **state)
{
	(void)state;
	scene_begin(&s, 8);
	size_t p = scene_process(&s, ROLE_MAIN);
	scene_thread(&s, p, "p", 0);
	scene_thread(&s, p, "RLLLLLLL", 0)->lock = 77;
	scene_thread(&s, p, "LLLRLLLL", 0)->lock = 77;
	scene_expect_nothing(&s);
}

static void ranks_that_meet_are_well(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	for (int i = 0; i < 2; i++) {
		scene_one(&s, ROLE_MAIN, "RRRRRRRRRk");
		s.process[i].main = true;
		s.process[i].rank = i;
	}
	scene_expect_nothing(&s);
}

static void page_faults_of_a_start_are_well(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	struct speed_thread *t = scene_one(&s, ROLE_MAIN, "R");
	t->minor_faults = 20000;
	t->system = 0.02;
	scene_expect_nothing(&s);
}

static void system_time_without_faults_is_no_page_fault(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	struct speed_thread *t = scene_one(&s, ROLE_MAIN, "R");
	t->minor_faults = 12000;
	t->system = 0.8;
	scene_expect_nothing(&s);
}

static void short_waits_for_a_disk_are_well(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "RRRRRRRRRRRRRRRRRRRD");
	scene_expect_nothing(&s);
}

static void a_disk_that_others_work_beside_is_well(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "D");
	scene_one(&s, ROLE_WORKER, "R");
	scene_expect_nothing(&s);
}

static void full_memory_without_workers_is_not_a_matter_of_their_number(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "R");
	s.f.machine.used_bytes = s.f.machine.limit_bytes - 1;
	scene_expect_nothing(&s);
}

static void steps_of_steady_length_are_well(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "R");
	s.f.steps = (struct speed_steps){.has_rate = true, .rate_before = 10, .rate_now = 9};
	scene_expect_nothing(&s);
}

static void steps_that_others_make_longer_are_no_fault_of_the_job(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_thread(&s, scene_process(&s, ROLE_MAIN), "R", 0.8);
	s.f.machine.running += 9;
	s.f.steps = (struct speed_steps){.has_rate = true, .rate_before = 10, .rate_now = 3};
	scene_expect(&s, "others-busy", 5);
	assert_int_equal(s.found.n, 1);
}

static void a_small_dev_shm_without_loaders_is_well(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "R");
	s.f.machine.shm_total_bytes = 64 * MIB;
	scene_expect_nothing(&s);
}

static void nothing_is_said_where_nothing_was_seen(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_expect_nothing(&s);
	scene_one(&s, ROLE_MAIN, "R");
	s.f.n_sweeps = 0;
	scene_expect_nothing(&s);
}

static void the_dearest_comes_first(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	struct speed_thread *t = scene_one(&s, ROLE_MAIN, "RRDD");
	t->minor_faults = 200000;
	t->system = 0.1;
	scene_expect(&s, "disk-wait", 2);
	assert_string_equal(s.found.row[1].id, "page-faults");
	assert_true(s.found.row[0].cost_ratio > s.found.row[1].cost_ratio);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stopped_process_is_named),
		cmocka_unit_test(a_quota_that_holds_back_is_named_with_what_is_wanted),
		cmocka_unit_test(a_quota_of_two_stops_four_threads),
		cmocka_unit_test(a_quota_costs_only_the_time_that_it_took),
		cmocka_unit_test(a_small_cpuset_is_named),
		cmocka_unit_test(beside_others_a_wider_cpuset_promises_only_a_fair_share),
		cmocka_unit_test(stolen_time_is_named),
		cmocka_unit_test(a_lowered_clock_is_named),
		cmocka_unit_test(other_programs_on_the_same_processors_are_named),
		cmocka_unit_test(a_job_that_gets_no_processor_at_all_is_told_so),
		cmocka_unit_test(a_quota_that_hardly_binds_hides_no_others),
		cmocka_unit_test(a_job_that_rests_beside_others_lacks_no_processor),
		cmocka_unit_test(a_job_that_others_leave_next_to_nothing_is_not_at_fault),
		cmocka_unit_test(busy_siblings_of_one_core_are_named),
		cmocka_unit_test(logical_processors_taken_for_cores_are_a_note),
		cmocka_unit_test(memory_of_another_node_is_named),
		cmocka_unit_test(threads_that_take_turns_for_the_gil_are_named),
		cmocka_unit_test(four_threads_at_the_gil_gain_as_much_as_there_are_processors),
		cmocka_unit_test(threads_that_take_turns_at_a_mutex_are_named),
		cmocka_unit_test(threads_of_which_always_one_runs_at_a_futex_are_named),
		cmocka_unit_test(a_main_process_that_looks_now_and_then_is_named),
		cmocka_unit_test(waiting_for_a_disk_is_named),
		cmocka_unit_test(a_loader_that_cannot_keep_up_is_named),
		cmocka_unit_test(a_loader_that_cannot_keep_up_with_a_gpu_is_named),
		cmocka_unit_test(more_loaders_do_not_bring_more_than_the_processors),
		cmocka_unit_test(one_worker_that_serves_everything_is_named),
		cmocka_unit_test(one_busy_actor_of_ray_among_idle_ones_is_named),
		cmocka_unit_test(workers_that_are_waited_for_one_by_one_are_named),
		cmocka_unit_test(uneven_tasks_are_named),
		cmocka_unit_test(uneven_tasks_of_ray_are_named),
		cmocka_unit_test(tasks_and_actors_of_several_kinds_are_well),
		cmocka_unit_test(workers_of_a_raylet_without_its_driver_are_well),
		cmocka_unit_test(one_busy_actor_is_named_where_its_caller_is_not_seen),
		cmocka_unit_test(workers_that_wait_for_requests_are_well),
		cmocka_unit_test(a_serial_part_is_named),
		cmocka_unit_test(tiny_tasks_are_named_with_a_batch),
		cmocka_unit_test(page_faults_of_every_step_are_named),
		cmocka_unit_test(swapping_is_named),
		cmocka_unit_test(memory_pressure_is_named),
		cmocka_unit_test(workers_that_do_not_fit_are_named_with_how_many_do),
		cmocka_unit_test(a_small_dev_shm_is_named_where_loaders_use_it),
		cmocka_unit_test(a_loss_that_is_no_number_is_named_before_all_else),
		cmocka_unit_test(steps_that_slow_down_are_named),
		cmocka_unit_test(one_busy_thread_is_well),
		cmocka_unit_test(a_process_that_sleeps_is_well),
		cmocka_unit_test(a_server_that_waits_is_well),
		cmocka_unit_test(a_lone_process_that_paces_itself_is_well),
		cmocka_unit_test(a_quota_that_is_not_used_up_is_well),
		cmocka_unit_test(a_small_cpuset_that_is_enough_is_well),
		cmocka_unit_test(a_pool_whose_workers_are_all_busy_is_well),
		cmocka_unit_test(a_pool_that_nobody_uses_is_well),
		cmocka_unit_test(loaders_that_are_ahead_are_well),
		cmocka_unit_test(numeric_threads_that_fit_are_well),
		cmocka_unit_test(more_processes_than_processors_that_do_not_wait_for_each_other_are_well),
		cmocka_unit_test(threads_that_release_the_gil_are_well),
		cmocka_unit_test(the_gil_costs_nothing_on_one_processor),
		cmocka_unit_test(a_pool_of_threads_that_waits_for_work_is_well),
		cmocka_unit_test(ranks_that_meet_are_well),
		cmocka_unit_test(page_faults_of_a_start_are_well),
		cmocka_unit_test(system_time_without_faults_is_no_page_fault),
		cmocka_unit_test(short_waits_for_a_disk_are_well),
		cmocka_unit_test(a_disk_that_others_work_beside_is_well),
		cmocka_unit_test(full_memory_without_workers_is_not_a_matter_of_their_number),
		cmocka_unit_test(steps_of_steady_length_are_well),
		cmocka_unit_test(steps_that_others_make_longer_are_no_fault_of_the_job),
		cmocka_unit_test(a_small_dev_shm_without_loaders_is_well),
		cmocka_unit_test(nothing_is_said_where_nothing_was_seen),
		cmocka_unit_test(the_dearest_comes_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
