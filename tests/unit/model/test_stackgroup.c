#include "testing.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "model/hang/stackgroup.h"
#include "model/hang/waitshare.h"

#define C10D "/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py"

/* Dumps made of literals: nothing in them is owned. */
static struct dump_frame py(const char *name, const char *file, int32_t line)
{
	return (struct dump_frame){
		.kind = FRAME_PYTHON, .name = (char *)(uintptr_t)name, .file = (char *)(uintptr_t)file, .line = line};
}

static struct dump_frame native(const char *name, const char *module)
{
	return (struct dump_frame){
		.kind = FRAME_NATIVE, .name = (char *)(uintptr_t)name, .module = (char *)(uintptr_t)module};
}

static struct dump_thread thread(struct dump_frame *frames, size_t n, enum wait_kind wait)
{
	struct dump_thread t = {.tid = 1, .main = true, .frames = frames, .n_frames = n, .wait.kind = wait};
	for (size_t i = 0; i < n; i++)
		t.has_python |= frames[i].kind == FRAME_PYTHON;
	return t;
}

static enum activity kind_of(struct dump_frame *frames, size_t n, enum wait_kind wait, struct activity_found *ret)
{
	struct dump_thread t = thread(frames, n, wait);
	activity_of(&t, ret);
	return ret->kind;
}

static void activities_are_recognised(void **state)
{
	(void)state;
	static const struct {
		const char *name, *file;
		enum wait_kind wait;
		enum activity kind;
	} rows[] = {
		{"all_reduce", C10D, WAIT_SOCKET, ACTIVITY_COLLECTIVE},
		{"recv", C10D, WAIT_SOCKET, ACTIVITY_P2P},
		{"init_process_group", C10D, WAIT_SOCKET, ACTIVITY_STORE},
		{"destroy_process_group", C10D, WAIT_LOCK, ACTIVITY_EXIT},
		{"_MultiProcessingDataLoaderIter._try_get_data", "/x/site-packages/torch/utils/data/dataloader.py",
		 WAIT_POLL, ACTIVITY_LOADER_WAIT},
		{"save", "/x/site-packages/torch/serialization.py", WAIT_FILE, ACTIVITY_CHECKPOINT},
		{"snapshot_download", "/x/site-packages/huggingface_hub/_snapshot_download.py", WAIT_SOCKET,
		 ACTIVITY_DOWNLOAD},
		{"copy_parallel", "/x/moxing/framework/file/file_io.py", WAIT_SOCKET, ACTIVITY_DATA_COPY},
		{"add_event", "/x/site-packages/tensorboard/summary/writer/event_file_writer.py", WAIT_LOCK,
		 ACTIVITY_REMOTE_WRITER},
		{"codegen", "/x/site-packages/torch/_inductor/graph.py", WAIT_RUNNING, ACTIVITY_COMPILE},
		{"_find_and_load", "<frozen importlib._bootstrap>", WAIT_FILE, ACTIVITY_IMPORT},
		{"finish", "/x/site-packages/wandb/sdk/wandb_run.py", WAIT_SOCKET, ACTIVITY_UPLOAD},
		{"interaction", "/usr/lib/python3.11/pdb.py", WAIT_TTY, ACTIVITY_DEBUGGER},
		{"main", "/job/train.py", WAIT_SLEEP, ACTIVITY_SLEEP},
		{"main", "/job/train.py", WAIT_TTY, ACTIVITY_INPUT},
		{"main", "/job/train.py", WAIT_LOCK, ACTIVITY_LOCK},
		{"main", "/job/train.py", WAIT_RUNNING, ACTIVITY_UNKNOWN},
		/* what only looks like one */
		{"all_reduce", "/job/train.py", WAIT_RUNNING, ACTIVITY_UNKNOWN},
		{"get", "/job/myqueue.py", WAIT_RUNNING, ACTIVITY_UNKNOWN},
		{"save", "/job/mytorch/serialization.py", WAIT_RUNNING, ACTIVITY_UNKNOWN},
		{"send", "/job/torch_distributed/x.py", WAIT_RUNNING, ACTIVITY_UNKNOWN},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct dump_frame f = py(rows[i].name, rows[i].file, 10);
		struct activity_found found;
		if (kind_of(&f, 1, rows[i].wait, &found) != rows[i].kind)
			fail_msg("%s (%s): activity %d, expected %d", rows[i].name, rows[i].file, (int)found.kind,
				 (int)rows[i].kind);
	}
}

