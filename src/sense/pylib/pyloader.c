#include "sense/pylib/pyloader.h"

#include "sense/python/pylocks.h"

#define WORKERS_MAX PYOBJ_CHILDREN

/* The value of a dict for a number; an entry that came before its turn has its data behind the worker's number. */
static int task_of(struct pyobjs *o, uint64_t dict, uint64_t index, uint64_t *ret_worker)
{
	struct pyobj_child item[PYOBJ_CHILDREN];
	uint64_t key = 0, size = 0, number = 0;
	size_t n = 0;
	int e = pyobj_items(o, dict, item, &n);
	for (size_t i = 0; e == 0 && i < n; i++) {
		if (!item[i].name || pyobj_index(o, item[i].name, &key) != 0 || key != index)
			continue;
		if (!pyobj_is(o, item[i].object, PYOBJ_TUPLE))
			return REMOTE_FAULT;
		e = pyobj_u64(o, item[i].object + o->rt->off.tuple.size, &size);
		if (e == 0 && size != 1)
			return REMOTE_FAULT; /* it is there already */
		if (e == 0)
			e = pyobj_u64(o, item[i].object + o->rt->off.tuple.item, &number);
		return e ? e : pyobj_index(o, number, ret_worker);
	}
	return e ? e : REMOTE_FAULT;
}

static int worker_pid(struct pyobjs *o, uint64_t self, uint64_t number, uint64_t *ret)
{
	struct pyobj_child worker[WORKERS_MAX];
	uint64_t list = 0, popen = 0, pid = 0;
	size_t n = 0;
	int e = pyobj_attr(o, self, "_workers", &list);
	if (e == 0)
		e = pyobj_is(o, list, PYOBJ_LIST) ? pyobj_children(o, list, worker, &n) : REMOTE_FAULT;
	if (e == 0)
		e = number < n ? pyobj_attr(o, worker[number].object, "_popen", &popen) : REMOTE_FAULT;
	if (e == 0)
		e = pyobj_attr(o, popen, "pid", &pid);
	return e ? e : pyobj_index(o, pid, ret);
}

static int iterator_read(struct pyobjs *o, uint64_t self, struct pyloader *ret)
{
	uint64_t at = 0, tasks = 0, index = 0, number = 0, pid = 0;
	int e = pyobj_attr(o, self, "_rcvd_idx", &at);
	if (e == 0)
		e = pyobj_index(o, at, &index);
	if (e == 0)
		e = pyobj_attr(o, self, "_task_info", &tasks);
	if (e == 0)
		e = task_of(o, tasks, index, &number);
	if (e == 0)
		e = worker_pid(o, self, number, &pid);
	if (e == 0 && pid > 0 && pid <= INT32_MAX)
		*ret = (struct pyloader){(pid_t)pid, index};
	return e;
}

int pyloader_awaited(const struct pyrt *rt, struct remote *r, const struct pyframe *frames, size_t n,
		     struct pyloader *ret)
{
	struct pyobjs o;
	uint64_t slot = 0;
	bool counted;
	*ret = (struct pyloader){.worker = 0};
	if (!pyobjs_init(rt, r, &o))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (!pylocks_is_function(&frames[i], "_try_get_data", "dataloader.py"))
			continue;
		int e = pyobj_u64(&o, frames[i].addr + rt->off.frame.localsplus, &slot);
		if (e == 0)
			e = iterator_read(&o, pyslots_object(&o, slot, &counted), ret);
		return e == REMOTE_FAULT ? 0 : e;
	}
	return 0;
}
