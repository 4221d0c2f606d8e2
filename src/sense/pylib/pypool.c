#include "sense/pylib/pypool.h"

#include <string.h>

#include "sense/python/pydict.h"
#include "sense/python/pylocks.h"

#define DEPTH_MOST 64 /* of processes that started each other */
#define TASKS_MOST 4096 /* of an executor that are looked through, the oldest first */
#define TASKS_ONCE 64

/* True: it is bound to None, or not at all. */
static bool is_none(struct pyobjs *o, uint64_t slot)
{
	const struct pyobj_type *t;
	bool counted;
	uint64_t object = pyslots_object(o, slot, &counted);
	return slot == 0 || (object && pyobj_type(o, object, &t) == 0 && strcmp(t->name, "NoneType") == 0);
}

/* The number in a variable; from 3.14 on it may stand in the slot itself. */
static int number_named(struct pyobjs *o, const struct pyframe *f, const char *name, uint64_t *ret)
{
	uint64_t slot = 0;
	bool counted;
	int e = pyslots_slot_named(o, f, name, &slot);
	if (e == 0 && o->rt->minor >= 14 && (slot & 3) == 3) {
		*ret = slot >> 2;
		return 0;
	}
	return e ? e : pyobj_index(o, pyslots_object(o, slot, &counted), ret);
}

static int number_attr(struct pyobjs *o, uint64_t object, const char *name, uint64_t *ret)
{
	uint64_t number = 0;
	int e = pyobj_attr(o, object, name, &number);
	return e ? e : pyobj_index(o, number, ret);
}

/* What cannot be read is no error. */
static int pypool_result(int e)
{
	return e < 0 || e == WORLD_GONE || e == WORLD_DENIED ? e : 0;
}

bool pypool_is_library(const struct pyframe *f)
{
	return pylocks_is_library(f) ||
	       (f->known && (strstr(f->known->file, "/joblib/") || strstr(f->known->file, "/loky/")));
}

static bool stands_in(const struct pyframe *f, const char *name, const char *file)
{
	return pylocks_is_function(f, name, file) && pypool_is_library(f);
}

/* In the executor of concurrent.futures, or loky's. */
static bool in_executor(const struct pyframe *f, const char *name)
{
	return stands_in(f, name, "process.py") || stands_in(f, name, "process_executor.py");
}

/* ---- who waits ---- */

static int result_read(struct pyobjs *o, const struct pyframe *f, struct pypool_wait *ret)
{
	struct pypool_wait w = {.of = PYPOOL_POOL};
	const struct pyobj_type *t;
	uint64_t self = 0;
	int e = pyslots_named(o, f, "self", &self);
	if (e == 0)
		e = number_attr(o, self, "_job", &w.job);
	if (e == 0)
		e = pyobj_attr(o, self, "_cache", &w.cache);
	if (e == 0)
		e = pyobj_attr(o, self, "_pool", &w.pool);
	if (e || is_none(o, w.pool))
		return e ? e : REMOTE_FAULT; /* the result is there */
	e = pyobj_type(o, self, &t);
	w.in_turn = e == 0 && strcmp(t->name, "IMapIterator") == 0;
	w.either = e == 0 && strcmp(t->name, "IMapUnorderedIterator") == 0;
	if (e == 0 && w.in_turn)
		e = number_attr(o, self, "_index", &w.part);
	*ret = w;
	return e;
}

/* Pool.join, or the end of an executor: shutdown(), or of its `with`. */
static int end_read(struct pyobjs *o, const struct pyframe *f, enum pypool_of of, struct pypool_wait *ret)
{
	struct pypool_wait w = {.of = of, .any = true};
	uint64_t self = 0;
	bool pool = of == PYPOOL_POOL;
	int e = pyslots_named(o, f, "self", &self);
	if (e == 0)
		e = pool ? pyobj_attr(o, self, "_cache", &w.cache)
			 : pyobj_attr(o, self, "_pending_work_items", &w.pending);
	w.pool = pool ? self : 0;
	*ret = w;
	return e;
}

