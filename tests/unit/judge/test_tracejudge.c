#include "testing.h"

#include "base/buf.h"
#include "judge/speed/tracejudge.h"

static struct tracefacts facts;
static struct tracesum sum;
static struct findings found;

/* One event of a row, in ms. */
static void put(const char *name, int row, double begin_ms, double length_ms)
{
	struct chrometrace_event e = {.ph = 'X',
				      .pid = "node:10.0.0.3",
				      .has_ts = true,
				      .has_dur = true,
				      .ts_ns = (int64_t)(begin_ms * 1e6),
				      .dur_ns = (int64_t)(length_ms * 1e6)};
	TEXT_COPY(e.name, name);
	TEXT_FORMAT(e.tid, "worker:%d", row);
	tracefacts_event(&facts, &e);
}

static void judge(void)
{
	found.n = 0;
	tracefacts_seal(&facts);
	assert_int_equal(trace_judge(&facts, &sum, &found), 0);
	tracefacts_done(&facts);
}

static void expect(const char *id, double speedup)
{
	judge();
	assert_true(found.n > 0);
	assert_string_equal(found.row[0].id, id);
	if (found.row[0].speedup < speedup * 0.95 || found.row[0].speedup > speedup * 1.05)
		print_error("speed-up %g, not %g\n", found.row[0].speedup, speedup);
	assert_true(found.row[0].speedup >= speedup * 0.95 && found.row[0].speedup <= speedup * 1.05);
	assert_true(found.row[0].n_evidence > 0 && found.row[0].n_advice > 0);
}

static void expect_nothing(void)
{
	judge();
	if (found.n)
		print_error("found: %s: %s\n", found.row[0].id, found.row[0].text);
	assert_int_equal(found.n, 0);
}

static void tiny_tasks_are_named_with_a_batch(void **state)
{
	(void)state;
	for (int row = 0; row < 4; row++)
		for (int i = 0; i < 100; i++)
			put("task::f", row, i * 2, 0.5);
	expect("tiny-tasks", 2 / (1.5 / 27 + 0.5));
	assert_non_null(strstr(found.row[0].advice[0], "put 27 of them"));
}

/* A node's timeline has all that it ever did: the gain is of the part with tiny tasks. */
static void tiny_tasks_beside_long_ones_gain_their_own_part_only(void **state)
{
	(void)state;
	for (int row = 0; row < 4; row++) {
		for (int i = 0; i < 1000; i++)
			put("task::f", row, i * 2, 0.5);
		for (int i = 0; i < 20; i++)
			put("task::long", row, 2000 + i * 101, 100);
	}
	expect("tiny-tasks", 4020.0 / (2000 / 3.6 + 2020));
	assert_non_null(strstr(found.row[0].evidence[1], "task::f"));
}

static void a_few_tiny_tasks_beside_much_work_are_nothing(void **state)
{
	(void)state;
	for (int row = 0; row < 4; row++) {
		for (int i = 0; i < 100; i++)
			put("task::f", row, i * 2, 0.5);
		for (int i = 0; i < 60; i++)
			put("task::long", row, 5000 + i * 101, 100);
	}
	judge();
	for (size_t i = 0; i < found.n; i++)
		assert_string_not_equal(found.row[i].id, "tiny-tasks");
}

static void five_calls_on_one_actor_are_named(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		put("task::Sleeper.actor_func", 0, i * 501, 500);
	expect("one-worker", 5.01);
	assert_string_equal(found.row[0].confidence, "medium");
	assert_non_null(strstr(found.row[0].advice[0], "several actors"));
}

/* The loop of ray.get(f.remote()): Ray has the same worker do each. */
static void tasks_that_are_waited_for_one_by_one_need_no_actors(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		put("task::f", 0, i * 501, 500);
	expect("one-worker", 5.01);
	assert_null(strstr(found.row[0].advice[0], "actor"));
	assert_non_null(strstr(found.row[0].advice[0], "ray.get of a list"));
}

