/* Ray's calls, seen at the program that waits for them. */
#include "speed_scenario.h"

static struct scene s;

/* A program and three workers, none of which takes a processor: the calls sleep. */
static struct speed_ray *scene_ray(void)
{
	scene_begin(&s, 8);
	scene_one(&s, ROLE_MAIN, "L");
	for (int i = 0; i < 3; i++) {
		scene_one(&s, ROLE_RAY_WORKER, "L");
		TEXT_COPY(s.process[s.f.n_processes - 1].name, i == 0 ? "ray::Sleeper.na" : "ray::IDLE");
	}
	s.f.ray = (struct speed_ray){.looks = 40, .waits = 40, .driver = s.process[0].pid, .workers = 3};
	return &s.f.ray;
}

/* It has five results to wait for, and one actor works. */
static struct speed_ray *scene_actor(void)
{
	struct speed_ray *r = scene_ray();
	r->actor_alone = 40;
	r->results = 5;
	r->actor = s.process[1].pid;
	TEXT_COPY(r->actor_name, "Sleeper");
	return r;
}

/* It waits for one task after another. */
static struct speed_ray *scene_tasks(void)
{
	struct speed_ray *r = scene_ray();
	r->singles = r->task_alone = 40;
	r->followed = 20;
	TEXT_COPY(r->task_name, "nap");
	return r;
}

static void one_actor_that_has_all_calls_is_named(void **state)
{
	(void)state;
	scene_actor();
	scene_expect(&s, "one-worker", 5);
	assert_string_equal(s.found.row[0].confidence, "high");
	assert_non_null(strstr(s.found.row[0].text, "Sleeper (process 101)"));
}

/* What is told of its threads has the actor's name, not a number alone. */
static void an_actor_is_called_by_its_name(void **state)
{
	(void)state;
	scene_begin(&s, 4);
	scene_one(&s, ROLE_MAIN, "L");
	const size_t p = scene_process(&s, ROLE_RAY_WORKER);
	scene_thread(&s, p, "RG", 0);
	scene_thread(&s, p, "GR", 0);
	(void)scene_first(&s);
	assert_string_equal(s.found.row[0].id, "gil-bound");
	assert_non_null(strstr(s.found.row[0].text, "2 threads of process 101 take turns"));
	TEXT_COPY(s.process[p].called, "critic (Learner)");
	(void)scene_first(&s);
	assert_non_null(strstr(s.found.row[0].text, "2 threads of actor critic (Learner) (process 101) take turns"));
}

/* Five calls of which each takes a whole processor gain what there are. */
static void an_actor_that_computes_gains_no_more_than_the_processors(void **state)
{
	(void)state;
	scene_actor();
	memset(s.at[1], 'R', SCENE_SWEEPS);
	s.thread[1].run = 1;
	s.f.machine.cpus = s.f.machine.cores = s.f.machine.job_cpus = s.f.machine.job_cores = 2;
	scene_expect(&s, "one-worker", 2);
}

static void an_actor_of_which_one_result_is_wanted_at_a_time_is_well(void **state)
{
	(void)state;
	struct speed_ray *r = scene_ray();
	r->singles = 40;
	r->followed = 20;
	scene_expect_nothing(&s);
}

static void an_actor_beside_which_others_work_is_well(void **state)
{
	(void)state;
	scene_actor()->actor_alone = 15;
	scene_expect_nothing(&s);
}

static void tasks_that_are_waited_for_one_by_one_are_named(void **state)
{
	(void)state;
	scene_tasks();
	scene_expect(&s, "one-at-a-time", 8);
	assert_string_equal(s.found.row[0].confidence, "medium");
	assert_non_null(strstr(s.found.row[0].text, "each task nap "));
}

/* One long task is no loop of them. */
static void one_task_that_is_waited_for_is_well(void **state)
{
	(void)state;
	scene_tasks()->followed = 1;
	scene_expect_nothing(&s);
}

