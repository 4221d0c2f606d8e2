#include "testing.h"

#include "base/buf.h"
#include "model/hang/activity.h"

#define TORCH "/usr/lib/python3/dist-packages/torch/"

/* Frames made of literals: nothing in them is owned. */
static struct dump_frame python(const char *name, const char *file, int32_t line)
{
	return (struct dump_frame){
		.kind = FRAME_PYTHON, .name = (char *)(uintptr_t)name, .file = (char *)(uintptr_t)file, .line = line};
}

static struct dump_frame native(const char *name, const char *module)
{
	return (struct dump_frame){
		.kind = FRAME_NATIVE, .name = (char *)(uintptr_t)name, .module = (char *)(uintptr_t)module};
}

static struct activity_found found_in(struct dump_frame *frames, size_t n, enum wait_kind wait)
{
	struct dump_thread t = {.frames = frames, .n_frames = n, .wait.kind = wait};
	for (size_t i = 0; i < n; i++)
		t.has_python |= frames[i].kind == FRAME_PYTHON;
	struct activity_found found;
	activity_of(&t, &found);
	return found;
}

static struct activity_found found_native(const char *name, const char *module)
{
	static struct dump_frame f; /* what is found points into it */
	f = native(name, module);
	return found_in(&f, 1, WAIT_RUNNING);
}

