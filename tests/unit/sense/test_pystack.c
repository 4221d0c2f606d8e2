#include "sense/python/pystack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"

/*
 * A process of 256 KiB at BASE, laid out like CPython 3.11 or 3.8. What lies
 * outside is not mapped; before each read the process may do something.
 */
#define BASE UINT64_C(0x7f0000000000)
#define SIZE (256 * 1024)
#define RUNTIME BASE
#define INTERP (BASE + 0x2000)
#define TSTATE (BASE + 0x4000)
#define CFRAME (BASE + 0x5000)
#define CHUNK (BASE + 0x6000)
#define CHUNK_NEXT (BASE + 0xa000)
#define CODES (BASE + 0x10000)
#define HEAP (BASE + 0x20000)
#define FRAME_BYTES 128

struct fake {
	unsigned char memory[SIZE];
	struct world world;
	struct remote remote;
	struct pyrt rt;
	struct pycodes *codes;
	struct pystacks *stacks;
	void (*before)(struct fake *f);
	void (*piece)(struct fake *f, uint64_t addr); /* before each piece of a read */
	unsigned copies; /* of the data stack, in this read */
	uint64_t reads;
	bool gone;
};

static void put(struct fake *f, uint64_t addr, uint64_t value)
{
	assert_true(addr >= BASE && addr + 8 <= BASE + SIZE);
	memcpy(f->memory + (addr - BASE), &value, sizeof(value));
}

static void put_u32(struct fake *f, uint64_t addr, uint32_t value)
{
	memcpy(f->memory + (addr - BASE), &value, sizeof(value));
}

static ssize_t fake_readv(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from,
			  size_t n_from)
{
	struct fake *f = r->ctx;
	size_t done = 0, place = 0, used = 0; /* in all; which of into, and how much of it */
	f->reads++;
	if (f->gone)
		return -ESRCH;
	f->copies = 0;
	if (f->before)
		f->before(f);
	for (size_t i = 0; i < n_from; i++) {
		uint64_t at = (uint64_t)(uintptr_t)from[i].iov_base;
		if (at < BASE || at - BASE > SIZE)
			break;
		f->copies += at == CHUNK;
		if (f->piece)
			f->piece(f, at);
		size_t len = MIN(from[i].iov_len, (size_t)(SIZE - (at - BASE)));
		for (size_t k = 0; k < len;) {
			while (place < n_into && used == into[place].iov_len) {
				place++;
				used = 0;
			}
			assert_true(place < n_into);
			size_t piece = MIN(len - k, into[place].iov_len - used);
			memcpy((char *)into[place].iov_base + used, f->memory + (at - BASE + k), piece);
			used += piece;
			k += piece;
		}
		done += len;
		if (len < from[i].iov_len)
			break;
	}
	return done ? (ssize_t)done : -EFAULT;
}

static const struct remote_ops fake_ops = {.readv = fake_readv};

/* A str and a bytes object where the version has them. */
static void put_text(struct fake *f, uint64_t addr, const char *text)
{
	put(f, addr + f->rt.off.str.length, strlen(text));
	put_u32(f, addr + f->rt.off.str.state, 0x64); /* compact, ASCII, one byte each */
	memcpy(f->memory + (addr + f->rt.off.str.ascii - BASE), text, strlen(text) + 1);
}

static uint64_t put_code(struct fake *f, unsigned number, const char *name)
{
	const struct pyoffsets *o = &f->rt.off;
	uint64_t code = CODES + number * 0x800, text = code + 0x400, file = code + 0x500, bytes = code + 0x600;
	put_text(f, text, name);
	put_text(f, file, "/model.py");
	put(f, bytes + o->bytes.size, 2);
	put(f, code + o->code.filename, file);
	put(f, code + o->code.name, text);
	if (o->code.qualname != PYOFF_NONE)
		put(f, code + o->code.qualname, text);
	put(f, code + o->code.linetable, bytes);
	if (o->code.code_bytes != PYOFF_NONE)
		put(f, code + o->code.code_bytes, bytes);
	put_u32(f, code + o->code.firstlineno, 10 + number);
	put_u32(f, code + o->code.flags, 3); /* a function: CO_OPTIMIZED, CO_NEWLOCALS */
	if (f->rt.minor >= 11)
		put(f, code + 16, 20); /* ob_size: code units */
	return code;
}

