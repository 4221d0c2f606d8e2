#include "testing.h"

#include <fcntl.h>

#include "../../fuzz/pymemory.h"
#include "base/buf.h"
#include "base/file.h"
#include "sense/pylib/pypool.h"

static char pool_file[] = "/x/multiprocessing/pool.py", queues_file[] = "/x/multiprocessing/queues.py";
static char connection_file[] = "/x/multiprocessing/connection.py", base_file[] = "/x/concurrent/futures/_base.py";
static char process_file[] = "/x/concurrent/futures/process.py", own_file[] = "/x/train.py";
static char synchronize_file[] = "/x/multiprocessing/synchronize.py", threading_file[] = "/x/threading.py";

/* What tests/tool/pywaits -r wrote of a frame of tests/workloads/pools.py. */
struct image {
	char *text; /* owned */
	struct pymemory memory;
	struct pyrt rt;
	struct remote remote;
	struct pyframe frame;
	uint64_t future; /* that a manager was asked for */
};

static void image_open(const char *name, const char *version, struct image *m)
{
	char path[512];
	size_t len = 0;
	*m = (struct image){.text = NULL};
	TEXT_FORMAT(path, "%s/../fuzz/corpus/pypool/%s-%s", FIXTURES, name, version);
	assert_int_equal(file_slurp(AT_FDCWD, path, 1 << 20, &m->text, &len), 0);
	m->memory = (struct pymemory){.data = (const uint8_t *)m->text, .size = len};
	assert_true(len > PYMEMORY_HEAD && pymemory_layout(&m->memory, &m->rt));
	m->remote = (struct remote){.pid = 1, .mem_fd = -1, .proc_fd = -1, .ops = &pymemory_ops, .ctx = &m->memory};
	m->frame = (struct pyframe){.addr = u64_at(m->memory.data + 2), .code = u64_at(m->memory.data + 10)};
	m->future = u64_at(m->memory.data + 18);
}

static void image_done(struct image *m)
{
	free(m->text);
}

static const char *const versions[] = {"3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15"};

#define CODE(function, path) (&(const struct pycode){.name = (char[]){function}, .file = (path)})
#define FRAME(function, path)                                                                                          \
	{                                                                                                              \
		.known = CODE(function, path)                                                                          \
	}

static void the_job_that_is_waited_for_is_in_the_result(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		cleanup(image_done) struct image m;
		struct pypool_wait wait;
		struct pypool_member member[PYPOOL_MEMBERS];
		size_t n = 0;
		image_open("wait", versions[i], &m);
		m.frame.known = CODE("ApplyResult.wait", pool_file);
		assert_int_equal(pypool_wait_read(&m.rt, &m.remote, &m.frame, 1, &wait), 0);
		assert_true(wait.of == PYPOOL_POOL && !wait.in_turn && wait.cache != 0);
		assert_int_equal(wait.job, 1);
		assert_int_equal(pypool_members(&m.rt, &m.remote, &wait, member, &n), 0);
		assert_int_equal(n, 2);
		assert_true(member[0].pid > 0 && member[1].pid > 0 && member[0].pid != member[1].pid);
		assert_true(member[0].number == 1 && member[1].number == 2);
	}
}

static void imap_waits_for_the_part_whose_turn_it_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		cleanup(image_done) struct image m;
		struct pypool_wait wait;
		image_open("imap", versions[i], &m);
		m.frame.known = CODE("IMapIterator.next", pool_file);
		assert_int_equal(pypool_wait_read(&m.rt, &m.remote, &m.frame, 1, &wait), 0);
		assert_true(wait.of == PYPOOL_POOL && wait.in_turn);
		assert_int_equal(wait.job, 1);
		assert_int_equal(wait.part, 2);
	}
}

