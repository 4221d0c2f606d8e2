#include "pymemory.h"
#include "sense/pylib/raycall.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input's frame as that of a program in ray.get(); the list that it waits for and its references are the input's */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pymemory in = {.data = data, .size = size};
	struct pyrt rt = {};
	struct raycall_get found = {.n = 1};
	static char name[] = "Worker.get_objects", wait[] = "wait", file[] = "/x/ray/_private/worker.py";
	const struct pycode known = {.name = size & 1 ? wait : name, .file = file};
	if (size < PYMEMORY_HEAD)
		return 0;
	in.endless = data[1] & 1;
	if (!pymemory_layout(&in, &rt))
		return 0;
	struct remote r = {.pid = 1, .mem_fd = -1, .proc_fd = -1, .ops = &pymemory_ops, .ctx = &in};
	const struct pyframe frame = {.addr = u64_at(data + 2), .code = u64_at(data + 10), .known = &known};
	int e = raycall_get_read(&rt, &r, &frame, 1, &found);
	assert(e <= 0 || e == REMOTE_FAULT || e == WORLD_GONE || e == WORLD_DENIED);
	assert(found.n > 0);
	assert(found.n_made <= RAYCALL_RESULTS && (!found.whole || found.n_made == found.n));
	assert(raycall_work_of(&frame, 1) == RAYCALL_NONE);
	/* the same frame as that of a worker's loop, whose self may be anything of the input */
	static char loop[] = "Worker.main_loop";
	const struct pycode worker = {.name = loop, .file = file};
	const struct pyframe in_loop = {.addr = frame.addr, .code = frame.code, .known = &worker};
	struct raycall_actor actor;
	e = raycall_actor_read(&rt, &r, &in_loop, 1, &actor);
	assert(e <= 0 || e == REMOTE_FAULT || e == WORLD_GONE || e == WORLD_DENIED);
	struct raycall_task task;
	e = raycall_task_read(&rt, &r, frame.addr, &task);
	assert(e <= 0 || e == REMOTE_FAULT || e == WORLD_GONE || e == WORLD_DENIED);
	return 0;
}
