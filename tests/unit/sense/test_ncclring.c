/* The plugin, played by a program that calls it as NCCL does, and the reader of what it leaves behind. */
#include "testing.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "../../../plugins/nccl/abi.h"
#include "../../../plugins/nccl/ring.h"
#include "base/buf.h"
#include "base/file.h"
#include "sense/collective/ncclring.h"

static char prefix[64];

struct coll_descr {
	struct descr_head head;
	struct coll_v4 coll;
	uint64_t pad[8];
};
struct p2p_descr {
	struct descr_head head;
	struct p2p_v4 p2p;
	uint64_t pad[8];
};
struct part_descr {
	struct descr_head head;
	struct proxy_op op;
	uint64_t pad[12];
};

static void *library(void)
{
	void *lib = dlopen(NCCL_PLUGIN, RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		fail_msg("%s", dlerror());
	return lib;
}

static const struct profiler_v5 *profiler(const char *name)
{
	const struct profiler_v5 *p = dlsym(library(), name);
	assert_non_null(p);
	return p;
}

static void *collective(const struct profiler_v5 *p, void *context, uint64_t seq, const char *func)
{
	void *handle = NULL;
	struct coll_descr d = {.head = {.type = EVENT_COLL},
			       .coll = {.seq = seq, .func = func, .count = 1024, .dtype = "ncclFloat32"}};
	assert_int_equal(p->start(context, &handle, &d), 0);
	return handle;
}

static void *part(const struct profiler_v5 *p, void *context, void *parent, uint64_t type, int32_t pid)
{
	void *handle = NULL;
	struct part_descr d = {.head = {.type = type, .parent = parent}, .op = {.pid = pid}};
	assert_int_equal(p->start(context, &handle, &d), 0);
	return handle;
}

/* In a child: each test has a process, and a ring, of its own. */
static struct ncclring in_child(void (*play)(void), int expected)
{
	char path[96];
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		play();
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WIFSIGNALED(status) ? WTERMSIG(status) : 0, expected);
	snprintf(path, sizeof(path), "%s%d", prefix, (int)pid);
	struct ncclring r = {.n_calls = 0};
	struct fault f = {.text = ""};
	if (ncclring_read(&(struct foreign_place){.dirfd = AT_FDCWD}, path, &r, &f) != 0)
		fail_msg("%s", f.text);
	assert_int_equal(r.pid, pid);
	unlink(path);
	return r;
}

static void play_one_of_each(void)
{
	const struct profiler_v5 *p = profiler("ncclProfiler_v6");
	void *context = NULL;
	int mask = 0;
	p->init(&context, 0xabc, &mask, "default_pg", 1, 4, 2, NULL);
	if (mask != (EVENT_COLL | EVENT_P2P | EVENT_PROXY_OP | EVENT_KERNEL))
		_exit(1);
	void *ended = collective(p, context, 7, "AllReduce");
	void *kernels[2];
	for (int i = 0; i < 2; i++)
		kernels[i] = part(p, context, ended, EVENT_KERNEL, 0);
	p->stop(ended);
	void *network = part(p, context, ended, EVENT_PROXY_OP, (int32_t)getpid());
	/* of another process: its parent means nothing here */
	if (part(p, context, ended, EVENT_PROXY_OP, 1))
		_exit(1);
	for (int i = 0; i < 2; i++) {
		p->record(kernels[i], STATE_KERNEL_STOP, NULL);
		p->stop(kernels[i]);
	}
	p->stop(network);
	p->stop(network);
	p->record(network, 8, NULL); /* late */
	void *running = collective(p, context, 8, "AllReduce");
	part(p, context, running, EVENT_KERNEL, 0);
	struct p2p_descr send = {.head = {.type = EVENT_P2P},
				 .p2p = {.func = "Send", .dtype = "ncclInt8", .count = 9, .peer = 3}};
	void *handle = NULL;
	p->start(context, &handle, &send);
	p->stop(handle);
	p->finalize(NULL);
}

