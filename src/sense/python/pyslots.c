#include "sense/python/pyslots.h"

#include <string.h>

#include "base/hash.h"
#include "sense/python/pyexcept.h"

#define TABLE_BYTES_MAX (256 * KIB)
#define HANDLERS_MAX 64 /* nested handlers of one instruction */
#define NAMES_MOST 64 /* variables of a function whose names are read */

/*
 * 3.8 to 3.10, Include/frameobject.h: f_valuestack, then the block stack with the number of its blocks before it.
 */
enum {
	VALUESTACK_AT = 64,
	BLOCKS_AT_8 = 120,
	BLOCKS_AT_10 = 112,
	N_BLOCKS_AT_8 = 112,
	N_BLOCKS_AT_10 = 104,
	BLOCKS_MOST = 20,
	BLOCK_BYTES = 12,
	SETUP_FINALLY = 122,
	SETUP_WITH = 143,
	SETUP_ASYNC_WITH = 154,
	EXTENDED_ARG = 144,
	CALL_FUNCTION = 131,
	CALL_METHOD = 161,
};
/* 3.11 to 3.13, Include/internal/pycore_frame.h: the saved depth, an int; below 0: none. */
#define STACKTOP_AT 64

struct pyslots_reader *pyslots_new(struct pyobjs *objs)
{
	struct pyslots_reader *r = calloc(1, sizeof(*r));
	if (r)
		r->objs = objs;
	return r;
}

struct pyslots_reader *pyslots_free(struct pyslots_reader *r)
{
	for (size_t i = 0; r && i < ARRAY_SIZE(r->codes); i++) {
		free(r->codes[i].table);
		free(r->codes[i].code);
	}
	free(r);
	return NULL;
}

/* Copies a part of the process's memory that is as long as it says itself. */
static int copy_read(struct pyslots_reader *r, uint64_t addr, uint64_t len, char **ret)
{
	if (len > TABLE_BYTES_MAX)
		return REMOTE_FAULT;
	cleanup(freep) char *copy = malloc((size_t)len + 1);
	if (!copy)
		return -ENOMEM;
	int e = pyobj_get(r->objs, addr, copy, (size_t)len);
	if (e == 0)
		*ret = take(&copy);
	return e;
}

static int bytes_read(struct pyslots_reader *r, uint64_t bytes, char **ret, size_t *ret_len)
{
	const struct pyoffsets *o = &r->objs->rt->off;
	uint64_t len = 0;
	int e = pyobj_u64(r->objs, bytes + o->bytes.size, &len);
	if (e == 0)
		e = copy_read(r, bytes + o->bytes.value, len, ret);
	if (e == 0)
		*ret_len = (size_t)len;
	return e;
}

static int pyslots_code_read(struct pyslots_reader *r, uint64_t addr, struct pyslots_code *c)
{
	const struct pyoffsets *o = &r->objs->rt->off;
	uint64_t type = 0, table = 0, units = 0;
	uint32_t ints[3] = {};
	bool old = r->objs->rt->minor < 11;
	int e = pyobj_u64(r->objs, addr + o->object.type, &type);
	if (e == 0 && r->objs->rt->code_type && type != r->objs->rt->code_type)
		return REMOTE_FAULT;
	/* co_stacksize is before co_firstlineno (up to 3.10: before co_flags), co_nlocalsplus behind it. */
	if (e == 0)
		e = pyobj_get(r->objs, addr + (old ? o->code.flags : o->code.firstlineno) - 4, ints, sizeof(ints));
	if (e == 0)
		e = pyobj_u64(r->objs, addr + (old ? o->code.code_bytes : o->code.flags - 8), &table);
	if (e == 0 && !old)
		e = pyobj_u64(r->objs, addr + 16, &units); /* ob_size */
	if (e)
		return e;
	if (ints[0] > PYSLOTS_MAX || (!old && ints[2] > PYSLOTS_MAX) || units > UINT32_MAX / 2)
		return REMOTE_FAULT;
	c->stack = ints[0];
	c->n_vars = old ? 0 : ints[2];
	c->start = old ? 0 : addr + o->code.bytecode;
	size_t len = (size_t)units * 2;
	e = old ? bytes_read(r, table, &c->code, &len) : bytes_read(r, table, &c->table, &c->table_bytes);
	if (e == 0 && !old)
		e = copy_read(r, c->start, len, &c->code);
	c->bytes = (uint32_t)len;
	return e;
}

static int code_get(struct pyslots_reader *r, uint64_t addr, struct pyslots_code **ret)
{
	struct pyslots_code *c = &r->codes[hash_slot(addr, PYSLOTS_CODES - 1)], fresh = {.addr = addr};
	if (c->addr != addr) {
		int e = pyslots_code_read(r, addr, &fresh);
		if (e) {
			free(fresh.table);
			free(fresh.code);
			return e;
		}
		free(c->table);
		free(c->code);
		*c = fresh;
	}
	*ret = c;
	return 0;
}

