#include "testing.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/stacks/stackset_parts.h"

static uint32_t py(struct stackset *s, const char *name, int32_t line)
{
	const struct frame f = {
		.kind = FRAME_PYTHON, .name = name, .file = "/srv/job/train.py", .module = "", .line = line};
	uint32_t id = 0;
	assert_int_equal(frametab_intern(stackset_frames(s), &f, &id), 0);
	return id;
}

static uint32_t lane(struct stackset *s, pid_t pid, pid_t tid, int32_t rank, const char *role)
{
	struct stack_lane l = {
		.pid = pid, .tid = tid, .rank = rank, .process = "python train.py", .thread = "MainThread"};
	snprintf(l.role, sizeof(l.role), "%s", role);
	uint32_t id = 0;
	assert_int_equal(stackset_lane(s, &l, &id), 0);
	return id;
}

/* "main;work 3 30" lines in the order of the tree: label path, samples, ns. */
static char *paths(const struct stackset *s)
{
	static char text[16384];
	size_t n, len = 0;
	const struct stack_node *nodes = stackset_nodes(s, &n);
	text[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		char path[1024] = "";
		if (stack_node_samples(&nodes[i]) == 0 && stack_node_weight(&nodes[i]) == 0)
			continue;
		for (uint32_t at = (uint32_t)i; nodes[at].parent != at; at = nodes[at].parent) {
			char label[200], longer[1024];
			frame_label(stackset_frame(s, nodes[at].frame), label, sizeof(label));
			snprintf(longer, sizeof(longer), "%s%s%.500s", label, path[0] ? ";" : "", path);
			snprintf(path, sizeof(path), "%s", longer);
		}
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s %lu %lu\n", path,
					(unsigned long)stack_node_samples(&nodes[i]),
					(unsigned long)stack_node_weight(&nodes[i]));
	}
	return text;
}

static void add(struct stackset *s, uint32_t l, enum sample_state state, bool gil, uint64_t ns, size_t n,
		const uint32_t *f)
{
	assert_int_equal(stackset_add(s, l, f, n, state, gil, ns), 0);
}
#define ADD(s, l, state, gil, ns, ...)                                                                                 \
	add(s, l, state, gil, ns, ARRAY_SIZE(((uint32_t[]){__VA_ARGS__})), (uint32_t[]){__VA_ARGS__})

static void equal_stacks_are_counted_and_prefixes_shared(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	uint32_t l = lane(s, 10, 10, NO_RANK, ""), a = py(s, "a", 1), b = py(s, "b", 2), c = py(s, "c", 3);
	ADD(s, l, SAMPLE_RUNNING, false, 10, b, a);
	ADD(s, l, SAMPLE_RUNNING, false, 10, b, a);
	ADD(s, l, SAMPLE_RUNNING, false, 10, a);
	ADD(s, l, SAMPLE_RUNNING, false, 10, c, a);
	ADD(s, l, SAMPLE_RUNNING, false, 10, b, a);
	ADD(s, l, SAMPLE_RUNNING, false, 10, c, b, a);
	ADD(s, l, SAMPLE_RUNNING, false, 10, c, b);
	assert_string_equal(paths(s), "a (train.py:1) 1 10\n"
				      "a (train.py:1);b (train.py:2) 3 30\n"
				      "a (train.py:1);c (train.py:3) 1 10\n"
				      "a (train.py:1);b (train.py:2);c (train.py:3) 1 10\n"
				      "b (train.py:2);c (train.py:3) 1 10\n");
	size_t n;
	const struct stack_node *nodes = stackset_nodes(s, &n);
	assert_int_equal(n, 7); /* with the root */
	assert_int_equal(stackset_meta(s)->samples, 7);
	for (size_t i = 0; i < n; i++) {
		assert_true(nodes[i].parent <= i);
		uint32_t before = (uint32_t)i;
		for (uint32_t k = nodes[i].first_child; k; before = k, k = nodes[k].next_sibling) {
			assert_int_equal(nodes[k].parent, i);
			assert_true(k > before);
		}
	}
}