static void one_of_many_workers_that_does_everything_is_named(void **state)
{
	(void)state;
	for (int i = 0; i < 40; i++)
		put("task::f", 0, i * 100, 99);
	for (int row = 1; row < 4; row++)
		put("task::f", row, 0, 10);
	expect("one-worker", 4000.0 / 1000);
}

static void a_loop_that_waits_for_each_result_is_named(void **state)
{
	(void)state;
	for (int i = 0; i < 40; i++)
		put("task::f", i % 4, i * 100, 100);
	expect("one-at-a-time", 4);
}

static void uneven_tasks_are_named_with_what_list_scheduling_gives(void **state)
{
	(void)state;
	for (int round = 0; round < 5; round++) {
		put("task::f", 0, round * 400, 400);
		for (int row = 1; row < 4; row++)
			put("task::f", row, round * 400, 100);
	}
	/* 5 of 400 and 15 of 100 on four workers: 900 at best, instead of 2000. */
	expect("uneven-tasks", 2000.0 / 900);
}

static void one_long_task_decides_the_end_whatever_the_order(void **state)
{
	(void)state;
	put("task::f", 0, 0, 1000);
	for (int row = 1; row < 4; row++)
		put("task::f", row, 0, 50);
	expect_nothing(); /* no order of the same tasks is better */
}

static void times_in_which_nobody_works_are_named(void **state)
{
	(void)state;
	for (int round = 0; round < 5; round++)
		for (int row = 0; row < 4; row++)
			put("task::f", row, round * 200, 100);
	expect("idle-gaps", 900.0 / 500);
}

static void kernels_that_are_launched_too_slowly_are_named(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct chrometrace_event e = {.ph = 'X',
					      .name = "gemm",
					      .cat = "kernel",
					      .pid = "0",
					      .tid = "7",
					      .has_ts = true,
					      .has_dur = true,
					      .ts_ns = i * 20000,
					      .dur_ns = 5000};
		tracefacts_event(&facts, &e);
	}
	expect("tiny-tasks", 20 / (15 / 27.0 + 5));
	assert_true(sum.device);
}

static void a_gpu_that_waits_for_the_program_is_named(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		struct chrometrace_event e = {.ph = 'X',
					      .name = "gemm",
					      .cat = "kernel",
					      .pid = "0",
					      .tid = "7",
					      .has_ts = true,
					      .has_dur = true,
					      .ts_ns = i * 1000000,
					      .dur_ns = 400000};
		tracefacts_event(&facts, &e);
		e = (struct chrometrace_event){.ph = 'X',
					       .name = "step",
					       .cat = "user_annotation",
					       .pid = "9",
					       .tid = "9",
					       .has_ts = true,
					       .has_dur = true,
					       .ts_ns = i * 1000000,
					       .dur_ns = 999000};
		tracefacts_event(&facts, &e);
	}
	expect("gpu-idle", 2.5);
}

static void workers_that_are_all_busy_are_well(void **state)
{
	(void)state;
	for (int row = 0; row < 4; row++)
		for (int i = 0; i < 50; i++)
			put("task::f", row, i * 101, 100);
	expect_nothing();
}

static void workers_that_start_one_after_another_are_no_uneven_tasks(void **state)
{
	(void)state;
	for (int row = 0; row < 5; row++)
		put("task::Sleeper.actor_func", row, row * 400, 500);
	expect_nothing();
}

static void the_parts_of_a_task_are_no_tasks(void **state)
{
	(void)state;
	for (int row = 0; row < 4; row++)
		for (int i = 0; i < 50; i++) {
			put("task:deserialize_arguments", row, i * 101, 1);
			put("task:execute", row, i * 101 + 1, 98);
			put("task::f", row, i * 101, 100);
			put("task:store_outputs", row, i * 101 + 99, 1);
		}
	judge();
	assert_int_equal(sum.tasks, 200);
	assert_int_equal(found.n, 0);
}

static void nested_events_in_any_order_count_once(void **state)
{
	(void)state;
	put("inner", 0, 10, 20);
	put("outer", 0, 0, 100);
	put("inner", 0, 40, 20);
	put("outer", 1, 0, 100);
	put("inner", 1, 10, 20);
	tracefacts_seal(&facts);
	assert_int_equal(facts.n_tasks, 2);
	assert_int_equal(facts.row[0].n, 1);
	assert_true(facts.row[0].task[0].end_ns == 100000000);
	tracefacts_done(&facts);
}

