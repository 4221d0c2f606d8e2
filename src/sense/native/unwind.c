#include "sense/native/unwind.h"

#include <string.h>

#include "sense/native/ehframe.h"
#include "sense/native/unwind_parts.h"

/* Nested signal handlers; real programs have one or two. */
#define SIGNAL_FRAMES_MAX 32
/* A call found before a return address fits the function it calls if that begins at most this far before. */
#define FUNCTION_BYTES_MAX UINT64_C(65536)

uint64_t unwind_sp(const struct unwind_regs *r)
{
	return r->reg[REG_SP];
}

/* Signed return addresses (pointer authentication) carry the signature in bits that no address uses. */
static uint64_t address_of(uint64_t v)
{
#if defined(__aarch64__)
	return v & ((UINT64_C(1) << 48) - 1);
#else
	return v;
#endif
}

/* ---- memory ---- */

static bool load_live(struct walk *w, uint64_t addr, uint64_t *ret)
{
	uint64_t page = addr & ~(PAGE_BYTES - 1);
	w->trace->beyond_copy |= w->stack != NULL;
	if (addr - page > PAGE_BYTES - 8)
		return remote_u64(native_remote(w->native), addr, ret) == 0;
	if (w->page_at != page) {
		w->page_at = 1;
		if (remote_read(native_remote(w->native), page, w->page, sizeof(w->page)) != 0)
			return false;
		w->page_at = page;
	}
	memcpy(ret, w->page + (addr - page), sizeof(*ret));
	return true;
}

bool unwind_load(void *ctx, uint64_t addr, uint64_t *ret)
{
	struct walk *w = ctx;
	const struct unwind_stack *s = w->stack;
	if (s && addr >= s->sp && s->n_bytes >= 8 && addr - s->sp <= s->n_bytes - 8) {
		memcpy(ret, s->bytes + (addr - s->sp), sizeof(*ret));
		return true;
	}
	return load_live(w, addr, ret);
}

/* ---- code ---- */

static bool executable(struct walk *w, uint64_t addr)
{
	struct native_spot spot;
	if (addr < PAGE_BYTES)
		return false;
	native_spot_at(w->native, addr, &spot);
	return spot.row && (spot.row->flags & MAP_EXEC);
}

#if defined(__x86_64__)
static bool is_indirect_call(const uint8_t *end, size_t len)
{
	/* ff /2: opcode, ModRM, then SIB and displacement as ModRM says. */
	const uint8_t *p = end - len;
	if (p[0] != 0xff || (p[1] >> 3 & 7) != 2)
		return false;
	unsigned mod = p[1] >> 6, rm = p[1] & 7;
	size_t displacement = mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0;
	size_t want = displacement + (mod != 3 && rm == 4 ? 3 : 2);
	if (mod == 0 && rm == 4 && len >= 3 && (p[2] & 7) == 5)
		want += 4;
	return want == len;
}

/* code: the 8 bytes before addr */
static enum call call_before(const uint8_t *code, uint64_t addr, uint64_t callee)
{
	int32_t by;
	if (code[3] == 0xe8) {
		memcpy(&by, code + 4, sizeof(by));
		uint64_t target = addr + (uint64_t)(int64_t)by;
		return target <= callee && callee - target < FUNCTION_BYTES_MAX ? CALL_NEAR : CALL_SOME;
	}
	for (size_t len = 2; len <= 7; len++)
		if (is_indirect_call(code + 8, len))
			return CALL_SOME;
	return CALL_NONE;
}
#else
static enum call call_before(const uint8_t *code, uint64_t addr, uint64_t callee)
{
	uint32_t op;
	memcpy(&op, code + 4, sizeof(op));
	if ((op & 0xfc000000) == 0x94000000) { /* bl */
		uint64_t target = addr - 4 + (uint64_t)(((int64_t)(int32_t)(op << 6)) >> 4);
		return target <= callee && callee - target < FUNCTION_BYTES_MAX ? CALL_NEAR : CALL_SOME;
	}
	/* blr and its variants that authenticate */
	return (op & 0xfefff000) == 0xd63f0000 ? CALL_SOME : CALL_NONE;
}
#endif

/* True if addr is where a call would return to. */
enum call unwind_call_of(struct walk *w, uint64_t addr)
{
	uint8_t code[8];
	if (!executable(w, addr) || remote_read(native_remote(w->native), addr - 8, code, sizeof(code)) != 0)
		return CALL_NONE;
	return call_before(code, addr, w->now.reg[REG_PC]);
}

