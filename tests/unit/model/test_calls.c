#include "testing.h"

#include <stdio.h>

#include "model/stacks/calls.h"
#include "model/stacks/calls_stackset.h"
#include "sense/rank.h"

static uint32_t add(struct calls *c, const char *file, int32_t line, const char *name, uint64_t calls, double own,
		    double total)
{
	const struct pstats_sink sink = calls_sink(c);
	const struct pstats_key key = {{file, strlen(file)}, {name, strlen(name)}, line};
	const struct pstats_number n = {calls, calls, own, total};
	uint32_t i;
	assert_int_equal(sink.function(sink.ctx, &key, &n), 0);
	assert_int_equal(calls_function(c, file, line, name, &i), 0);
	return i;
}

static void a_function_is_its_file_line_and_name(void **state)
{
	(void)state;
	cleanup(calls_freep) struct calls *c = calls_new();
	uint32_t a, b, same;
	assert_int_equal(calls_function(c, "a.py", 1, "f", &a), 0);
	assert_int_equal(calls_function(c, "a.py", 2, "f", &b), 0);
	assert_int_not_equal(a, b);
	assert_int_equal(calls_function(c, "a.py", 1, "f", &same), 0);
	assert_int_equal(a, same);
	assert_int_equal(calls_function(c, "a.pyf", 1, "", &b), 0);
	assert_int_not_equal(a, b);
	assert_int_equal(calls_len(c), 3);
	assert_null(calls_get(c, 3));
}

static void many_functions_are_found_again(void **state)
{
	(void)state;
	cleanup(calls_freep) struct calls *c = calls_new();
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 20000; i++) {
			char name[32];
			uint32_t at;
			(void)snprintf(name, sizeof(name), "f%u", i);
			assert_int_equal(calls_function(c, "x.py", (int32_t)i % 7, name, &at), 0);
			assert_int_equal(at, i);
		}
	}
	assert_int_equal(calls_len(c), 20000);
}

static void parts_add_every_number(void **state)
{
	(void)state;
	cleanup(calls_freep) struct calls *all = calls_new();
	for (int rank = 0; rank < 3; rank++) {
		uint32_t f = add(all, "a.py", 1, "f", 10, 1.5, 2);
		uint32_t g = add(all, "a.py", 5, "g", 1, 0.5, 3 + rank);
		const struct call_edge e = {
			.caller = g, .n_calls = 10, .n_primitive = 10, .own_s = 1, .cumulative_s = 2};
		assert_int_equal(calls_edge(all, f, &e), 0);
		calls_part_end(all, rank);
	}
	uint32_t f;
	assert_int_equal(calls_function(all, "a.py", 1, "f", &f), 0);
	const struct call_function *x = calls_get(all, f);
	assert_int_equal(x->n_calls, 30);
	assert_float_equal(x->own_s, 4.5, 1e-5);
	assert_int_equal(x->n_edges, 1);
	assert_int_equal(x->edges[0].n_calls, 30);
	assert_float_equal(x->edges[0].cumulative_s, 6, 1e-5);
	assert_string_equal(calls_get(all, x->edges[0].caller)->name, "g");
	const struct calls_sum sum = calls_total(all);
	assert_int_equal(sum.n_calls, 33);
	assert_float_equal(sum.own_s, 6, 1e-5);
	assert_int_equal(calls_parts(all), 3);
}

static void the_slowest_rank_is_known(void **state)
{
	(void)state;
	static const double s[] = {2, 7, 3};
	cleanup(calls_freep) struct calls *c = calls_new();
	uint32_t f = 0;
	for (int rank = 0; rank < 3; rank++) {
		f = add(c, "a.py", 1, "f", 1, 1, s[rank]);
		calls_part_end(c, rank);
	}
	const struct call_spread spread = calls_spread(c, calls_get(c, f));
	assert_float_equal(spread.min_s, 2, 1e-5);
	assert_float_equal(spread.mean_s, 4, 1e-5);
	assert_float_equal(spread.max_s, 7, 1e-5);
	assert_float_equal(spread.stddev_s, 2.160246899469287, 1e-5);
	assert_int_equal(spread.max_rank, 1);
}

static void a_rank_that_never_called_it_counts_as_zero(void **state)
{
	(void)state;
	cleanup(calls_freep) struct calls *c = calls_new();
	uint32_t f = add(c, "a.py", 1, "only_rank_0", 1, 1, 4);
	calls_part_end(c, 0);
	add(c, "a.py", 2, "other", 1, 1, 1);
	calls_part_end(c, 1);
	const struct call_spread spread = calls_spread(c, calls_get(c, f));
	assert_float_equal(spread.min_s, 0, 1e-5);
	assert_float_equal(spread.mean_s, 2, 1e-5);
	assert_float_equal(spread.max_s, 4, 1e-5);
}

