#include <string.h>

#include "sense/native/ehframe.h"

/* Compilers nest one or two; a function that remembers more states is garbage. */
#define REMEMBER_MAX 16
#define EXPRESSION_MAX 4096

/* DW_CFA_*: the upper two bits of the byte, or the whole byte. */
enum {
	CFA_ADVANCE = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE1 = 0x02,
	CFA_ADVANCE2 = 0x03,
	CFA_ADVANCE4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF = 0x0c,
	CFA_DEF_REGISTER = 0x0d,
	CFA_DEF_OFFSET = 0x0e,
	CFA_DEF_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_SF = 0x11,
	CFA_DEF_SF = 0x12,
	CFA_DEF_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_ADVANCE8 = 0x1d,
	CFA_NEGATE_RA_WITH_PC = 0x2c,
	CFA_NEGATE_RA = 0x2d,
	CFA_ARGS_SIZE = 0x2e,
	CFA_NEGATIVE_OFFSET = 0x2f,
};

/* ---- entries ---- */

struct cie {
	uint64_t code_align;
	int64_t data_align;
	size_t at, end;
	uint8_t ra, encoding;
	bool signal, augmented;
};

/* Reads the length and end of the entry at `at`; the reader then stands behind the length. */
static int entry_open(const struct eh_section *s, size_t at, struct eh_bytes *ret)
{
	struct eh_bytes b = {.section = s, .at = at, .end = s->len};
	uint64_t len = eh_uint(&b, 4);
	if (len == UINT32_MAX)
		len = eh_uint(&b, 8);
	if (b.bad || len > b.end - b.at)
		return EH_BAD;
	b.end = b.at + len;
	*ret = b;
	return 0;
}

static int augmentation_read(struct eh_bytes *b, const uint8_t *letters, struct cie *ret)
{
	uint64_t len = eh_uleb(b);
	if (b->bad || len > b->end - b->at)
		return EH_BAD;
	struct eh_bytes data = {.section = b->section, .at = b->at, .end = b->at + len};
	b->at += len;
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			ret->encoding = (uint8_t)eh_uint(&data, 1);
			break;
		case 'L':
			(void)eh_uint(&data, 1);
			break;
		case 'P':
			(void)eh_pointer(&data, (uint8_t)eh_uint(&data, 1) & 0x7f, 0);
			break;
		case 'S':
			ret->signal = true;
			break;
		case 'B': /* return addresses are signed with the other key */
		case 'G': /* the stack is tagged */
			break;
		default:
			return EH_BAD;
		}
	}
	return data.bad ? EH_BAD : 0;
}

static int cie_read(const struct eh_section *s, size_t at, struct cie *ret)
{
	struct eh_bytes b;
	struct cie c = {.encoding = 0};
	int r = entry_open(s, at, &b);
	if (r)
		return r;
	uint32_t id = (uint32_t)eh_uint(&b, 4);
	uint8_t version = (uint8_t)eh_uint(&b, 1);
	if (b.bad || id != 0 || (version != 1 && version != 3 && version != 4))
		return EH_BAD;
	const uint8_t *letters = s->bytes + b.at;
	const uint8_t *end = memchr(letters, '\0', b.end - b.at);
	if (!end)
		return EH_BAD;
	b.at += (size_t)(end - letters) + 1;
	if (version == 4 && eh_uint(&b, 2) != 8) /* address size 8, segment size 0 */
		return EH_BAD;
	c.code_align = eh_uleb(&b);
	c.data_align = eh_sleb(&b);
	uint64_t ra = version == 1 ? eh_uint(&b, 1) : eh_uleb(&b);
	if (b.bad || ra >= EH_REGS)
		return EH_BAD;
	c.ra = (uint8_t)ra;
	c.augmented = letters[0] == 'z';
	if (c.augmented ? augmentation_read(&b, letters + 1, &c) != 0 : letters[0] != '\0')
		return EH_BAD;
	c.at = b.at;
	c.end = b.end;
	*ret = c;
	return 0;
}

