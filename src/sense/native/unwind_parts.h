/*
 * The inside of unwind: shared by its files, by nobody else.
 */
#pragma once

#include "sense/native/native_parts.h"
#include "sense/native/unwind.h"

#define PAGE_BYTES UINT64_C(4096)
#define PROLOGUE_COPIES 4

/* What a function has to give back to its caller as it was, by the processors' calling conventions; sp and pc. */
#if defined(__x86_64__)
enum { REG_FP = 6, REG_SP = 7, REG_PC = 16 };
#define KEPT_REGS (UINT64_C(0xf000) | 1 << 3 | 1 << REG_FP | 1 << REG_SP | 1 << REG_PC)
#define FP_FIXES_SP true /* push %rbp; mov %rsp,%rbp: the frame ends where the pointer shows */
#define RETURN_ON_STACK 8
#else
enum { REG_FP = 29, REG_SP = 31, REG_PC = 32 };
#define KEPT_REGS (UINT64_C(0x3ff80000) | UINT64_C(1) << REG_SP | UINT64_C(1) << REG_PC)
#define FP_FIXES_SP false
#define RETURN_ON_STACK 0
#endif

/* How a step ended, beyond enum unwind_end. */
#define STEP_ON (-1)

struct walk {
	struct native *native;
	const struct unwind_stack *stack;
	struct unwind_trace *trace;
	struct unwind_regs now;
	bool exact; /* now's pc is the instruction itself */
	bool by_pointer; /* now was found by a frame pointer */
	bool scanned; /* the stack has been searched for where the innermost function returns to … */
	unsigned tries; /* … and so many places have been followed */
	uint64_t floor; /* the stack pointer cannot be below this from here on */
	unsigned n_signals;
	uint64_t page_at; /* address of page[0]; 1: nothing is in it */
	uint8_t page[PAGE_BYTES];
};

static inline bool known(const struct unwind_regs *r, unsigned reg)
{
	return r->valid >> reg & 1;
}

static inline void set(struct unwind_regs *r, unsigned reg, uint64_t v)
{
	r->reg[reg] = v;
	r->valid |= UINT64_C(1) << reg;
}

enum call { CALL_NONE, CALL_SOME, CALL_NEAR /* straight to a function that may be the one meant */ };

/* unwind.c */
/* Of the copied stack, else of the process. ctx: the walk. */
bool unwind_load(void *ctx, uint64_t addr, uint64_t *ret);
/* Whether addr is where a call would return to. */
enum call unwind_call_of(struct walk *w, uint64_t addr);
/* From w->now to the end: enum unwind_end. */
int unwind_on(struct walk *w);

/* unwind_scan.c */
/* What the code at a function's start does to the stack pointer. */
struct prologue {
	uint64_t room; /* bytes taken, pushes included */
	bool takes; /* sub $n,%rsp */
	bool aligns; /* and $-n,%rsp: what has been taken is not known any more */
	struct {
		unsigned reg; /* holds the stack pointer as it was … */
		uint64_t room; /* … when so much had been taken */
	} copy[PROLOGUE_COPIES];
	size_t n_copies;
};

/* Reads the code from the function's start up to pc. False: it takes no room by sub. */
bool prologue_read(const struct walk *w, uint64_t function, uint64_t pc, struct prologue *ret);
/*
 * The frame of a function hangs on the frame pointer, which is not known. How
 * far below it the stack pointer is follows from what the function saved
 * (saved_bytes, return address included, by its information) and from the room that the code at its start took. True
 * if a return address is where that leads to: *ret_return_at.
 */
bool unwind_frame_by_code(struct walk *w, uint64_t function, uint64_t saved_bytes, uint64_t *ret_return_at);
/*
 * The innermost function has no call frame information, or one that says
 * nothing of the room it took on the stack. UNWIND_COMPLETE with the whole
 * trace, or UNWIND_NO_INFO and the walk as it was.
 */
int unwind_scan(struct walk *w, const struct prologue *p);