static void workers_of_one_rank_are_one_part(void **state)
{
	(void)state;
	cleanup(calls_freep) struct calls *c = calls_new();
	add(c, "a.py", 1, "f", 1, 1, 4);
	uint32_t f = add(c, "a.py", 1, "f", 1, 1, 5);
	calls_part_end(c, 0);
	assert_int_equal(calls_get(c, f)->n_parts, 1);
	assert_float_equal(calls_spread(c, calls_get(c, f)).max_s, 9, 1e-5);
}

static void a_caller_that_still_ran_is_not_a_function_of_the_table(void **state)
{
	(void)state;
	cleanup(calls_freep) struct calls *c = calls_new();
	const struct pstats_sink sink = calls_sink(c);
	const struct pstats_key f = {SPAN("a.py"), SPAN("f"), 1}, running = {SPAN("a.py"), SPAN("main"), 9};
	const struct pstats_number n = {1, 1, 1, 1};
	assert_int_equal(sink.function(sink.ctx, &f, &n), 0);
	assert_int_equal(sink.edge(sink.ctx, &running, &n), 0);
	calls_part_end(c, NO_RANK);
	assert_int_equal(calls_len(c), 2);
	assert_true(call_function_is_counted(calls_get(c, 0)));
	assert_false(call_function_is_counted(calls_get(c, 1)));
}

static void a_function_with_many_callers_keeps_them_apart(void **state)
{
	(void)state;
	cleanup(calls_freep) struct calls *c = calls_new();
	uint32_t f = add(c, "~", 0, "<built-in method builtins.len>", 1, 1, 1);
	for (int round = 0; round < 3; round++) {
		for (int32_t i = 0; i < 5000; i++) {
			struct call_edge e = {.n_calls = (uint64_t)i};
			assert_int_equal(calls_function(c, "a.py", i, "caller", &e.caller), 0);
			assert_int_equal(calls_edge(c, f, &e), 0);
		}
	}
	assert_int_equal(calls_get(c, f)->n_edges, 5000);
	for (size_t i = 0; i < 5000; i++)
		assert_int_equal(calls_get(c, f)->edges[i].n_calls, 3 * i);
}

static void text_with_a_nul_inside_stays_one_function(void **state)
{
	(void)state;
	cleanup(calls_freep) struct calls *c = calls_new();
	const struct pstats_key key = {{"a\0b", 3}, {"f\0", 2}, 1};
	const struct pstats_number n = {1, 1, 1, 1};
	for (int i = 0; i < 2; i++) {
		const struct pstats_sink sink = calls_sink(c);
		assert_int_equal(sink.function(sink.ctx, &key, &n), 0);
	}
	assert_int_equal(calls_len(c), 1);
	assert_string_equal(calls_get(c, 0)->file, "a?b");
	assert_string_equal(calls_get(c, 0)->name, "f?");
}

static void the_order_is_that_of_the_column_and_then_of_the_names(void **state)
{
	(void)state;
	cleanup(calls_freep) struct calls *c = calls_new();
	add(c, "b.py", 1, "x", 5, 1, 9);
	add(c, "a.py", 2, "y", 5, 3, 4);
	add(c, "a.py", 1, "z", 7, 1, 4);
	static const struct {
		enum calls_sort by;
		const char *names;
	} want[] = {{CALLS_TOTTIME, "yzx"}, {CALLS_CUMTIME, "xzy"}, {CALLS_NCALLS, "zyx"}};
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		cleanup(freep) uint32_t *order = NULL;
		assert_int_equal(calls_sorted(c, want[i].by, &order), 0);
		for (size_t k = 0; k < 3; k++)
			assert_int_equal(calls_get(c, order[k])->name[0], want[i].names[k]);
	}
}

static void counts_stop_growing_instead_of_starting_anew(void **state)
{
	(void)state;
	cleanup(calls_freep) struct calls *c = calls_new();
	for (int i = 0; i < 3; i++)
		add(c, "a.py", 1, "f", INT64_MAX, 0, 0);
	assert_true(calls_total(c).n_calls == UINT64_MAX);
}

static uint32_t frame(struct stackset *s, const char *name, int32_t line)
{
	const struct frame f = {.kind = FRAME_PYTHON, .name = name, .file = "a.py", .module = "", .line = line};
	uint32_t id;
	assert_int_equal(frametab_intern(stackset_frames(s), &f, &id), 0);
	return id;
}

static const struct call_function *named(struct calls *c, const char *name)
{
	for (uint32_t i = 0; i < calls_len(c); i++)
		if (strcmp(calls_get(c, i)->name, name) == 0)
			return calls_get(c, i);
	fail_msg("no function %s", name);
	return NULL;
}