/* ---- by call frame information ---- */

static enum unwind_end machine_end(const struct eh_machine *m)
{
	return m->fault ? UNWIND_BAD_MEMORY : UNWIND_NO_INFO;
}

struct rules {
	struct walk *w;
	const struct ehtable *table;
	uint64_t function; /* its first address, in the process */
	uint64_t cfa;
};

static int evaluate(struct rules *x, const struct eh_rule *rule, const uint64_t *push, uint64_t *ret)
{
	struct eh_machine m = {.reg = x->w->now.reg, .valid = x->w->now.valid, .load = unwind_load, .ctx = x->w};
	int r = eh_evaluate(&m, ehtable_expression(x->table, rule), rule->len, push, ret);
	return r == 0 ? STEP_ON : (int)machine_end(&m);
}

/* True if addr is right behind a direct call to the function that we are in. */
static bool returns_from(struct rules *x, uint64_t addr)
{
#if defined(__x86_64__)
	uint8_t code[5];
	int32_t by;
	/* A direct call reaches 2 GiB: that alone excludes nearly every word on a stack. */
	if (addr - x->function + UINT64_C(0x80000000) > UINT32_MAX || !executable(x->w, addr) ||
	    remote_read(native_remote(x->w->native), addr - 5, code, sizeof(code)) != 0 || code[0] != 0xe8)
		return false;
	memcpy(&by, code + 1, sizeof(by));
	return addr + (uint64_t)(int64_t)by == x->function;
#else
	/* On AArch64 the position of the saved frame pointer does not follow from that of the return address. */
	(void)x;
	(void)addr;
	return false;
#endif
}

/*
 * GCC realigns the stack of some functions (vectors): the return address is then there twice, the second time above a
 * saved frame pointer and the address of the first.
 */
static bool is_realigned(struct walk *w, uint64_t at, uint64_t ra)
{
	uint64_t cfa, first;
	return unwind_load(w, at - 16, &cfa) && cfa > at + 8 && cfa - at < 64 * KIB &&
	       unwind_load(w, cfa - 8, &first) && first == ra;
}

/*
 * The frame pointer is unknown, as in a thread that was not stopped, but the frame depends on it. If exactly one word
 * of the stack is the return address of a direct call to this function, the frame ends there. More than one (recursion,
 * or an old one left over) proves nothing.
 */
static bool pointer_prove(struct rules *x, bool realigned, uint64_t *ret_return_at)
{
	const uint64_t span = 32 * KIB;
	const struct unwind_stack *s = x->w->stack;
	uint64_t found = 0, end = s ? s->sp + s->n_bytes : 0;
	if (known(&x->w->now, REG_FP))
		return false;
	for (uint64_t at = x->w->floor; at < end && at - x->w->floor < span; at += 8) {
		uint64_t v;
		if (!unwind_load(x->w, at, &v) || !returns_from(x, v) || (realigned && !is_realigned(x->w, at, v)))
			continue;
		if (found)
			return false;
		found = at;
	}
	*ret_return_at = found;
	return found != 0;
}

/* Bytes that the function has pushed: its return address and registers, down to the lowest. */
static uint64_t saved_bytes(const struct eh_row *row)
{
	int64_t lowest = 0;
	for (size_t i = 0; i < row->n; i++)
		if (row->what[i].rule.kind == EH_OFFSET)
			lowest = MIN(lowest, (int64_t)row->what[i].rule.value);
	return (uint64_t)-lowest;
}

static int cfa_of(struct rules *x, const struct eh_row *row)
{
	struct unwind_regs *now = &x->w->now;
	uint64_t return_at;
	if (row->cfa.kind == EH_VAL_EXPR) {
		int r = evaluate(x, &row->cfa, NULL, &x->cfa);
		if (r != UNWIND_NO_INFO || !pointer_prove(x, true, &return_at))
			return r;
		set(now, REG_FP, return_at - 8);
		return evaluate(x, &row->cfa, NULL, &x->cfa);
	}
	if (!known(now, row->cfa.reg)) {
		if (row->cfa.reg != REG_FP || (!unwind_frame_by_code(x->w, x->function, saved_bytes(row), &return_at) &&
					       !pointer_prove(x, false, &return_at)))
			return UNWIND_NO_INFO;
		set(now, REG_FP, return_at + 8 - (uint64_t)(int64_t)row->cfa.value);
	}
	x->cfa = now->reg[row->cfa.reg] + (uint64_t)(int64_t)row->cfa.value;
	return STEP_ON;
}

