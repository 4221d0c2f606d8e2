#include "pymemory.h"
#include "sense/pylib/pypool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct asked {
	struct pyrt rt;
	struct remote remote;
	struct pyframe frame;
	uint64_t future;
};

static void fine(int e)
{
	assert(e <= 0 || e == WORLD_GONE || e == WORLD_DENIED);
}

static void wait_ask(struct asked *a)
{
	struct pypool_wait wait;
	struct pypool_member member[PYPOOL_MEMBERS];
	uint64_t future[PYPOOL_TASKS];
	size_t n = 0;
	fine(pypool_wait_read(&a->rt, &a->remote, &a->frame, 1, &wait));
	fine(pypool_members(&a->rt, &a->remote, &wait, member, &n));
	assert(n <= PYPOOL_MEMBERS && (n == 0 || wait.of == PYPOOL_POOL));
	for (size_t i = 0; i < n; i++)
		assert(member[i].pid > 0);
	fine(pypool_futures(&a->rt, &a->remote, &wait, future, &n));
	assert(n <= PYPOOL_TASKS);
}

static void worker_ask(struct asked *a)
{
	struct pypool_worker worker;
	fine(pypool_worker_read(&a->rt, &a->remote, &a->frame, 1, &worker));
	assert(worker.frame == SIZE_MAX && worker.state <= PYPOOL_HAS);
}

static void thread_ask(struct asked *a)
{
	struct pypool_thread thread;
	struct pypool_member member[PYPOOL_MEMBERS];
	uint64_t task[PYPOOL_TASKS];
	size_t n = 0, n_tasks = 0;
	fine(pypool_thread_read(&a->rt, &a->remote, &a->frame, 1, &thread));
	if (thread.role != PYPOOL_MANAGES)
		return;
	fine(pypool_executor_members(&a->rt, &a->remote, &thread, member, &n));
	fine(pypool_tasks(&a->rt, &a->remote, &thread, &a->future, 1, task, &n_tasks));
	assert(n <= PYPOOL_MEMBERS && n_tasks <= PYPOOL_TASKS);
}

/* The input's frame as each of those that pools are known by; all that it refers to is the input's. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char pool[] = "/x/multiprocessing/pool.py", base[] = "/x/concurrent/futures/_base.py";
	static char process[] = "/x/concurrent/futures/process.py";
	static char names[][32] = {
		"wait", "next",		"join",	    "worker",	       "_handle_tasks", "result",
		"wait", "as_completed", "shutdown", "_process_worker", "run",		"_queue_management_worker"};
	static char *const files[] = {pool, pool, pool,	   pool,    pool,    base,
				      base, base, process, process, process, process};
	struct pymemory in = {.data = data, .size = size};
	struct asked a = {.future = 0};
	if (size < PYMEMORY_HEAD)
		return 0;
	in.endless = data[1] & 1;
	if (!pymemory_layout(&in, &a.rt))
		return 0;
	a.remote = (struct remote){.pid = 1, .mem_fd = -1, .proc_fd = -1, .ops = &pymemory_ops, .ctx = &in};
	a.future = u64_at(data + 18);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct pycode known = {.name = names[i], .file = files[i]};
		a.frame = (struct pyframe){.addr = u64_at(data + 2), .code = u64_at(data + 10), .known = &known};
		wait_ask(&a);
		worker_ask(&a);
		thread_ask(&a);
	}
	return 0;
}
