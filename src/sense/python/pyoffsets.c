#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "sense/python/pyrt.h"

/*
 * 3.8 to 3.12: measured by compiling each version's own internal headers, a release build with the GIL (3.8.18, 3.9.18,
 * 3.10.13, 3.11.7, 3.12.1). Patch releases do not change them. Other machines than x86_64 differ only behind a mutex,
 * which is larger there: see mutex_extra.
 */
#if defined(__x86_64__)
static const uint64_t mutex_extra = 0;
#else
static const uint64_t mutex_extra = 16;
#endif

/* Objects that all versions before 3.12 have in common. */
static void objects_before_12(struct pyoffsets *o)
{
	o->object.type = 8;
	o->object.refcnt = 0;
	o->type.name = 24;
	o->type.flags = 168;
	o->type.basicsize = 32;
	o->type.dictoffset = 288;
	o->type.size = 408;
	o->tuple.item = o->list.item = 24;
	o->tuple.size = o->list.size = 16;
	o->bytes.size = 16;
	o->bytes.value = 32;
	o->str.length = 16;
	o->str.state = 32;
	o->str.ascii = 48;
	o->str.compact = o->str.data = 72;
	o->dict.keys = 32;
	o->dict.values = 40;
	o->real.value = 16;
	o->integer.tag = 16;
	o->integer.digit = 24;
	o->set.size = 200;
	o->set.used = 24;
	o->set.mask = 32;
	o->set.table = 40;
}

static void code_before_11(struct pyoffsets *o)
{
	o->code.size = 176;
	o->code.argcount = 16;
	o->code.kwonlyargcount = 24;
	o->code.nlocals = 28;
	o->code.flags = 36;
	o->code.firstlineno = 40;
	o->code.code_bytes = 48;
	o->code.varnames = 72;
	o->code.freevars = 80;
	o->code.cellvars = 88;
	o->code.filename = 104;
	o->code.name = 112;
	o->code.linetable = 120;
}

/* The common parts of 3.8 to 3.10; callers set the differences. */
static void layout_8(struct pyoffsets *o)
{
	objects_before_12(o);
	code_before_11(o);
	o->runtime.interpreters_head = 32;
	o->runtime.gilstate_current = 1368 + mutex_extra;
	o->runtime.gil_last_holder = 1160;
	o->runtime.gil_locked = 1168;
	o->runtime.gc_collecting = 544;
	o->interp.next = 0;
	o->interp.id = 16;
	o->interp.threads_head = 8;
	o->interp.modules = 56;
	o->thread.size = 264;
	o->thread.prev = 0;
	o->thread.next = 8;
	o->thread.interp = 16;
	o->thread.thread_id = 176;
	o->thread.frame = 24;
	o->frame.size = o->frame.localsplus = 360;
	o->frame.previous = 24;
	o->frame.code = 32;
	o->frame.instr = 104;
	o->gen.name = 48;
	o->gen.frame = 16;
	o->type.size = 416;
}

static void layout_9(struct pyoffsets *o)
{
	layout_8(o);
	o->runtime.gilstate_current = 568 + mutex_extra;
	o->runtime.gil_last_holder = 360;
	o->runtime.gil_locked = 368;
	o->runtime.gc_collecting = PYOFF_NONE;
	o->interp.id = 24;
	o->interp.modules = 856;
	o->interp.gc_collecting = 816;
	o->type.size = 408;
}

static void layout_10(struct pyoffsets *o)
{
	layout_9(o);
	o->thread.size = 280;
	o->thread.c_stack = 48; /* cframe */
	o->frame.size = o->frame.localsplus = 352;
	o->frame.instr = 96;
	o->gen.name = 40;
}

