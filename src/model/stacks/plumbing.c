#include "model/stacks/plumbing.h"

#include <string.h>

#include "model/stacks/stackset_parts.h"

/*
 * An entry that ends with '*' is a prefix, any other the whole name, without a compiler's suffix (".cold",
 * ".part.0").
 */
static const char *const python_names[] = {
	/* start of the process */
	"main", "Py_Main", "Py_BytesMain", "Py_RunMain", "pymain_*", "run_mod", "run_eval_code_obj", "pyrun_file",
	"PyRun_*", "_PyRun_*",
	/* start of a thread */
	"pythread_wrapper", "thread_run", "t_bootstrap",
	/* the loop that runs byte code */
	"PyEval_EvalCode*", "_PyEval_EvalCode*", "PyEval_EvalFrame*", "_PyEval_EvalFrame*", "_PyEval_Vector",
	/* one function calls another */
	"_PyFunction_Vectorcall", "_PyFunction_FastCall*", "function_code_fastcall", "call_function", "do_call_core",
	"PyObject_Call*", "_PyObject_Call*", "PyObject_Vectorcall*", "_PyObject_Vectorcall*", "_PyObject_FastCall*",
	"_PyObject_MakeTpCall", "PyVectorcall_Call", "_PyVectorcall_Call", "object_vacall", "PyCFunction_Call",
	"cfunction_*", "method_vectorcall*", "_PyCFunction_FastCall*", "_PyMethodDef_RawFastCall*", "slot_tp_call",
};
static const char *const libc_names[] = {
	"__libc_start_main*", "__libc_start_call_main", "clone", "__clone", "clone3", "__clone3", "start_thread",
};

static bool name_is_one_of(const char *name, const char *const *known, size_t n)
{
	size_t len = strcspn(name, ".");
	for (size_t i = 0; i < n; i++) {
		size_t want = strlen(known[i]);
		bool prefix = known[i][want - 1] == '*';
		want -= prefix;
		if ((prefix ? len >= want : len == want) && strncmp(name, known[i], want) == 0)
			return true;
	}
	return false;
}

/* "python3.12", "python", "libpython3.11.so.1.0"; not "python3.12-config" or "libpython_bindings.so". */
static bool module_is_python(const char *module)
{
	const char *rest = module;
	if (strncmp(rest, "lib", 3) == 0)
		rest += 3;
	if (strncmp(rest, "python", 6) != 0)
		return false;
	rest += 6;
	rest += strspn(rest, "0123456789.");
	rest += strspn(rest, "dmtuw"); /* ABI flags */
	return *rest == '\0' || strncmp(rest, ".so", 3) == 0 || (rest[-1] == '.' && strncmp(rest, "so", 2) == 0);
}

static bool module_is_libc(const char *module)
{
	return strncmp(module, "libc.", 5) == 0 || strncmp(module, "libc-", 5) == 0 ||
	       strncmp(module, "libpthread", 10) == 0 || strncmp(module, "ld-musl", 7) == 0;
}

bool plumbing_is(const struct frame *f)
{
	if (f->kind != FRAME_NATIVE)
		return false;
	if (module_is_python(f->module))
		return strcmp(f->name, "_start") == 0 ||
		       name_is_one_of(f->name, python_names, ARRAY_SIZE(python_names));
	return module_is_libc(f->module) && name_is_one_of(f->name, libc_names, ARRAY_SIZE(libc_names));
}

/* True for a function of the interpreter without a symbol: "0x6516f0". */
static bool plumbing_is_nameless(const struct frame *f)
{
	return f->kind == FRAME_NATIVE && strncmp(f->name, "0x", 2) == 0 && module_is_python(f->module);
}

/* Copies node i of s. map: the node of `to` for each node of s, filled below i. */
static int fold_node(const struct stackset *s, uint32_t i, struct stackset *to, uint32_t *map)
{
	size_t n;
	const struct stack_node *node = &stackset_nodes(s, &n)[i];
	if (node->parent == i) {
		uint32_t lane = 0;
		int r = stackset_lane_new(to, &stackset_lanes(s, &n)[node->lane], &lane);
		if (r < 0)
			return r;
		map[i] = stackset_root(to, lane);
		stack_node_add(stackset_node(to, map[i]), node);
		return 0;
	}
	const struct frame *f = stackset_frame(s, node->frame);
	bool outermost = stackset_node(to, map[node->parent])->parent == map[node->parent];
	bool left_out = plumbing_is(f) || (outermost && plumbing_is_nameless(f));
	bool weighs = stack_node_weight(node) > 0 || stack_node_samples(node) > 0;
	uint32_t frame = 0, at = map[node->parent];
	map[i] = at;
	if (left_out && !(outermost && weighs)) {
		stack_node_add(stackset_node(to, at), node);
		return 0;
	}
	int r = frametab_intern(stackset_frames(to), f, &frame);
	if (r == 0)
		r = stackset_child(to, map[node->parent], frame, &at);
	if (r < 0)
		return r;
	if (!left_out)
		map[i] = at;
	stack_node_add(stackset_node(to, at), node);
	return 0;
}

int plumbing_fold(const struct stackset *s, struct stackset **ret)
{
	size_t n;
	(void)stackset_nodes(s, &n);
	cleanup(stackset_freep) struct stackset *to = stackset_new();
	cleanup(freep) uint32_t *map = calloc(n + 1, sizeof(*map));
	if (!to || !map)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		int r = fold_node(s, i, to, map);
		if (r < 0)
			return r;
	}
	*stackset_meta(to) = *stackset_meta_of(s);
	*ret = take(&to);
	return 0;
}