/* Frame i of the thread's stack, counted from the outermost. */
static uint64_t frame_at(const struct fake *f, unsigned i)
{
	return f->rt.minor >= 11 ? CHUNK + 32 + i * FRAME_BYTES : HEAP + i * 512;
}

static void put_frame(struct fake *f, unsigned i, uint64_t code, uint64_t previous)
{
	const struct pyoffsets *o = &f->rt.off;
	uint64_t frame = frame_at(f, i);
	put(f, frame + o->frame.code, code);
	put(f, frame + o->frame.previous, previous);
	if (f->rt.minor >= 11) {
		put(f, frame + o->frame.instr, code + o->code.bytecode + 4);
	} else {
		put_u32(f, frame + o->frame.instr, 0);
		f->memory[frame + o->frame.instr + 12 - BASE] = 1; /* f_executing */
	}
}

static void newest(struct fake *f, unsigned n)
{
	uint64_t frame = n ? frame_at(f, n - 1) : 0;
	if (f->rt.minor >= 11) {
		put(f, CFRAME + f->rt.off.thread.cframe_current, frame);
		put(f, TSTATE + f->rt.off.thread.datastack_chunk + 8, CHUNK + 32 + n * FRAME_BYTES);
	} else {
		put(f, TSTATE + f->rt.off.thread.frame, frame);
	}
}

static void put_thread(struct fake *f, uint64_t tstate, uint64_t prev, uint64_t next)
{
	put(f, tstate + f->rt.off.thread.prev, prev);
	put(f, tstate + f->rt.off.thread.next, next);
	put(f, tstate + f->rt.off.thread.interp, INTERP);
	put(f, tstate + f->rt.off.thread.thread_id, 0x1234);
}

static struct fake *fake_new(uint8_t minor, unsigned depth)
{
	static const char *const names[] = {"<module>", "main", "train", "step", "loss"};
	struct fake *f = calloc(1, sizeof(*f));
	assert_non_null(f);
	f->world = (struct world){.proc_fd = -1, .recorded = true, .mono_ns = clock_mono_ns};
	f->rt = (struct pyrt){.minor = minor, .version = 0x03000000u | (uint32_t)minor << 16, .runtime = RUNTIME};
	assert_true(pyoffsets_of(minor, &f->rt.off));
	remote_open(&f->world, 1, &f->remote);
	f->remote.ops = &fake_ops;
	f->remote.ctx = f;
	put(f, RUNTIME + f->rt.off.runtime.interpreters_head, INTERP);
	put(f, INTERP + f->rt.off.interp.threads_head, TSTATE);
	put_thread(f, TSTATE, 0, 0);
	if (minor >= 11) {
		put(f, TSTATE + f->rt.off.thread.cframe, CFRAME);
		put(f, TSTATE + f->rt.off.thread.datastack_chunk, CHUNK);
		put(f, CHUNK + 8, 16384);
	}
	for (unsigned i = 0; i < depth; i++)
		put_frame(f, i, put_code(f, i % 5, names[i % 5]), i ? frame_at(f, i - 1) : 0);
	newest(f, depth);
	f->codes = pycodes_new(&f->rt, &f->remote);
	f->stacks = pystacks_new(&f->world, &f->rt, &f->remote, f->codes);
	assert_non_null(f->stacks);
	return f;
}

static void fake_free(struct fake *f)
{
	pystacks_free(f->stacks);
	pycodes_free(f->codes);
	remote_done(&f->remote);
	free(f);
}

static int read_first(struct fake *f, struct pystack *ret)
{
	const struct pythread *threads;
	size_t n;
	int e = pystacks_threads(f->stacks, &threads, &n);
	return e ? e : pystacks_read(f->stacks, &threads[0], false, ret);
}

static void check_stack(const struct pystack *k, unsigned depth)
{
	assert_int_equal(k->n, depth);
	assert_true(k->bracketed);
	assert_string_equal(k->frames[depth - 1].known->name, "<module>");
	assert_string_equal(k->frames[depth - 2].known->name, "main");
	assert_string_equal(k->frames[0].known->file, "/model.py");
}

static void stack_is_read_innermost_first(void **state)
{
	static const uint8_t minors[] = {8, 9, 11};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(minors); i++) {
		struct fake *f = fake_new(minors[i], 5);
		struct pystack k;
		assert_int_equal(read_first(f, &k), 0);
		check_stack(&k, 5);
		assert_string_equal(k.frames[0].known->name, "loss");
		fake_free(f);
	}
}