uint64_t pyslots_object(const struct pyobjs *o, uint64_t slot, bool *ret_counted)
{
	*ret_counted = slot != 0;
	if (o->rt->minor < 14)
		return slot;
	*ret_counted = slot != 0 && (slot & 3) == 0;
	return (slot & 3) == 3 ? 0 : slot & ~UINT64_C(3); /* both bits: a small int in the slot */
}

/* ---- `with`, 3.11 and later ---- */

/* Two instructions: the handler begins, and calls __exit__. */
static bool is_with_handler(const struct pyslots_reader *r, const struct pyslots_code *c, uint32_t target)
{
	const struct pyobj_layout *l = r->objs->layout;
	return (uint64_t)target + 4 <= c->bytes && (uint8_t)c->code[target] == l->push_exc_info &&
	       (uint8_t)c->code[target + 2] == l->with_except_start;
}

static void with_add(const struct pyslots_reader *r, uint64_t base, uint32_t depth, uint64_t instr, struct pyslots *s)
{
	bool counted, pair = r->objs->rt->minor >= 14;
	size_t at = (size_t)base + depth - (pair ? 2 : 1);
	if (depth < (pair ? 2U : 1U) || at + (pair ? 2 : 1) > s->n || s->n_with == PYSLOTS_WITHS)
		return;
	struct pyslots_with *w = &s->with[s->n_with++];
	*w = (struct pyslots_with){.exit = pyslots_object(r->objs, s->slot[at], &counted), .instr = instr};
	if (pair)
		w->self = pyslots_object(r->objs, s->slot[at + 1], &counted);
}

/*
 * The handler of the innermost block covers the instruction. The handler itself, or the code that it is cleaned up by,
 * is covered by that of the block around it. *ret_depth: of the innermost.
 */
static void withs_by_table(const struct pyslots_reader *r, const struct pyslots_code *c, uint64_t instr,
			   struct pyslots *s, uint32_t *ret_depth)
{
	struct pyexcept e;
	struct span table = {c->table, c->table_bytes};
	*ret_depth = 0;
	if (instr < c->start || instr - c->start >= c->bytes)
		return;
	uint32_t at = (uint32_t)(instr - c->start);
	for (int i = 0; i < HANDLERS_MAX && pyexcept_find(table, at, &e) && e.depth <= c->stack; i++) {
		if (i == 0)
			*ret_depth = e.depth;
		if (is_with_handler(r, c, e.target))
			with_add(r, s->n_vars, e.depth, c->start + e.target, s);
		at = e.target;
	}
}

/* ---- `with`, up to 3.10 ---- */

/* The offset of the instruction that set up the `with` with this handler; it says that there is one. */
static bool setup_find(const struct pyslots_reader *r, const struct pyslots_code *c, uint32_t handler, uint32_t *ret)
{
	uint64_t arg = 0, unit = r->objs->rt->instr_in_units ? 2 : 1;
	for (uint32_t i = 0; i + 1 < c->bytes; i += 2) {
		uint8_t op = (uint8_t)c->code[i];
		arg = (arg << 8 | (uint8_t)c->code[i + 1]) & UINT32_MAX;
		if ((op == SETUP_WITH || op == SETUP_ASYNC_WITH) && i + 2 + arg * unit == handler) {
			*ret = i;
			return true;
		}
		arg = op == EXTENDED_ARG ? arg : 0;
	}
	return false;
}

static int withs_by_blocks(const struct pyslots_reader *r, const struct pyslots_code *c, uint64_t frame,
			   struct pyslots *s, uint32_t *ret_depth)
{
	bool ten = r->objs->rt->minor == 10;
	int32_t n = 0, block[BLOCKS_MOST][3]; /* type, handler, level */
	uint64_t unit = r->objs->rt->instr_in_units ? 2 : 1;
	int e = pyobj_get(r->objs, frame + (ten ? N_BLOCKS_AT_10 : N_BLOCKS_AT_8), &n, sizeof(n));
	*ret_depth = 0;
	if (e || n <= 0 || n > BLOCKS_MOST)
		return e;
	e = pyobj_get(r->objs, frame + (ten ? BLOCKS_AT_10 : BLOCKS_AT_8), block, (size_t)n * BLOCK_BYTES);
	if (e)
		return e;
	for (int32_t i = n; i-- > 0;) {
		uint32_t at, level = (uint32_t)block[i][2];
		if (level > c->stack)
			return 0;
		if (i == n - 1)
			*ret_depth = level;
		if (block[i][0] == SETUP_FINALLY && block[i][1] > 0 &&
		    setup_find(r, c, (uint32_t)((uint64_t)block[i][1] * unit), &at))
			with_add(r, s->n_vars, level, at / unit, s);
	}
	return 0;
}