/* The remembered path must never lead a sample to the wrong place: compared with a plain list of all samples. */
static void a_thousand_random_stacks_land_where_they_belong(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	uint32_t lanes[3], f[4], seed = 7;
	static uint64_t expected[3][5][4096];
	for (int i = 0; i < 3; i++)
		lanes[i] = lane(s, 10, 10 + i, i, "");
	for (int i = 0; i < 4; i++)
		f[i] = py(s, "f", i + 1);
	for (int i = 0; i < 20000; i++) {
		seed = seed * 1664525 + 1013904223;
		uint32_t r = seed >> 8, depth = (r >> 2) % 5, code = 0, path[5];
		for (uint32_t d = 0; d < depth; d++) {
			uint32_t pick = (r >> (6 + 2 * d)) & 3;
			path[depth - 1 - d] = f[pick];
			code = code * 4 + pick;
		}
		add(s, lanes[r % 3], SAMPLE_RUNNING, false, 1, depth, path);
		expected[r % 3][depth][code]++;
	}
	size_t n, seen = 0;
	const struct stack_node *nodes = stackset_nodes(s, &n);
	for (size_t i = 0; i < n; i++) {
		uint32_t depth = 0, code = 0, digits[5];
		for (uint32_t at = (uint32_t)i; nodes[at].parent != at; at = nodes[at].parent)
			digits[depth++] = (uint32_t)stackset_frame(s, nodes[at].frame)->line - 1;
		for (uint32_t d = depth; d > 0; d--)
			code = code * 4 + digits[d - 1];
		assert_int_equal(nodes[i].self_samples[SAMPLE_RUNNING], expected[nodes[i].lane][depth][code]);
		seen += nodes[i].self_samples[SAMPLE_RUNNING];
	}
	assert_int_equal(seen, 20000);
}

static void memory_grows_with_distinct_stacks_only(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	uint32_t l = lane(s, 1, 1, NO_RANK, ""), f[100];
	size_t before, after;
	for (int i = 0; i < 100; i++)
		f[i] = py(s, "f", i + 1);
	for (int round = 0; round < 1000; round++) {
		for (uint32_t i = 0; i < 100; i++)
			ADD(s, l, SAMPLE_RUNNING, false, 1, f[i], f[(i * 7) % 100], f[0]);
		if (round == 0)
			(void)stackset_nodes(s, &before);
	}
	(void)stackset_nodes(s, &after);
	assert_int_equal(before, after);
}

static void threads_of_one_process_have_their_own_lanes(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	for (int i = 0; i < 500; i++)
		assert_int_equal(lane(s, 1 + i % 5, i, NO_RANK, ""), i);
	for (int i = 0; i < 500; i++)
		assert_int_equal(lane(s, 1 + i % 5, i, NO_RANK, ""), i);
	size_t n;
	assert_int_equal(stackset_lanes(s, &n)[499].tid, 499);
	assert_int_equal(n, 500);
}

static struct stackset *two_ranks(void)
{
	struct stackset *s = stackset_new();
	uint32_t a = lane(s, 100, 100, 0, "main"), b = lane(s, 200, 200, 1, "main"), c = lane(s, 812, 812, 1, "loader");
	uint32_t top = py(s, "top", 1), work = py(s, "work", 5), work2 = py(s, "work", 6), wait = py(s, "wait", 9);
	ADD(s, a, SAMPLE_RUNNING, true, 10, work, top);
	ADD(s, a, SAMPLE_RUNNING, false, 10, work2, top);
	ADD(s, a, SAMPLE_IDLE, false, 10, wait, top);
	ADD(s, b, SAMPLE_RUNNING, false, 10, work, top);
	ADD(s, b, SAMPLE_GIL_WAIT, false, 10, work, top);
	ADD(s, c, SAMPLE_IDLE, false, 10, wait);
	return s;
}

static void expect_view(const struct stackset *s, struct stack_want want, bool only_idle, const char *expected)
{
	struct stackset *v = NULL;
	bool got;
	assert_int_equal(stackset_view(s, &want, &v, &got), 0);
	assert_string_equal(paths(v), expected);
	assert_int_equal(got, only_idle);
	stackset_free(v);
}

