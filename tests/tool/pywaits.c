/*
 * pywaits [PID...]: what the threads of each Python process wait for (agent/inspect/pywaits.h), for tests: one line
 * of JSON a process, {"pid", "result", "hints": [{"kind", "tid", "owner", "proof", "text", "owner_text"}], "us"}.
 * Without PID: one line for each process number on stdin, until it ends.
 *
 * pywaits -H: the same for the locks that threads hold by `with`: {"pid", "result", "held": [{"tid", "object", "type",
 * "sure", "text"}], "us"}, for each process number on stdin.
 *
 * pywaits -r FILE PID TID [FUTURE]: writes what reading the innermost frame of that thread touches in the memory,
 * as an input of tests/fuzz/fuzz_pylocks.c; of a thread that waits for a batch of a DataLoader, what reading that
 * touches, as an input of tests/fuzz/fuzz_pyloader.c; of one that waits for the result of a process pool, that is a
 * worker of one or manages one, the same for tests/fuzz/fuzz_pypool.c (FUTURE: the address of the one to be found).
 */
#include <stdio.h>
#include <string.h>

#include "agent/host/world_open.h"
#include "agent/inspect/pywaits.h"
#include "base/clock.h"
#include "base/json.h"
#include "sense/pylib/pyloader.h"
#include "sense/python/pylocks.h"
#include "sense/pylib/pypool.h"

static const struct remote_ops *below;
static FILE *file;

static void piece_write(uint64_t addr, const void *bytes, size_t len)
{
	uint16_t n = (uint16_t)MIN(len, UINT16_MAX);
	if (fwrite(&addr, sizeof(addr), 1, file) != 1 || fwrite(&n, sizeof(n), 1, file) != 1 ||
	    fwrite(bytes, 1, n, file) != n)
		perror("pywaits");
}

static ssize_t recording_readv(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from,
			       size_t n_from)
{
	const struct remote_ops *ours = r->ops;
	r->ops = below;
	ssize_t n = below->readv(r, into, n_into, from, n_from);
	r->ops = ours;
	if (n > 0 && n_from == 1)
		piece_write((uint64_t)(uintptr_t)from[0].iov_base, into[0].iov_base, (size_t)n);
	return n;
}

static const struct remote_ops recording = {.readv = recording_readv};

static bool is_loader(const struct pyframe *f)
{
	return pylocks_is_function(f, "_try_get_data", "dataloader.py");
}

