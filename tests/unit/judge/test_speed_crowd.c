/* Threads that libraries start: whose they are and what sets their number; and the numbers of sentences. */
#include "speed_scenario.h"

static struct scene s;

static void blas_times_processes_is_named_with_its_variable(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	scene_one(&s, ROLE_MAIN, "i");
	for (int i = 0; i < 4; i++) {
		size_t p = scene_process(&s, ROLE_WORKER);
		s.process[p].libs = THREADLIB_OPENBLAS;
		for (int k = 0; k < 4; k++)
			scene_thread(&s, p, "R", 0.75);
	}
	scene_expect(&s, "oversubscribed", 0);
	assert_non_null(strstr(s.found.row[0].advice[0], "OPENBLAS_NUM_THREADS to 1"));
}

static void torch_is_named_before_the_openmp_that_it_calls(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	size_t p = scene_process(&s, ROLE_MAIN);
	s.process[p].libs = THREADLIB_TORCH | THREADLIB_GOMP;
	s.process[p].set_threads = 12;
	for (int k = 0; k < 12; k++)
		scene_thread(&s, p, "R", 0.66);
	scene_expect(&s, "oversubscribed", 0);
	assert_non_null(strstr(s.found.row[0].advice[0], "torch.set_num_threads to 4"));
}

static void threads_that_the_program_asks_for_itself_are_said_to_be_its_own(void **state)
{
	(void)state;
	/* More than there are processors, and no variable: no library does that by itself. */
	scene_begin(&s, 4);
	size_t p = scene_process(&s, ROLE_MAIN);
	s.process[p].libs = THREADLIB_TORCH | THREADLIB_GOMP;
	for (int k = 0; k < 12; k++)
		scene_thread(&s, p, "R", 0.66);
	scene_expect(&s, "oversubscribed", 0);
	assert_non_null(strstr(s.found.row[0].advice[0], "torch.set_num_threads"));
	assert_non_null(strstr(s.found.row[0].evidence[2], "the program itself asks for them"));
	assert_null(strstr(s.found.row[0].advice[0], "OMP_NUM_THREADS"));
	/* More than the variable says. */
	s.process[p].set_threads = 2;
	scene_expect(&s, "oversubscribed", 0);
	assert_non_null(strstr(s.found.row[0].evidence[2], "the program itself asks for more"));
	assert_non_null(strstr(s.found.row[0].advice[0], "torch.set_num_threads"));
	assert_null(strstr(s.found.row[0].advice[0], "OMP_NUM_THREADS"));
	/* As many as it says: the variable is what to change. */
	s.process[p].set_threads = 12;
	scene_expect(&s, "oversubscribed", 0);
	assert_null(strstr(s.found.row[0].evidence[2], "the program itself"));
	assert_non_null(strstr(s.found.row[0].advice[0], "OMP_NUM_THREADS"));
}

/* One process, one processor, one core, one worker: no sentence has a plural of one. */
static void what_there_is_one_of_has_no_plural(void **state)
{
	(void)state;
	scene_begin(&s, 1);
	size_t p = scene_process(&s, ROLE_MAIN);
	s.process[p].libs = THREADLIB_GOMP;
	s.process[p].set_threads = 1;
	for (int i = 0; i < 4; i++)
		scene_thread(&s, p, "R", 0.75);
	scene_expect(&s, "oversubscribed", 0);
	scene_begin(&s, 2);
	scene_thread(&s, scene_process(&s, ROLE_MAIN), "R", 0.5);
	s.f.machine.quota_cores = 0.5;
	s.f.machine.periods = 50;
	s.f.machine.throttled = 48;
	s.f.machine.throttled_cores = 0.5;
	scene_expect(&s, "cpu-quota", 2);
	scene_begin(&s, 2);
	s.f.machine.job_cores = s.f.machine.cores = 1;
	s.f.machine.job_pairs = 1;
	p = scene_process(&s, ROLE_MAIN);
	s.process[p].libs = THREADLIB_MKL;
	for (int i = 0; i < 2; i++)
		scene_thread(&s, p, "R", 0);
	scene_expect(&s, "logical-cores", 0);
	scene_begin(&s, 1);
	scene_thread(&s, scene_process(&s, ROLE_MAIN), "R", 0.5);
	s.f.machine.running += 1;
	scene_expect(&s, "others-busy", 2);
	scene_begin(&s, 8);
	scene_one(&s, ROLE_MAIN, "i");
	scene_one(&s, ROLE_WORKER, "R");
	scene_one(&s, ROLE_WORKER, "i");
	scene_expect(&s, "one-worker", 2);
	scene_begin(&s, 8);
	scene_one(&s, ROLE_MAIN, "i");
	for (int i = 0; i < 2; i++) {
		scene_one(&s, ROLE_WORKER, "R");
		s.process[s.f.n_processes - 1].own_bytes = 4000 * MIB;
	}
	s.f.machine.limit_bytes = 8400 * MIB;
	s.f.machine.used_bytes = 8100 * MIB;
	scene_expect(&s, "memory-fit", 0);
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "R")->system = 0.6;
	s.process[0].reads = s.process[0].read_bytes = 200e3;
	scene_expect(&s, "small-io", 0);
}