/* ---- how much of the stack is in use ---- */

static uint8_t op_at(const struct pyslots_reader *r, const struct pyslots_code *c, uint64_t instr, uint8_t *ret_arg)
{
	uint64_t at = r->objs->rt->minor >= 11	    ? instr - c->start
		      : r->objs->rt->instr_in_units ? (instr & UINT32_MAX) * 2
						    : instr & UINT32_MAX;
	if (at >= c->bytes || c->bytes - at < 2)
		return 0;
	*ret_arg = (uint8_t)c->code[at + 1];
	return (uint8_t)c->code[at];
}

static bool is_call(const struct pyobj_layout *l, uint8_t op)
{
	bool found = l->call_lo && op >= l->call_lo && op <= l->call_hi;
	for (size_t i = 0; !found && op && i < ARRAY_SIZE(l->calls) && l->calls[i]; i++)
		found = l->calls[i] == op;
	return found;
}

static bool can_be_called(struct pyobjs *o, uint64_t object)
{
	const struct pyobj_type *t;
	return object != 0 && (pyobj_type(o, object, &t) != 0 || t->call != 0);
}

/*
 * The least depth of a frame that stands in a call: what is called is on the stack, above all that stays there for the
 * length of a block. Slots up to the first that can be called are therefore in use, and that one, and what a call has
 * at least beside it.
 */
static size_t depth_in_call(struct pyslots_reader *r, const struct pyslots *s, uint32_t least, uint8_t op, uint8_t arg)
{
	size_t at = s->n_vars + least;
	while (at < s->n && !can_be_called(r->objs, s->slot[at]))
		at++;
	size_t wide = 2; /* from 3.11 on: what is called, and its object or NULL */
	bool behind_null = at > s->n_vars + least && s->slot[at - 1] == 0; /* then NULL may be the object's place */
	if (r->objs->rt->minor < 11)
		wide = op == CALL_METHOD ? 2 + (size_t)arg : op == CALL_FUNCTION ? 1 + (size_t)arg : 2;
	if (behind_null && (r->objs->rt->minor >= 11 || op == CALL_METHOD))
		wide--;
	return MIN(at + wide, s->n);
}

static int live_find(struct pyslots_reader *r, const struct pyslots_code *c, const struct pyframe *f, uint32_t least,
		     struct pyslots *s)
{
	const struct pyoffsets *o = &r->objs->rt->off;
	uint8_t minor = r->objs->rt->minor, arg = 0;
	uint64_t top = 0, stack = f->addr + o->frame.localsplus + 8 * s->n_vars;
	int32_t saved = -1;
	s->n_live = MIN(s->n_vars + least, s->n);
	if (minor >= 14) {
		int e = pyobj_u64(r->objs, f->addr + o->frame.stackpointer, &top);
		if (e == 0 && top >= stack && top - stack <= 8 * (s->n - s->n_vars))
			s->n_live = MAX(s->n_live, s->n_vars + (size_t)(top - stack) / 8);
		return e;
	}
	if (minor >= 11) {
		int e = pyobj_get(r->objs, f->addr + STACKTOP_AT, &saved, sizeof(saved));
		if (e)
			return e;
	}
	uint8_t op = op_at(r, c, f->instr, &arg);
	s->in_enter = op && op == (minor < 11 ? SETUP_WITH : r->objs->layout->before_with);
	if (saved >= 0 && (size_t)saved >= s->n_live && (size_t)saved <= s->n)
		s->n_live = (size_t)saved;
	else if (is_call(r->objs->layout, op))
		s->n_live = depth_in_call(r, s, least, op, arg);
	return 0;
}

/*
 * co_names is before co_exceptiontable, up to 3.10 behind co_consts, the second after co_code: Include/cpython/code.h.
 */
bool pyslots_calls_release(struct pyslots_reader *r, const struct pyframe *f)
{
	const struct pyoffsets *o = &r->objs->rt->off;
	struct pyslots_code *c = NULL;
	uint64_t names = 0, n = 0, name[256];
	if (code_get(r, f->code, &c) != 0)
		return true;
	if (c->releases != PYSLOTS_UNKNOWN)
		return c->releases == PYSLOTS_YES;
	c->releases = PYSLOTS_YES;
	if (pyobj_u64(r->objs, f->code + (r->objs->rt->minor < 11 ? o->code.code_bytes + 16 : o->code.flags - 16),
		      &names) != 0 ||
	    pyobj_u64(r->objs, names + o->tuple.size, &n) != 0 || n > ARRAY_SIZE(name) ||
	    pyobj_get(r->objs, names + o->tuple.item, name, (size_t)n * sizeof(*name)) != 0)
		return true;
	for (size_t i = 0; i < n; i++)
		if (pyobj_str_is(r->objs, name[i], "release"))
			return true;
	c->releases = PYSLOTS_NO;
	return false;
}