static void layout_11(struct pyoffsets *o)
{
	objects_before_12(o);
	o->runtime.interpreters_head = 40;
	o->runtime.gilstate_current = 576 + mutex_extra;
	o->runtime.gil_last_holder = 368;
	o->runtime.gil_locked = 376;
	o->interp.next = 0;
	o->interp.id = 48;
	o->interp.threads_head = 16;
	o->interp.modules = 888;
	o->interp.gc_collecting = 848;
	o->thread.size = 360;
	o->thread.prev = 0;
	o->thread.next = 8;
	o->thread.interp = 16;
	o->thread.thread_id = 152;
	o->thread.native_thread_id = 160;
	o->thread.datastack_chunk = 296;
	o->thread.cframe = o->thread.c_stack = 56;
	o->thread.cframe_current = 8;
	o->frame.size = o->frame.localsplus = 72;
	o->frame.previous = 48;
	o->frame.code = 32;
	o->frame.instr = 56;
	o->frame.owner = 69;
	o->frame.is_entry = 68;
	o->code.size = 192;
	o->code.flags = 48;
	o->code.argcount = 56;
	o->code.kwonlyargcount = 64;
	o->code.firstlineno = 72;
	o->code.nlocals = 80;
	o->code.localsplusnames = 96;
	o->code.localspluskinds = 104;
	o->code.filename = 112;
	o->code.name = 120;
	o->code.qualname = 128;
	o->code.linetable = 136;
	o->code.bytecode = 184;
	o->gen.name = 32;
	o->gen.frame = 80;
	o->gen.state = 75;
}

static void layout_12(struct pyoffsets *o)
{
	layout_11(o);
	memset(&o->runtime, 0xff, sizeof(o->runtime));
	o->runtime.interpreters_head = 40;
	o->interp.id = 8;
	o->interp.threads_head = 72;
	o->interp.modules = 944;
	o->interp.gc_collecting = 312;
	o->interp.gil = 384;
	o->gil.last_holder = 8;
	o->gil.locked = 16;
	o->thread.size = 288;
	o->thread.thread_id = 136;
	o->thread.native_thread_id = 144;
	o->thread.datastack_chunk = 232;
	o->thread.cframe_current = 0;
	o->frame.previous = 8;
	o->frame.code = 0;
	o->frame.owner = 70;
	o->frame.is_entry = PYOFF_NONE;
	o->code.size = 200;
	o->code.argcount = 52;
	o->code.kwonlyargcount = 60;
	o->code.firstlineno = 68;
	o->code.bytecode = 192;
	o->type.size = 416;
	o->str.ascii = 40;
	o->str.compact = o->str.data = 56;
	o->gen.name = 24;
	o->gen.frame = 72;
	o->gen.state = 67;
}

bool pyoffsets_of(uint8_t minor, struct pyoffsets *ret)
{
	static void (*const layouts[])(struct pyoffsets *) = {layout_8, layout_9, layout_10, layout_11, layout_12};
	if (minor < 8 || minor >= 8 + ARRAY_SIZE(layouts))
		return false;
	struct pyoffsets o;
	memset(&o, 0xff, sizeof(o)); /* PYOFF_NONE everywhere */
	layouts[minor - 8](&o);
	*ret = o;
	return true;
}

/* ---- the self-description of 3.13 and later ---- */

enum {
	STEP_SIZE = 1, /* the size of a structure: the following offsets must lie in it */
	STEP_MAYBE = 2, /* 0 if the build has no such field */
	STEP_ALONE = 4, /* a size or an index, not bounded by a structure */
};

#define SKIPPED UINT16_MAX

/* One 64-bit word: its destination, the minor version that introduced it, and how it is checked. */
struct step {
	uint16_t to;
	uint8_t since, flags;
	const char *name;
};

#define TO(field, since, flags)                                                                                        \
	{                                                                                                              \
		(uint16_t) offsetof(struct pyoffsets, field), since, flags, #field                                     \
	}
#define SKIP(name, since, flags)                                                                                       \
	{                                                                                                              \
		SKIPPED, since, flags, name                                                                            \
	}