static void calls_are_found_with_their_ends(void **state)
{
	(void)state;
	struct ncclring r = in_child(play_one_of_each, 0);
	assert_int_equal(r.rank, 2);
	assert_int_equal(r.n_comms, 1);
	assert_true(r.comms[0].id == 0xabc && r.comms[0].rank == 2 && r.comms[0].n_ranks == 4 && r.comms[0].open);
	assert_string_equal(r.comms[0].name, "default_pg");
	assert_int_equal(r.n_calls, 3);
	assert_string_equal(r.calls[0].func, "AllReduce");
	assert_int_equal(r.calls[0].seq, 7);
	assert_true(r.calls[0].ended && r.calls[0].ended_ns >= r.calls[0].started_ns);
	assert_true(!r.calls[1].ended && r.calls[1].started_ns && r.calls[1].channels_running == 1);
	assert_true(r.calls[2].is_p2p && r.calls[2].sends && r.calls[2].peer == 3 && !r.calls[2].has_seq);
	assert_int_equal(r.n_torn, 0);
	ncclring_done(&r);
}

static void play_crash(void)
{
	const struct profiler_v5 *p = profiler("ncclProfiler_v5");
	void *context = NULL;
	int mask = 0;
	p->init(&context, 1, &mask, NULL, 1, 2, 0, NULL);
	collective(p, context, 0, "Broadcast");
	raise(SIGKILL);
}

static void a_killed_process_leaves_its_ring(void **state)
{
	(void)state;
	struct ncclring r = in_child(play_crash, SIGKILL);
	assert_int_equal(r.n_calls, 1);
	assert_string_equal(r.calls[0].func, "Broadcast");
	ncclring_done(&r);
}

#define THREADS 4
#define EACH 5000

static const struct profiler_v5 *shared;
static void *shared_context;

static void *many_calls(void *arg)
{
	void *old = NULL;
	for (uint64_t i = 0; i < EACH; i++) {
		void *handle = collective(shared, shared_context, i, "AllGather");
		void *kernel = part(shared, shared_context, handle, EVENT_KERNEL, 0);
		shared->stop(handle);
		shared->stop(kernel);
		/* handles of calls that are long overwritten still come back */
		shared->stop(old);
		shared->record(old, STATE_KERNEL_STOP, NULL);
		if (i == 0)
			old = kernel;
	}
	return arg;
}

static void play_threads(void)
{
	pthread_t threads[THREADS];
	int mask = 0;
	shared = profiler("ncclProfiler_v5");
	shared->init(&shared_context, 1, &mask, NULL, 1, 2, 0, NULL);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, many_calls, NULL) != 0)
			_exit(1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	/* a child of the job writes nothing into its parent's ring */
	pid_t pid = fork();
	if (pid == 0) {
		if (collective(shared, shared_context, 0, "Reduce"))
			_exit(1);
		_exit(0);
	}
	int status = 1;
	waitpid(pid, &status, 0);
	if (status != 0)
		_exit(1);
}

static void threads_fill_the_ring_without_spoiling_it(void **state)
{
	(void)state;
	struct ncclring r = in_child(play_threads, 0);
	assert_int_equal(r.n_made, THREADS * EACH);
	/* a thread that was asleep for a whole round leaves its call out: a few on a crowded machine */
	assert_true(r.n_calls + r.n_torn == RING_CALLS && r.n_torn < RING_CALLS / 16);
	size_t open = 0; /* the same thread's end finds its place taken */
	for (size_t i = 0; i < r.n_calls; i++) {
		assert_true(i == 0 || r.calls[i].order > r.calls[i - 1].order);
		assert_string_equal(r.calls[i].func, "AllGather");
		open += !r.calls[i].ended;
	}
	assert_true(open < RING_CALLS / 16);
	ncclring_done(&r);
}