static void second_sample_costs_one_read(void **state)
{
	(void)state;
	struct fake *f = fake_new(11, 40);
	const struct pythread *threads;
	struct pystack k;
	size_t n;
	assert_int_equal(read_first(f, &k), 0);
	assert_int_equal(pystacks_threads(f->stacks, &threads, &n), 0);
	uint64_t before = f->reads;
	assert_int_equal(pystacks_read(f->stacks, &threads[0], false, &k), 0);
	assert_int_equal(f->reads - before, 1);
	assert_int_equal(k.n, 40);
	fake_free(f);
}

static void thread_without_python_code_has_no_frames(void **state)
{
	(void)state;
	struct fake *f = fake_new(11, 0);
	struct pystack k;
	assert_int_equal(read_first(f, &k), 0);
	assert_int_equal(k.n, 0);
	fake_free(f);
}

static void cycle_of_frames_is_dropped_and_counted(void **state)
{
	static const uint8_t minors[] = {8, 11};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(minors); i++) {
		struct fake *f = fake_new(minors[i], 4);
		struct pystack k;
		put(f, frame_at(f, 0) + f->rt.off.frame.previous, frame_at(f, 3));
		assert_int_equal(read_first(f, &k), PYSTACK_TORN);
		assert_int_equal(pystacks_stats(f->stacks).dropped, 1);
		assert_in_range(f->reads, 1, 400);
		fake_free(f);
	}
}

static void frame_without_code_is_not_shown(void **state)
{
	(void)state;
	struct fake *f = fake_new(11, 4);
	struct pystack k;
	put(f, frame_at(f, 1) + f->rt.off.frame.code, HEAP); /* zeros */
	assert_int_equal(read_first(f, &k), PYSTACK_TORN);
	put(f, frame_at(f, 1) + f->rt.off.frame.code, UINT64_C(0x6666666666666660));
	assert_int_equal(read_first(f, &k), PYSTACK_TORN);
	assert_int_equal(pystacks_stats(f->stacks).samples, 2);
	fake_free(f);
}

static void instruction_outside_of_its_code_is_not_shown(void **state)
{
	(void)state;
	struct fake *f = fake_new(11, 4);
	struct pystack k;
	put(f, frame_at(f, 2) + f->rt.off.frame.instr, BASE);
	assert_int_equal(read_first(f, &k), PYSTACK_TORN);
	fake_free(f);
}

static void chain_that_ends_too_early_is_not_shown(void **state)
{
	(void)state;
	struct fake *f = fake_new(11, 4);
	struct pystack k;
	put(f, frame_at(f, 2) + f->rt.off.frame.previous, 0); /* as a generator that has been left */
	assert_int_equal(read_first(f, &k), PYSTACK_TORN);
	fake_free(f);
}

/* The innermost frame is about to be another one, which still leads to where the one before it led. */
static void make_innermost(struct fake *f, uint64_t addr)
{
	(void)addr;
	bool made = f->copies >= 2;
	uint64_t code = CODES + (made ? UINT64_C(3) : UINT64_C(4)) * 0x800;
	put(f, frame_at(f, 4) + f->rt.off.frame.code, code);
	put(f, frame_at(f, 4) + f->rt.off.frame.previous, frame_at(f, made ? 1 : 3));
	put(f, frame_at(f, 4) + f->rt.off.frame.instr, code + f->rt.off.code.bytecode + (made ? 0 : 6) - 2);
}

static void frame_in_the_making_is_not_shown(void **state)
{
	(void)state;
	struct fake *f = fake_new(11, 5);
	struct pystack k;
	f->piece = make_innermost;
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(read_first(f, &k), 0);
		check_stack(&k, (unsigned)k.n);
		/* "step" is what is being made; its caller is "train". */
		if (strcmp(k.frames[0].known->name, "step") == 0)
			assert_string_equal(k.frames[1].known->name, "train");
	}
	assert_true(pystacks_stats(f->stacks).shortened > 0);
	fake_free(f);
}

#define SHIM(i) (HEAP + 0x8000 + (i)*0x100)

static void put_shim(struct fake *f, unsigned i, uint64_t previous)
{
	put(f, SHIM(i) + f->rt.off.frame.code, put_code(f, 20, "<interpreter trampoline>"));
	put(f, SHIM(i) + f->rt.off.frame.previous, previous);
	f->memory[SHIM(i) + f->rt.off.frame.owner - BASE] = 3;
}