static void expect_text(const struct activity_found *found, const char *expected)
{
	char text[200];
	activity_text(found, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void a_wait_for_ranks_wins_over_the_work_inside_and_around_it(void **state)
{
	(void)state;
	struct dump_frame f[] = {python("acquire", "/usr/lib/python3.11/threading.py", 1),
				 python("all_reduce", TORCH "distributed/distributed_c10d.py", 2),
				 python("save_checkpoint", "/job/train.py", 3), python("evaluate", "/job/train.py", 4)};
	const struct activity_found found = found_in(f, ARRAY_SIZE(f), WAIT_LOCK);
	assert_int_equal(found.kind, ACTIVITY_COLLECTIVE);
	assert_string_equal(found.op, "all_reduce");
	assert_ptr_equal(found.frame, &f[1]);
	assert_ptr_equal(found.user, &f[2]);
	assert_true(found.also_checkpoint && found.also_evaluate);
	assert_false(found.also_compile || found.also_sync_bn || found.also_loader);
	expect_text(&found, "all_reduce at train.py:3 in save_checkpoint");
}

static void of_two_equal_rows_the_innermost_frame_wins(void **state)
{
	(void)state;
	struct dump_frame f[] = {python("hf_hub_download", "/x/site-packages/huggingface_hub/file_download.py", 1),
				 python("save_checkpoint", "/job/train.py", 2)};
	const struct activity_found found = found_in(f, 2, WAIT_SOCKET);
	assert_int_equal(found.kind, ACTIVITY_DOWNLOAD);
	struct dump_frame turned[] = {f[1], f[0]};
	assert_int_equal(found_in(turned, 2, WAIT_SOCKET).kind, ACTIVITY_CHECKPOINT);
}

/* Seen on an H200: a program that replayed a graph was said to compile, which is excused for half an hour. */
static void a_graph_that_is_replayed_is_not_compiled(void **state)
{
	(void)state;
	struct dump_frame replay[] = {python("CUDAGraph.replay", TORCH "cuda/graphs.py", 1),
				      python("long_queue", "/job/train.py", 2)},
			  capture[] = {python("CUDAGraph.capture_end", TORCH "cuda/graphs.py", 1),
				       python("graph.__exit__", TORCH "cuda/graphs.py", 2),
				       python("long_queue", "/job/train.py", 3)};
	assert_int_equal(found_in(replay, 2, WAIT_RUNNING).kind, ACTIVITY_UNKNOWN);
	assert_int_equal(found_in(capture, 3, WAIT_RUNNING).kind, ACTIVITY_COMPILE);
}

static void who_waits_in_a_queue_waits_for_no_lock(void **state)
{
	(void)state;
	struct dump_frame f[] = {python("Condition.wait", "/usr/lib/python3.11/threading.py", 320),
				 python("Queue.get", "/usr/lib/python3.11/queue.py", 171),
				 python("train", "/job/train.py", 2)};
	assert_string_equal(found_in(f, 3, WAIT_LOCK).op, "a queue");
	assert_string_equal(found_in(f, 1, WAIT_LOCK).op, "a lock");
}

static void a_debugger_wins_over_everything(void **state)
{
	(void)state;
	struct dump_frame f[] = {python("barrier", TORCH "distributed/distributed_c10d.py", 1),
				 python("Pdb.interaction", "/usr/lib/python3.11/pdb.py", 2)};
	assert_int_equal(found_in(f, 2, WAIT_TTY).kind, ACTIVITY_DEBUGGER);
}

static void the_text_leaves_out_what_is_unknown(void **state)
{
	(void)state;
	struct dump_frame library = python("barrier", "/x/site-packages/torch/distributed/c10d.py", 7);
	struct dump_frame module = python("<module>", "/job/train.py", 12);
	struct activity_found found = found_in(&library, 1, WAIT_SOCKET);
	assert_null(found.user);
	expect_text(&found, "barrier at torch/distributed/c10d.py:7");
	found = found_in(&module, 1, WAIT_RUNNING);
	assert_int_equal(found.kind, ACTIVITY_UNKNOWN);
	expect_text(&found, "at train.py:12");
	found = found_in(NULL, 0, WAIT_RUNNING);
	expect_text(&found, "");
	found = found_native("MPI_Barrier", "libmpi.so.40");
	expect_text(&found, "MPI_Barrier");
}

static void a_text_that_does_not_fit_is_cut(void **state)
{
	(void)state;
	struct dump_frame f[] = {python("all_reduce", TORCH "distributed/distributed_c10d.py", 2),
				 python("step", "/job/train.py", 3)};
	const struct activity_found found = found_in(f, 2, WAIT_SOCKET);
	char text[8];
	activity_text(&found, text, sizeof(text));
	assert_string_equal(text, "all_red");
}

static void libraries_are_not_files_of_the_user(void **state)
{
	(void)state;
	static const char *const libraries[] = {
		"/x/site-packages/mine/loop.py", "/usr/lib/python3/dist-packages/a.py", "/usr/lib/python3.11/queue.py",
		"/usr/lib64/python3.9/json.py",	 "/opt/lib/pypy3/x.py",			"/tmp/app.zip/main.py",
		"<string>",			 "",
	};
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++) {
		struct dump_frame f = python("step", libraries[i], 1);
		if (found_in(&f, 1, WAIT_RUNNING).user)
			fail_msg("%s is taken as the program's own", libraries[i]);
	}
	struct dump_frame own = python("step", "/home/me/lib/python/train.py", 1), nameless = python("step", NULL, 1);
	assert_ptr_equal(found_in(&own, 1, WAIT_RUNNING).user, &own);
	assert_null(found_in(&nameless, 1, WAIT_RUNNING).user);
}

static void native_functions_are_found_by_name_or_module(void **state)
{
	(void)state;
	static const struct {
		const char *name, *module;
		enum activity kind;
		const char *op;
	} rows[] = {
		{"pncclAllReduce", "libnccl.so.2", ACTIVITY_COLLECTIVE, "all_reduce"},
		{"PMPI_Recv", "libmpi.so.40", ACTIVITY_P2P, "MPI_Recv"},
		{"MPI_Mprobe", "libmpi.so.40", ACTIVITY_P2P, "MPI_Mprobe"},
		{"Comm.allreduce", "MPI.mpich.cpython-311-x86_64-linux-gnu.so", ACTIVITY_COLLECTIVE, "MPI_Allreduce"},
		{"Comm.recv", "MPI.mpich.cpython-311-x86_64-linux-gnu.so", ACTIVITY_UNKNOWN, ""},
		{"PMPI_Sendrecv", "libmpi.so.40", ACTIVITY_P2P, "MPI_Send"},
		{"MPI_Win_fence", "libmpi.so.40", ACTIVITY_COLLECTIVE, "MPI_Win_fence"},
		{"MPI_Finalize", "libmpi.so.40", ACTIVITY_EXIT, "MPI_Finalize"},
		{"bootstrapInit", "libnccl.so.2", ACTIVITY_STORE, "NCCL's bootstrap"},
		{"bootstrapInit", "libother.so", ACTIVITY_UNKNOWN, ""},
		{"cudaMemcpyAsync", "libcudart.so.12", ACTIVITY_GPU_SYNC, "cudaMemcpy"},
		{"do_spin", "libgomp.so.1", ACTIVITY_OPENMP, "an OpenMP team"},
		{"compile", "libnvrtc.so.12", ACTIVITY_COMPILE, "NVRTC"},
		{"Trainer::evaluate(Batch const&)", "train", ACTIVITY_EVALUATE, "evaluate"},
		{"reevaluate", "train", ACTIVITY_UNKNOWN, ""},
		{"evaluate_all", "train", ACTIVITY_UNKNOWN, ""},
		{"save_checkpoint(char const*)", "train", ACTIVITY_CHECKPOINT, "save_checkpoint"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct activity_found found = found_native(rows[i].name, rows[i].module);
		if (found.kind != rows[i].kind || strcmp(found.op, rows[i].op) != 0)
			fail_msg("%s [%s]: activity %d %s", rows[i].name, rows[i].module, (int)found.kind, found.op);
	}
}

static void a_wait_names_the_activity_where_no_frame_does(void **state)
{
	(void)state;
	static const struct {
		enum wait_kind wait;
		enum activity kind;
		const char *op;
	} rows[] = {
		{WAIT_LOCK, ACTIVITY_LOCK, "a lock"},
		{WAIT_TTY, ACTIVITY_INPUT, "a terminal's input"},
		{WAIT_CHILD, ACTIVITY_JOIN, "a process's end"},
		{WAIT_GPU, ACTIVITY_GPU_SYNC, "the GPU's driver"},
		{WAIT_SLEEP, ACTIVITY_SLEEP, "a sleep"},
		{WAIT_SOCKET, ACTIVITY_UNKNOWN, ""},
		{WAIT_UNKNOWN, ACTIVITY_UNKNOWN, ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct activity_found found = found_in(NULL, 0, rows[i].wait);
		assert_int_equal(found.kind, rows[i].kind);
		assert_string_equal(found.op, rows[i].op);
		assert_null(found.frame);
	}
	struct dump_frame f = python("main", "/job/train.py", 1);
	assert_string_equal(found_in(&f, 1, WAIT_SLEEP).op, "time.sleep");
}

static void only_ppoll_and_pselect_without_descriptors_are_sleeps(void **state)
{
	(void)state;
	struct dump_thread t = {.wait = {.kind = WAIT_POLL, .has_syscall = true}};
	struct activity_found found;
	TEXT_COPY(t.syscall, "pselect6");
	activity_of(&t, &found);
	assert_int_equal(found.kind, ACTIVITY_SLEEP);
	t.wait.arg[0] = 4;
	activity_of(&t, &found);
	assert_int_equal(found.kind, ACTIVITY_UNKNOWN);
	TEXT_COPY(t.syscall, "ppoll");
	activity_of(&t, &found);
	assert_int_equal(found.kind, ACTIVITY_SLEEP);
	t.wait.arg[1] = 1;
	activity_of(&t, &found);
	assert_int_equal(found.kind, ACTIVITY_UNKNOWN);
	t.wait.arg[1] = 0;
	TEXT_COPY(t.syscall, "epoll_wait");
	activity_of(&t, &found);
	assert_int_equal(found.kind, ACTIVITY_UNKNOWN);
	TEXT_COPY(t.syscall, "ppoll");
	t.wait.has_syscall = false; /* the arguments are unknown */
	activity_of(&t, &found);
	assert_int_equal(found.kind, ACTIVITY_UNKNOWN);
}

static void only_four_activities_wait_for_ranks(void **state)
{
	(void)state;
	size_t n = 0;
	for (enum activity a = ACTIVITY_UNKNOWN; a < ACTIVITY_MAX; a++)
		n += activity_waits_for_ranks(a);
	assert_int_equal(n, 4);
	assert_true(activity_waits_for_ranks(ACTIVITY_COLLECTIVE) && activity_waits_for_ranks(ACTIVITY_P2P));
	assert_true(activity_waits_for_ranks(ACTIVITY_STORE) && activity_waits_for_ranks(ACTIVITY_SYNC_BN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_for_ranks_wins_over_the_work_inside_and_around_it),
		cmocka_unit_test(of_two_equal_rows_the_innermost_frame_wins),
		cmocka_unit_test(a_graph_that_is_replayed_is_not_compiled),
		cmocka_unit_test(who_waits_in_a_queue_waits_for_no_lock),
		cmocka_unit_test(a_debugger_wins_over_everything),
		cmocka_unit_test(the_text_leaves_out_what_is_unknown),
		cmocka_unit_test(a_text_that_does_not_fit_is_cut),
		cmocka_unit_test(libraries_are_not_files_of_the_user),
		cmocka_unit_test(native_functions_are_found_by_name_or_module),
		cmocka_unit_test(a_wait_names_the_activity_where_no_frame_does),
		cmocka_unit_test(only_ppoll_and_pselect_without_descriptors_are_sleeps),
		cmocka_unit_test(only_four_activities_wait_for_ranks),
	};
	return cmocka_run_group_tests_name("model/hang/activity", tests, NULL, NULL);
}
