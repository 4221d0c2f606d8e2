/* The inside of unwind: shared by its files only. */
#pragma once

#include "sense/native/native_parts.h"
#include "sense/native/unwind.h"

#define PAGE_BYTES UINT64_C(4096)
#define PROLOGUE_COPIES 4

/* Registers that a function must preserve, by the processors' calling conventions, plus sp and pc. */
#if defined(__x86_64__)
enum { REG_FP = 6, REG_SP = 7, REG_PC = 16 };
#define KEPT_REGS (UINT64_C(0xf000) | 1 << 3 | 1 << REG_FP | 1 << REG_SP | 1 << REG_PC)
#define FP_FIXES_SP true /* push %rbp; mov %rsp,%rbp: the frame's size follows from the pointer */
#define RETURN_ON_STACK 8
#else
enum { REG_FP = 29, REG_SP = 31, REG_PC = 32 };
#define KEPT_REGS (UINT64_C(0x3ff80000) | UINT64_C(1) << REG_SP | UINT64_C(1) << REG_PC)
#define FP_FIXES_SP false
#define RETURN_ON_STACK 0
#endif

/* A step went on; other results are enum unwind_end. */
#define STEP_ON (-1)

struct walk {
	struct native *native;
	const struct unwind_stack *stack;
	struct unwind_trace *trace;
	struct unwind_regs now;
	bool exact; /* now's pc is the instruction itself */
	bool by_pointer; /* now was found by a frame pointer */
	bool scanned; /* the stack has been searched for the innermost function's return address */
	unsigned tries; /* return addresses that were followed in that search */
	uint64_t floor; /* the stack pointer cannot be below this from here on */
	unsigned n_signals;
	uint64_t page_at; /* address of page[0]; 1: the page is empty */
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

enum call { CALL_NONE, CALL_SOME, CALL_NEAR /* CALL_NEAR: a direct call to a function that may be the callee */ };

/* ---- unwind.c ---- */
/* Reads from the copied stack, else from the process. ctx: the walk. */
bool unwind_load(void *ctx, uint64_t addr, uint64_t *ret);
/* Tells whether addr is right behind a call. */
enum call unwind_call_of(struct walk *w, uint64_t addr);
/* Walks from w->now to the end: enum unwind_end. */
int unwind_on(struct walk *w);

/* ---- unwind_scan.c ---- */
/* What the code at a function's start does to the stack pointer. */
struct prologue {
	uint64_t room; /* bytes taken, pushes included */
	bool takes; /* sub $n,%rsp */
	bool aligns; /* and $-n,%rsp: the room taken is unknown from here on */
	struct {
		unsigned reg; /* register that holds an earlier stack pointer */
		uint64_t room; /* bytes taken when the copy was made */
	} copy[PROLOGUE_COPIES];
	size_t n_copies;
};

/* Reads the code from the function's start up to pc. False: the function takes no room by sub. */
bool prologue_read(const struct walk *w, uint64_t function, uint64_t pc, struct prologue *ret);
/*
 * For a function whose frame depends on the frame pointer, which is unknown. The distance to the stack pointer follows
 * from the bytes that the function saved (saved_bytes, return address included, by its information) and from the room
 * that the code at its start took. True if a return address is at the resulting place: *ret_return_at.
 */
bool unwind_frame_by_code(struct walk *w, uint64_t function, uint64_t saved_bytes, uint64_t *ret_return_at);
/*
 * For an innermost function without call frame information, or with one that does not describe the room it took on the
 * stack. UNWIND_COMPLETE with the whole trace, or UNWIND_NO_INFO and the walk unchanged.
 */
int unwind_scan(struct walk *w, const struct prologue *p);