/* "step" is called from C, which "train" has called. */
static struct fake *fake_with_shims(void)
{
	struct fake *f = fake_new(12, 5);
	put_shim(f, 0, 0);
	put_shim(f, 1, frame_at(f, 2));
	put(f, frame_at(f, 0) + f->rt.off.frame.previous, SHIM(0));
	put(f, frame_at(f, 3) + f->rt.off.frame.previous, SHIM(1));
	return f;
}

static void frames_of_the_interpreter_are_marks_only(void **state)
{
	(void)state;
	struct fake *f = fake_with_shims();
	struct pystack k;
	assert_int_equal(read_first(f, &k), 0);
	check_stack(&k, 5);
	assert_int_equal(k.frames[0].flags, 0);
	assert_int_equal(k.frames[1].flags, PYFRAME_ENTRY);
	assert_int_equal(k.frames[2].flags, 0);
	assert_int_equal(k.frames[4].flags, PYFRAME_ENTRY);
	fake_free(f);
}

/* The C stack is in other use after the pins. */
static void reuse_shim(struct fake *f, uint64_t addr)
{
	(void)addr;
	f->memory[SHIM(1) + f->rt.off.frame.owner - BASE] = f->copies >= 2 ? 0 : 3;
	put(f, SHIM(1) + f->rt.off.frame.instr, CODES + 20 * 0x800 + f->rt.off.code.bytecode + 4);
}

static void memory_of_the_c_stack_is_no_python_frame(void **state)
{
	(void)state;
	struct fake *f = fake_with_shims();
	struct pystack k;
	assert_int_equal(read_first(f, &k), 0);
	f->piece = reuse_shim;
	for (unsigned i = 0; i < 8; i++) {
		if (read_first(f, &k) != 0)
			continue;
		for (size_t n = 0; n < k.n; n++)
			assert_string_not_equal(k.frames[n].known->name, "<interpreter trampoline>");
	}
	fake_free(f);
}

static void garbage_on_the_data_stack_does_not_end_a_chain(void **state)
{
	(void)state;
	struct fake *f = fake_with_shims();
	struct pystack k;
	f->memory[frame_at(f, 2) + f->rt.off.frame.owner - BASE] = 3;
	put(f, frame_at(f, 2) + f->rt.off.frame.previous, 0);
	assert_int_equal(read_first(f, &k), PYSTACK_TORN);
	fake_free(f);
}

static void stack_that_grows_and_shrinks_is_expected_deep(void **state)
{
	(void)state;
	struct fake *f = fake_new(11, 60);
	struct pystack k;
	newest(f, 3);
	assert_int_equal(read_first(f, &k), 0);
	check_stack(&k, 3);
	newest(f, 60);
	assert_int_equal(read_first(f, &k), 0);
	check_stack(&k, 60);
	const struct pythread *threads;
	size_t n;
	assert_int_equal(pystacks_threads(f->stacks, &threads, &n), 0);
	uint64_t before = f->reads;
	for (unsigned i = 0; i < 10; i++) {
		newest(f, i % 2 ? 60 : 3);
		assert_int_equal(pystacks_read(f->stacks, &threads[0], false, &k), 0);
		check_stack(&k, i % 2 ? 60 : 3);
	}
	assert_in_range(f->reads - before, 10, 12); /* one that was interrupted is read again */
	assert_int_equal(pystacks_stats(f->stacks).walks, 0);
	fake_free(f);
}

/* Three frames in the first piece of the data stack, and maybe a fourth in the next one, which is else put aside. */
static void use_next_piece(struct fake *f, bool used)
{
	const uint64_t frame = CHUNK_NEXT + 32, tstate = TSTATE + f->rt.off.thread.datastack_chunk;
	newest(f, 3);
	put(f, CHUNK_NEXT, used ? CHUNK : 0);
	put(f, tstate, used ? CHUNK_NEXT : CHUNK);
	if (used) {
		put(f, CFRAME + f->rt.off.thread.cframe_current, frame);
		put(f, tstate + 8, frame + FRAME_BYTES);
	}
}

/* In step with who reads it: whenever the thread state is read alone, it has gone back. */
static void go_on_in_pictures(struct fake *f, uint64_t addr)
{
	uint64_t tstate = addr - TSTATE;
	if (addr == CHUNK || (tstate < 0x1000 && f->copies == 0))
		use_next_piece(f, addr == CHUNK);
}

