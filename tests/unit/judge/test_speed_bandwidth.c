#include "speed_scenario.h"

static struct scene s;

#define GB 1e9

/* Four threads that compute, alone on a machine of 8 processors whose memory could move 100 GB a second. */
static void scene_full(double gb)
{
	scene_begin(&s, 8);
	const size_t p = scene_process(&s, ROLE_MAIN);
	for (int i = 0; i < 4; i++)
		scene_thread(&s, p, "R", 0);
	s.f.machine.busy = 4.2;
	s.f.machine.traffic = (struct speed_traffic){.source = SPEED_TRAFFIC_CONTROLLERS,
						     .bytes = gb * GB,
						     .reads = 0.75 * gb * GB,
						     .writes = 0.25 * gb * GB,
						     .limit_bytes = 100 * GB,
						     .channels = 4};
}

static bool said(const char *words)
{
	const struct finding *f = &s.found.row[0];
	for (size_t i = 0; i < f->n_evidence; i++)
		if (strstr(f->evidence[i], words))
			return true;
	for (size_t i = 0; i < f->n_advice; i++)
		if (strstr(f->advice[i], words))
			return true;
	return strstr(f->text, words) != NULL;
}

static void memory_that_is_full_is_named(void **state)
{
	(void)state;
	scene_full(82);
	scene_expect(&s, "memory-bandwidth", 0);
	assert_string_equal(s.found.row[0].confidence, "medium");
	assert_true(said("82 % of what it could") && said("82.0 GB a second") && said("75 % of it were reads"));
	assert_true(said("4.0 of the 4.2 processors") && said("2 instead of 4") && said("float32"));
	assert_true(!said("numactl") && said("no gain is told"));
}

static void memory_with_room_is_no_finding(void **state)
{
	(void)state;
	scene_full(65);
	scene_expect_nothing(&s);
	scene_full(0.4);
	scene_expect_nothing(&s);
}

static void without_a_limit_it_is_no_finding(void **state)
{
	(void)state;
	scene_full(400);
	s.f.machine.traffic.limit_bytes = 0;
	s.f.machine.traffic.channels = 0;
	scene_expect_nothing(&s);
}

static void more_than_the_limit_says_that_the_limit_is_wrong(void **state)
{
	(void)state;
	scene_full(130);
	scene_expect_nothing(&s);
	scene_full(103); /* clocks differ by that much */
	scene_expect(&s, "memory-bandwidth", 0);
}

static void what_was_not_seen_is_no_finding(void **state)
{
	(void)state;
	scene_full(90);
	s.f.machine.traffic.source = SPEED_TRAFFIC_UNSEEN;
	scene_expect_nothing(&s);
}

static void a_job_that_rests_is_not_held_back_by_memory(void **state)
{
	(void)state;
	scene_full(90);
	for (size_t i = 0; i < s.f.n_threads; i++) {
		memset(s.f.thread[i].at, 's', SCENE_SWEEPS);
		s.f.thread[i].run = 0.01;
	}
	s.f.machine.busy = 4.2;
	s.f.machine.running = 0;
	scene_expect_nothing(&s);
}

static void beside_others_it_is_said_that_whose_it_is_was_not_seen(void **state)
{
	(void)state;
	scene_full(80);
	s.f.machine.busy = 7.9;
	s.f.machine.running += 3.5;
	scene_expect(&s, "memory-bandwidth", 0);
	assert_string_equal(s.found.row[0].confidence, "low");
	assert_true(said("only 4.0 of the 7.9") && said("not seen"));
}

static void a_group_of_its_own_says_whose_it_is(void **state)
{
	(void)state;
	scene_full(80);
	s.f.machine.busy = 7.9;
	s.f.machine.running += 3.5;
	s.f.machine.traffic.has_job = true;
	s.f.machine.traffic.job_bytes = 60 * GB;
	scene_expect(&s, "memory-bandwidth", 0);
	assert_string_equal(s.found.row[0].confidence, "medium");
	assert_true(said("60.0 GB a second") && !said("for other programs"));
	s.f.machine.traffic.job_bytes = 2 * GB;
	scene_expect(&s, "memory-bandwidth", 0);
	assert_true(said("for other programs") && said("another machine") && !said("float32"));
}