static void native_names_tell_where_there_is_no_python(void **state)
{
	(void)state;
	struct dump_frame mpi[] = {native("opal_progress", "libopen-pal.so.40"),
				   native("PMPI_Allreduce", "libmpi.so.40")};
	struct dump_frame gpu[] = {native("cuEventQuery", "libcuda.so.1"),
				   native("cudaStreamSynchronize", "libcudart.so.12")};
	struct dump_frame omp[] = {native("0x7f00", "libgomp.so.1.0.0")};
	struct activity_found found;
	assert_int_equal(kind_of(mpi, 2, WAIT_RUNNING, &found), ACTIVITY_COLLECTIVE);
	assert_string_equal(found.op, "MPI_Allreduce");
	assert_int_equal(kind_of(gpu, 2, WAIT_RUNNING, &found), ACTIVITY_GPU_SYNC);
	assert_int_equal(kind_of(omp, 1, WAIT_LOCK, &found), ACTIVITY_OPENMP);
}

static void the_wait_for_ranks_outweighs_what_it_is_in(void **state)
{
	(void)state;
	struct dump_frame f[] = {py("wait", "/usr/lib/python3.11/threading.py", 320), py("barrier", C10D, 4000),
				 py("save", "/x/site-packages/torch/distributed/checkpoint/state_dict_saver.py", 90),
				 py("evaluate", "/job/train.py", 12), py("<module>", "/job/train.py", 80)};
	struct activity_found found;
	char text[200];
	assert_int_equal(kind_of(f, ARRAY_SIZE(f), WAIT_LOCK, &found), ACTIVITY_COLLECTIVE);
	assert_true(found.also_checkpoint && found.also_evaluate);
	activity_text(&found, text, sizeof(text));
	assert_string_equal(text, "barrier at train.py:12 in evaluate");
	/* a retry inside of a checkpoint is a checkpoint, however it waits */
	assert_int_equal(kind_of(&f[2], 3, WAIT_SLEEP, &found), ACTIVITY_CHECKPOINT);
	/* a sleep in an evaluation is a sleep, and says that it is in one */
	assert_int_equal(kind_of(&f[3], 2, WAIT_SLEEP, &found), ACTIVITY_SLEEP);
	assert_true(found.also_evaluate);
}

static void a_wait_on_nothing_is_a_sleep(void **state)
{
	(void)state;
	struct dump_frame f = py("main", "/job/train.py", 3);
	struct dump_thread t = thread(&f, 1, WAIT_POLL);
	struct activity_found found;
	t.wait.has_syscall = true;
	TEXT_COPY(t.syscall, "select");
	activity_of(&t, &found);
	assert_int_equal(found.kind, ACTIVITY_SLEEP);
	t.wait.arg[0] = 5;
	activity_of(&t, &found);
	assert_int_equal(found.kind, ACTIVITY_UNKNOWN);
	TEXT_COPY(t.syscall, "poll");
	activity_of(&t, &found);
	assert_int_equal(found.kind, ACTIVITY_SLEEP);
}