static void a_view_takes_what_is_wanted(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = two_ranks();
	expect_view(s, (struct stack_want){.lines = true}, false,
		    "top (train.py:1);work (train.py:5) 2 20\ntop (train.py:1);work (train.py:6) 1 10\n");
	expect_view(s, (struct stack_want){0}, false, "top (train.py);work (train.py) 3 30\n");
	expect_view(s, (struct stack_want){.lanes = LANES_RANK, .idle = true}, false,
		    "rank 0;top (train.py);work (train.py) 2 20\nrank 0;top (train.py);wait (train.py) 1 10\n"
		    "rank 1;top (train.py);work (train.py) 2 20\nrank 1 loader 812;wait (train.py) 1 10\n");
	expect_view(s, (struct stack_want){.lanes = LANES_PROCESS, .has_rank = true, .rank = 1}, false,
		    "rank 1 python train.py (pid 200);top (train.py);work (train.py) 1 10\n");
	expect_view(s, (struct stack_want){.gil = true}, false, "top (train.py);work (train.py) 1 10\n");
}

static void a_recording_in_which_nothing_ran_shows_what_it_waits_for(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	uint32_t l = lane(s, 7, 8, NO_RANK, ""), wait = py(s, "wait", 9);
	ADD(s, l, SAMPLE_IDLE, false, 10, wait);
	expect_view(s, (struct stack_want){.lanes = LANES_THREAD}, true,
		    "MainThread 8 of pid 7;wait (train.py) 1 10\n");
	expect_view(s, (struct stack_want){.gil = true}, true, "wait (train.py) 1 10\n");
	expect_view(s, (struct stack_want){.idle = true}, false, "wait (train.py) 1 10\n");
	/* what runs without the GIL is not hidden by what waits */
	ADD(s, l, SAMPLE_RUNNING, false, 20, py(s, "crunch", 3));
	expect_view(s, (struct stack_want){.gil = true}, false, "crunch (train.py) 1 20\n");
	cleanup(stackset_freep) struct stackset *empty = stackset_new();
	expect_view(empty, (struct stack_want){0}, false, "");
}

static void a_widened_wish_can_be_noted(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	uint32_t l = lane(s, 7, 8, NO_RANK, ""), wait = py(s, "wait", 9);
	ADD(s, l, SAMPLE_IDLE, false, 10, wait);
	expect_view(s, (struct stack_want){.note_widened = true}, true, "[nothing ran];wait (train.py) 1 10\n");
	expect_view(s, (struct stack_want){.note_widened = true, .gil = true, .lanes = LANES_THREAD}, true,
		    "[nothing held the GIL];MainThread 8 of pid 7;wait (train.py) 1 10\n");
	expect_view(s, (struct stack_want){.note_widened = true, .idle = true}, false, "wait (train.py) 1 10\n");
	ADD(s, l, SAMPLE_RUNNING, true, 20, py(s, "crunch", 3));
	expect_view(s, (struct stack_want){.note_widened = true, .gil = true}, false, "crunch (train.py) 1 20\n");
}

static void a_view_can_keep_its_lanes(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = two_ranks();
	struct stackset *v = NULL;
	bool only_idle;
	const struct stack_want want = {.gil = true, .keep_lanes = true, .note_widened = true, .lanes = LANES_THREAD};
	size_t n, n_all;
	assert_int_equal(stackset_view(s, &want, &v, &only_idle), 0);
	assert_string_equal(paths(v), "top (train.py);work (train.py) 1 10\n");
	const struct stack_lane *kept = stackset_lanes(v, &n), *all = stackset_lanes(s, &n_all);
	assert_int_equal(n, 1);
	assert_int_equal(kept->pid, all->pid);
	assert_int_equal(kept->tid, all->tid);
	assert_int_equal(kept->rank, all->rank);
	assert_string_equal(kept->thread, all->thread);
	stackset_free(v);
}

