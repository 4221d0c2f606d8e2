#include "testing.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/stacks/plumbing.h"
#include "model/stacks/stackset_parts.h"

static bool is(const char *name, const char *module)
{
	return plumbing_is(&(struct frame){.kind = FRAME_NATIVE, .name = name, .file = "", .module = module});
}

static void frames_of_the_interpreter_are_known_by_name_and_module(void **state)
{
	(void)state;
	static const char *const names[] = {
		"_start", "main", "Py_BytesMain", "Py_RunMain", "pymain_run_file", "run_mod", "PyRun_StringFlags",
		"PyEval_EvalCode", "_PyEval_EvalFrameDefault", "_PyEval_EvalFrameDefault.cold", "_PyEval_Vector",
		"_PyFunction_Vectorcall", "PyObject_CallOneArg", "_PyObject_Call_Prepend", "PyObject_Vectorcall",
		"_PyObject_MakeTpCall", "cfunction_vectorcall_FASTCALL", "method_vectorcall.part.0", "slot_tp_call",
		"_PyObject_FastCallDictTstate", "pythread_wrapper", "thread_run",
	};
	static const char *const modules[] = {"python3.11", "python", "python3.13t", "libpython3.12.so.1.0",
					      "libpython3.8d.so", "libpython3.so"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		for (size_t k = 0; k < ARRAY_SIZE(modules); k++)
			if (!is(names[i], modules[k]))
				fail_msg("%s [%s] stays", names[i], modules[k]);
	static const char *const start[] = {"__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main",
					    "clone3", "start_thread"};
	for (size_t i = 0; i < ARRAY_SIZE(start); i++)
		assert_true(is(start[i], "libc.so.6") && is(start[i], "libc-2.31.so"));
	assert_true(is("start_thread", "libpthread-2.31.so"));
}

static void what_the_program_calls_is_no_plumbing(void **state)
{
	(void)state;
	assert_false(is("time_sleep", "python3.11"));
	assert_false(is("builtin_sum", "libpython3.11.so.1.0"));
	assert_false(is("PyNumber_Add", "python3.11"));
	assert_false(is("_PyEval_Vectors", "python3.11"));
	assert_false(is("mainloop", "python3.11"));
	assert_false(is("", "python3.11"));
	/* the same names elsewhere belong to the program */
	assert_false(is("main", "train"));
	assert_false(is("_start", "train"));
	assert_false(is("main", "libc.so.6"));
	assert_false(is("start_thread", "libtorch_cpu.so"));
	assert_false(is("PyObject_Call", "libtorch_python.so"));
	assert_false(is("PyObject_Call", "libpython_bindings.so"));
	assert_false(is("main", "python3.11-config"));
	assert_false(is("main", "pythonista"));
	assert_false(is("main", ""));
	assert_false(
		plumbing_is(&(struct frame){.kind = FRAME_PYTHON, .name = "main", .file = "", .module = "python3.11"}));
	assert_false(
		plumbing_is(&(struct frame){.kind = FRAME_KERNEL, .name = "clone", .file = "", .module = "libc.so.6"}));
}

/* "name" of Python, "name@module" of native code. */
static uint32_t frame_of(struct stackset *s, const char *text)
{
	char name[80];
	const char *at = strchr(text, '@');
	snprintf(name, sizeof(name), "%.*s", at ? (int)(at - text) : 79, text);
	const struct frame f = {.kind = at ? FRAME_NATIVE : FRAME_PYTHON,
				.name = name,
				.file = at ? "" : "t.py",
				.module = at ? at + 1 : ""};
	uint32_t id = 0;
	assert_int_equal(frametab_intern(stackset_frames(s), &f, &id), 0);
	return id;
}

/* One sample of 10 ns; frames outermost first, NULL at the end. */
static void sample(struct stackset *s, pid_t tid, const char *const *frames)
{
	uint32_t ids[20], lane = 0;
	size_t n = 0;
	while (frames[n])
		n++;
	for (size_t i = 0; i < n; i++)
		ids[n - 1 - i] = frame_of(s, frames[i]);
	assert_int_equal(stackset_lane(s, &(struct stack_lane){.pid = 1, .tid = tid, .rank = NO_RANK}, &lane), 0);
	assert_int_equal(stackset_add(s, lane, ids, n, SAMPLE_RUNNING, true, 10), 0);
}
#define SAMPLE(s, tid, ...) sample(s, tid, (const char *const[]){__VA_ARGS__, NULL})

/* "tid path weight" of all nodes that weigh. */
static char *told(const struct stackset *s)
{
	static char text[4096];
	size_t n, n_lanes, len = 0;
	const struct stack_node *nodes = stackset_nodes(s, &n);
	const struct stack_lane *lanes = stackset_lanes(s, &n_lanes);
	text[0] = '\0';
	for (uint32_t i = 0; i < n; i++) {
		char path[600] = "", longer[600];
		if (stack_node_weight(&nodes[i]) == 0)
			continue;
		for (uint32_t at = i; nodes[at].parent != at; at = nodes[at].parent) {
			snprintf(longer, sizeof(longer), " %.90s%.500s", stackset_frame(s, nodes[at].frame)->name,
				 path);
			snprintf(path, sizeof(path), "%s", longer);
		}
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%d:%s %d\n", (int)lanes[nodes[i].lane].tid,
					path, (int)stack_node_weight(&nodes[i]));
	}
	return text;
}