static void stacks_are_compared_without_what_differs_by_chance(void **state)
{
	(void)state;
	struct dump_frame a[] = {native("__futex_abstimed_wait", "libc.so.6"),
				 native("wait<int>(int).isra.0", "libx.so"), native("run", "prog")};
	struct dump_frame b[] = {native("clock_nanosleep", "libc.so.6"), native("wait<long>(long)", "libx.so"),
				 native("0x5555", "libx.so"), native("run", "prog")};
	struct dump_frame c[] = {native("other", "libx.so"), native("run", "prog")};
	struct dump_thread ta = thread(a, 3, WAIT_LOCK), tb = thread(b, 4, WAIT_LOCK), tc = thread(c, 2, WAIT_LOCK);
	assert_true(stackgroup_key(&ta) == stackgroup_key(&tb));
	assert_true(stackgroup_key(&ta) != stackgroup_key(&tc));
	/* Python: the line counts, native frames in between do not, nor where the package is installed */
	struct dump_frame p[] = {native("poll", "libuv.so"), py("f", "/a/site-packages/m/x.py", 3)};
	struct dump_frame q[] = {py("f", "/b/site-packages/m/x.py", 3)};
	struct dump_frame r[] = {py("f", "/b/site-packages/m/x.py", 4)};
	struct dump_thread tp = thread(p, 2, WAIT_POLL), tq = thread(q, 1, WAIT_POLL), tr = thread(r, 1, WAIT_POLL);
	assert_true(stackgroup_key(&tp) == stackgroup_key(&tq));
	assert_true(stackgroup_key(&tq) != stackgroup_key(&tr));
	struct dump_thread none = thread(NULL, 0, WAIT_POLL);
	assert_true(stackgroup_key(&none) == 0);
}

#define RANKS 64

struct world64 {
	struct dump_frame in[2], out;
	struct dump_thread threads[RANKS + 1];
	struct dump_process processes[RANKS + 1];
	struct stackdump d;
};

/* Every rank in all_reduce but odd; and a launcher that has no rank. Ranks from the last to the first. */
static void world64_make(struct world64 *w, int32_t odd, int number)
{
	*w = (struct world64){.in = {py("all_reduce", C10D, 2806), py("step", "/job/train.py", 40)},
			      .out = py("load", "/job/data.py", 7)};
	for (int32_t i = 0; i <= RANKS; i++) {
		int32_t rank = RANKS - 1 - i;
		w->threads[i] = rank == odd ? thread(&w->out, 1, WAIT_LOCK) : thread(w->in, 2, WAIT_SOCKET);
		w->threads[i].tid = 1000 + i;
		w->threads[i].wait.user_ticks = rank == 9 ? (uint64_t)number * 100 : 7;
		w->processes[i] =
			(struct dump_process){.pid = 1000 + i, .rank = rank, .threads = &w->threads[i], .n_threads = 1};
		TEXT_COPY(w->processes[i].role, rank < 0 ? "launcher" : "main");
	}
	w->d = (struct stackdump){.captured_unix_ms = number * 1000, .processes = w->processes, .n = RANKS + 1};
}

static void the_one_of_64_that_stands_elsewhere_is_a_group_of_its_own(void **state)
{
	(void)state;
	struct world64 *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct stackgroups *g = calloc(1, sizeof(*g));
	char text[200];
	world64_make(a, 37, 0);
	world64_make(b, 37, 4);
	const struct stackdump *dumps[] = {&a->d, &b->d};
	stackgroups_make(dumps, 2, g);
	assert_int_equal(g->n, RANKS);
	assert_int_equal(g->n_waiting, RANKS - 1);
	assert_int_equal(g->n_groups, 2);
	assert_int_equal(g->group[0].n, RANKS - 1);
	stackgroups_ranks_text(g, 0, text, sizeof(text));
	assert_string_equal(text, "0-36, 38-63");
	stackgroups_ranks_text(g, 1, text, sizeof(text));
	assert_string_equal(text, "37");
	stackgroups_stack_text(g, 1, 5, text, sizeof(text));
	assert_string_equal(text, "load (data.py:7)");
	const struct stackgroup_rank *r = stackgroups_find(g, 37);
	assert_true(r->compared && r->unchanged && r->idle);
	r = stackgroups_find(g, 9);
	assert_true(r->unchanged && !r->idle && r->cores > 0.99 && r->cores < 1.01);
	/* a line further: it has moved */
	b->out.line = 8;
	stackgroups_make(dumps, 2, g);
	assert_false(stackgroups_find(g, 37)->unchanged);
	assert_true(stackgroups_find(g, 36)->unchanged);
	/* one dump is no comparison */
	stackgroups_make(dumps, 1, g);
	assert_false(stackgroups_find(g, 37)->compared || stackgroups_find(g, 37)->unchanged);
	/* its process was replaced between the two */
	world64_make(b, 37, 4);
	b->processes[RANKS - 1 - 37].pid = 5000;
	stackgroups_make(dumps, 2, g);
	assert_false(stackgroups_find(g, 37)->compared);
	free(a);
	free(b);
	free(g);
}