static void play_old(void)
{
	const struct profiler_v1 *p = dlsym(library(), "ncclProfiler_v2");
	void *context = NULL, *handle = NULL;
	int mask = 0;
	struct {
		struct descr_head head;
		struct coll_v2 coll;
	} two = {.head = {.type = EVENT_COLL, .rank = 1},
		 .coll = {.comm = 5, .seq = 3, .func = "Reduce", .dtype = "ncclInt32"}};
	p->init(&context, &mask);
	p->start(context, &handle, &two);
	p->stop(handle);
	p = dlsym(library(), "ncclProfiler_v1");
	struct {
		struct descr_head head;
		struct coll_v1 coll;
	} one = {.head = {.type = EVENT_COLL, .rank = 1}, .coll = {.comm = 5, .seq = 4, .func = 4, .dtype = 7}};
	p->start(context, &handle, &one);
	const struct profiler_v4 *four = dlsym(library(), "ncclProfiler_v4");
	four->init(&context, &mask, "four", 6, 1, 2, 0, NULL);
	struct coll_descr d = {.head = {.type = EVENT_COLL}, .coll = {.seq = 9, .func = "AllReduce", .dtype = "x"}};
	four->start(context, &handle, &d);
	four->finalize(context);
}

static void all_versions_are_spoken(void **state)
{
	(void)state;
	struct ncclring r = in_child(play_old, 0);
	assert_int_equal(r.n_comms, 2);
	assert_true(r.comms[0].id == 5 && r.comms[0].rank == 1 && r.comms[0].open && !r.comms[1].open);
	assert_int_equal(r.n_calls, 3);
	assert_string_equal(r.calls[0].func, "Reduce");
	assert_string_equal(r.calls[1].func, "AllReduce");
	assert_string_equal(r.calls[1].dtype, "ncclFloat32");
	assert_string_equal(r.calls[2].func, "AllReduce");
	assert_int_equal(r.calls[2].seq, 9);
	ncclring_done(&r);
}

static void play_no_room(void)
{
	setenv("VIGIL_NCCL_RING", "/nonexistent/folder/ring.", 1);
	const struct profiler_v5 *p = profiler("ncclProfiler_v6");
	void *context = (void *)1;
	int mask = 99;
	if (p->init(&context, 1, &mask, NULL, 1, 2, 0, NULL) != 0 || mask != 0 || context)
		raise(SIGABRT);
	if (collective(p, context, 1, "AllReduce"))
		raise(SIGABRT);
	/* the parent looks for a file */
	setenv("VIGIL_NCCL_RING", prefix, 1);
	raise(SIGTERM);
}

static void without_a_file_the_job_runs_on(void **state)
{
	(void)state;
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		play_no_room();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void other_files_are_refused(void **state)
{
	(void)state;
	struct ncclring r;
	struct fault f = {.text = ""};
	static char zero[4096];
	assert_int_equal(ncclring_parse((struct span){zero, sizeof(zero)}, &r, &f), NCCLRING_FOREIGN);
	assert_int_equal(ncclring_parse((struct span){zero, 3}, &r, &f), NCCLRING_FOREIGN);
	const struct foreign_place here = {.dirfd = AT_FDCWD};
	assert_int_equal(ncclring_read(&here, "/nonexistent", &r, &f), NCCLRING_NONE);
	struct ring_head h = {.version = 9};
	memcpy(h.magic, RING_MAGIC, 8);
	assert_int_equal(ncclring_parse((struct span){(char *)&h, sizeof(h)}, &r, &f), NCCLRING_FOREIGN);
	assert_non_null(strstr(f.text, "version 9"));
}

int main(void)
{
	snprintf(prefix, sizeof(prefix), "/dev/shm/vigil-test-nccl-%d.", (int)getpid());
	setenv("VIGIL_NCCL_RING", prefix, 1);
	setenv("RANK", "2", 1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_found_with_their_ends),
		cmocka_unit_test(a_killed_process_leaves_its_ring),
		cmocka_unit_test(threads_fill_the_ring_without_spoiling_it),
		cmocka_unit_test(all_versions_are_spoken),
		cmocka_unit_test(without_a_file_the_job_runs_on),
		cmocka_unit_test(other_files_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