static void a_difference_matches_stacks_by_name(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *a = stackset_new(), *b = stackset_new(), *both = NULL;
	cleanup(freep) struct stack_diff_row *rows = NULL;
	uint32_t la = lane(a, 1, 1, NO_RANK, ""), lb = lane(b, 2, 2, NO_RANK, "");
	(void)py(b, "shifts the numbers", 1);
	ADD(a, la, SAMPLE_RUNNING, false, 10, py(a, "both", 1), py(a, "top", 1));
	ADD(b, lb, SAMPLE_RUNNING, false, 30, py(b, "both", 1), py(b, "top", 1));
	ADD(a, la, SAMPLE_RUNNING, false, 5, py(a, "gone", 1));
	ADD(b, lb, SAMPLE_RUNNING, false, 7, py(b, "new", 1));
	size_t n;
	assert_int_equal(stackset_diff(a, b, &both, &rows, &n), 0);
	assert_int_equal(n, 5);
	uint64_t a_weight = 0, b_weight = 0;
	for (size_t i = 0; i < n; i++) {
		size_t n_nodes;
		const struct stack_node *node = &stackset_nodes(both, &n_nodes)[rows[i].node];
		assert_int_equal(rows[i].node, i);
		assert_true(stack_node_weight(node) == rows[i].a_weight + rows[i].b_weight);
		a_weight += rows[i].a_weight;
		b_weight += rows[i].b_weight;
		if (node->parent != i && strcmp(stackset_frame(both, node->frame)->name, "both") == 0) {
			assert_int_equal(rows[i].a_weight, 10);
			assert_int_equal(rows[i].b_weight, 30);
		}
	}
	assert_int_equal(a_weight, 15);
	assert_int_equal(b_weight, 37);
}

static void a_view_of_the_gil_estimates_samples_from_the_weight(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	uint32_t l = lane(s, 7, 7, NO_RANK, ""), f = py(s, "f", 1), g = py(s, "g", 1);
	for (int i = 0; i < 8; i++)
		ADD(s, l, SAMPLE_RUNNING, i < 2, 10, f);
	ADD(s, l, SAMPLE_RUNNING, false, 1000, g);
	ADD(s, l, SAMPLE_RUNNING, true, 1, g);
	/* 20 of 80 ns are 2 of 8 samples; 1 of 1001 ns would round to none of 2, but at least one is shown */
	expect_view(s, (struct stack_want){.gil = true}, false, "f (train.py) 2 20\ng (train.py) 1 1\n");
}

static void the_meta_of_a_view_says_what_it_shows(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new(), *v = NULL;
	uint32_t l = lane(s, 7, 7, NO_RANK, "");
	bool only_idle;
	snprintf(stackset_meta(s)->title, sizeof(stackset_meta(s)->title), "a job");
	ADD(s, l, SAMPLE_RUNNING, false, 10, py(s, "f", 1));
	const struct stack_want gil = {.gil = true};
	assert_int_equal(stackset_view(s, &gil, &v, &only_idle), 0);
	assert_string_equal(stackset_meta_of(v)->title, "a job");
	assert_int_equal(stackset_meta_of(v)->samples, 1);
	assert_false(stackset_meta_of(v)->gil_only); /* no sample held it, so the running ones are shown */
	assert_false(stackset_meta_of(v)->idle);
	v = stackset_free(v);
	ADD(s, l, SAMPLE_RUNNING, true, 10, py(s, "g", 1));
	assert_int_equal(stackset_view(s, &gil, &v, &only_idle), 0);
	assert_true(stackset_meta_of(v)->gil_only);
}

static void a_view_of_a_rank_that_is_not_there_is_empty(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = two_ranks();
	expect_view(s, (struct stack_want){.has_rank = true, .rank = 9, .idle = true}, false, "");
	expect_view(s, (struct stack_want){.has_rank = true, .rank = 9}, false, "");
}