static void begins_and_ends_make_events(void **state)
{
	(void)state;
	struct chrometrace_event b = {.ph = 'B', .name = "a", .pid = "1", .tid = "1", .has_ts = true, .ts_ns = 0};
	struct chrometrace_event e = {.ph = 'E', .pid = "1", .tid = "1", .has_ts = true, .ts_ns = 50};
	tracefacts_event(&facts, &e); /* an end without a begin */
	tracefacts_event(&facts, &b);
	b.ts_ns = 10;
	tracefacts_event(&facts, &b);
	e.ts_ns = 20;
	tracefacts_event(&facts, &e);
	e.ts_ns = 60;
	tracefacts_event(&facts, &e);
	b.ts_ns = 70;
	tracefacts_event(&facts, &b); /* does not end */
	tracefacts_seal(&facts);
	assert_int_equal(facts.n_tasks, 1);
	assert_true(facts.row[0].task[0].begin_ns == 0 && facts.row[0].task[0].end_ns == 60);
	tracefacts_done(&facts);
}

static void a_program_with_one_thread_is_well(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++)
		put("train_step", 0, i * 100, 60);
	expect_nothing(); /* what lies between was not recorded */
}

static void helpers_of_another_kind_are_no_idle_workers(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++)
		put("train_step", 0, i * 100, 99);
	for (int row = 1; row < 5; row++)
		put("load", row, 50, 20);
	expect_nothing();
}

static void names_of_rows_come_from_the_metadata(void **state)
{
	(void)state;
	char text[160];
	struct chrometrace_event e = {.ph = 'M', .name = "thread_name", .pid = "3", .tid = "4", .arg_name = "loader"};
	tracefacts_event(&facts, &e);
	e = (struct chrometrace_event){.ph = 'M', .name = "process_name", .pid = "3", .arg_name = "python"};
	tracefacts_event(&facts, &e);
	assert_int_equal(facts.n_rows, 1);
	assert_string_equal(trace_row_text(&facts.row[0], text, sizeof(text)), "loader of python");
	tracefacts_done(&facts);
}

static void an_empty_trace_has_no_findings(void **state)
{
	(void)state;
	expect_nothing();
	assert_int_equal(sum.tasks, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiny_tasks_are_named_with_a_batch),
		cmocka_unit_test(tiny_tasks_beside_long_ones_gain_their_own_part_only),
		cmocka_unit_test(a_few_tiny_tasks_beside_much_work_are_nothing),
		cmocka_unit_test(five_calls_on_one_actor_are_named),
		cmocka_unit_test(tasks_that_are_waited_for_one_by_one_need_no_actors),
		cmocka_unit_test(one_of_many_workers_that_does_everything_is_named),
		cmocka_unit_test(a_loop_that_waits_for_each_result_is_named),
		cmocka_unit_test(uneven_tasks_are_named_with_what_list_scheduling_gives),
		cmocka_unit_test(one_long_task_decides_the_end_whatever_the_order),
		cmocka_unit_test(times_in_which_nobody_works_are_named),
		cmocka_unit_test(kernels_that_are_launched_too_slowly_are_named),
		cmocka_unit_test(a_gpu_that_waits_for_the_program_is_named),
		cmocka_unit_test(workers_that_are_all_busy_are_well),
		cmocka_unit_test(workers_that_start_one_after_another_are_no_uneven_tasks),
		cmocka_unit_test(the_parts_of_a_task_are_no_tasks),
		cmocka_unit_test(nested_events_in_any_order_count_once),
		cmocka_unit_test(begins_and_ends_make_events),
		cmocka_unit_test(a_program_with_one_thread_is_well),
		cmocka_unit_test(helpers_of_another_kind_are_no_idle_workers),
		cmocka_unit_test(names_of_rows_come_from_the_metadata),
		cmocka_unit_test(an_empty_trace_has_no_findings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