static const struct step steps[] = {
	SKIP("runtime.size", 13, STEP_SIZE),
	SKIP("runtime.finalizing", 13, 0),
	TO(runtime.interpreters_head, 13, 0),

	SKIP("interp.size", 13, STEP_SIZE),
	TO(interp.id, 13, 0),
	TO(interp.next, 13, 0),
	TO(interp.threads_head, 13, 0),
	SKIP("interp.threads_main", 14, 0),
	SKIP("interp.gc", 13, 0),
	TO(interp.modules, 13, 0),
	SKIP("interp.sysdict", 13, 0),
	SKIP("interp.builtins", 13, 0),
	TO(interp.gil, 13, 0),
	SKIP("interp.gil_state", 13, 0),
	SKIP("interp.gil_enabled", 13, STEP_MAYBE),
	TO(gil.locked, 13, 0),
	TO(gil.last_holder, 13, 0),
	TO(interp.code_generation, 14, 0),
	TO(interp.tlbc_generation, 14, STEP_MAYBE),

	TO(thread.size, 13, STEP_SIZE),
	TO(thread.prev, 13, 0),
	TO(thread.next, 13, 0),
	TO(thread.interp, 13, 0),
	TO(thread.frame, 13, 0),
	TO(thread.base_frame, 15, 0),
	SKIP("thread.last_profiled_frame", 15, 0),
	SKIP("thread.last_profiled_frame_seq", 15, 0),
	TO(thread.thread_id, 13, 0),
	TO(thread.native_thread_id, 13, 0),
	TO(thread.datastack_chunk, 13, 0),
	TO(thread.status, 13, 0),
	TO(thread.holds_gil, 15, 0),
	TO(thread.gil_requested, 15, 0),
	SKIP("thread.current_exception", 15, 0),
	SKIP("thread.exc_state", 15, 0),
	SKIP("exc_value", 15, STEP_ALONE),

	TO(frame.size, 13, STEP_SIZE),
	TO(frame.previous, 13, 0),
	TO(frame.code, 13, 0),
	TO(frame.instr, 13, 0),
	TO(frame.localsplus, 13, 0),
	TO(frame.owner, 13, 0),
	TO(frame.stackpointer, 14, 0),
	TO(frame.tlbc_index, 14, STEP_MAYBE),

	TO(code.size, 13, STEP_SIZE),
	TO(code.filename, 13, 0),
	TO(code.name, 13, 0),
	TO(code.qualname, 13, 0),
	TO(code.linetable, 13, 0),
	TO(code.firstlineno, 13, 0),
	TO(code.argcount, 13, 0),
	TO(code.localsplusnames, 13, 0),
	TO(code.localspluskinds, 13, 0),
	TO(code.bytecode, 13, 0),
	TO(code.tlbc, 14, STEP_MAYBE),

	SKIP("object.size", 13, STEP_SIZE),
	TO(object.type, 13, 0),

	TO(type.size, 13, STEP_SIZE),
	TO(type.name, 13, 0),
	SKIP("type.repr", 13, 0),
	TO(type.flags, 13, 0),
	TO(type.basicsize, 15, 0),
	TO(type.dictoffset, 15, 0),
	SKIP("heaptype", 15, STEP_SIZE),
	TO(type.cached_keys, 15, 0),

	SKIP("tuple", 13, STEP_SIZE),
	TO(tuple.item, 13, 0),
	TO(tuple.size, 13, 0),
	SKIP("list", 13, STEP_SIZE),
	TO(list.item, 13, 0),
	TO(list.size, 13, 0),
	TO(set.size, 14, STEP_SIZE),
	TO(set.used, 14, 0),
	TO(set.table, 14, 0),
	TO(set.mask, 14, 0),
	SKIP("dict", 13, STEP_SIZE),
	TO(dict.keys, 13, 0),
	TO(dict.values, 13, 0),
	SKIP("float", 13, STEP_SIZE),
	TO(real.value, 13, 0),
	SKIP("int", 13, STEP_SIZE),
	TO(integer.tag, 13, 0),
	TO(integer.digit, 13, 0),
	SKIP("bytes", 13, STEP_SIZE),
	TO(bytes.size, 13, 0),
	TO(bytes.value, 13, 0),
	SKIP("str", 13, STEP_SIZE),
	TO(str.state, 13, 0),
	TO(str.length, 13, 0),
	TO(str.ascii, 13, 0),
	TO(str.compact, 15, 0),
	SKIP("gc", 13, STEP_SIZE),
	SKIP("gc.collecting", 13, 0),
	SKIP("gc.frame", 15, 0),
	SKIP("gc.stats_size", 15, STEP_ALONE),
	SKIP("gc.stats", 15, 0),
	SKIP("gen", 14, STEP_SIZE),
	TO(gen.name, 14, 0),
	TO(gen.frame, 14, 0),
	TO(gen.state, 14, 0),
	SKIP("llist.next", 14, 0),
	SKIP("llist.prev", 14, 0),
	SKIP("debugger.eval_breaker", 14, STEP_ALONE),
	SKIP("debugger.support", 14, STEP_ALONE),
	SKIP("debugger.enabled", 14, STEP_ALONE),
	SKIP("debugger.pending_call", 14, STEP_ALONE),
	SKIP("debugger.script_path", 14, STEP_ALONE),
	SKIP("debugger.script_path_size", 14, STEP_ALONE),
};