static void one_package_that_is_full_is_told_with_what_is_free(void **state)
{
	(void)state;
	scene_full(46);
	s.f.machine.nodes = 2;
	s.f.machine.traffic.parts = 2;
	s.f.machine.traffic.part_bytes = 41 * GB;
	scene_expect(&s, "memory-bandwidth", 0);
	assert_true(said("of one package moves 82 %") && said("--interleave=all") && said("busiest of 2 packages"));
	s.f.machine.traffic.part_bytes = 30 * GB;
	scene_expect_nothing(&s);
	s.f.machine.traffic.part_bytes = 46 * GB;
	s.f.machine.traffic.channels = 5; /* not spread evenly: what one package can is not known */
	scene_expect_nothing(&s);
	s.f.machine.traffic.channels = 4;
	s.f.machine.traffic.part_bytes = 60 * GB; /* nor here */
	scene_expect_nothing(&s);
}

static void nodes_are_named_where_all_are_full(void **state)
{
	(void)state;
	scene_full(85);
	s.f.machine.nodes = 2;
	s.f.machine.traffic.parts = 2;
	s.f.machine.traffic.part_bytes = 43 * GB;
	scene_expect(&s, "memory-bandwidth", 0);
	assert_true(!said("--interleave") && said("--membind") && said("85 % of what"));
}

static void what_caches_count_is_told_as_that(void **state)
{
	(void)state;
	scene_full(75);
	s.f.machine.traffic.source = SPEED_TRAFFIC_CACHES;
	s.f.machine.traffic.reads = s.f.machine.traffic.writes = 0;
	s.f.machine.traffic.least = true;
	s.f.machine.traffic.channels = 1;
	scene_expect(&s, "memory-bandwidth", 0);
	assert_true(said("at least 75.0") && said("without devices") && said("1 channel can") && !said("were reads"));
}

static void one_thread_is_not_told_to_be_fewer(void **state)
{
	(void)state;
	scene_begin(&s, 2);
	scene_one(&s, ROLE_MAIN, "R");
	s.f.machine.busy = 1;
	s.f.machine.traffic = (struct speed_traffic){
		.source = SPEED_TRAFFIC_CONTROLLERS, .bytes = 15 * GB, .limit_bytes = 19.2 * GB, .channels = 1};
	scene_expect(&s, "memory-bandwidth", 0);
	assert_true(!said("fewer ranks") && said("move less"));
}

static void a_dearer_finding_stays_first(void **state)
{
	(void)state;
	scene_full(80);
	s.f.machine.quota_cores = 2;
	s.f.machine.periods = 50;
	s.f.machine.throttled = 45;
	s.f.machine.throttled_cores = 2;
	assert_string_equal(scene_first(&s)->id, "cpu-quota");
	assert_string_equal(s.found.row[1].id, "memory-bandwidth");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_that_is_full_is_named),
		cmocka_unit_test(memory_with_room_is_no_finding),
		cmocka_unit_test(without_a_limit_it_is_no_finding),
		cmocka_unit_test(more_than_the_limit_says_that_the_limit_is_wrong),
		cmocka_unit_test(what_was_not_seen_is_no_finding),
		cmocka_unit_test(a_job_that_rests_is_not_held_back_by_memory),
		cmocka_unit_test(beside_others_it_is_said_that_whose_it_is_was_not_seen),
		cmocka_unit_test(a_group_of_its_own_says_whose_it_is),
		cmocka_unit_test(one_package_that_is_full_is_told_with_what_is_free),
		cmocka_unit_test(nodes_are_named_where_all_are_full),
		cmocka_unit_test(what_caches_count_is_told_as_that),
		cmocka_unit_test(one_thread_is_not_told_to_be_fewer),
		cmocka_unit_test(a_dearer_finding_stays_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
