#include "testing.h"

#include "model/stacks/calls_stackset.h"
#include "sense/rank.h"

static uint32_t frame(struct stackset *s, enum frame_kind kind, const char *name, const char *file)
{
	const struct frame f = {.kind = kind, .name = name, .file = file, .module = "", .line = 7, .first_line = 5};
	uint32_t id;
	assert_int_equal(frametab_intern(stackset_frames(s), &f, &id), 0);
	return id;
}

static uint32_t lane(struct stackset *s, pid_t pid, pid_t tid, int32_t rank)
{
	const struct stack_lane l = {.pid = pid, .tid = tid, .rank = rank};
	uint32_t id;
	assert_int_equal(stackset_lane(s, &l, &id), 0);
	return id;
}

static const struct call_function *named(const struct calls *c, const char *name)
{
	for (uint32_t i = 0; i < calls_len(c); i++)
		if (strcmp(calls_get(c, i)->name, name) == 0)
			return calls_get(c, i);
	fail_msg("no function %s", name);
	return NULL;
}

static void threads_and_workers_of_one_rank_are_one_part(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	const uint32_t f = frame(s, FRAME_PYTHON, "f", "a.py");
	assert_int_equal(stackset_add(s, lane(s, 1, 1, 0), &f, 1, SAMPLE_RUNNING, false, NS_PER_S), 0);
	assert_int_equal(stackset_add(s, lane(s, 1, 2, 0), &f, 1, SAMPLE_RUNNING, false, NS_PER_S), 0);
	assert_int_equal(stackset_add(s, lane(s, 9, 9, 0), &f, 1, SAMPLE_RUNNING, false, NS_PER_S), 0);
	cleanup(calls_freep) struct calls *c = NULL;
	assert_int_equal(calls_from_stackset(s, &c), 0);
	assert_int_equal(calls_parts(c), 1);
	assert_int_equal(named(c, "f")->n_parts, 1);
	assert_int_equal(named(c, "f")->n_calls, 3);
	assert_float_equal(named(c, "f")->cumulative_max_s, 3, 1e-6);
}

static void without_ranks_each_process_is_a_part(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	const uint32_t f = frame(s, FRAME_PYTHON, "f", "a.py");
	assert_int_equal(stackset_add(s, lane(s, 1, 1, NO_RANK), &f, 1, SAMPLE_RUNNING, false, NS_PER_S), 0);
	assert_int_equal(stackset_add(s, lane(s, 1, 2, NO_RANK), &f, 1, SAMPLE_RUNNING, false, NS_PER_S), 0);
	assert_int_equal(stackset_add(s, lane(s, 2, 3, NO_RANK), &f, 1, SAMPLE_RUNNING, false, NS_PER_S), 0);
	cleanup(calls_freep) struct calls *c = NULL;
	assert_int_equal(calls_from_stackset(s, &c), 0);
	assert_int_equal(calls_parts(c), 2);
	const struct call_spread spread = calls_spread(c, named(c, "f"));
	assert_float_equal(spread.max_s, 2, 1e-6);
	assert_float_equal(spread.min_s, 1, 1e-6);
	assert_int_equal(spread.max_rank, NO_RANK);
}

static void a_frame_without_a_file_is_named_as_a_built_in(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	const uint32_t stack[] = {frame(s, FRAME_NATIVE, "memcpy", ""), frame(s, FRAME_PYTHON, "f", "a.py")};
	assert_int_equal(stackset_add(s, lane(s, 1, 1, 0), stack, 2, SAMPLE_RUNNING, false, NS_PER_S), 0);
	cleanup(calls_freep) struct calls *c = NULL;
	assert_int_equal(calls_from_stackset(s, &c), 0);
	assert_string_equal(named(c, "memcpy")->file, "~");
	assert_string_equal(named(c, "f")->file, "a.py");
	assert_int_equal(named(c, "f")->line, 5); /* where the function begins, not the line that ran */
}

static void every_caller_of_a_function_is_an_edge(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	const uint32_t leaf = frame(s, FRAME_PYTHON, "leaf", "a.py");
	const uint32_t one[] = {leaf, frame(s, FRAME_PYTHON, "one", "a.py")};
	const uint32_t two[] = {leaf, frame(s, FRAME_PYTHON, "two", "a.py")};
	const uint32_t l = lane(s, 1, 1, 0);
	assert_int_equal(stackset_add(s, l, one, 2, SAMPLE_RUNNING, false, NS_PER_S), 0);
	assert_int_equal(stackset_add(s, l, two, 2, SAMPLE_IDLE, false, 2 * NS_PER_S), 0);
	assert_int_equal(stackset_add(s, l, &leaf, 1, SAMPLE_RUNNING, false, NS_PER_S), 0);
	cleanup(calls_freep) struct calls *c = NULL;
	assert_int_equal(calls_from_stackset(s, &c), 0);
	const struct call_function *f = named(c, "leaf");
	assert_int_equal(f->n_calls, 3);
	assert_float_equal(f->own_s, 4, 1e-6); /* waiting counts as running does */
	assert_int_equal(f->n_edges, 2); /* a frame at the root has no caller */
	for (size_t i = 0; i < 2; i++) {
		const bool is_two = strcmp(calls_get(c, f->edges[i].caller)->name, "two") == 0;
		assert_int_equal(f->edges[i].n_calls, 1);
		assert_float_equal(f->edges[i].cumulative_s, (is_two ? 2 : 1), 1e-6);
	}
	assert_float_equal(named(c, "two")->own_s, 0, 1e-6);
	assert_float_equal(named(c, "two")->cumulative_s, 2, 1e-6);
}

static void mutual_recursion_counts_each_sample_once(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	const uint32_t a = frame(s, FRAME_PYTHON, "a", "a.py"), b = frame(s, FRAME_PYTHON, "b", "a.py");
	const uint32_t stack[] = {b, a, b, a};
	assert_int_equal(stackset_add(s, lane(s, 1, 1, 0), stack, 4, SAMPLE_RUNNING, false, NS_PER_S), 0);
	cleanup(calls_freep) struct calls *c = NULL;
	assert_int_equal(calls_from_stackset(s, &c), 0);
	assert_int_equal(calls_len(c), 2);
	assert_int_equal(named(c, "a")->n_calls, 1);
	assert_int_equal(named(c, "b")->n_calls, 1);
	assert_int_equal(named(c, "a")->n_primitive, 0);
	assert_int_equal(named(c, "b")->n_primitive, 1);
	assert_float_equal(named(c, "a")->cumulative_s, 1, 1e-6);
	assert_float_equal(named(c, "b")->cumulative_s, 1, 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_and_workers_of_one_rank_are_one_part),
		cmocka_unit_test(without_ranks_each_process_is_a_part),
		cmocka_unit_test(a_frame_without_a_file_is_named_as_a_built_in),
		cmocka_unit_test(every_caller_of_a_function_is_an_edge),
		cmocka_unit_test(mutual_recursion_counts_each_sample_once),
	};
	return cmocka_run_group_tests_name("model/stacks/calls_stackset", tests, NULL, NULL);
}