static void piece_that_is_put_aside_is_found_by_where_pictures_lead(void **state)
{
	(void)state;
	struct fake *f = fake_new(11, 3);
	struct pystack k;
	uint64_t code = put_code(f, 3, "step");
	put(f, CHUNK + 16, 49); /* top: what has had another piece above it has one */
	put(f, CHUNK_NEXT + 8, 16384);
	put(f, CHUNK_NEXT + 32 + f->rt.off.frame.code, code);
	put(f, CHUNK_NEXT + 32 + f->rt.off.frame.previous, frame_at(f, 2));
	put(f, CHUNK_NEXT + 32 + f->rt.off.frame.instr, code + f->rt.off.code.bytecode + 4);
	assert_int_equal(read_first(f, &k), 0);
	check_stack(&k, 3);
	f->piece = go_on_in_pictures;
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(read_first(f, &k), 0);
		check_stack(&k, 4);
		assert_string_equal(k.frames[0].known->name, "step");
	}
	assert_int_equal(pystacks_stats(f->stacks).dropped, 0);
	assert_in_range(pystacks_stats(f->stacks).retries, 0, 20);
	fake_free(f);
}

static void thread_list_in_a_circle_ends(void **state)
{
	(void)state;
	struct fake *f = fake_new(11, 4);
	const struct pythread *threads;
	size_t n;
	put_thread(f, HEAP, TSTATE, HEAP + 0x1000);
	put_thread(f, HEAP + 0x1000, HEAP, HEAP);
	put(f, TSTATE + f->rt.off.thread.next, HEAP);
	assert_int_equal(pystacks_threads(f->stacks, &threads, &n), REMOTE_FAULT);
	assert_in_range(f->reads, 1, 100);
	put(f, TSTATE + f->rt.off.thread.next, TSTATE);
	put(f, TSTATE + f->rt.off.thread.prev, TSTATE);
	assert_int_equal(pystacks_threads(f->stacks, &threads, &n), REMOTE_FAULT);
	fake_free(f);
}