static struct stackset *folded(struct stackset *s)
{
	struct stackset *to = NULL;
	assert_int_equal(plumbing_fold(s, &to), 0);
	assert_int_equal(stackset_meta_of(to)->samples, stackset_meta_of(s)->samples);
	return to;
}

static void runs_of_plumbing_are_left_out_wherever_they_are(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	SAMPLE(s, 1, "_start@python3.11", "__libc_start_main@libc.so.6", "Py_RunMain@python3.11", "<module>",
	       "PyObject_Vectorcall@python3.11", "_PyFunction_Vectorcall@python3.11", "work", "builtin_sum@python3.11",
	       "PyNumber_Add@python3.11");
	SAMPLE(s, 1, "_start@python3.11", "__libc_start_main@libc.so.6", "Py_RunMain@python3.11", "<module>", "work");
	SAMPLE(s, 2, "clone3@libc.so.6", "start_thread@libc.so.6", "worker@libtorch.so");
	cleanup(stackset_freep) struct stackset *to = folded(s);
	assert_string_equal(told(to),
			    "1: <module> work 10\n1: <module> work builtin_sum PyNumber_Add 10\n2: worker 10\n");
}

static void a_leaf_of_plumbing_counts_for_its_caller(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	SAMPLE(s, 1, "_start@python3.11", "work", "_PyEval_EvalFrameDefault@python3.11");
	SAMPLE(s, 1, "_start@python3.11", "work", "_PyEval_EvalFrameDefault@python3.11", "PyObject_Call@python3.11");
	SAMPLE(s, 1, "_start@python3.11", "work");
	cleanup(stackset_freep) struct stackset *to = folded(s);
	size_t n;
	const struct stack_node *nodes = stackset_nodes(to, &n);
	assert_string_equal(told(to), "1: work 30\n");
	assert_int_equal(stack_node_samples(&nodes[n - 1]), 3);
	assert_int_equal(nodes[n - 1].gil_weight, 30);
}

static void a_stack_of_nothing_else_keeps_its_innermost_frame(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	SAMPLE(s, 1, "_start@python3.11", "Py_RunMain@python3.11");
	SAMPLE(s, 1, "_start@python3.11", "Py_RunMain@python3.11", "work");
	cleanup(stackset_freep) struct stackset *to = folded(s), *again = folded(to);
	assert_string_equal(told(to), "1: Py_RunMain 10\n1: work 10\n");
	assert_string_equal(told(again), "1: Py_RunMain 10\n1: work 10\n");
}

static void nameless_frames_of_the_interpreter_fold_only_at_the_outer_end(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	SAMPLE(s, 1, "_start@python3.11", "0x6516f0@python3.11", "PyEval_EvalCode@python3.11", "work",
	       "0x53ad40@python3.11");
	SAMPLE(s, 2, "0x6543a0@python3.11", "0x583ab0@python3.11");
	SAMPLE(s, 3, "0x10@libfoo.so", "work");
	cleanup(stackset_freep) struct stackset *to = folded(s);
	assert_string_equal(told(to), "1: work 0x53ad40 10\n2: 0x583ab0 10\n3: 0x10 work 10\n");
}

static void an_empty_recording_stays_empty(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	cleanup(stackset_freep) struct stackset *to = folded(s);
	assert_string_equal(told(to), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_the_interpreter_are_known_by_name_and_module),
		cmocka_unit_test(what_the_program_calls_is_no_plumbing),
		cmocka_unit_test(runs_of_plumbing_are_left_out_wherever_they_are),
		cmocka_unit_test(a_leaf_of_plumbing_counts_for_its_caller),
		cmocka_unit_test(a_stack_of_nothing_else_keeps_its_innermost_frame),
		cmocka_unit_test(nameless_frames_of_the_interpreter_fold_only_at_the_outer_end),
		cmocka_unit_test(an_empty_recording_stays_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