static void what_waits_within_other_code_is_no_wait_for_a_pool(void **state)
{
	(void)state;
	cleanup(image_done) struct image m;
	struct pypool_wait wait;
	image_open("wait", "3.12", &m);
	m.frame.known = CODE("ApplyResult.wait", pool_file);
	const struct pyframe signal[] = {FRAME("handler", own_file), m.frame};
	const struct pyframe event[] = {FRAME("Condition.wait", threading_file), FRAME("Event.wait", threading_file),
					m.frame};
	assert_int_equal(pypool_wait_read(&m.rt, &m.remote, signal, 2, &wait), 0);
	assert_int_equal(wait.of, PYPOOL_NONE);
	assert_int_equal(pypool_wait_read(&m.rt, &m.remote, event, 3, &wait), 0);
	assert_int_equal(wait.of, PYPOOL_POOL);
	assert_int_equal(wait.frame, 2);
	m.frame.known = CODE("ApplyResult.wait", own_file); /* a file of the program's own */
	assert_int_equal(pypool_wait_read(&m.rt, &m.remote, &m.frame, 1, &wait), 0);
	assert_int_equal(wait.of, PYPOOL_NONE);
}

/* A worker that stands in a task: its own frame is innermost. */
static void the_job_that_a_worker_has_is_in_its_loop(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		cleanup(image_done) struct image m;
		struct pypool_worker worker;
		image_open("worker", versions[i], &m);
		m.frame.known = CODE("worker", pool_file);
		const struct pyframe frames[] = {FRAME("load", own_file), FRAME("step", own_file),
						 FRAME("mapstar", pool_file), m.frame};
		assert_int_equal(pypool_worker_read(&m.rt, &m.remote, frames, 4, &worker), 0);
		assert_true(worker.of == PYPOOL_POOL && worker.state == PYPOOL_HAS && !worker.ends);
		assert_int_equal(worker.job, 1);
		assert_int_equal(worker.part, 0);
		assert_int_equal(worker.frame, 1);
	}
}

static void a_worker_in_its_initializer_is_told_apart(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		cleanup(image_done) struct image m;
		struct pypool_worker worker;
		image_open("init", versions[i], &m);
		m.frame.known = CODE("worker", pool_file);
		const struct pyframe frames[] = {FRAME("licence", own_file), m.frame};
		assert_int_equal(pypool_worker_read(&m.rt, &m.remote, frames, 2, &worker), 0);
		assert_true(worker.of == PYPOOL_POOL && worker.state == PYPOOL_INITS && worker.frame == 0);
	}
}

static void a_worker_without_a_task_reads_or_waits_for_its_turn(void **state)
{
	(void)state;
	static const struct {
		const char *name, *file;
		enum pypool_state state;
	} inner[] = {
		{"_ConnectionBase.recv_bytes", connection_file, PYPOOL_READS},
		{"Lock.__enter__", synchronize_file, PYPOOL_IDLE},
		{"__setstate__", own_file, PYPOOL_UNKNOWN}, /* it makes the task's arguments */
	};
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		for (size_t k = 0; k < ARRAY_SIZE(inner); k++) {
			cleanup(image_done) struct image m;
			struct pypool_worker worker;
			image_open("idle", versions[i], &m);
			m.frame.known = CODE("worker", pool_file);
			const struct pycode code = {.name = (char *)(uintptr_t)inner[k].name,
						    .file = (char *)(uintptr_t)inner[k].file};
			const struct pyframe frames[] = {
				{.known = &code}, FRAME("SimpleQueue.get", queues_file), m.frame};
			assert_int_equal(pypool_worker_read(&m.rt, &m.remote, frames, 3, &worker), 0);
			assert_int_equal(worker.of, PYPOOL_POOL);
			assert_int_equal(worker.state, inner[k].state);
		}
}

static void who_has_no_loop_has_not_begun(void **state)
{
	(void)state;
	cleanup(image_done) struct image m;
	struct pypool_worker worker;
	image_open("worker", "3.11", &m);
	const struct pyframe frames[] = {FRAME("<module>", own_file), FRAME("spawn_main", own_file)};
	assert_int_equal(pypool_worker_read(&m.rt, &m.remote, frames, 2, &worker), 0);
	assert_true(worker.of == PYPOOL_NONE && worker.state == PYPOOL_STARTS);
	/* A program's own function with the name of a pool's loop, in a folder of that name, has other variables. */
	m.frame = (struct pyframe){
		.addr = m.frame.addr, .code = m.frame.code, .known = CODE("_process_worker", process_file)};
	assert_int_equal(pypool_worker_read(&m.rt, &m.remote, &m.frame, 1, &worker), 0);
	assert_int_equal(worker.of, PYPOOL_NONE);
}