static void a_recording_gives_own_and_total_samples(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	const uint32_t f_main = frame(s, "main", 1), f_fib = frame(s, "fib", 5), f_read = frame(s, "read", 9);
	for (int32_t rank = 0; rank < 2; rank++) {
		const struct stack_lane lane = {.pid = 10 + rank, .rank = rank};
		const uint32_t deep[] = {f_fib, f_fib, f_fib, f_main}, waits[] = {f_read, f_main};
		uint32_t at;
		assert_int_equal(stackset_lane(s, &lane, &at), 0);
		for (int i = 0; i < 3 + rank; i++)
			assert_int_equal(stackset_add(s, at, deep, 4, SAMPLE_RUNNING, true, NS_PER_S), 0);
		assert_int_equal(stackset_add(s, at, waits, 2, SAMPLE_IDLE, false, NS_PER_S), 0);
	}
	cleanup(calls_freep) struct calls *c = NULL;
	assert_int_equal(calls_from_stackset(s, &c), 0);
	assert_true(calls_sampled(c));
	assert_int_equal(calls_parts(c), 2);
	const struct call_function *fib = named(c, "fib"), *top = named(c, "main"), *reads = named(c, "read");
	/* three frames of fib in one stack are one sample of it */
	assert_int_equal(fib->n_calls, 7);
	assert_int_equal(fib->n_primitive, 7);
	assert_float_equal(fib->cumulative_s, 7, 1e-5);
	assert_float_equal(fib->own_s, 7, 1e-5);
	assert_int_equal(top->n_calls, 9);
	assert_int_equal(top->n_primitive, 0);
	assert_float_equal(top->cumulative_s, 9, 1e-5);
	assert_int_equal(reads->n_calls, 2);
	assert_int_equal(calls_total(c).n_primitive, 9);
	const struct call_spread spread = calls_spread(c, fib);
	assert_float_equal(spread.min_s, 3, 1e-5);
	assert_float_equal(spread.max_s, 4, 1e-5);
	assert_int_equal(spread.max_rank, 1);
}

/* As methods of classes are, up to Python 3.10. */
static void functions_of_one_name_are_told_apart_by_where_they_begin(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	const struct stack_lane lane = {.pid = 10, .rank = NO_RANK};
	uint32_t at, id[3];
	for (int32_t i = 0; i < 3; i++) {
		const struct frame f = {.kind = FRAME_PYTHON, .name = "__init__", .file = "a.py", .module = "",
					.line = 10 * i + 5, .first_line = i == 2 ? 21 : 1};
		assert_int_equal(frametab_intern(stackset_frames(s), &f, &id[i]), 0);
	}
	assert_int_equal(stackset_lane(s, &lane, &at), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(stackset_add(s, at, &id[i], 1, SAMPLE_RUNNING, true, NS_PER_S), 0);
	cleanup(calls_freep) struct calls *c = NULL;
	assert_int_equal(calls_from_stackset(s, &c), 0);
	assert_int_equal(calls_len(c), 2);
	assert_int_equal(calls_get(c, 0)->line, 1);
	assert_int_equal(calls_get(c, 0)->n_calls, 2);
	assert_int_equal(calls_get(c, 1)->line, 21);
}

static void an_empty_recording_gives_an_empty_table(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	cleanup(calls_freep) struct calls *c = NULL;
	assert_int_equal(calls_from_stackset(s, &c), 0);
	assert_int_equal(calls_len(c), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_its_file_line_and_name),
		cmocka_unit_test(many_functions_are_found_again),
		cmocka_unit_test(parts_add_every_number),
		cmocka_unit_test(the_slowest_rank_is_known),
		cmocka_unit_test(a_rank_that_never_called_it_counts_as_zero),
		cmocka_unit_test(workers_of_one_rank_are_one_part),
		cmocka_unit_test(a_caller_that_still_ran_is_not_a_function_of_the_table),
		cmocka_unit_test(a_function_with_many_callers_keeps_them_apart),
		cmocka_unit_test(text_with_a_nul_inside_stays_one_function),
		cmocka_unit_test(the_order_is_that_of_the_column_and_then_of_the_names),
		cmocka_unit_test(counts_stop_growing_instead_of_starting_anew),
		cmocka_unit_test(a_recording_gives_own_and_total_samples),
		cmocka_unit_test(functions_of_one_name_are_told_apart_by_where_they_begin),
		cmocka_unit_test(an_empty_recording_gives_an_empty_table),
	};
	return cmocka_run_group_tests_name("model/stacks/calls", tests, NULL, NULL);
}