/* The cookie, the version, the free-threaded flag. */
#define WORDS_BEFORE 3

bool pyoffsets_word(uint8_t minor, size_t field, uint32_t *ret)
{
	uint32_t word = WORDS_BEFORE;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if (steps[i].since > minor)
			continue;
		if (steps[i].to == field) {
			*ret = word;
			return true;
		}
		word++;
	}
	return false;
}

uint32_t pyoffsets_last_word(uint8_t minor)
{
	uint32_t words = WORDS_BEFORE;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		words += steps[i].since <= minor;
	return words - 1;
}

/* A description with a larger structure is invalid. */
#define STRUCT_MAX (16 * MIB)
#define SCRIPT_PATH_BYTES 512

struct words {
	const unsigned char *bytes;
	size_t len, at;
};

static bool word_next(struct words *w, uint64_t *ret)
{
	if (w->len - w->at < sizeof(*ret))
		return false;
	memcpy(ret, w->bytes + w->at, sizeof(*ret));
	w->at += sizeof(*ret);
	return true;
}

/* Values that only serve to compute fields of struct pyoffsets. */
struct extras {
	uint64_t gc, gil_state, gc_collecting, object_size, last;
};

static void extra_keep(struct extras *x, const char *name, uint64_t v)
{
	static const struct {
		const char *name;
		size_t at;
	} kept[] = {
		{"interp.gc", offsetof(struct extras, gc)},
		{"interp.gil_state", offsetof(struct extras, gil_state)},
		{"gc.collecting", offsetof(struct extras, gc_collecting)},
		{"object.size", offsetof(struct extras, object_size)},
		{"debugger.script_path_size", offsetof(struct extras, last)},
	};
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (strcmp(kept[i].name, name) == 0)
			memcpy((char *)x + kept[i].at, &v, sizeof(v));
}