int pyslots_read(struct pyslots_reader *r, const struct pyframe *f, bool live, struct pyslots *ret)
{
	const struct pyoffsets *o = &r->objs->rt->off;
	struct pyslots_code *c = NULL;
	uint64_t locals = f->addr + o->frame.localsplus, stack = 0;
	uint32_t depth = 0;
	bool old = r->objs->rt->minor < 11;
	ret->n = ret->n_vars = ret->n_live = ret->n_with = 0;
	ret->in_enter = false;
	int e = code_get(r, f->code, &c);
	if (e == 0 && old) {
		e = pyobj_u64(r->objs, f->addr + VALUESTACK_AT, &stack);
		if (e == 0 && (stack < locals || (stack - locals) % 8 || (stack - locals) / 8 > PYSLOTS_MAX))
			return REMOTE_FAULT;
	}
	if (e)
		return e;
	ret->n_vars = old ? (size_t)(stack - locals) / 8 : c->n_vars;
	ret->n = ret->n_vars + c->stack;
	if (ret->n > PYSLOTS_MAX)
		return REMOTE_FAULT;
	e = pyobj_get(r->objs, locals, ret->slot, ret->n * 8);
	if (e == 0 && old)
		e = withs_by_blocks(r, c, f->addr, ret, &depth);
	else if (e == 0)
		withs_by_table(r, c, f->instr, ret, &depth);
	return e || !live ? e : live_find(r, c, f, depth, ret);
}

/* Position of a name in a tuple of names; REMOTE_FAULT: it is not in there. *ret_n: how many there are, if readable. */
static int name_find(struct pyobjs *o, uint64_t tuple, const char *name, size_t *ret, size_t *ret_n)
{
	uint64_t n = 0, names[NAMES_MOST];
	int e = pyobj_is(o, tuple, PYOBJ_TUPLE) ? pyobj_u64(o, tuple + o->rt->off.tuple.size, &n) : REMOTE_FAULT;
	if (e || n > NAMES_MOST)
		return e ? e : REMOTE_FAULT;
	*ret_n = (size_t)n;
	e = pyobj_get(o, tuple + o->rt->off.tuple.item, names, (size_t)n * sizeof(*names));
	for (size_t i = 0; e == 0 && i < n; i++)
		if (pyobj_str_is(o, names[i], name)) {
			*ret = i;
			return 0;
		}
	return e ? e : REMOTE_FAULT;
}

/* Where a variable stands among those of a frame. Up to 3.10 variables that inner functions use stand behind. */
static int place_find(struct pyobjs *o, const struct pyframe *f, const char *name, size_t *ret)
{
	const struct pyoffsets *off = &o->rt->off;
	bool joined = off->code.localsplusnames != PYOFF_NONE;
	uint64_t names = 0, cells = 0;
	size_t n = 0, n_names = 0, at = 0;
	int e = pyobj_u64(o, f->code + (joined ? off->code.localsplusnames : off->code.varnames), &names);
	if (e == 0 && !joined)
		e = pyobj_u64(o, f->code + off->code.cellvars, &cells);
	if (e)
		return e;
	e = name_find(o, names, name, ret, &n_names);
	if (!joined && n_names && name_find(o, cells, name, &at, &n) == 0) {
		*ret = n_names + at;
		return 0;
	}
	return e;
}

int pyslots_slot_named(struct pyobjs *o, const struct pyframe *f, const char *name, uint64_t *ret)
{
	size_t at = 0;
	int e = place_find(o, f, name, &at);
	if (e == 0)
		e = pyobj_u64(o, f->addr + o->rt->off.frame.localsplus + at * sizeof(uint64_t), ret);
	if (e == 0 && o->rt->minor >= 14 && *ret < 3) /* no object, with a tag */
		*ret = 0;
	return e;
}

int pyslots_named(struct pyobjs *o, const struct pyframe *f, const char *name, uint64_t *ret)
{
	uint64_t slot = 0;
	bool counted;
	int e = pyslots_slot_named(o, f, name, &slot);
	if (e)
		return e;
	*ret = pyslots_object(o, slot, &counted);
	if (*ret && pyobj_is(o, *ret, PYOBJ_CELL))
		return pyobj_u64(o, *ret + 16, ret);
	return 0;
}
