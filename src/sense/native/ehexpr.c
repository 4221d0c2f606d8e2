#include <string.h>

#include "sense/native/ehframe.h"

/* PLT entries take 9 steps, signal frames 2. This limit also ends loops (DW_OP_bra). */
#define STEPS_MAX 256
#define STACK_MAX 32

/* DW_OP_*: DWARF 5 section 7.7.1. */
enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONST4U = 0x0c,
	OP_CONST4S = 0x0d,
	OP_CONST8U = 0x0e,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_PICK = 0x15,
	OP_SWAP = 0x16,
	OP_ROT = 0x17,
	OP_ABS = 0x19,
	OP_AND = 0x1a,
	OP_DIV = 0x1b,
	OP_MINUS = 0x1c,
	OP_MOD = 0x1d,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_BREG0 = 0x70,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

struct run {
	struct eh_machine *m;
	struct eh_bytes b;
	uint64_t stack[STACK_MAX];
	size_t n;
	bool bad;
};

static void ehexpr_push(struct run *r, uint64_t v)
{
	if (r->n == STACK_MAX)
		r->bad = true;
	else
		r->stack[r->n++] = v;
}

static uint64_t pop(struct run *r)
{
	if (r->n == 0) {
		r->bad = true;
		return 0;
	}
	return r->stack[--r->n];
}

static void pick(struct run *r, uint64_t i)
{
	if (i >= r->n)
		r->bad = true;
	else
		ehexpr_push(r, r->stack[r->n - 1 - i]);
}

static void base(struct run *r, uint64_t reg)
{
	int64_t offset = eh_sleb(&r->b);
	if (reg >= EH_REGS || !(r->m->valid >> reg & 1)) {
		r->m->unknown = r->bad = true;
		return;
	}
	ehexpr_push(r, r->m->reg[reg] + (uint64_t)offset);
}

static void ehexpr_load(struct run *r, uint64_t width)
{
	uint64_t v = 0, addr = pop(r);
	if (r->bad || width == 0 || width > 8) {
		r->bad = true;
		return;
	}
	if (!r->m->load(r->m->ctx, addr, &v)) {
		r->m->fault = r->bad = true;
		return;
	}
	ehexpr_push(r, width == 8 ? v : v & ((UINT64_C(1) << 8 * width) - 1));
}

/* Numbers are two's complement; comparisons and division are signed, as the standard requires. */
static void binary(struct run *r, uint8_t op)
{
	uint64_t y = pop(r), x = pop(r);
	int64_t sx = (int64_t)x, sy = (int64_t)y;
	switch (op) {
	case OP_AND:
		return ehexpr_push(r, x & y);
	case OP_OR:
		return ehexpr_push(r, x | y);
	case OP_XOR:
		return ehexpr_push(r, x ^ y);
	case OP_PLUS:
		return ehexpr_push(r, x + y);
	case OP_MINUS:
		return ehexpr_push(r, x - y);
	case OP_MUL:
		return ehexpr_push(r, x * y);
	case OP_SHL:
		return ehexpr_push(r, y < 64 ? x << y : 0);
	case OP_SHR:
		return ehexpr_push(r, y < 64 ? x >> y : 0);
	case OP_SHRA:
		return ehexpr_push(r, (uint64_t)(sx >> (y < 64 ? y : 63)));
	case OP_EQ:
		return ehexpr_push(r, x == y);
	case OP_NE:
		return ehexpr_push(r, x != y);
	case OP_GE:
		return ehexpr_push(r, sx >= sy);
	case OP_GT:
		return ehexpr_push(r, sx > sy);
	case OP_LE:
		return ehexpr_push(r, sx <= sy);
	case OP_LT:
		return ehexpr_push(r, sx < sy);
	case OP_DIV:
		if (sy != 0 && !(sx == INT64_MIN && sy == -1))
			return ehexpr_push(r, (uint64_t)(sx / sy));
		break;
	case OP_MOD:
		if (y != 0)
			return ehexpr_push(r, x % y);
		break;
	default:
		break;
	}
	r->bad = true;
}