static void busy_threads(size_t p, size_t n, unsigned lib)
{
	for (size_t k = 0; k < n; k++)
		scene_thread(&s, p, "R", 0.75)->lib = lib;
}

/* numpy has its own OpenBLAS, and is loaded by nearly all. */
static void the_library_that_has_started_the_threads_is_named(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	size_t p = scene_process(&s, ROLE_MAIN);
	s.process[p].libs = THREADLIB_OPENBLAS | THREADLIB_TORCH | THREADLIB_GOMP;
	scene_thread(&s, p, "R", 0.75);
	busy_threads(p, 7, THREADLIB_GOMP);
	s.process[p].set_threads = 8;
	scene_expect(&s, "oversubscribed", 0);
	assert_non_null(strstr(s.found.row[0].text, "inside PyTorch"));
	assert_non_null(strstr(s.found.row[0].advice[0], "OMP_NUM_THREADS"));
	/* OpenBLAS has a thread that rests; whose the others are cannot be read. */
	scene_begin(&s, 4);
	p = scene_process(&s, ROLE_MAIN);
	s.process[p].libs = THREADLIB_OPENBLAS | THREADLIB_MKL | THREADLIB_IOMP;
	s.process[p].set_threads = 8;
	scene_thread(&s, p, "R", 0.75);
	scene_thread(&s, p, "L", 0)->lib = THREADLIB_OPENBLAS;
	busy_threads(p, 7, 0);
	scene_expect(&s, "oversubscribed", 0);
	assert_non_null(strstr(s.found.row[0].advice[0], "MKL_NUM_THREADS"));
}

/* Seen of torch.set_num_threads(8) where a neighbour had one of two processors: 0.9 of them ran, 3.6 waited. */
static void threads_of_a_library_that_meet_at_a_futex_have_no_lock(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	size_t p = scene_process(&s, ROLE_MAIN);
	s.process[p].libs = THREADLIB_TORCH | THREADLIB_GOMP;
	static const char *const at[] = {"RLLL", "LRLL", "LLRL", "LLLR"};
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		struct speed_thread *t = scene_thread(&s, p, at[i], 0);
		t->lock = 77;
		t->lib = i ? THREADLIB_GOMP : 0;
	}
	scene_expect_nothing(&s);
	/* the same of threads that the program has started */
	for (size_t i = 0; i < ARRAY_SIZE(at); i++)
		s.thread[i].lib = 0;
	scene_expect(&s, "lock-contention", 2);
}

/* Seen beside six other threads on two processors, Python 3.11: alone, one of the eight runs at a time. */
static void threads_at_the_gil_that_look_up_beside_others_do_not_run(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	size_t p = scene_process(&s, ROLE_MAIN);
	for (int i = 0; i < 8; i++) {
		struct speed_thread *t = scene_thread(&s, p, &"RGGGGRGGGG"[i % 5], 0);
		t->run = 0.05;
		t->queued = 0.19;
		t->voluntary = 165;
		t->involuntary = 22;
	}
	s.f.machine.running = 1.8 + 6;
	(void)scene_first(&s);
	const struct finding *f = NULL;
	for (size_t i = 0; i < s.found.n; i++)
		if (strcmp(s.found.row[i].id, "gil-bound") == 0)
			f = &s.found.row[i];
	assert_non_null(f);
	assert_true(f->speedup > 1.9 && f->speedup < 2.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blas_times_processes_is_named_with_its_variable),
		cmocka_unit_test(torch_is_named_before_the_openmp_that_it_calls),
		cmocka_unit_test(threads_that_the_program_asks_for_itself_are_said_to_be_its_own),
		cmocka_unit_test(what_there_is_one_of_has_no_plural),
		cmocka_unit_test(the_library_that_has_started_the_threads_is_named),
		cmocka_unit_test(threads_of_a_library_that_meet_at_a_futex_have_no_lock),
		cmocka_unit_test(threads_at_the_gil_that_look_up_beside_others_do_not_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