/*
 * Recovers one register of the caller. A register that cannot be recovered is unknown from here on; that is no error.
 */
static void recover(struct rules *x, unsigned reg, const struct eh_rule *rule, struct unwind_regs *next)
{
	uint64_t v = x->cfa + (uint64_t)(int64_t)rule->value;
	bool have = false;
	switch (rule->kind) {
	case EH_OFFSET:
		have = unwind_load(x->w, v, &v);
		break;
	case EH_VAL_OFFSET:
		have = true;
		break;
	case EH_REGISTER:
		have = known(&x->w->now, rule->reg);
		v = x->w->now.reg[rule->reg];
		break;
	case EH_EXPR:
		have = evaluate(x, rule, &x->cfa, &v) == STEP_ON && unwind_load(x->w, v, &v);
		break;
	case EH_VAL_EXPR:
		have = evaluate(x, rule, &x->cfa, &v) == STEP_ON;
		break;
	default:
		break;
	}
	if (have)
		set(next, reg, v);
	else
		next->valid &= ~(UINT64_C(1) << reg);
}

static const struct eh_rule *rule_of(const struct eh_row *row, uint8_t reg)
{
	for (size_t i = 0; i < row->n; i++)
		if (row->what[i].reg == reg)
			return &row->what[i].rule;
	return NULL;
}

/*
 * The stack only gets shorter towards the caller. A frame without stack of its own is possible for the innermost only:
 * AArch64's leaves, and vfork, which takes its return address off the stack.
 */
static bool grows(const struct walk *w, uint64_t cfa)
{
	return w->exact ? cfa >= w->floor : cfa > w->floor;
}

/* True if the function's information claims that it has nothing on the stack, but its code takes room there. */
static bool hides_its_room(const struct rules *x, const struct eh_row *row, struct prologue *ret)
{
	return row->cfa.kind != EH_VAL_EXPR && row->cfa.reg == REG_SP && row->cfa.value == RETURN_ON_STACK &&
	       prologue_read(x->w, x->function, x->w->now.reg[REG_PC], ret);
}

static int by_rules(struct rules x, const struct eh_row *row, struct unwind_frame *frame)
{
	struct walk *w = x.w;
	const struct eh_rule *ra = rule_of(row, row->ra);
	struct prologue p;
	if (w->exact && w->trace->n == 1 && hides_its_room(&x, row, &p) && unwind_scan(w, &p) == UNWIND_COMPLETE)
		return UNWIND_COMPLETE;
	int r = cfa_of(&x, row);
	if (r == STEP_ON)
		frame->cfa = x.cfa;
	if (ra && ra->kind == EH_UNDEFINED)
		return UNWIND_COMPLETE;
	if (r != STEP_ON)
		return r;
	if (!ra && row->ra == REG_PC)
		return UNWIND_NO_INFO;
	if (row->signal ? ++w->n_signals > SIGNAL_FRAMES_MAX : !grows(w, x.cfa))
		return UNWIND_NO_INFO;
	struct unwind_regs next = w->now;
	if (!row->signal)
		next.valid &= KEPT_REGS | (w->exact && !ra ? UINT64_C(1) << row->ra : 0);
	set(&next, REG_SP, x.cfa);
	for (size_t i = 0; i < row->n; i++)
		recover(&x, row->what[i].reg, &row->what[i].rule, &next);
	if (!known(&next, row->ra) || !known(&next, REG_SP))
		return ra && (ra->kind == EH_OFFSET || ra->kind == EH_EXPR) ? UNWIND_BAD_MEMORY : UNWIND_NO_INFO;
	set(&next, REG_PC, address_of(next.reg[row->ra]));
	frame->exact |= row->signal; /* no call leads here: the byte before belongs to other code */
	w->now = next;
	w->exact = row->signal;
	w->by_pointer = false;
	w->floor = next.reg[REG_SP];
	return STEP_ON;
}

/* ---- without call frame information ---- */