static int steps_walk(struct words *w, uint8_t minor, struct pyoffsets *o, struct extras *x, struct fault *f)
{
	uint64_t size = 0, v = 0;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		const struct step *s = &steps[i];
		if (s->since > minor)
			continue;
		if (!word_next(w, &v))
			return fault_set(f, PYRT_UNKNOWN, "the description of Python 3.%u ends before %s", minor,
					 s->name);
		if (s->flags & STEP_SIZE)
			size = v;
		bool sane = s->flags & STEP_SIZE ? v > 0 && v <= STRUCT_MAX : s->flags & STEP_ALONE || v < size;
		if (!sane)
			return fault_set(f, PYRT_UNKNOWN,
					 "the description of Python 3.%u cannot be: %s is %llu of %llu bytes", minor,
					 s->name, (unsigned long long)v, (unsigned long long)size);
		if (s->to == SKIPPED)
			extra_keep(x, s->name, v);
		else if (v > 0 || !(s->flags & STEP_MAYBE))
			memcpy((char *)o + s->to, &v, sizeof(v));
	}
	return 0;
}

/*
 * Fills the fields that are not described but lie at a fixed distance from described ones (checked against the headers
 * of each version).
 */
static int derived_fill(const struct extras *x, bool free_threaded, struct pyoffsets *o, struct fault *f)
{
	uint64_t head = x->object_size;
	if (o->gil.locked < x->gil_state || o->gil.last_holder < x->gil_state || o->code.argcount < 4 || head < 16 ||
	    head > 64 || o->str.ascii <= o->str.state || o->type.name < 8)
		return fault_set(f, PYRT_UNKNOWN, "the description of this Python contradicts itself");
	o->gil.locked -= x->gil_state;
	o->gil.last_holder -= x->gil_state;
	o->interp.gc_collecting = x->gc + x->gc_collecting;
	o->code.flags = o->code.argcount - 4;
	o->code.kwonlyargcount = o->code.argcount + 8;
	o->code.nlocals = o->code.argcount + 28;
	if (o->str.compact == PYOFF_NONE)
		o->str.compact = o->str.ascii + 16;
	o->str.data = o->str.compact;
	if (!free_threaded)
		o->object.refcnt = 0;
	if (o->type.basicsize == PYOFF_NONE)
		o->type.basicsize = o->type.name + 8;
	if (o->type.dictoffset == PYOFF_NONE)
		o->type.dictoffset = o->type.flags + 120;
	if (o->set.used == PYOFF_NONE) {
		o->set.used = head + 8;
		o->set.mask = head + 16;
		o->set.table = head + 24;
	}
	return 0;
}

int pyoffsets_parse(const void *bytes, size_t len, uint32_t *ret_version, bool *ret_free_threaded,
		    struct pyoffsets *ret, struct fault *f)
{
	struct words w = {.bytes = bytes, .len = len, .at = 8};
	uint64_t version = 0, free_threaded = 0;
	struct pyoffsets o;
	struct extras x = {};
	if (len < 8 || memcmp(bytes, "xdebugpy", 8) != 0 || !word_next(&w, &version) || !word_next(&w, &free_threaded))
		return fault_set(f, PYRT_UNKNOWN, "this Python does not describe itself");
	if (version >> 24 != 3 || version > UINT32_MAX || free_threaded > 1)
		return fault_set(f, PYRT_UNKNOWN, "the description of this Python names no version that can be");
	uint8_t minor = (uint8_t)(version >> 16 & 0xff);
	if (minor < 13 || minor > 15)
		return fault_set(f, PYRT_UNKNOWN,
				 minor < 13 ? "Python 3.%u does not describe itself"
					    : "Python 3.%u is newer than this vigil knows",
				 minor);
	memset(&o, 0xff, sizeof(o));
	int r = steps_walk(&w, minor, &o, &x, f);
	if (r == 0)
		r = derived_fill(&x, free_threaded, &o, f);
	if (r)
		return r;
	/* The last word is always 512; in another order of fields (as in previews) it would stand elsewhere. */
	if (minor >= 14 && x.last != SCRIPT_PATH_BYTES)
		return fault_set(f, PYRT_UNKNOWN, "Python 3.%u describes itself in an order that is not known", minor);
	*ret_version = (uint32_t)version;
	*ret_free_threaded = free_threaded;
	*ret = o;
	return 0;
}
