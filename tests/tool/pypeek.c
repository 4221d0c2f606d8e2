/*
 * pypeek PID...: what can be seen of the CPython in each process, for tests; one line of JSON each:
 *   {"pid", "result": "ok"|"none"|"unknown"|…, "text", "version", "minor", "free_threaded", "file", "find_us",
 *    "code_type", "threads": [{"native", "frames": [{"name", "file", "line", "first_line", "locals": {…},
 *    "args": […]}]}]}
 * Frames are walked one field at a time: simple, and only right while the process sleeps.
 */
#include <stdio.h>
#include <string.h>

#include "agent/host/world_open.h"
#include "base/clock.h"
#include "base/json.h"
#include "sense/python/pylocals.h"

#define DEEP 200

static const char *word_of(int r)
{
	switch (r) {
	case 0:
		return "ok";
	case PYRT_NONE:
		return "none";
	case PYRT_UNKNOWN:
		return "unknown";
	case PYRT_NOT_YET:
		return "not-yet";
	case WORLD_GONE:
		return "gone";
	case WORLD_DENIED:
		return "denied";
	default:
		return "error";
	}
}

static uint64_t word_at(struct remote *r, uint64_t addr)
{
	uint64_t v = 0;
	return remote_u64(r, addr, &v) == 0 ? v : 0;
}

static struct js *locals_of(const struct pyrt *rt, struct remote *r, uint64_t frame, uint64_t code, struct js *args)
{
	cleanup(pylocals_done) struct pylocals l = {};
	struct js *all = js_object();
	int e = pylocals_read(rt, r, frame, code, &l);
	if (e)
		js_put_i64(all, "(error)", e);
	for (size_t i = 0; i < l.n; i++) {
		js_put_text(all, l.items[i].name, l.items[i].value);
		if (l.items[i].is_arg)
			js_add_text(args, l.items[i].name);
	}
	return all;
}

static struct js *frame_of(struct pycodes *codes, const struct pyrt *rt, struct remote *r, uint64_t frame)
{
	const struct pycode *code = NULL;
	uint64_t addr = word_at(r, frame + rt->off.frame.code) & ~UINT64_C(3);
	uint64_t instr = word_at(r, frame + rt->off.frame.instr);
	uint8_t owner = 0;
	if (rt->minor >= 12 && (remote_read(r, frame + rt->off.frame.owner, &owner, 1) != 0 || owner >= 3))
		return NULL;
	if (pycodes_get(codes, addr, &code) != 0)
		return NULL;
	struct js *o = js_object(), *args = js_array();
	js_put_text(o, "name", code->name);
	js_put_text(o, "file", code->file);
	js_put_i64(o, "line", pycode_line(rt, code, instr));
	js_put_i64(o, "first_line", code->first_line);
	js_put(o, "locals", locals_of(rt, r, frame, addr, args));
	js_put(o, "args", args);
	return o;
}

static struct js *thread_of(struct pycodes *codes, const struct pyrt *rt, struct remote *r, uint64_t thread)
{
	struct js *o = js_object(), *frames = js_array();
	const struct pyoffsets *off = &rt->off;
	uint64_t frame = off->thread.cframe != PYOFF_NONE
				 ? word_at(r, word_at(r, thread + off->thread.cframe) + off->thread.cframe_current)
				 : word_at(r, thread + off->thread.frame);
	if (off->thread.native_thread_id != PYOFF_NONE)
		js_put_u64(o, "native", word_at(r, thread + off->thread.native_thread_id));
	for (int i = 0; i < DEEP && frame; i++) {
		struct js *f = frame_of(codes, rt, r, frame);
		if (f)
			js_add(frames, f);
		frame = word_at(r, frame + off->frame.previous);
	}
	js_put(o, "frames", frames);
	return o;
}

static void threads_put(const struct pyrt *rt, struct remote *r, struct js *o)
{
	struct js *threads = js_array();
	cleanup(pycodes_freep) struct pycodes *codes = pycodes_new(rt, r);
	uint64_t interp = word_at(r, rt->runtime + rt->off.runtime.interpreters_head);
	uint64_t thread = word_at(r, interp + rt->off.interp.threads_head);
	for (int i = 0; i < DEEP && codes && thread; i++) {
		js_add(threads, thread_of(codes, rt, r, thread));
		thread = word_at(r, thread + rt->off.thread.next);
	}
	js_put(o, "threads", threads);
}

static struct js *peek(const struct world *w, pid_t pid)
{
	struct remote r;
	struct pyrt rt = {};
	struct fault f = {};
	cleanup(maps_done) struct maps m = {};
	struct js *o = js_object();
	uint64_t start = clock_mono_ns();
	remote_open(w, pid, &r);
	int e = maps_read(w, pid, &m);
	if (e == 0)
		e = pyrt_find(w, &r, &m, &rt, &f);
	js_put_u64(o, "find_us", (clock_mono_ns() - start) / NS_PER_US);
	js_put_i64(o, "pid", pid);
	js_put_text(o, "result", word_of(e));
	js_put_text_if(o, "text", f.text);
	if (e == 0) {
		js_put_text(o, "version", rt.version_text);
		js_put_i64(o, "minor", rt.minor);
		js_put_bool(o, "free_threaded", rt.free_threaded);
		js_put_text(o, "file", rt.file);
		js_put_u64(o, "code_type", rt.code_type);
		threads_put(&rt, &r, o);
	}
	remote_done(&r);
	return o;
}

int main(int argc, char **argv)
{
	struct world w;
	struct fault f = {};
	if (world_open(NULL, &w, &f) < 0) {
		fprintf(stderr, "%s\n", f.text);
		return 2;
	}
	for (int i = 1; i < argc; i++) {
		cleanup(js_freep) struct js *o = peek(&w, (pid_t)strtol(argv[i], NULL, 10));
		int r = js_write(o, stdout, 0);
		putchar('\n');
		if (r < 0)
			return 2;
	}
	world_close(&w);
	return 0;
}