static int future_read(struct pyobjs *o, const struct pyframe *f, struct pypool_wait *ret)
{
	bool one = stands_in(f, "result", "_base.py") || stands_in(f, "exception", "_base.py");
	*ret = (struct pypool_wait){.of = PYPOOL_EXECUTOR, .either = !one};
	if (one)
		return pyslots_named(o, f, "self", &ret->future);
	return pyslots_named(o, f, stands_in(f, "wait", "_base.py") ? "not_done" : "pending", &ret->futures);
}

static int wait_read(struct pyobjs *o, const struct pyframe *f, struct pypool_wait *ret)
{
	static const char *const of_futures[] = {"result", "exception", "wait", "as_completed"};
	if (stands_in(f, "wait", "pool.py") || stands_in(f, "next", "pool.py"))
		return result_read(o, f, ret);
	if (stands_in(f, "join", "pool.py"))
		return end_read(o, f, PYPOOL_POOL, ret);
	if (in_executor(f, "shutdown"))
		return end_read(o, f, PYPOOL_EXECUTOR, ret);
	for (size_t i = 0; i < ARRAY_SIZE(of_futures); i++)
		if (stands_in(f, of_futures[i], "_base.py"))
			return future_read(o, f, ret);
	return REMOTE_FAULT;
}

/* Waiting is a matter of threading: whatever else stands further in is the program's own. */
static bool is_waiting(const struct pyframe *f)
{
	static const char *const names[] = {"wait", "join", "_wait_for_tstate_lock"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (stands_in(f, names[i], "threading.py"))
			return true;
	return false;
}

int pypool_wait_read(const struct pyrt *rt, struct remote *r, const struct pyframe *frames, size_t n,
		     struct pypool_wait *ret)
{
	struct pyobjs o;
	struct pypool_wait w = {.of = PYPOOL_NONE};
	size_t at = 0;
	*ret = w;
	while (at < n && is_waiting(&frames[at]))
		at++;
	if (at == n || !pyobjs_init(rt, r, &o))
		return 0;
	int e = wait_read(&o, &frames[at], &w);
	w.frame = at;
	if (e == 0)
		*ret = w;
	return pypool_result(e);
}

/* ---- workers ---- */

/* joblib's pool has a queue of its own in a file of that name. */
static bool gets_task(const struct pyframe *f)
{
	return stands_in(f, "get", "queues.py") || stands_in(f, "get", "pool.py");
}

/* What stands within the loop of a worker that gets its tasks from a queue. */
static enum pypool_state waiting_state(const struct pyframe *frames, size_t loop)
{
	if (loop < 2 || !gets_task(&frames[loop - 1]))
		return PYPOOL_UNKNOWN;
	if (stands_in(&frames[loop - 2], "recv_bytes", "connection.py"))
		return PYPOOL_READS;
	return stands_in(&frames[loop - 2], "__enter__", "synchronize.py") ? PYPOOL_IDLE : PYPOOL_UNKNOWN;
}

/* The outermost frame of the program's own within a frame of the library. */
static size_t own_frame(const struct pyframe *frames, size_t within)
{
	for (size_t i = within; i-- > 0;)
		if (!pypool_is_library(&frames[i]))
			return i;
	return SIZE_MAX;
}

static bool is_bound(struct pyobjs *o, const struct pyframe *f, const char *name)
{
	uint64_t slot = 0;
	return pyslots_slot_named(o, f, name, &slot) == 0 && slot != 0;
}

/* multiprocessing.pool.worker: `completed` is set after the initializer, `job` while it has a task. */
static int pool_worker_read(struct pyobjs *o, const struct pyframe *frames, size_t at, struct pypool_worker *ret)
{
	uint64_t slot = 0, most = 0, initializer = 0;
	const struct pyframe *f = &frames[at];
	int e = pyslots_slot_named(o, f, "maxtasks", &most);
	if (e == 0)
		e = pyslots_slot_named(o, f, "initializer", &initializer);
	if (e == 0)
		e = pyslots_slot_named(o, f, "job", &slot);
	if (e)
		return e;
	*ret = (struct pypool_worker){
		.of = PYPOOL_POOL, .state = PYPOOL_HAS, .ends = !is_none(o, most), .frame = own_frame(frames, at)};
	if (!is_bound(o, f, "completed")) {
		ret->state = is_none(o, initializer) ? PYPOOL_STARTS : PYPOOL_INITS;
		return 0;
	}
	if (is_none(o, slot)) {
		ret->state = waiting_state(frames, at);
		return 0;
	}
	e = number_named(o, f, "job", &ret->job);
	return e ? e : number_named(o, f, "i", &ret->part);
}

/* concurrent.futures.process._process_worker: `call_item` is bound while it has a task. */
static int executor_worker_read(struct pyobjs *o, const struct pyframe *frames, size_t at, struct pypool_worker *ret)
{
	uint64_t item = 0, initializer = 0, most = 0;
	const struct pyframe *f = &frames[at];
	int e = pyslots_named(o, f, "call_item", &item);
	if (e == 0)
		e = pyslots_slot_named(o, f, "initializer", &initializer);
	if (e)
		return e;
	bool ends = pyslots_slot_named(o, f, "max_tasks", &most) == 0 && !is_none(o, most);
	*ret = (struct pypool_worker){
		.of = PYPOOL_EXECUTOR, .state = PYPOOL_HAS, .ends = ends, .frame = own_frame(frames, at)};
	if (item)
		return number_attr(o, item, "work_id", &ret->job);
	ret->state = waiting_state(frames, at);
	bool begins = at == 0 || !gets_task(&frames[at - 1]);
	if (begins)
		ret->state = is_none(o, initializer) ? PYPOOL_UNKNOWN : PYPOOL_INITS;
	return 0;
}

int pypool_worker_read(const struct pyrt *rt, struct remote *r, const struct pyframe *frames, size_t n,
		       struct pypool_worker *ret)
{
	struct pyobjs o;
	struct pypool_worker w = {.frame = SIZE_MAX};
	*ret = w;
	if (!pyobjs_init(rt, r, &o))
		return 0;
	for (size_t i = n; i-- > 0;) { /* the outermost: a task may use a pool itself */
		bool pool = stands_in(&frames[i], "worker", "pool.py");
		if (!pool && !in_executor(&frames[i], "_process_worker"))
			continue;
		int e = pool ? pool_worker_read(&o, frames, i, &w) : executor_worker_read(&o, frames, i, &w);
		if (e == 0)
			*ret = w;
		return pypool_result(e);
	}
	ret->state = PYPOOL_STARTS;
	return 0;
}

/* ---- the pool's own threads ---- */

/* Between a loop of the library and a read of its pipe there are only functions of the library. */
static bool only_library(const struct pyframe *frames, size_t within)
{
	for (size_t i = 0; i < within; i++)
		if (!pypool_is_library(&frames[i]))
			return false;
	return true;
}

static int handler_read(struct pyobjs *o, const struct pyframe *frames, size_t at, struct pypool_thread *ret)
{
	bool out = ret->role == PYPOOL_HANDS_OUT;
	uint64_t slot = 0;
	int e = pyslots_named(o, &frames[at], "cache", &ret->cache);
	if (e == 0)
		e = pyslots_slot_named(o, &frames[at], out ? "taskseq" : "task", &slot);
	ret->busy = !is_none(o, slot) || !only_library(frames, at);
	return e;
}

/* True: it waits for results, or to be woken. */
static bool waits_for_any(const struct pyframe *frames, size_t loop)
{
	for (size_t i = loop; i-- > 0 && i + 3 > loop;)
		if (stands_in(&frames[i], "wait", "connection.py"))
			return true;
	return false;
}

static int manager_read(struct pyobjs *o, const struct pyframe *frames, size_t at, struct pypool_thread *ret)
{
	const struct pyframe *f = &frames[at];
	bool old = pylocks_is_function(f, "_queue_management_worker", "process.py");
	uint64_t self = 0;
	int e = old ? pyslots_named(o, f, "pending_work_items", &ret->pending) : pyslots_named(o, f, "self", &self);
	if (e == 0 && !old)
		e = pyobj_attr(o, self, "pending_work_items", &ret->pending);
	if (e == 0 && (old ? pyslots_named(o, f, "processes", &ret->processes)
			   : pyobj_attr(o, self, "processes", &ret->processes)) != 0)
		ret->processes = 0;
	ret->busy = !waits_for_any(frames, at);
	return e;
}

int pypool_thread_read(const struct pyrt *rt, struct remote *r, const struct pyframe *frames, size_t n,
		       struct pypool_thread *ret)
{
	struct pyobjs o;
	*ret = (struct pypool_thread){.frame = SIZE_MAX};
	if (!pyobjs_init(rt, r, &o))
		return 0;
	for (size_t i = n; i-- > 0;) {
		struct pypool_thread t = {.frame = own_frame(frames, i)};
		if (stands_in(&frames[i], "_handle_tasks", "pool.py"))
			t.role = PYPOOL_HANDS_OUT;
		else if (stands_in(&frames[i], "_handle_results", "pool.py"))
			t.role = PYPOOL_TAKES_IN;
		else if (stands_in(&frames[i], "_queue_management_worker", "process.py") ||
			 in_executor(&frames[i], "run"))
			t.role = PYPOOL_MANAGES;
		else
			continue;
		int e = t.role == PYPOOL_MANAGES ? manager_read(&o, frames, i, &t) : handler_read(&o, frames, i, &t);
		if (e == 0 || t.role != PYPOOL_MANAGES) {
			t.cache = e ? 0 : t.cache;
			*ret = t;
			return pypool_result(e);
		}
		if (pypool_result(e))
			return e;
	}
	return 0;
}

/* ---- which task is whose ---- */

/* Some entries of a dict, from one on. *ret_n: keys and values that are there; *ret_more: there are more behind. */
static int items_some(struct pyobjs *o, uint64_t dict, size_t from, struct pyobj_child ret[static TASKS_ONCE],
		      size_t *ret_n, bool *ret_more)
{
	const struct pyobj_type *t;
	unsigned char rows[TASKS_ONCE * 24];
	struct pydict_keys k = {.n = 0};
	uint64_t keys = 0, word[2];
	*ret_n = 0;
	int e = pyobj_type(o, dict, &t);
	if (e == 0 && strcmp(t->name, "dict") != 0)
		e = REMOTE_FAULT;
	if (e == 0)
		e = pyobj_u64(o, dict + o->rt->off.dict.keys, &keys);
	if (e == 0)
		e = pydict_keys(o->rt, o->remote, keys, &k);
	if (e)
		return e;
	size_t n = k.n > from ? (size_t)MIN(k.n - from, (uint64_t)TASKS_ONCE) : 0;
	*ret_more = k.n > from + n;
	e = n ? pyobj_get(o, k.entries + from * k.row_bytes, rows, n * (size_t)k.row_bytes) : 0;
	for (size_t i = 0; e == 0 && i < n; i++) {
		memcpy(word, rows + i * k.row_bytes + k.key_at, sizeof(word));
		if (word[0] && word[1])
			ret[(*ret_n)++] = (struct pyobj_child){word[0], word[1]};
	}
	return e;
}

/*
 * Objects/setobject.c, the same in all versions: number of entries that were used 16, mask 32, table 40; an entry
 * is the object and its hash, which is -1 of one that is no more.
 */
static int set_items(struct pyobjs *o, uint64_t set, uint64_t ret[static PYPOOL_TASKS], size_t *ret_n)
{
	const struct pyobj_type *t;
	uint64_t head[4] = {0}, row[2 * TASKS_ONCE]; /* of the head: fill, used, mask, table */
	int e = pyobj_type(o, set, &t);
	if (e == 0)
		e = strcmp(t->name, "set") == 0 ? pyobj_get(o, set + 16, head, sizeof(head)) : REMOTE_FAULT;
	for (uint64_t at = 0; e == 0 && at <= head[2] && at < TASKS_MOST; at += TASKS_ONCE) {
		size_t n = (size_t)MIN(head[2] - at + 1, (uint64_t)TASKS_ONCE);
		e = pyobj_get(o, head[3] + at * sizeof(row[0]) * 2, row, n * sizeof(row[0]) * 2);
		for (size_t i = 0; e == 0 && i < n && *ret_n < PYPOOL_TASKS; i++)
			if (row[2 * i] && row[2 * i + 1] != UINT64_MAX)
				ret[(*ret_n)++] = row[2 * i];
	}
	return e;
}

int pypool_futures(const struct pyrt *rt, struct remote *r, const struct pypool_wait *w,
		   uint64_t ret[static PYPOOL_TASKS], size_t *ret_n)
{
	struct pyobjs o;
	*ret_n = 0;
	if (!pyobjs_init(rt, r, &o))
		return 0;
	if (w->futures)
		return pypool_result(set_items(&o, w->futures, ret, ret_n));
	ret[0] = w->future;
	*ret_n = w->future != 0;
	return 0;
}

static bool is_one_of(const uint64_t *futures, size_t n, uint64_t future)
{
	for (size_t i = 0; i < n; i++)
		if (futures[i] == future)
			return true;
	return false;
}

/* loky's work items keep what they have in slots: four objects right behind the head. */
static int item_future(struct pyobjs *o, uint64_t item, const uint64_t *futures, size_t n, uint64_t *ret)
{
	int e = pyobj_attr(o, item, "future", ret);
	for (uint64_t at = 2; e == REMOTE_FAULT && at < 6; at++)
		if (pyobj_u64(o, item + at * sizeof(uint64_t), ret) == 0 && is_one_of(futures, n, *ret))
			return 0;
	return e;
}

int pypool_tasks(const struct pyrt *rt, struct remote *r, const struct pypool_thread *manager, const uint64_t *futures,
		 size_t n, uint64_t ret[static PYPOOL_TASKS], size_t *ret_n)
{
	struct pyobjs o;
	struct pyobj_child item[TASKS_ONCE];
	bool more = pyobjs_init(rt, r, &o);
	int e = 0;
	*ret_n = 0;
	for (size_t from = 0; e == 0 && more && *ret_n < n && from < TASKS_MOST; from += TASKS_ONCE) {
		size_t n_items = 0;
		e = items_some(&o, manager->pending, from, item, &n_items, &more);
		for (size_t i = 0; e == 0 && i < n_items && *ret_n < PYPOOL_TASKS; i++) {
			uint64_t its = 0, number = 0;
			e = item_future(&o, item[i].object, futures, n, &its);
			if (e || !is_one_of(futures, n, its))
				continue;
			e = pyobj_index(&o, item[i].name, &number);
			if (e == 0)
				ret[(*ret_n)++] = number;
		}
	}
	return pypool_result(e);
}

static int pypool_member_read(struct pyobjs *o, uint64_t process, struct pypool_member *ret)
{
	uint64_t popen = 0, pid = 0, identity = 0, n = 0, last = 0;
	int e = pyobj_attr(o, process, "_popen", &popen);
	if (e == 0)
		e = number_attr(o, popen, "pid", &pid);
	if (e || pid == 0 || pid > INT32_MAX)
		return e ? e : REMOTE_FAULT;
	*ret = (struct pypool_member){.pid = (pid_t)pid};
	/* (2,): the second process; (2, 1): the first one of that one. */
	e = pyobj_attr(o, process, "_identity", &identity);
	if (e == 0 && pyobj_is(o, identity, PYOBJ_TUPLE) && pyobj_u64(o, identity + o->rt->off.tuple.size, &n) == 0 &&
	    n > 0 && n < DEPTH_MOST &&
	    pyobj_u64(o, identity + o->rt->off.tuple.item + (n - 1) * sizeof(uint64_t), &last) == 0 &&
	    pyobj_index(o, last, &ret->number) != 0)
		ret->number = 0;
	return pypool_result(e);
}

int pypool_members(const struct pyrt *rt, struct remote *r, const struct pypool_wait *w,
		   struct pypool_member ret[static PYPOOL_MEMBERS], size_t *ret_n)
{
	struct pyobjs o;
	uint64_t list = 0, n = 0, items = 0, process[PYPOOL_MEMBERS];
	*ret_n = 0;
	if (w->of != PYPOOL_POOL || !pyobjs_init(rt, r, &o))
		return 0;
	int e = pyobj_attr(&o, w->pool, "_pool", &list);
	if (e == 0)
		e = pyobj_is(&o, list, PYOBJ_LIST) ? pyobj_u64(&o, list + rt->off.list.size, &n) : REMOTE_FAULT;
	if (e == 0)
		e = n <= PYPOOL_MEMBERS ? pyobj_u64(&o, list + rt->off.list.item, &items) : REMOTE_FAULT;
	if (e == 0)
		e = pyobj_get(&o, items, process, (size_t)n * sizeof(*process));
	for (size_t i = 0; i < n && e == 0; i++)
		e = pypool_member_read(&o, process[i], &ret[i]);
	*ret_n = e ? 0 : (size_t)n;
	return pypool_result(e);
}

int pypool_handlers(const struct pyrt *rt, struct remote *r, const struct pypool_wait *w, uint64_t *ret_out,
		    uint64_t *ret_in)
{
	struct pyobjs o;
	uint64_t out = 0, in = 0;
	*ret_out = *ret_in = 0;
	if (w->of != PYPOOL_POOL || !pyobjs_init(rt, r, &o))
		return 0;
	int e = pyobj_attr(&o, w->pool, "_task_handler", &out);
	if (e == 0)
		e = pyobj_attr(&o, w->pool, "_result_handler", &in);
	if (e == 0)
		e = number_attr(&o, out, "_native_id", ret_out);
	if (e == 0)
		e = number_attr(&o, in, "_native_id", ret_in);
	if (e)
		*ret_out = *ret_in = 0;
	return pypool_result(e);
}

int pypool_executor_members(const struct pyrt *rt, struct remote *r, const struct pypool_thread *manager,
			    struct pypool_member ret[static PYPOOL_MEMBERS], size_t *ret_n)
{
	struct pyobjs o;
	struct pyobj_child item[TASKS_ONCE];
	bool more = manager->processes && pyobjs_init(rt, r, &o);
	int e = 0;
	*ret_n = 0;
	for (size_t from = 0; e == 0 && more && from < TASKS_MOST; from += TASKS_ONCE) {
		size_t n = 0;
		e = items_some(&o, manager->processes, from, item, &n, &more);
		for (size_t i = 0; i < n && e == 0; i++) {
			uint64_t pid = 0;
			e = *ret_n < PYPOOL_MEMBERS ? pyobj_index(&o, item[i].name, &pid) : REMOTE_FAULT;
			if (e == 0 && pid > 0 && pid <= INT32_MAX)
				ret[(*ret_n)++] = (struct pypool_member){.pid = (pid_t)pid};
		}
	}
	*ret_n = e ? 0 : *ret_n;
	return pypool_result(e);
}