static void a_program_that_works_most_of_the_time_is_well(void **state)
{
	(void)state;
	scene_tasks()->task_alone = 10;
	scene_expect_nothing(&s);
}

static void few_looks_say_nothing(void **state)
{
	(void)state;
	struct speed_ray *r = scene_tasks();
	r->looks = r->waits = r->singles = r->task_alone = 10;
	scene_expect_nothing(&s);
}

static void scene_head(size_t parent)
{
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "k");
	size_t gcs = scene_process(&s, ROLE_RAY_SYSTEM);
	TEXT_COPY(s.process[gcs].name, "gcs_server");
	s.process[gcs].parent = parent;
	scene_thread(&s, gcs, "p", 0);
	for (int i = 0; i < 2; i++) {
		scene_one(&s, ROLE_RAY_WORKER, "R");
		s.process[s.f.n_processes - 1].parent = gcs;
	}
}

static void a_head_node_without_a_free_processor_is_named(void **state)
{
	(void)state;
	scene_head(SIZE_MAX);
	scene_expect(&s, "head-node-works", 0);
}

/* As ray.init() does without an address: there is no other node that could do the work. */
static void a_ray_that_the_program_has_started_for_itself_is_no_cluster(void **state)
{
	(void)state;
	scene_head(0);
	scene_expect_nothing(&s);
}

/* Two workers that Ray has for its objects; the second reads them back for half of the time. */
static void scene_spills(double read_bytes)
{
	scene_ray();
	s.f.ray = (struct speed_ray){.looks = 0};
	scene_one(&s, ROLE_RAY_WORKER, "L");
	TEXT_COPY(s.process[s.f.n_processes - 1].name, "ray::IDLE_Spill");
	scene_one(&s, ROLE_RAY_WORKER, "RL");
	TEXT_COPY(s.process[s.f.n_processes - 1].name, "ray::RESTORE_Re");
	s.process[s.f.n_processes - 1].read_bytes = read_bytes;
}

static bool told_of(const char *id)
{
	(void)scene_first(&s);
	for (size_t i = 0; i < s.found.n; i++)
		if (strcmp(s.found.row[i].id, id) == 0)
			return true;
	return false;
}

static void objects_that_come_back_from_disk_are_told(void **state)
{
	(void)state;
	scene_spills(1e9);
	size_t i = 0;
	assert_true(told_of("object-store-small"));
	while (strcmp(s.found.row[i].id, "object-store-small") != 0)
		i++;
	assert_non_null(strstr(s.found.row[i].text, "954 MiB a second"));
	assert_non_null(strstr(s.found.row[i].advice[0], "object-store-memory"));
}

static void objects_that_stay_on_disk_cost_nothing(void **state)
{
	(void)state;
	scene_spills(1e6);
	assert_false(told_of("object-store-small"));
	scene_spills(1e9); /* a task that reads */
	TEXT_COPY(s.process[s.f.n_processes - 1].name, "ray::RESTORE");
	assert_false(told_of("object-store-small"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_head_node_without_a_free_processor_is_named),
		cmocka_unit_test(a_ray_that_the_program_has_started_for_itself_is_no_cluster),
		cmocka_unit_test(one_actor_that_has_all_calls_is_named),
		cmocka_unit_test(an_actor_is_called_by_its_name),
		cmocka_unit_test(an_actor_that_computes_gains_no_more_than_the_processors),
		cmocka_unit_test(an_actor_of_which_one_result_is_wanted_at_a_time_is_well),
		cmocka_unit_test(an_actor_beside_which_others_work_is_well),
		cmocka_unit_test(tasks_that_are_waited_for_one_by_one_are_named),
		cmocka_unit_test(one_task_that_is_waited_for_is_well),
		cmocka_unit_test(a_program_that_works_most_of_the_time_is_well),
		cmocka_unit_test(few_looks_say_nothing),
		cmocka_unit_test(objects_that_come_back_from_disk_are_told),
		cmocka_unit_test(objects_that_stay_on_disk_cost_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