/* Of an executor: the future leads to the number of the task, and that to the worker. */
static void the_task_of_a_future_is_in_the_managers_dict(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		cleanup(image_done) struct image waiter, manager, worker;
		struct pypool_wait wait;
		struct pypool_thread thread;
		struct pypool_worker has;
		struct pypool_member member[PYPOOL_MEMBERS];
		uint64_t task[PYPOOL_TASKS], future[PYPOOL_TASKS];
		size_t n = 0, n_tasks = 0, n_futures = 0;
		image_open("future", versions[i], &waiter);
		image_open("manager", versions[i], &manager);
		image_open("task", versions[i], &worker);
		waiter.frame.known = CODE("Future.result", base_file);
		manager.frame.known = i == 0 ? CODE("_queue_management_worker", process_file)
					     : CODE("_ExecutorManagerThread.run", process_file);
		worker.frame.known = CODE("_process_worker", process_file);
		assert_int_equal(pypool_wait_read(&waiter.rt, &waiter.remote, &waiter.frame, 1, &wait), 0);
		assert_true(wait.of == PYPOOL_EXECUTOR && wait.future == manager.future);
		assert_int_equal(pypool_thread_read(&manager.rt, &manager.remote, &manager.frame, 1, &thread), 0);
		assert_int_equal(thread.role, PYPOOL_MANAGES);
		assert_int_equal(pypool_futures(&waiter.rt, &waiter.remote, &wait, future, &n_futures), 0);
		assert_int_equal(n_futures, 1);
		assert_int_equal(pypool_tasks(&manager.rt, &manager.remote, &thread, future, 1, task, &n_tasks), 0);
		assert_true(n_tasks == 1 && task[0] > 0);
		const uint64_t number = task[0];
		future[0] += 8;
		assert_int_equal(pypool_tasks(&manager.rt, &manager.remote, &thread, future, 1, task, &n_tasks), 0);
		assert_int_equal(n_tasks, 0);
		assert_int_equal(pypool_executor_members(&manager.rt, &manager.remote, &thread, member, &n), 0);
		assert_true(n > 0 && member[0].pid > 0);
		assert_int_equal(pypool_worker_read(&worker.rt, &worker.remote, &worker.frame, 1, &has), 0);
		assert_true(has.of == PYPOOL_EXECUTOR && has.state == PYPOOL_HAS);
		assert_int_equal(has.job, number);
	}
}

static void where_memory_is_missing_nothing_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		cleanup(image_done) struct image m;
		struct pypool_wait wait;
		image_open("wait", versions[i], &m);
		m.frame.known = CODE("ApplyResult.wait", pool_file);
		/* From 3.13 on the first piece describes the interpreter, without which nothing would be tried. */
		size_t least = m.rt.minor >= 13 ? 1300 : 200;
		m.memory.size = least;
		assert_int_equal(pypool_wait_read(&m.rt, &m.remote, &m.frame, 1, &wait), 0);
		assert_int_equal(wait.of, PYPOOL_NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_job_that_is_waited_for_is_in_the_result),
		cmocka_unit_test(imap_waits_for_the_part_whose_turn_it_is),
		cmocka_unit_test(what_waits_within_other_code_is_no_wait_for_a_pool),
		cmocka_unit_test(the_job_that_a_worker_has_is_in_its_loop),
		cmocka_unit_test(a_worker_in_its_initializer_is_told_apart),
		cmocka_unit_test(a_worker_without_a_task_reads_or_waits_for_its_turn),
		cmocka_unit_test(who_has_no_loop_has_not_begun),
		cmocka_unit_test(the_task_of_a_future_is_in_the_managers_dict),
		cmocka_unit_test(where_memory_is_missing_nothing_is_told),
	};
	return cmocka_run_group_tests_name("sense/pypool", tests, NULL, NULL);
}