int eh_function_at(const struct eh_section *s, size_t at, struct eh_function *ret, size_t *ret_next)
{
	struct eh_bytes b;
	struct cie c;
	int r = entry_open(s, at, &b);
	if (r)
		return r;
	*ret_next = b.end;
	if (b.at == b.end)
		return EH_NONE; /* a terminator; linkers leave some in the middle of the section */
	size_t id_at = b.at;
	uint64_t back = eh_uint(&b, 4);
	if (b.bad || back > id_at)
		return EH_BAD;
	if (back == 0)
		return EH_NONE;
	r = cie_read(s, id_at - (size_t)back, &c);
	if (r)
		return r;
	/* An address relative to data needs a register's value at run time, so it cannot be resolved here. */
	if ((c.encoding & 0x70) == 0x30 || (c.encoding & 0x80))
		return EH_BAD;
	uint64_t start = eh_pointer(&b, c.encoding, 0);
	uint64_t len = eh_pointer(&b, c.encoding & 0x0f, 0);
	uint64_t skip = c.augmented ? eh_uleb(&b) : 0;
	if (b.bad || skip > b.end - b.at || len > UINT64_MAX - start)
		return EH_BAD;
	*ret = (struct eh_function){
		.start = start,
		.end = start + len,
		.code_align = c.code_align,
		.data_align = c.data_align,
		.cie_at = c.at,
		.cie_end = c.end,
		.at = b.at + (size_t)skip,
		.end_at = b.end,
		.ra = c.ra,
		.encoding = c.encoding,
		.signal = c.signal,
	};
	return 0;
}

/* ---- programs ---- */

struct state {
	struct eh_rule cfa;
	struct eh_rule rule[EH_REGS];
};

struct program {
	const struct eh_function *f;
	struct eh_bytes b;
	uint64_t pc, loc; /* the address asked for; the address reached */
	struct state now, initial;
	const struct state *restore_to; /* NULL while the common part runs */
	struct state kept[REMEMBER_MAX];
	size_t n_kept;
};

static int rule_set(struct program *p, uint64_t reg, struct eh_rule rule)
{
	/* Vector registers have high numbers; no return address or frame depends on them. */
	if (reg < EH_REGS)
		p->now.rule[reg] = rule;
	return 0;
}

static int offset_rule(struct program *p, uint64_t reg, enum eh_kind kind, int64_t factored)
{
	int64_t v;
	if (__builtin_mul_overflow(factored, p->f->data_align, &v) || v < INT32_MIN || v > INT32_MAX)
		return EH_BAD;
	return rule_set(p, reg, (struct eh_rule){.kind = (uint8_t)kind, .value = (int32_t)v});
}

static int expression_read(struct program *p, enum eh_kind kind, struct eh_rule *ret)
{
	uint64_t len = eh_uleb(&p->b);
	if (p->b.bad || len > p->b.end - p->b.at || len > EXPRESSION_MAX || p->b.at > INT32_MAX)
		return EH_BAD;
	*ret = (struct eh_rule){.kind = (uint8_t)kind, .len = (uint16_t)len, .value = (int32_t)p->b.at};
	p->b.at += (size_t)len;
	return 0;
}

static int expression_rule(struct program *p, enum eh_kind kind)
{
	struct eh_rule rule;
	uint64_t reg = eh_uleb(&p->b);
	int r = expression_read(p, kind, &rule);
	return r ? r : rule_set(p, reg, rule);
}

static int cfa_set(struct program *p, uint64_t reg, int64_t offset)
{
	if (reg >= EH_REGS || offset < INT32_MIN || offset > INT32_MAX)
		return EH_BAD;
	p->now.cfa = (struct eh_rule){.kind = EH_REGISTER, .reg = (uint8_t)reg, .value = (int32_t)offset};
	return 0;
}