static void thread_that_comes_or_ends_is_noticed(void **state)
{
	(void)state;
	struct fake *f = fake_new(11, 4);
	const struct pythread *threads;
	struct pystack k;
	size_t n;
	assert_int_equal(pystacks_threads(f->stacks, &threads, &n), 0);
	assert_int_equal(n, 1);
	put_thread(f, HEAP, TSTATE, 0);
	put(f, TSTATE + f->rt.off.thread.next, HEAP);
	assert_int_equal(pystacks_threads(f->stacks, &threads, &n), 0);
	assert_int_equal(n, 2);
	struct pythread second = threads[1];
	assert_int_equal(pystacks_read(f->stacks, &second, false, &k), 0);
	put(f, HEAP + f->rt.off.thread.thread_id, 0x9999); /* another thread at the same address */
	assert_int_equal(pystacks_read(f->stacks, &second, false, &k), PYSTACK_STALE);
	put(f, TSTATE + f->rt.off.thread.next, 0);
	assert_int_equal(pystacks_threads(f->stacks, &threads, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(pystacks_read(f->stacks, &second, false, &k), PYSTACK_STALE);
	fake_free(f);
}

/* Its mark is read along, and only when it is asked for. */
static void another_program_is_noticed_in_the_same_read(void **state)
{
	(void)state;
	struct fake *f = fake_new(11, 4);
	const struct pythread *threads;
	struct pystack k;
	size_t n;
	put(f, HEAP, 77);
	pystacks_program_id(f->stacks, HEAP, 77);
	assert_int_equal(read_first(f, &k), 0);
	assert_int_equal(pystacks_threads(f->stacks, &threads, &n), 0);
	pystacks_ask_program_id(f->stacks);
	uint64_t before = f->reads;
	assert_int_equal(pystacks_read(f->stacks, &threads[0], false, &k), 0);
	assert_int_equal(f->reads - before, 1);
	assert_false(pystacks_program_id_is_open(f->stacks));
	put(f, HEAP, 78);
	assert_int_equal(pystacks_read(f->stacks, &threads[0], false, &k), 0); /* not asked for */
	pystacks_ask_program_id(f->stacks);
	assert_int_equal(pystacks_read(f->stacks, &threads[0], false, &k), PYSTACK_OTHER);
	assert_true(pystacks_program_id_is_open(f->stacks));
	fake_free(f);
	f = fake_new(11, 4);
	pystacks_program_id(f->stacks, BASE + SIZE, 77); /* not mapped any more */
	pystacks_ask_program_id(f->stacks);
	assert_int_equal(read_first(f, &k), PYSTACK_OTHER);
	fake_free(f);
}

static void no_interpreter_is_not_yet(void **state)
{
	(void)state;
	struct fake *f = fake_new(11, 4);
	const struct pythread *threads;
	size_t n;
	put(f, RUNTIME + f->rt.off.runtime.interpreters_head, 0);
	assert_int_equal(pystacks_threads(f->stacks, &threads, &n), PYRT_NOT_YET);
	fake_free(f);
}

static void process_that_ends_is_gone(void **state)
{
	(void)state;
	struct fake *f = fake_new(11, 4);
	struct pystack k;
	assert_int_equal(read_first(f, &k), 0);
	f->gone = true;
	assert_int_equal(read_first(f, &k), WORLD_GONE);
	fake_free(f);
}

/* Flips between two threads of the same list: each read finds another holder. */
static void holder_is_known(void **state)
{
	(void)state;
	struct fake *f = fake_new(11, 4);
	struct pystack k;
	put(f, RUNTIME + f->rt.off.runtime.gilstate_current, TSTATE);
	assert_int_equal(read_first(f, &k), 0);
	assert_int_equal(k.gil, PYGIL_HOLDS);
	put(f, RUNTIME + f->rt.off.runtime.gilstate_current, HEAP);
	put_u32(f, INTERP + f->rt.off.interp.gc_collecting, 1);
	assert_int_equal(read_first(f, &k), 0);
	assert_int_equal(k.gil, PYGIL_NOT);
	assert_true(k.collecting);
	fake_free(f);
}

static uint64_t random_next(void)
{
	static uint64_t x = UINT64_C(0x9e3779b97f4a7c15);
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/* Words of the process change all the time, to addresses in it and to anything. */
static void scribble(struct fake *f)
{
	for (int i = 0; i < 4; i++) {
		uint64_t r = random_next(), value = random_next();
		uint64_t at = (r & 3) ? CHUNK - BASE + r % 4096 : r % SIZE;
		value = value % 4 == 0 ? value : BASE + value % SIZE;
		put(f, BASE + (at & ~UINT64_C(7)), value);
	}
}

static void garbage_everywhere_ends_soon(void **state)
{
	static const uint8_t minors[] = {8, 9, 10, 11, 12};
	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct fake *f = fake_new(minors[round % ARRAY_SIZE(minors)], round % 12);
		struct pystack k;
		f->before = scribble;
		for (int i = 0; i < 20; i++)
			ignore(read_first(f, &k), "any answer is fine, so long as there is one");
		struct pystack_stats s = pystacks_stats(f->stacks);
		assert_true(s.dropped <= s.samples);
		assert_in_range(f->reads, 1, 200000);
		fake_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stack_is_read_innermost_first),
		cmocka_unit_test(second_sample_costs_one_read),
		cmocka_unit_test(thread_without_python_code_has_no_frames),
		cmocka_unit_test(cycle_of_frames_is_dropped_and_counted),
		cmocka_unit_test(frame_without_code_is_not_shown),
		cmocka_unit_test(instruction_outside_of_its_code_is_not_shown),
		cmocka_unit_test(chain_that_ends_too_early_is_not_shown),
		cmocka_unit_test(frame_in_the_making_is_not_shown),
		cmocka_unit_test(frames_of_the_interpreter_are_marks_only),
		cmocka_unit_test(memory_of_the_c_stack_is_no_python_frame),
		cmocka_unit_test(garbage_on_the_data_stack_does_not_end_a_chain),
		cmocka_unit_test(stack_that_grows_and_shrinks_is_expected_deep),
		cmocka_unit_test(piece_that_is_put_aside_is_found_by_where_pictures_lead),
		cmocka_unit_test(thread_list_in_a_circle_ends),
		cmocka_unit_test(thread_that_comes_or_ends_is_noticed),
		cmocka_unit_test(another_program_is_noticed_in_the_same_read),
		cmocka_unit_test(no_interpreter_is_not_yet),
		cmocka_unit_test(process_that_ends_is_gone),
		cmocka_unit_test(holder_is_known),
		cmocka_unit_test(garbage_everywhere_ends_soon),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