static void jump(struct run *r, bool taken)
{
	int64_t by = eh_sint(&r->b, 2);
	if (!taken || r->b.bad)
		return;
	/* A jump counts from the next instruction; a jump to the very end ends the expression. */
	if (by < -(int64_t)r->b.at || by > (int64_t)(r->b.end - r->b.at))
		r->bad = true;
	else
		r->b.at = (size_t)((int64_t)r->b.at + by);
}

static void shuffle(struct run *r, uint8_t op)
{
	uint64_t a, b, c;
	switch (op) {
	case OP_DUP:
		return pick(r, 0);
	case OP_OVER:
		return pick(r, 1);
	case OP_PICK:
		return pick(r, eh_uint(&r->b, 1));
	case OP_DROP:
		(void)pop(r);
		return;
	case OP_SWAP:
		a = pop(r);
		b = pop(r);
		ehexpr_push(r, a);
		ehexpr_push(r, b);
		return;
	default: /* OP_ROT: the top goes below the next two */
		a = pop(r);
		b = pop(r);
		c = pop(r);
		ehexpr_push(r, a);
		ehexpr_push(r, c);
		ehexpr_push(r, b);
	}
}

static void unary(struct run *r, uint8_t op)
{
	uint64_t v = pop(r);
	ehexpr_push(r, op == OP_NOT ? ~v : op == OP_NEG || (int64_t)v < 0 ? -v : v);
}

static bool constant(struct run *r, uint8_t op)
{
	if (op >= OP_CONST1U && op <= OP_CONST8S) {
		size_t width = (size_t)1 << ((op - OP_CONST1U) / 2);
		ehexpr_push(r, (op - OP_CONST1U) % 2 ? (uint64_t)eh_sint(&r->b, width) : eh_uint(&r->b, width));
	} else if (op == OP_CONSTU) {
		ehexpr_push(r, eh_uleb(&r->b));
	} else if (op == OP_CONSTS) {
		ehexpr_push(r, (uint64_t)eh_sleb(&r->b));
	} else if (op >= OP_LIT0 && op < OP_LIT0 + 32) {
		ehexpr_push(r, op - OP_LIT0);
	} else {
		return false;
	}
	return true;
}

static void ehexpr_step(struct run *r, uint8_t op)
{
	if (constant(r, op) || op == OP_NOP)
		return;
	if (op >= OP_BREG0 && op < OP_BREG0 + 32)
		base(r, op - OP_BREG0);
	else if (op == OP_BREGX)
		base(r, eh_uleb(&r->b));
	else if (op >= OP_DUP && op <= OP_ROT)
		shuffle(r, op);
	else if (op == OP_DEREF)
		ehexpr_load(r, 8);
	else if (op == OP_DEREF_SIZE)
		ehexpr_load(r, eh_uint(&r->b, 1));
	else if (op == OP_ABS || op == OP_NEG || op == OP_NOT)
		unary(r, op);
	else if (op == OP_PLUS_UCONST)
		ehexpr_push(r, pop(r) + eh_uleb(&r->b));
	else if (op == OP_SKIP)
		jump(r, true);
	else if (op == OP_BRA)
		jump(r, pop(r) != 0);
	else if (op >= OP_AND && op <= OP_NE)
		binary(r, op);
	else
		r->bad = true;
}

int eh_evaluate(struct eh_machine *m, const uint8_t *bytes, size_t len, const uint64_t *first, uint64_t *ret)
{
	/* the reader only reads the bytes */
	const struct eh_section s = {.bytes = (uint8_t *)(uintptr_t)bytes, .len = len};
	struct run r = {.m = m, .b = {.section = &s, .end = len}};
	m->unknown = m->fault = false;
	if (first)
		ehexpr_push(&r, *first);
	for (int i = 0; r.b.at < r.b.end; i++) {
		if (i == STEPS_MAX)
			return EH_BAD;
		ehexpr_step(&r, (uint8_t)eh_uint(&r.b, 1));
		if (r.bad || r.b.bad)
			return EH_BAD;
	}
	if (r.n == 0)
		return EH_BAD;
	*ret = r.stack[r.n - 1];
	return 0;
}