/* Upper limit of a thread's stack: 8 MiB is usual, 1 GiB more than any has. */
static bool by_pointer(struct walk *w, struct unwind_frame *frame)
{
	uint64_t fp = w->now.reg[REG_FP], older, pc;
	if (!known(&w->now, REG_FP) || fp % 8 != 0 || fp < w->floor || fp - w->floor > GIB)
		return false;
	if (!unwind_load(w, fp, &older) || !unwind_load(w, fp + 8, &pc))
		return false;
	pc = address_of(pc);
	if ((older != 0 && older <= fp) || unwind_call_of(w, pc) == CALL_NONE)
		return false;
	w->now.valid = 0;
	set(&w->now, REG_PC, pc);
	set(&w->now, REG_FP, older);
	if (FP_FIXES_SP)
		set(&w->now, REG_SP, fp + 16);
	frame->cfa = fp + 16;
	w->floor = fp + 16;
	w->by_pointer = true;
	w->exact = false;
	return true;
}

/* For a function that has not made a frame yet, or never does: the return address is at the stack pointer. */
static bool by_leaf(struct walk *w, struct unwind_frame *frame, enum call least)
{
	uint64_t pc, sp = w->now.reg[REG_SP];
	if (!w->exact || !known(&w->now, REG_SP))
		return false;
#if defined(__x86_64__)
	if (!unwind_load(w, sp, &pc))
		return false;
#else
	if (!known(&w->now, 30))
		return false;
	pc = address_of(w->now.reg[30]);
#endif
	if (unwind_call_of(w, pc) < least)
		return false;
	w->now.valid &= KEPT_REGS;
	set(&w->now, REG_PC, pc);
	set(&w->now, REG_SP, sp + RETURN_ON_STACK);
	frame->cfa = w->floor = sp + RETURN_ON_STACK;
	w->by_pointer = w->exact = false;
	return true;
}

/*
 * For the return of a signal handler in a C library without information for it (musl): recognised by its code, mov
 * $15,%rax; syscall. The kernel's saved registers follow: struct rt_sigframe, to whose ucontext the stack pointer
 * points.
 */
static bool by_sigreturn(struct walk *w, struct unwind_frame *frame)
{
#if defined(__x86_64__)
	static const uint8_t code[9] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	static const uint8_t order[17] = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, REG_SP, REG_PC};
	const uint64_t first = 40; /* offset of the registers in struct ucontext */
	uint8_t there[sizeof(code)];
	uint64_t sp = w->now.reg[REG_SP];
	struct unwind_regs next = {.valid = 0};
	if (!known(&w->now, REG_SP) || w->n_signals >= SIGNAL_FRAMES_MAX ||
	    remote_read(native_remote(w->native), w->now.reg[REG_PC], there, sizeof(there)) != 0 ||
	    memcmp(code, there, sizeof(code)) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		uint64_t v;
		if (!unwind_load(w, sp + first + i * 8, &v))
			return false;
		set(&next, order[i], v);
	}
	if (!executable(w, next.reg[REG_PC]))
		return false;
	w->n_signals++;
	w->now = next;
	w->floor = next.reg[REG_SP];
	w->exact = true;
	w->by_pointer = false;
	frame->cfa = sp;
	frame->exact = true;
	return true;
#else
	(void)w;
	(void)frame;
	return false;
#endif
}

/*
 * For generated code that is about to return: "add $n,%rsp; ret", "pop %rbp; ret", as in CPython's perf trampolines.
 * These instructions are executed here exactly; nothing is guessed.
 */
static bool by_epilogue(struct walk *w, struct unwind_frame *frame)
{
#if defined(__x86_64__)
	static const uint8_t call_rcx[2] = {0xff, 0xd1}, add_sp[3] = {0x48, 0x83, 0xc4};
	uint8_t code[8] = {0};
	uint64_t sp = w->now.reg[REG_SP], fp = 0, pc;
	size_t n = 0;
	if (!known(&w->now, REG_SP) ||
	    remote_read(native_remote(w->native), w->now.reg[REG_PC], code, sizeof(code)) != 0)
		return false;
	if (w->exact && memcmp(code, call_rcx, sizeof(call_rcx)) == 0)
		n = sizeof(call_rcx);
	const bool adds = memcmp(code + n, add_sp, sizeof(add_sp)) == 0 && code[n + 4] == 0xc3 && code[n + 3] < 0x80;
	const bool pops = code[n] == 0x5d && code[n + 1] == 0xc3;
	if ((!adds && !pops) || (pops && !unwind_load(w, sp, &fp)))
		return false;
	sp += adds ? code[n + 3] : 8;
	if (!unwind_load(w, sp, &pc) || unwind_call_of(w, pc) == CALL_NONE)
		return false;
	w->now.valid &= KEPT_REGS;
	if (pops)
		set(&w->now, REG_FP, fp);
	set(&w->now, REG_PC, pc);
	set(&w->now, REG_SP, sp + 8);
	frame->cfa = w->floor = sp + 8;
	w->by_pointer = w->exact = false;
	return true;
#else
	(void)w;
	(void)frame;
	return false;
#endif
}

