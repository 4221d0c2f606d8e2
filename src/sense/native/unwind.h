/*
 * Native stacks: the return addresses of one thread, from its registers and a
 * copy of its stack. The thread is stopped only while these two are taken
 * (native/stopper.h); the walk happens afterwards on the copy.
 *
 * Frames are found by the .eh_frame call frame information of each file
 * (DWARF 5 section 6.4, LSB's .eh_frame_hdr), of which each address asked for
 * becomes a compact row that is kept (by build id, across processes). Where
 * there is no information: frame pointers, if they make sense. Where the code
 * that a thread is in shows that its information is wrong or missing (hand-written, as in
 * BLAS libraries): the nearest word of the stack that is a return address and
 * leads to the thread's first function. What is not known ends the walk, and is not guessed. Foreign bytes
 * everywhere: bounded time, no crash.
 */
#pragma once

#include "sense/native/elffile.h"
#include "sense/proc/remote.h"

#define UNWIND_FRAMES 4096
#define UNWIND_STACK_BYTES (64 * 1024) /* copied at most; what is above is read while the thread runs on */

struct unwind_regs {
	/* x86_64: in the order of DWARF's numbers (rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip);
	 * aarch64: x0..x30, sp, pc. */
	uint64_t reg[33];
	uint64_t valid; /* bit n: reg[n] is known */
};
#define UNWIND_ALL_VALID ((UINT64_C(1) << 33) - 1)
uint64_t unwind_sp(const struct unwind_regs *r);

struct unwind_stack {
	uint64_t sp; /* address of bytes[0]; a red zone below the thread's stack pointer may be included */
	size_t n_bytes;
	uint8_t bytes[UNWIND_STACK_BYTES];
};

enum unwind_end {
	UNWIND_COMPLETE, /* reached the thread's or the process's first function */
	UNWIND_NO_INFO, /* no way on from the last address (JIT, stripped of call frame information) */
	UNWIND_BAD_MEMORY, /* the stack could not be read there */
	UNWIND_TOO_DEEP,
};

struct unwind_frame {
	uint64_t pc; /* as found: a return address, but for the innermost and signal frames */
	uint64_t cfa; /* stack address of the frame: for matching Python frames in doubt */
	bool exact; /* pc is the instruction itself, not the one behind a call */
};

struct unwind_trace {
	struct unwind_frame frame[UNWIND_FRAMES]; /* innermost first */
	size_t n;
	enum unwind_end end;
	/*
	 * The walk went beyond the copy and read memory of a thread that had gone
	 * on. Old frames seldom change, but for these it is not certain.
	 */
	bool beyond_copy;
};

/* Files' tables and symbols, shared by all processes looked into. Not locked: one thread. */
struct natives;
struct natives *natives_new(void);
struct natives *natives_free(struct natives *n);
static inline void natives_freep(struct natives **n)
{
	*n = natives_free(*n);
}

/* One process: its mappings tied to files of the cache. Borrows everything given. */
struct native;
struct native *native_new(struct natives *files, const struct world *w, struct remote *r);
struct native *native_free(struct native *p);
static inline void native_freep(struct native **p)
{
	*p = native_free(*p);
}
/*
 * Reads the mappings (again). Called by native_new and by itself when an
 * address lies in none of them. WORLD_GONE, WORLD_DENIED.
 */
int must_check native_refresh(struct native *p);

/*
 * Loads the tables of files that code is mapped from, as far as these are no larger than file_bytes, until end_ns
 * (world->mono_ns): what a first walk would have to wait for.
 */
void native_prepare(struct native *p, uint64_t file_bytes, uint64_t end_ns);

/*
 * Walk. stack may be NULL (then memory is read from the process, which must
 * stand still). Never fails: what went wrong is ret->end.
 */
void native_unwind(struct native *p, const struct unwind_regs *regs, const struct unwind_stack *stack,
		   struct unwind_trace *ret);

enum native_symbol_kind {
	/*
	 * Only the file is known, or nothing. The name is "0x7f…"; with a module it is the file's own address, that of
	 * the function's start if call frame information tells it.
	 */
	NATIVE_UNKNOWN,
	NATIVE_FUNCTION,
	NATIVE_EVAL_LOOP, /* CPython's evaluation loop: Python frames belong here (also its .cold part and tail calls) */
	NATIVE_TRAMPOLINE, /* CPython's perf trampoline (py::…): the Python frame itself says more */
	NATIVE_JIT, /* from /tmp/perf-PID.map */
};

struct native_symbol {
	enum native_symbol_kind kind;
	const char *name; /* demangled (C++, Rust); borrowed for the life of the natives */
	const char *module; /* "libtorch_cpu.so", "" */
	const char *file; /* source file; "" unless native_line was asked and there is debug information */
	uint32_t line;
	uint64_t offset; /* into the function */
};

/*
 * Name of an address. Addresses of calls are passed as found with exact
 * false: one byte is taken off, so that a call at a function's end is not
 * given to the next function. Symbols: .symtab, .dynsym, .gnu_debugdata-free;
 * separate debug files by build id and debug link under the process's own
 * /usr/lib/debug; perf-PID.map in the process's own /tmp.
 */
void native_symbol(struct native *p, uint64_t pc, bool exact, struct native_symbol *ret);
/* Adds file and line from DWARF (libdw, loaded when first asked). Slow: only for what is shown. */
void native_line(struct native *p, uint64_t pc, bool exact, struct native_symbol *ret);