/* Only a CFA of the form register + offset can have its register or offset changed. */
static int cfa_change(struct program *p, uint64_t reg, int64_t offset)
{
	return p->now.cfa.kind == EH_REGISTER ? cfa_set(p, reg, offset) : EH_BAD;
}

static int factored(struct program *p, int64_t *ret)
{
	return __builtin_mul_overflow(eh_sleb(&p->b), p->f->data_align, ret) ? EH_BAD : 0;
}

static int cfa_step(struct program *p, uint8_t op)
{
	int64_t v = 0;
	uint64_t reg;
	switch (op) {
	case CFA_DEF:
		reg = eh_uleb(&p->b);
		return cfa_set(p, reg, (int64_t)eh_uleb(&p->b));
	case CFA_DEF_SF:
		reg = eh_uleb(&p->b);
		return factored(p, &v) ? EH_BAD : cfa_set(p, reg, v);
	case CFA_DEF_REGISTER:
		return cfa_change(p, eh_uleb(&p->b), p->now.cfa.value);
	case CFA_DEF_OFFSET:
		return cfa_change(p, p->now.cfa.reg, (int64_t)eh_uleb(&p->b));
	case CFA_DEF_OFFSET_SF:
		return factored(p, &v) ? EH_BAD : cfa_change(p, p->now.cfa.reg, v);
	case CFA_DEF_EXPRESSION:
		return expression_read(p, EH_VAL_EXPR, &p->now.cfa);
	default:
		return EH_BAD;
	}
}

static int register_step(struct program *p, uint8_t op)
{
	uint64_t reg = eh_uleb(&p->b), from;
	switch (op) {
	case CFA_OFFSET_EXTENDED:
		return offset_rule(p, reg, EH_OFFSET, (int64_t)eh_uleb(&p->b));
	case CFA_OFFSET_SF:
		return offset_rule(p, reg, EH_OFFSET, eh_sleb(&p->b));
	case CFA_NEGATIVE_OFFSET: /* written by old compilers; unsigned and below the CFA */
		return offset_rule(p, reg, EH_OFFSET, -(int64_t)(eh_uleb(&p->b) & INT64_MAX));
	case CFA_VAL_OFFSET:
		return offset_rule(p, reg, EH_VAL_OFFSET, (int64_t)eh_uleb(&p->b));
	case CFA_VAL_OFFSET_SF:
		return offset_rule(p, reg, EH_VAL_OFFSET, eh_sleb(&p->b));
	case CFA_UNDEFINED:
		return rule_set(p, reg, (struct eh_rule){.kind = EH_UNDEFINED});
	case CFA_SAME:
		return rule_set(p, reg, (struct eh_rule){.kind = EH_SAME});
	case CFA_REGISTER:
		from = eh_uleb(&p->b);
		if (from >= EH_REGS)
			return EH_BAD;
		return rule_set(p, reg, (struct eh_rule){.kind = EH_REGISTER, .reg = (uint8_t)from});
	case CFA_RESTORE_EXTENDED:
		if (!p->restore_to)
			return EH_BAD;
		return reg < EH_REGS ? rule_set(p, reg, p->restore_to->rule[reg]) : 0;
	default:
		return EH_BAD;
	}
}

static int advance(struct program *p, uint64_t delta)
{
	uint64_t by;
	if (__builtin_mul_overflow(delta, p->f->code_align, &by) || by > UINT64_MAX - p->loc)
		return EH_BAD;
	p->loc += by;
	return 0;
}

static int set_loc(struct program *p)
{
	uint64_t to = eh_pointer(&p->b, p->f->encoding, 0);
	if (to < p->loc)
		return EH_BAD;
	p->loc = to;
	return 0;
}

static int state_remember(struct program *p)
{
	if (p->n_kept == REMEMBER_MAX)
		return EH_BAD;
	p->kept[p->n_kept++] = p->now;
	return 0;
}