/* The innermost function has no information; its symbol gives its start. */
static bool silent_takes_room(struct walk *w, struct prologue *ret)
{
	struct native_symbol s;
	uint64_t pc = w->now.reg[REG_PC];
	native_symbol(w->native, pc, true, &s);
	return s.kind == NATIVE_FUNCTION && s.offset <= pc &&
	       /* some functions only push the registers they restore */
	       (prologue_read(w, pc - s.offset, pc, ret) || ret->room > 0);
}

/* The outermost frame of a chain of frame pointers has a zero in place of the next pointer; Go's threads begin so. */
static bool is_outermost(struct walk *w)
{
	uint64_t older;
	return w->by_pointer && known(&w->now, REG_FP) && w->now.reg[REG_FP] >= w->floor &&
	       unwind_load(w, w->now.reg[REG_FP], &older) && older == 0;
}

static int by_guess(struct walk *w, struct unwind_frame *frame)
{
	/* By the processors' ABI the outermost frame of a chain of frame pointers has a zero. */
	if (w->by_pointer && known(&w->now, REG_FP) && w->now.reg[REG_FP] == 0)
		return UNWIND_COMPLETE;
	if (by_sigreturn(w, frame) || by_epilogue(w, frame) || by_leaf(w, frame, CALL_NEAR) || by_pointer(w, frame))
		return STEP_ON;
	struct prologue p;
	if (w->exact && w->trace->n == 1 && silent_takes_room(w, &p))
		return unwind_scan(w, &p);
	if (by_leaf(w, frame, CALL_SOME))
		return STEP_ON;
	return is_outermost(w) ? UNWIND_COMPLETE : UNWIND_NO_INFO;
}

/* ---- the walk ---- */

static int unwind_step(struct walk *w, struct unwind_frame *frame)
{
	struct native_spot spot = {.row = NULL};
	const struct eh_row *row;
	uint64_t pc = w->now.reg[REG_PC];
	if (pc >= PAGE_BYTES)
		native_spot_at(w->native, pc - !w->exact, &spot);
	if (!spot.row || !(spot.row->flags & MAP_EXEC)) {
		/* A call to an invalid address still has a caller; an invalid return address ends the walk. */
		if (w->exact)
			return by_leaf(w, frame, CALL_SOME) || by_pointer(w, frame) ? STEP_ON : UNWIND_NO_INFO;
		w->trace->n--;
		/* a zero found by searching the stack may be any zero */
		return pc == 0 && !w->scanned ? UNWIND_COMPLETE : UNWIND_NO_INFO;
	}
	struct ehtable *table = native_eh(w->native, &spot);
	if (table && ehtable_row(table, spot.vaddr, &row) == 0)
		return by_rules((struct rules){w, table, pc - !w->exact - spot.vaddr + row->start, 0}, row, frame);
	return by_guess(w, frame);
}

/* Walks from w->now to the end. */
int unwind_on(struct walk *w)
{
	struct unwind_trace *t = w->trace;
	while (t->n < UNWIND_FRAMES) {
		struct unwind_frame *frame = &t->frame[t->n++];
		*frame = (struct unwind_frame){.pc = w->now.reg[REG_PC], .exact = w->exact};
		int r = unwind_step(w, frame);
		if (r != STEP_ON)
			return r;
	}
	return UNWIND_TOO_DEEP;
}

void native_unwind(struct native *p, const struct unwind_regs *regs, const struct unwind_stack *stack,
		   struct unwind_trace *ret)
{
	struct walk w = {.exact = true};
	w.native = p;
	w.stack = stack;
	w.trace = ret;
	w.now = *regs;
	w.floor = known(regs, REG_SP) ? regs->reg[REG_SP] : 0;
	w.page_at = 1;
	ret->n = 0;
	ret->beyond_copy = false;
	ret->end = UNWIND_NO_INFO;
	if (!known(regs, REG_PC))
		return;
	ret->end = (enum unwind_end)unwind_on(&w);
}
