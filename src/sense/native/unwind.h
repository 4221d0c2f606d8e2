/*
 * Native stacks: the return addresses of one thread, from its registers and a copy of its stack. The thread is stopped
 * only while these two are copied (native/stopper.h); the walk happens afterwards on the copy.
 *
 * Frames are found by the .eh_frame call frame information of each file (DWARF 5 section 6.4, LSB's .eh_frame_hdr).
 * Each address asked for becomes a compact row that is kept by build id, across processes. Where there is no
 * information, frame pointers are used if they are plausible. Where the code shows that its information is wrong or
 * missing (hand-written code, as in BLAS libraries), the walk continues at the nearest word of the stack that is a
 * return address and leads to the thread's first function. Unknown callers end the walk; they are not guessed. All
 * bytes are foreign: time is bounded, and none of them can crash vigil.
 */
#pragma once

#include "sense/native/elffile.h"
#include "sense/native/lineserver.h"
#include "sense/proc/remote.h"

#define UNWIND_FRAMES 4096
#define UNWIND_STACK_BYTES (64 * 1024) /* bytes copied at most; memory above is read while the thread runs on */

struct unwind_regs {
	/* x86_64: in the order of DWARF's numbers (rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip);
	 * aarch64: x0..x30, sp, pc. */
	uint64_t reg[33];
	uint64_t valid; /* bit n: reg[n] is known */
	bool in_call; /* it was in a system call, of this number; false also where that is not known */
	uint32_t call;
};
/* The argument of a system call that it was in: i is 0 to 5. */
uint64_t unwind_call_argument(const struct unwind_regs *r, size_t i);
#define UNWIND_ALL_VALID ((UINT64_C(1) << 33) - 1)
uint64_t unwind_sp(const struct unwind_regs *r);

struct unwind_stack {
	uint64_t sp; /* address of bytes[0]; a red zone below the thread's stack pointer may be included */
	size_t n_bytes;
	uint8_t bytes[UNWIND_STACK_BYTES];
};

enum unwind_end {
	UNWIND_COMPLETE, /* reached the thread's or the process's first function */
	UNWIND_NO_INFO, /* no caller found for the last address (JIT, stripped of call frame information) */
	UNWIND_BAD_MEMORY, /* the stack could not be read there */
	UNWIND_TOO_DEEP,
};

struct unwind_frame {
	uint64_t pc; /* as found: a return address, except in the innermost and in signal frames */
	uint64_t cfa; /* stack address of the frame: matches it with Python frames in doubt */
	bool exact; /* pc is the instruction itself, not the one behind a call */
};

struct unwind_trace {
	struct unwind_frame frame[UNWIND_FRAMES]; /* innermost first */
	size_t n;
	enum unwind_end end;
	/*
	 * The walk went beyond the copy and read memory of a thread that was running again. Outer frames seldom change,
	 * but these are not certain.
	 */
	bool beyond_copy;
};

/* Tables and symbols of files, shared by all processes. Not locked: one thread. */
struct natives;
struct natives *natives_new(void);
/*
 * What programs' files may cost all in all, as a user could make files of any size. As they are made: 32 Mi functions,
 * 1 GiB and 60 s for lines. Whoever has more is shown without names, or without lines.
 */
struct natives_limits {
	size_t symbols; /* functions with names, of 16 bytes each */
	struct lineserver_limits lines;
};
void natives_limit(struct natives *n, const struct natives_limits *most);
struct natives *natives_free(struct natives *n);
static inline void natives_freep(struct natives **n)
{
	*n = natives_free(*n);
}

/* One process: its mappings, tied to files of the cache. Borrows all arguments. */
struct native;
struct native *native_new(struct natives *files, const struct world *w, struct remote *r);
struct native *native_free(struct native *p);
static inline void native_freep(struct native **p)
{
	*p = native_free(*p);
}
/*
 * Reads the mappings (again). native_new calls it, and so does any lookup of an address that lies in none. WORLD_GONE,
 * WORLD_DENIED.
 */
int must_check native_refresh(struct native *p);

/*
 * Loads the tables of mapped files with code, as far as these are no larger than file_bytes, until end_ns
 * (world->mono_ns), so that the first walk need not wait for it.
 */
void native_prepare(struct native *p, uint64_t file_bytes, uint64_t end_ns);

/*
 * Walks one stack. stack may be NULL (then memory is read from the process, which must be stopped). Never fails: the
 * reason for an early end is ret->end.
 */
void native_unwind(struct native *p, const struct unwind_regs *regs, const struct unwind_stack *stack,
		   struct unwind_trace *ret);

enum native_symbol_kind {
	/*
	 * Only the file is known, or nothing. The name is "0x7f…"; with a module it is the file's own address: that of
	 * the function's start if call frame information gives it.
	 */
	NATIVE_UNKNOWN,
	NATIVE_FUNCTION,
	/* CPython's evaluation loop: Python frames belong here (also its .cold part and tail calls) */
	NATIVE_EVAL_LOOP,
	NATIVE_TRAMPOLINE, /* CPython's perf trampoline (py::…): the Python frame itself says more */
	NATIVE_JIT, /* from /tmp/perf-PID.map */
};

/*
 * A hash of what a stopped thread computes with: its registers but for the place, and the memory of its innermost
 * frame. 0: they are not all known, or it was in a system call.
 */
uint64_t unwind_state(const struct unwind_regs *regs, const struct unwind_stack *stack,
		      const struct unwind_trace *trace);

struct native_symbol {
	enum native_symbol_kind kind;
	const char *name; /* demangled (C++, Rust); borrowed for the life of the natives */
	const char *module; /* "libtorch_cpu.so"; "": unknown */
	const char *file; /* source file; "" unless native_line was called and there is debug information */
	uint32_t line;
	uint64_t offset; /* from the function's start */
};

/*
 * Name of an address. exact: pc is an instruction; false: pc is a return address, and one byte is subtracted so that a
 * call at a function's end is not attributed to the next function. Symbols: .symtab, .dynsym; separate debug files by
 * build id and debug link under the process's own /usr/lib/debug; perf-PID.map in the process's own /tmp.
 */
void native_symbol(struct native *p, uint64_t pc, bool exact, struct native_symbol *ret);
/* Adds file and line from DWARF (libdw, loaded on first use). Slow: call it only for frames that are shown. */
void native_line(struct native *p, uint64_t pc, bool exact, struct native_symbol *ret);