static int restore_state(struct program *p)
{
	if (p->n_kept == 0)
		return EH_BAD;
	p->now = p->kept[--p->n_kept];
	return 0;
}

static int extended_step(struct program *p, uint8_t op)
{
	switch (op) {
	case CFA_NOP:
	case CFA_NEGATE_RA: /* signed or not, the address is stripped where it is read */
	case CFA_NEGATE_RA_WITH_PC:
		return 0;
	case CFA_SET_LOC:
		return set_loc(p);
	case CFA_ADVANCE1:
		return advance(p, eh_uint(&p->b, 1));
	case CFA_ADVANCE2:
		return advance(p, eh_uint(&p->b, 2));
	case CFA_ADVANCE4:
		return advance(p, eh_uint(&p->b, 4));
	case CFA_ADVANCE8:
		return advance(p, eh_uint(&p->b, 8));
	case CFA_REMEMBER:
		return state_remember(p);
	case CFA_RESTORE_STATE:
		return restore_state(p);
	case CFA_ARGS_SIZE:
		(void)eh_uleb(&p->b);
		return 0;
	case CFA_EXPRESSION:
		return expression_rule(p, EH_EXPR);
	case CFA_VAL_EXPRESSION:
		return expression_rule(p, EH_VAL_EXPR);
	case CFA_DEF:
	case CFA_DEF_SF:
	case CFA_DEF_REGISTER:
	case CFA_DEF_OFFSET:
	case CFA_DEF_OFFSET_SF:
	case CFA_DEF_EXPRESSION:
		return cfa_step(p, op);
	default:
		return register_step(p, op);
	}
}

/* Ends because each instruction takes at least one byte of the entry. */
static int ehcfa_run(struct program *p, size_t at, size_t end)
{
	p->b = (struct eh_bytes){.section = p->b.section, .at = at, .end = end};
	while (p->b.at < p->b.end && p->loc <= p->pc) {
		uint8_t op = (uint8_t)eh_uint(&p->b, 1), low = op & 0x3f;
		int r = 0;
		switch (op & 0xc0) {
		case CFA_ADVANCE:
			r = advance(p, low);
			break;
		case CFA_OFFSET:
			r = offset_rule(p, low, EH_OFFSET, (int64_t)eh_uleb(&p->b));
			break;
		case CFA_RESTORE:
			if (!p->restore_to)
				return EH_BAD;
			r = low < EH_REGS ? rule_set(p, low, p->restore_to->rule[low]) : 0;
			break;
		default:
			r = extended_step(p, op);
		}
		if (r || p->b.bad)
			return EH_BAD;
	}
	return 0;
}

int eh_function_row(const struct eh_section *s, const struct eh_function *f, uint64_t pc, struct eh_row *ret)
{
	struct program p;
	/* kept[] is filled as it is used: clearing all of it would cost more than running the program. */
	p.f = f;
	p.b = (struct eh_bytes){.section = s};
	p.pc = pc;
	p.loc = f->start;
	p.now = (struct state){.cfa = {.kind = EH_UNDEFINED}};
	p.restore_to = NULL;
	p.n_kept = 0;
	int r = ehcfa_run(&p, f->cie_at, f->cie_end);
	if (r)
		return r;
	p.initial = p.now;
	p.restore_to = &p.initial;
	r = ehcfa_run(&p, f->at, f->end_at);
	if (r)
		return r;
	if (p.now.cfa.kind != EH_REGISTER && p.now.cfa.kind != EH_VAL_EXPR)
		return EH_BAD;
	*ret = (struct eh_row){.pc = pc, .start = f->start, .signal = f->signal, .ra = f->ra, .cfa = p.now.cfa};
	for (uint8_t i = 0; i < EH_REGS; i++) {
		if (p.now.rule[i].kind == EH_SAME)
			continue;
		ret->what[ret->n].reg = i;
		ret->what[ret->n++].rule = p.now.rule[i];
	}
	return 0;
}