static void the_backward_pass_acts_in_a_thread_of_its_own(void **state)
{
	(void)state;
	struct dump_frame m[] = {native("wait", "libtorch_cpu.so"),
				 py("backward", "/x/site-packages/torch/_tensor.py", 500),
				 py("step", "/job/train.py", 40)};
	struct dump_frame a[] = {native("c10d::Reducer::finalize_backward", "libtorch_cpu.so")};
	struct dump_thread t[] = {thread(m, 3, WAIT_LOCK), thread(a, 1, WAIT_LOCK)};
	t[1].main = false;
	t[1].tid = 2;
	TEXT_COPY(t[1].name, "pt_autograd_0");
	struct dump_process p = {.pid = 1, .rank = 0, .threads = t, .n_threads = 2};
	struct stackdump d = {.processes = &p, .n = 1};
	const struct stackdump *dumps[] = {&d};
	struct stackgroups *g = calloc(1, sizeof(*g));
	stackgroups_make(dumps, 1, g);
	assert_int_equal(g->rank[0].activity.kind, ACTIVITY_COLLECTIVE);
	assert_ptr_equal(g->rank[0].acting, &t[1]);
	assert_int_equal(g->rank[0].activity.user->line, 40);
	free(g);
}

static void empty_and_strange_dumps_do_no_harm(void **state)
{
	(void)state;
	struct stackdump none = {.n = 0};
	struct dump_process bare = {.pid = 1, .rank = 3};
	struct stackdump one = {.processes = &bare, .n = 1};
	const struct stackdump *dumps[] = {&none, &one};
	struct stackgroups *g = calloc(1, sizeof(*g));
	char text[50];
	stackgroups_make(dumps, 1, g);
	assert_int_equal(g->n, 0);
	stackgroups_make(dumps, 2, g);
	assert_int_equal(g->n, 1);
	assert_false(g->rank[0].has_stack || g->rank[0].compared);
	stackgroups_stack_text(g, 0, 5, text, sizeof(text));
	assert_string_equal(text, "");
	activity_text(&g->rank[0].activity, text, sizeof(text)); /* its process ended while it was looked at */
	assert_string_equal(text, "");
	free(g);
}

static void shares_of_waiting_are_counted_by_rank(void **state)
{
	(void)state;
	struct world64 *a = calloc(1, sizeof(*a));
	struct waitshare *w = calloc(1, sizeof(*w));
	world64_make(a, 5, 0);
	for (int i = 0; i < 10; i++)
		waitshare_add(w, &a->d, NULL, NULL);
	assert_int_equal(w->samples, 10);
	assert_int_equal(w->n, 64);
	for (size_t i = 0; i < w->n; i++) {
		assert_true(waitshare_waiting(&w->rank[i]) == (w->rank[i].rank == 5 ? 0 : 1));
		assert_int_equal(w->rank[i].n, 10);
	}
	free(a);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(activities_are_recognised),
		cmocka_unit_test(native_names_tell_where_there_is_no_python),
		cmocka_unit_test(the_wait_for_ranks_outweighs_what_it_is_in),
		cmocka_unit_test(a_wait_on_nothing_is_a_sleep),
		cmocka_unit_test(stacks_are_compared_without_what_differs_by_chance),
		cmocka_unit_test(the_one_of_64_that_stands_elsewhere_is_a_group_of_its_own),
		cmocka_unit_test(the_backward_pass_acts_in_a_thread_of_its_own),
		cmocka_unit_test(empty_and_strange_dumps_do_no_harm),
		cmocka_unit_test(shares_of_waiting_are_counted_by_rank),
	};
	return cmocka_run_group_tests_name("model/hang/stackgroup", tests, NULL, NULL);
}