static void a_difference_with_an_empty_recording_has_one_side(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = two_ranks(), *empty = stackset_new(), *both = NULL, *none = NULL;
	cleanup(freep) struct stack_diff_row *rows = NULL, *no_rows = NULL;
	size_t n;
	uint64_t weight = 0, samples = 0;
	assert_int_equal(stackset_diff(empty, s, &both, &rows, &n), 0);
	for (size_t i = 0; i < n; i++) {
		assert_true(rows[i].a_weight == 0 && rows[i].a_samples == 0);
		weight += rows[i].b_weight;
		samples += rows[i].b_samples;
	}
	assert_int_equal(weight, 60);
	assert_int_equal(samples, 6);
	assert_int_equal(stackset_diff(empty, empty, &none, &no_rows, &n), 0);
	assert_int_equal(n, 1); /* the root alone */
	assert_true(no_rows[0].a_weight == 0 && no_rows[0].b_weight == 0);
}

static void a_difference_adds_lanes_of_one_recording(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *a = stackset_new(), *b = stackset_new(), *both = NULL;
	cleanup(freep) struct stack_diff_row *rows = NULL;
	size_t n;
	for (pid_t pid = 1; pid <= 3; pid++) {
		uint32_t l = lane(a, pid, pid, pid - 1, "");
		ADD(a, l, SAMPLE_RUNNING, false, 10, py(a, "f", 1));
	}
	snprintf(stackset_meta(b)->title, sizeof(stackset_meta(b)->title), "the later one");
	assert_int_equal(stackset_diff(a, b, &both, &rows, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(rows[1].a_weight, 30);
	assert_int_equal(rows[1].a_samples, 3);
	assert_int_equal(rows[1].b_weight, 0);
	assert_string_equal(stackset_meta_of(both)->title, "the later one");
}

static void self_values_stop_at_the_largest_number(void **state)
{
	(void)state;
	struct stack_node to = {.self_weight = {UINT64_MAX - 1}, .self_samples = {1}, .gil_weight = UINT64_MAX};
	const struct stack_node from = {.self_weight = {5, 7}, .self_samples = {2, 3}, .gil_weight = 1};
	stack_node_add(&to, &from);
	assert_true(to.self_weight[0] == UINT64_MAX && to.self_weight[1] == 7);
	assert_true(to.gil_weight == UINT64_MAX);
	assert_true(stack_node_weight(&to) == UINT64_MAX);
	assert_int_equal(stack_node_samples(&to), 6);
}

static void a_new_lane_is_made_even_for_known_numbers(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	const struct stack_lane l = {.pid = 5, .tid = 6, .rank = 0}, renamed = {.pid = 5, .tid = 6, .rank = 4};
	uint32_t first, second, again;
	size_t n;
	assert_int_equal(stackset_lane(s, &l, &first), 0);
	assert_int_equal(stackset_lane_new(s, &l, &second), 0);
	assert_int_not_equal(first, second);
	assert_int_not_equal(stackset_root(s, first), stackset_root(s, second));
	assert_int_equal(stackset_lane(s, &renamed, &again), 0);
	assert_int_equal(again, first);
	assert_int_equal(stackset_lanes(s, &n)[first].rank, 4);
	assert_int_equal(n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_are_counted_and_prefixes_shared),
		cmocka_unit_test(a_thousand_random_stacks_land_where_they_belong),
		cmocka_unit_test(memory_grows_with_distinct_stacks_only),
		cmocka_unit_test(threads_of_one_process_have_their_own_lanes),
		cmocka_unit_test(a_view_takes_what_is_wanted),
		cmocka_unit_test(a_widened_wish_can_be_noted),
		cmocka_unit_test(a_view_can_keep_its_lanes),
		cmocka_unit_test(a_recording_in_which_nothing_ran_shows_what_it_waits_for),
		cmocka_unit_test(a_difference_matches_stacks_by_name),
		cmocka_unit_test(a_view_of_the_gil_estimates_samples_from_the_weight),
		cmocka_unit_test(the_meta_of_a_view_says_what_it_shows),
		cmocka_unit_test(a_view_of_a_rank_that_is_not_there_is_empty),
		cmocka_unit_test(a_difference_with_an_empty_recording_has_one_side),
		cmocka_unit_test(a_difference_adds_lanes_of_one_recording),
		cmocka_unit_test(self_values_stop_at_the_largest_number),
		cmocka_unit_test(a_new_lane_is_made_even_for_known_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