static bool is_pool(const struct pyframe *f)
{
	static const char *const names[][2] = {
		{"wait", "_base.py"},
		{"wait", "pool.py"},
		{"next", "pool.py"},
		{"result", "_base.py"},
		{"worker", "pool.py"},
		{"_process_worker", "process.py"},
		{"_queue_management_worker", "process.py"},
		{"run", "process.py"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (pylocks_is_library(f) && pylocks_is_function(f, names[i][0], names[i][1]))
			return true;
	return false;
}

static int pool_record(struct procview *v, const struct pyframe *f, uint64_t future)
{
	struct pypool_wait wait;
	struct pypool_worker worker = {.of = PYPOOL_NONE};
	struct pypool_thread thread = {.role = PYPOOL_NO_ROLE};
	struct pypool_member member[PYPOOL_MEMBERS];
	uint64_t task[PYPOOL_TASKS] = {0}, futures[PYPOOL_TASKS];
	size_t n = 0, n_tasks = 0, n_futures = 0;
	int e = pypool_wait_read(&v->rt, &v->remote, f, 1, &wait);
	if (e == 0)
		e = pypool_members(&v->rt, &v->remote, &wait, member, &n);
	if (e == 0)
		e = pypool_futures(&v->rt, &v->remote, &wait, futures, &n_futures);
	if (e == 0 && wait.of == PYPOOL_NONE)
		e = pypool_worker_read(&v->rt, &v->remote, f, 1, &worker);
	if (e == 0 && worker.of == PYPOOL_NONE)
		e = pypool_thread_read(&v->rt, &v->remote, f, 1, &thread);
	if (e == 0 && thread.role == PYPOOL_MANAGES)
		e = pypool_executor_members(&v->rt, &v->remote, &thread, member, &n);
	if (e == 0 && thread.role == PYPOOL_MANAGES)
		e = pypool_tasks(&v->rt, &v->remote, &thread, &future, 1, task, &n_tasks);
	fprintf(stderr,
		"waits %d job %llu future %llu, works %d %d job %llu, role %d task %llu (%d), %zu members, %zu "
		"futures\n",
		wait.of, (unsigned long long)wait.job, (unsigned long long)wait.future, worker.of, worker.state,
		(unsigned long long)worker.job, thread.role, (unsigned long long)task[0], (int)n_tasks, n, n_futures);
	return e;
}

static int frame_record(struct procview *v, const struct pyframe *f, uint64_t futex)
{
	cleanup(pylocks_freep) struct pylocks *p = NULL;
	struct pylock_held held[PYLOCKS_HELD];
	struct pylock_wait wait;
	struct pylocks_frames frames = {.frame = f, .n = 1};
	struct pylocks_futex on = {.addr = futex};
	const uint64_t places[] = {f->addr, f->code, futex};
	bool old = v->rt.minor < 11, unreachable = false;
	uint64_t at = old ? f->instr * 2 : f->instr - f->code - v->rt.off.code.bytecode;
	unsigned char head[2] = {(unsigned char)(v->rt.minor - 8), (unsigned char)at}, description[PYOFFSETS_BYTES];
	size_t n = 0;
	if (is_pool(f))
		head[1] = 0;
	fwrite(head, sizeof(head), 1, file);
	fwrite(places, sizeof(places), 1, file);
	if (v->rt.minor >= 13 && remote_read(&v->remote, v->rt.runtime, description, sizeof(description)) == 0)
		piece_write(v->rt.runtime, description, sizeof(description));
	below = v->remote.ops;
	v->remote.ops = &recording;
	v->rt.code_type = 0; /* the fuzzer does not know it */
	if (is_pool(f)) {
		int r = pool_record(v, f, futex);
		v->remote.ops = below;
		return r;
	}
	if (is_loader(f)) {
		struct pyloader found;
		int r = pyloader_awaited(&v->rt, &v->remote, f, 1, &found);
		v->remote.ops = below;
		fprintf(stderr, "worker %d\n", (int)found.worker);
		return r;
	}
	int e = pylocks_new(&v->rt, &v->remote, &p);
	if (e == 0 && p)
		e = pylocks_held(p, &frames, held, &n);
	if (e == 0 && p && pylocks_wait(p, &frames, &on, NULL, 0, &wait) == 0)
		e = pylocks_unreachable(p, &frames, &wait, &unreachable);
	v->remote.ops = below;
	fprintf(stderr, "instruction at %llu, %zu held, unreachable %d\n", (unsigned long long)at, n, unreachable);
	return e;
}

static int record(const struct world *w, const char *path, pid_t pid, pid_t tid, uint64_t future)
{
	struct fault f = {};
	struct procview_want want = {.natives = NULL};
	cleanup(procview_closep) struct procview *v = NULL;
	const struct pythread *list = NULL, *thread;
	struct threadwait call;
	struct pystack stack = {.n = 0};
	size_t n = 0;
	int e = procview_open(w, pid, &want, &v, &f);
	if (e == 0)
		e = procview_python_threads(v, &list, &n);
	if (e == 0)
		e = threadwait_read(w, pid, tid, NULL, false, &call);
	thread = e ? NULL : procview_python_thread(list, n, tid);
	if (thread)
		e = pystacks_read(v->stacks, thread, false, &stack);
	file = fopen(path, "we");
	size_t at = 0;
	while (at < stack.n && !is_loader(&stack.frames[at]) && !is_pool(&stack.frames[at]))
		at++;
	if (e == 0 && stack.n && file)
		e = frame_record(v, &stack.frames[at < stack.n ? at : 0], future ? future : call.arg[0]);
	return !file || fclose(file) != 0 || e ? 2 : 0;
}

static const char *kind_word(enum waithint_kind kind)
{
	static const char *const words[] = {"owner", "nobody", "rank", "connection", "text"};
	return words[kind];
}

static struct js *hint_of(const struct waithint *h)
{
	struct js *o = js_object();
	js_put_text(o, "kind", kind_word(h->kind));
	js_put_i64(o, "tid", h->tid);
	js_put_i64(o, "owner", h->owner_tid);
	js_put_bool(o, "proof", h->proof);
	js_put_text(o, "text", h->text);
	js_put_text(o, "owner_text", h->owner_text);
	js_put_i64(o, "parties", h->parties);
	js_put_i64(o, "place", h->place);
	return o;
}

static struct js *look_at(const struct world *w, pid_t pid)
{
	struct fault f = {};
	struct procview_want want = {.natives = NULL};
	cleanup(procview_closep) struct procview *v = NULL;
	cleanup(freep) struct waithint *hints = NULL;
	struct js *o = js_object(), *all = js_array();
	size_t n = 0;
	int e = procview_open(w, pid, &want, &v, &f);
	uint64_t start = clock_mono_ns(), calls = e ? 0 : v->remote.calls;
	if (e == 0)
		e = pywaits_read(w, v, &hints, &n);
	js_put_i64(o, "pid", pid);
	js_put_i64(o, "result", e);
	js_put_u64(o, "us", (clock_mono_ns() - start) / NS_PER_US);
	js_put_u64(o, "reads", v ? v->remote.calls - calls : 0);
	for (size_t i = 0; i < n; i++)
		js_add(all, hint_of(&hints[i]));
	js_put(o, "hints", all);
	return o;
}

static struct js *held_of(const struct pywaits_held *h)
{
	struct js *o = js_object();
	js_put_i64(o, "tid", h->tid);
	js_put_u64(o, "object", h->object);
	js_put_text(o, "type", h->type);
	js_put_bool(o, "sure", !h->may_release);
	js_put_text(o, "text", h->text);
	return o;
}

static struct js *held_at(const struct world *w, pid_t pid)
{
	struct fault f = {};
	struct procview_want want = {.natives = NULL};
	cleanup(procview_closep) struct procview *v = NULL;
	cleanup(freep) struct pywaits_held *held = NULL;
	struct js *o = js_object(), *all = js_array();
	size_t n = 0;
	int e = procview_open(w, pid, &want, &v, &f);
	uint64_t start = clock_mono_ns();
	if (e == 0)
		e = pywaits_held_read(w, v, &held, &n);
	js_put_i64(o, "pid", pid);
	js_put_i64(o, "result", e);
	js_put_u64(o, "us", (clock_mono_ns() - start) / NS_PER_US);
	for (size_t i = 0; i < n; i++)
		js_add(all, held_of(&held[i]));
	js_put(o, "held", all);
	return o;
}

static int answer(const struct world *w, const char *pid, bool holders)
{
	pid_t of = (pid_t)strtol(pid, NULL, 10);
	cleanup(js_freep) struct js *o = holders ? held_at(w, of) : look_at(w, of);
	int r = js_write(o, stdout, 0);
	putchar('\n');
	(void)fflush(stdout);
	return r;
}

int main(int argc, char **argv)
{
	struct world w;
	struct fault f = {};
	cleanup(freep) char *line = NULL;
	size_t cap = 0;
	if (world_open(NULL, &w, &f) < 0) {
		fprintf(stderr, "%s\n", f.text);
		return 2;
	}
	int r = 0;
	if ((argc == 5 || argc == 6) && strcmp(argv[1], "-r") == 0) {
		r = record(&w, argv[2], (pid_t)strtol(argv[3], NULL, 10), (pid_t)strtol(argv[4], NULL, 10),
			   argc == 6 ? strtoull(argv[5], NULL, 10) : 0);
		world_close(&w);
		return r;
	}
	bool holders = argc == 2 && strcmp(argv[1], "-H") == 0;
	for (int i = 1; i < argc && !holders && r >= 0; i++)
		r = answer(&w, argv[i], false);
	while ((holders || argc == 1) && r >= 0 && getline(&line, &cap, stdin) > 0)
		r = answer(&w, line, holders);
	world_close(&w);
	return r < 0 ? 2 : 0;
}
