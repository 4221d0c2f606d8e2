#include "sense/format/pickle.h"

#include <string.h>

#include "base/arena.h"
#include "sense/format/pickle_parts.h"

/* Real files nest less than 16 deep. Code that walks the values may recurse this deep. */
#define DEPTH_MAX 100
#define PROTOCOL_MAX 5
#define NAME_MAX_BYTES 256

struct pickle {
	struct arena arena;
	struct pickle_value root;
};

struct machine {
	struct pickle *out;
	const unsigned char *start, *p, *end;
	struct pickle_value *stack;
	size_t n_stack, cap_stack;
	size_t *marks; /* height of the stack at each open mark */
	size_t n_marks, cap_marks;
	struct pickle_value *memo; /* by index; unused ones have KIND_HOLE */
	size_t n_memo, cap_memo;
	struct fault *fault;
};
/* Kind of a memo index without a value. */
#define KIND_HOLE ((enum pickle_kind)99)

/* Opcode functions return 0, STOP, a negative errno, or a condition of pickle.h. */
enum { STOP = 100 };

static size_t at(const struct machine *m)
{
	return (size_t)(m->p - m->start);
}

static size_t left(const struct machine *m)
{
	return (size_t)(m->end - m->p);
}

static int cut(const struct machine *m, const char *what)
{
	return fault_set(m->fault, PICKLE_CUT, "the pickle is cut off after %zu bytes, inside %s",
			 (size_t)(m->end - m->start), what);
}

static int broken(const struct machine *m, const char *what)
{
	return fault_set(m->fault, PICKLE_BROKEN, "the pickle is damaged near byte %zu: %s", at(m), what);
}

static int no_room(const struct machine *m)
{
	if (!arena_full(&m->out->arena))
		return -ENOMEM;
	return fault_set(m->fault, PICKLE_LARGE, "the pickle needs more than %zu bytes of memory; read up to byte %zu",
			 m->out->arena.max_bytes, at(m));
}

static int push(struct machine *m, struct pickle_value v)
{
	if (m->n_stack == m->cap_stack) {
		size_t more = m->cap_stack ? m->cap_stack * 2 : 256;
		struct pickle_value *grown = arena_grow(&m->out->arena, m->stack, m->n_stack, more, sizeof(*grown));
		if (!grown)
			return no_room(m);
		m->stack = grown;
		m->cap_stack = more;
	}
	m->stack[m->n_stack++] = v;
	return 0;
}

/* Number of values that an opcode may take: those above the last mark. */
static size_t on_top(const struct machine *m)
{
	return m->n_stack - (m->n_marks ? m->marks[m->n_marks - 1] : 0);
}

static struct pickle_value *top(const struct machine *m, size_t below)
{
	return &m->stack[m->n_stack - 1 - below];
}

static bool is_container(const struct pickle_value *v)
{
	return v->kind >= PICKLE_LIST;
}

static int node_new(struct machine *m, enum pickle_kind kind, uint32_t cap, struct pickle_value *ret)
{
	struct pickle_node *n = arena_alloc(&m->out->arena, sizeof(*n));
	if (n && cap)
		n->items = arena_alloc(&m->out->arena, cap * sizeof(*n->items));
	if (!n || (cap && !n->items))
		return no_room(m);
	n->cap = cap;
	n->height = 1;
	*ret = (struct pickle_value){.kind = kind, .node = n};
	return 0;
}

static int node_add(struct machine *m, struct pickle_node *n, const struct pickle_value *items, size_t n_items)
{
	size_t need = n->n + n_items;
	if (need > UINT32_MAX / 2)
		return broken(m, "a container has more elements than any file can hold");
	if (need > n->cap) {
		size_t more = MAX(need, (size_t)n->cap * 2);
		struct pickle_value *grown = arena_grow(&m->out->arena, n->items, n->n, more, sizeof(*grown));
		if (!grown)
			return no_room(m);
		n->items = grown;
		n->cap = (uint32_t)more;
	}
	for (size_t i = 0; i < n_items; i++) {
		uint32_t height = is_container(&items[i]) ? items[i].node->height + 1 : 1;
		if (height > DEPTH_MAX)
			return broken(m, "it nests deeper than any real file");
		n->height = MAX(n->height, height);
		n->items[n->n++] = items[i];
	}
	return 0;
}

static bool name_is(struct span name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (span_eq(name, list[i]))
			return true;
	return false;
}

/* True for functions that return their first argument, a plain value. */
static bool is_wrapper(struct span name)
{
	static const char *const same[] = {"torch.jit._pickle.build_intlist", "torch.jit._pickle.build_doublelist",
					   "torch.jit._pickle.build_boollist", "torch.jit._pickle.build_tensorlist",
					   "torch.jit._pickle.restore_type_tag"};
	return name_is(name, same, ARRAY_SIZE(same));
}

/* True for classes whose call without arguments creates a dict, which is filled afterwards. */
static bool is_dict(struct span name)
{
	static const char *const dicts[] = {"collections.OrderedDict", "collections.defaultdict", "builtins.dict",
					    "__builtin__.dict"};
	return name_is(name, dicts, ARRAY_SIZE(dicts));
}

static int opaque_new(struct machine *m, struct span name, struct pickle_value *ret)
{
	int r = node_new(m, PICKLE_OPAQUE, OPAQUE_SLOTS, ret);
	if (r)
		return r;
	ret->node->n = OPAQUE_SLOTS;
	ret->node->items[OPAQUE_NAME] =
		(struct pickle_value){.kind = PICKLE_TEXT, .len = (uint32_t)name.len, .text = name.p};
	return 0;
}

static int push_opaque(struct machine *m, struct span name)
{
	struct pickle_value v;
	int r = opaque_new(m, name, &v);
	return r ? r : push(m, v);
}

static int push_empty(struct machine *m, enum pickle_kind kind)
{
	struct pickle_value v;
	int r = node_new(m, kind, 0, &v);
	return r ? r : push(m, v);
}

/* Reads n bytes, at most 8, little-endian. False if the bytes end. */
static bool take_le(struct machine *m, unsigned n, uint64_t *ret)
{
	if (left(m) < n) {
		m->p = m->end;
		return false;
	}
	uint64_t v = 0;
	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)m->p[i] << (8 * i);
	m->p += n;
	*ret = v;
	return true;
}

static int push_int(struct machine *m, unsigned n, bool is_signed)
{
	uint64_t raw;
	if (!take_le(m, n, &raw))
		return cut(m, "a whole number");
	int64_t v = is_signed ? (int32_t)(uint32_t)raw : (int64_t)raw;
	return push(m, (struct pickle_value){.kind = PICKLE_INT, .integer = v});
}

/* Reads a two's complement integer of any length. */
static int push_long(struct machine *m, unsigned length_bytes)
{
	uint64_t n, raw = 0;
	if (!take_le(m, length_bytes, &n) || left(m) < n)
		return cut(m, "a whole number");
	if (n > INT32_MAX)
		return broken(m, "a whole number of a negative length");
	if (n > 8) {
		const char *text = (const char *)m->p;
		m->p += n;
		return push(m, (struct pickle_value){.kind = PICKLE_BYTES, .len = (uint32_t)n, .text = text});
	}
	bool negative = n > 0 && (m->p[n - 1] & 0x80);
	if (!take_le(m, (unsigned)n, &raw))
		return cut(m, "a whole number");
	if (negative && n < 8)
		raw |= ~UINT64_C(0) << (8 * n);
	return push(m, (struct pickle_value){.kind = PICKLE_INT, .integer = (int64_t)raw});
}

static int push_text(struct machine *m, unsigned length_bytes, enum pickle_kind kind)
{
	uint64_t n;
	if (!take_le(m, length_bytes, &n) || left(m) < n)
		return cut(m, "a text");
	if (n > UINT32_MAX)
		return broken(m, "a text of more than 4 GiB");
	const char *text = (const char *)m->p;
	m->p += n;
	return push(m, (struct pickle_value){.kind = kind, .len = (uint32_t)n, .text = text});
}

static int push_float(struct machine *m)
{
	if (left(m) < 8)
		return cut(m, "a number");
	uint64_t bits = 0;
	for (unsigned i = 0; i < 8; i++)
		bits = bits << 8 | m->p[i];
	m->p += 8;
	struct pickle_value v = {.kind = PICKLE_FLOAT};
	memcpy(&v.real, &bits, sizeof(v.real));
	return push(m, v);
}

static int push_mark(struct machine *m)
{
	if (m->n_marks == m->cap_marks) {
		size_t more = m->cap_marks ? m->cap_marks * 2 : 64;
		size_t *grown = arena_grow(&m->out->arena, m->marks, m->n_marks, more, sizeof(*grown));
		if (!grown)
			return no_room(m);
		m->marks = grown;
		m->cap_marks = more;
	}
	m->marks[m->n_marks++] = m->n_stack;
	return 0;
}

static int memo_put(struct machine *m, uint64_t i)
{
	if (on_top(m) == 0)
		return broken(m, "it remembers a value where there is none");
	/* Each index belongs to a value, and a value takes at least one byte. */
	if (i > (uint64_t)(m->end - m->start))
		return broken(m, "it remembers a value under a number that is too high");
	if (i >= m->cap_memo) {
		size_t more = MAX((size_t)i + 1, m->cap_memo ? m->cap_memo * 2 : 256);
		struct pickle_value *grown = arena_grow(&m->out->arena, m->memo, m->n_memo, more, sizeof(*grown));
		if (!grown)
			return no_room(m);
		m->memo = grown;
		m->cap_memo = more;
	}
	for (; m->n_memo <= i; m->n_memo++)
		m->memo[m->n_memo].kind = KIND_HOLE;
	m->memo[i] = *top(m, 0);
	return 0;
}

static int memo_put_n(struct machine *m, unsigned length_bytes)
{
	uint64_t i;
	return take_le(m, length_bytes, &i) ? memo_put(m, i) : cut(m, "a reference");
}

static int memo_get(struct machine *m, unsigned length_bytes)
{
	uint64_t i;
	if (!take_le(m, length_bytes, &i))
		return cut(m, "a reference");
	if (i >= m->n_memo || m->memo[i].kind == KIND_HOLE)
		return broken(m, "it refers to a value that never came");
	return push(m, m->memo[i]);
}

/* Replaces the n values on top by one container of them. */
static int fold(struct machine *m, enum pickle_kind kind, size_t n)
{
	struct pickle_value v;
	if (on_top(m) < n || n > UINT32_MAX / 2)
		return broken(m, "it makes a tuple of values that never came");
	int r = node_new(m, kind, (uint32_t)n, &v);
	if (!r)
		r = node_add(m, v.node, &m->stack[m->n_stack - n], n);
	if (r)
		return r;
	m->n_stack -= n;
	return push(m, v);
}

static int fold_marked(struct machine *m, enum pickle_kind kind)
{
	if (m->n_marks == 0)
		return broken(m, "it ends a container that never began");
	size_t n = on_top(m);
	if (kind == PICKLE_DICT && n % 2)
		return broken(m, "a dict has a key without a value");
	int r = fold(m, kind, n);
	if (!r)
		m->n_marks--;
	return r;
}

/* Moves the n values on top into the container below them. Items of an object are dropped. */
static int fill(struct machine *m, size_t n, enum pickle_kind want)
{
	struct pickle_value *into = top(m, n);
	bool dict = want == PICKLE_DICT;
	int r = 0;
	if (into->kind == want && dict && n % 2)
		return broken(m, "a dict has a key without a value");
	if (into->kind == want)
		r = node_add(m, into->node, &m->stack[m->n_stack - n], n);
	else if (into->kind != PICKLE_OPAQUE)
		return broken(m, "it puts values into something that holds none");
	m->n_stack -= n;
	return r;
}

static int fill_top(struct machine *m, size_t n, enum pickle_kind want)
{
	return on_top(m) < n + 1 ? broken(m, "it puts values into nothing") : fill(m, n, want);
}

static int fill_marked(struct machine *m, enum pickle_kind want)
{
	if (m->n_marks == 0 || m->marks[m->n_marks - 1] == 0)
		return broken(m, "it puts values into nothing");
	size_t n = on_top(m);
	m->n_marks--;
	return on_top(m) < n + 1 ? broken(m, "it puts values into nothing") : fill(m, n, want);
}

static int pop(struct machine *m)
{
	if (on_top(m) > 0)
		m->n_stack--;
	else if (m->n_marks > 0)
		m->n_marks--;
	else
		return broken(m, "it drops a value that never came");
	return 0;
}

static int pop_mark(struct machine *m)
{
	if (m->n_marks == 0)
		return broken(m, "it ends a container that never began");
	m->n_stack = m->marks[--m->n_marks];
	return 0;
}

static int join_name(struct machine *m, struct span module, struct span name, struct span *ret)
{
	module.len = MIN(module.len, (size_t)NAME_MAX_BYTES);
	name.len = MIN(name.len, (size_t)NAME_MAX_BYTES);
	char *text = arena_alloc(&m->out->arena, module.len + name.len + 2);
	if (!text)
		return no_room(m);
	memcpy(text, module.p, module.len);
	text[module.len] = '.';
	memcpy(text + module.len + 1, name.p, name.len);
	*ret = (struct span){text, module.len + 1 + name.len};
	return 0;
}

static bool take_line(struct machine *m, struct span *ret)
{
	const unsigned char *nl = memchr(m->p, '\n', left(m));
	if (!nl)
		return false;
	*ret = (struct span){(const char *)m->p, (size_t)(nl - m->p)};
	m->p = nl + 1;
	return true;
}

static int op_global(struct machine *m)
{
	struct span module, name, whole;
	if (!take_line(m, &module) || !take_line(m, &name))
		return cut(m, "the name of a class");
	int r = join_name(m, module, name, &whole);
	return r ? r : push_opaque(m, whole);
}

static int op_stack_global(struct machine *m)
{
	struct span module, name, whole;
	if (on_top(m) < 2 || !pickle_text(top(m, 1), &module) || !pickle_text(top(m, 0), &name))
		return broken(m, "a class without a name");
	int r = join_name(m, module, name, &whole);
	if (r)
		return r;
	m->n_stack -= 2;
	return push_opaque(m, whole);
}

static bool unwrap(const struct pickle_value *called, const struct pickle_value *args, struct pickle_value *ret)
{
	const struct pickle_value *first = pickle_at(args, 0);
	if (!first || !is_wrapper(pickle_class(called)))
		return false;
	*ret = *first;
	return true;
}

/* True if the call creates an empty dict. OrderedDict([…]) of old Pythons has pairs as arguments and stays opaque. */
static bool makes_dict(const struct pickle_value *called, const struct pickle_value *args)
{
	struct span name = pickle_class(called);
	return is_dict(name) && (pickle_len(args) == 0 || span_eq(name, "collections.defaultdict"));
}

/* Stack: callable, args. Pushes the object that the call would create. */
static int op_reduce(struct machine *m)
{
	struct pickle_value v;
	if (on_top(m) < 2)
		return broken(m, "a call without a function");
	const struct pickle_value *called = top(m, 1), *args = top(m, 0);
	if (unwrap(called, args, &v)) {
		m->n_stack -= 2;
		return push(m, v);
	}
	if (makes_dict(called, args)) {
		m->n_stack -= 2;
		return push_empty(m, PICKLE_DICT);
	}
	struct span name = pickle_class(called);
	int r = opaque_new(m, name.len ? name : SPAN("unknown"), &v);
	if (r)
		return r;
	uint32_t height = is_container(args) ? args->node->height + 1 : 1;
	if (height > DEPTH_MAX)
		return broken(m, "it nests deeper than any real file");
	v.node->height = height;
	v.node->items[OPAQUE_ARGS] = *args;
	m->n_stack -= 2;
	return push(m, v);
}

/* Stack: class, args, kwargs. */
static int op_newobj_ex(struct machine *m)
{
	if (on_top(m) < 3)
		return broken(m, "an object without a class");
	m->n_stack--;
	return op_reduce(m);
}

/* Stack: mark, class, args… */
static int op_obj(struct machine *m)
{
	if (m->n_marks == 0 || on_top(m) == 0)
		return broken(m, "an object without a class");
	int r = fold(m, PICKLE_TUPLE, on_top(m) - 1);
	if (r)
		return r;
	m->n_marks--;
	return op_reduce(m);
}

/* Stack: object, state. */
static int op_build(struct machine *m)
{
	if (on_top(m) < 2)
		return broken(m, "an object's state without the object");
	struct pickle_value *obj = top(m, 1), *state = top(m, 0);
	uint32_t height = is_container(state) ? state->node->height + 1 : 1;
	if (obj->kind == PICKLE_OPAQUE && height <= DEPTH_MAX) {
		obj->node->items[OPAQUE_STATE] = *state;
		obj->node->height = MAX(obj->node->height, height);
	}
	m->n_stack--;
	return 0;
}

static int op_persid(struct machine *m)
{
	if (on_top(m) == 0)
		return broken(m, "a reference to an outside object without its name");
	m->n_stack--;
	return push_opaque(m, SPAN("persistent id"));
}

static int op_ext(struct machine *m, unsigned length_bytes)
{
	uint64_t code;
	return take_le(m, length_bytes, &code) ? push_opaque(m, SPAN("registered extension"))
					       : cut(m, "the name of a class");
}

static int op_stop(struct machine *m)
{
	if (m->n_stack == 0)
		return broken(m, "it ends without a value");
	m->out->root = *top(m, 0);
	return STOP;
}

static int step_value(struct machine *m, unsigned char op)
{
	switch (op) {
	case OP_NONE:
		return push(m, (struct pickle_value){.kind = PICKLE_NONE});
	case OP_NEWTRUE:
	case OP_NEWFALSE:
		return push(m, (struct pickle_value){.kind = PICKLE_BOOL, .truth = op == OP_NEWTRUE});
	case OP_BININT:
		return push_int(m, 4, true);
	case OP_BININT1:
		return push_int(m, 1, false);
	case OP_BININT2:
		return push_int(m, 2, false);
	case OP_LONG1:
		return push_long(m, 1);
	case OP_LONG4:
		return push_long(m, 4);
	case OP_BINFLOAT:
		return push_float(m);
	case OP_SHORT_BINUNICODE:
		return push_text(m, 1, PICKLE_TEXT);
	case OP_BINUNICODE:
		return push_text(m, 4, PICKLE_TEXT);
	case OP_BINUNICODE8:
		return push_text(m, 8, PICKLE_TEXT);
	case OP_SHORT_BINSTRING: /* Python 2's str */
		return push_text(m, 1, PICKLE_TEXT);
	case OP_BINSTRING:
		return push_text(m, 4, PICKLE_TEXT);
	case OP_SHORT_BINBYTES:
		return push_text(m, 1, PICKLE_BYTES);
	case OP_BINBYTES:
		return push_text(m, 4, PICKLE_BYTES);
	case OP_BINBYTES8:
	case OP_BYTEARRAY8:
		return push_text(m, 8, PICKLE_BYTES);
	default:
		return broken(m, "an opcode that no protocol from 2 to 5 has");
	}
}

static int step_object(struct machine *m, unsigned char op)
{
	switch (op) {
	case OP_GLOBAL:
		return op_global(m);
	case OP_STACK_GLOBAL:
		return op_stack_global(m);
	case OP_REDUCE:
	case OP_NEWOBJ:
		return op_reduce(m);
	case OP_NEWOBJ_EX:
		return op_newobj_ex(m);
	case OP_OBJ:
		return op_obj(m);
	case OP_BUILD:
		return op_build(m);
	case OP_BINPERSID:
		return op_persid(m);
	case OP_EXT1:
		return op_ext(m, 1);
	case OP_EXT2:
		return op_ext(m, 2);
	case OP_EXT4:
		return op_ext(m, 4);
	case OP_NEXT_BUFFER:
		return push_opaque(m, SPAN("buffer outside the file"));
	case OP_READONLY_BUFFER:
		return 0;
	default:
		return step_value(m, op);
	}
}

static int step_container(struct machine *m, unsigned char op)
{
	switch (op) {
	case OP_EMPTY_DICT:
		return push_empty(m, PICKLE_DICT);
	case OP_EMPTY_LIST:
		return push_empty(m, PICKLE_LIST);
	case OP_EMPTY_SET:
		return push_empty(m, PICKLE_SET);
	case OP_EMPTY_TUPLE:
		return push_empty(m, PICKLE_TUPLE);
	case OP_TUPLE1:
	case OP_TUPLE2:
	case OP_TUPLE3:
		return fold(m, PICKLE_TUPLE, op - OP_TUPLE1 + 1u);
	case OP_TUPLE:
		return fold_marked(m, PICKLE_TUPLE);
	case OP_LIST:
		return fold_marked(m, PICKLE_LIST);
	case OP_DICT:
		return fold_marked(m, PICKLE_DICT);
	case OP_FROZENSET:
		return fold_marked(m, PICKLE_SET);
	case OP_APPEND:
		return fill_top(m, 1, PICKLE_LIST);
	case OP_SETITEM:
		return fill_top(m, 2, PICKLE_DICT);
	case OP_APPENDS:
		return fill_marked(m, PICKLE_LIST);
	case OP_SETITEMS:
		return fill_marked(m, PICKLE_DICT);
	case OP_ADDITEMS:
		return fill_marked(m, PICKLE_SET);
	default:
		return step_object(m, op);
	}
}

static int pickle_step(struct machine *m)
{
	uint64_t skipped;
	unsigned char op = *m->p++;
	switch (op) {
	case OP_PROTO:
		return take_le(m, 1, &skipped) ? 0 : cut(m, "the number of the protocol");
	case OP_FRAME: /* a hint how much to read ahead; ignored */
		return take_le(m, 8, &skipped) ? 0 : cut(m, "the length of a frame");
	case OP_MARK:
		return push_mark(m);
	case OP_POP:
		return pop(m);
	case OP_POP_MARK:
		return pop_mark(m);
	case OP_DUP:
		return on_top(m) ? push(m, *top(m, 0)) : broken(m, "it doubles a value that never came");
	case OP_BINPUT:
		return memo_put_n(m, 1);
	case OP_LONG_BINPUT:
		return memo_put_n(m, 4);
	case OP_MEMOIZE:
		return memo_put(m, m->n_memo);
	case OP_BINGET:
		return memo_get(m, 1);
	case OP_LONG_BINGET:
		return memo_get(m, 4);
	case OP_STOP:
		return op_stop(m);
	default:
		return step_container(m, op);
	}
}

/*
 * Puts values that follow a container without a mark into it, innermost first: they were being added one at a time.
 * Where a mark was set this cannot be decided, so it is done only at the bottom of the stack, where each container is
 * a value of the one below it.
 */
static int settle(struct machine *m)
{
	for (size_t i = m->n_stack; i-- > 0;) {
		struct pickle_value *v = &m->stack[i];
		size_t above = m->n_stack - i - 1;
		if (above == 0 || v->kind < PICKLE_LIST || v->kind == PICKLE_TUPLE || v->kind == PICKLE_OPAQUE)
			continue;
		if (v->kind == PICKLE_DICT)
			above -= above % 2;
		int r = node_add(m, v->node, &m->stack[i + 1], above);
		if (r)
			return r;
		m->n_stack = i + 1;
	}
	return 0;
}

/*
 * For a file that ended early: puts the values read so far into the containers that were being filled, innermost first.
 * Values without a container yet, as those of a tuple, are lost.
 */
static int salvage(struct machine *m)
{
	for (; m->n_marks > 0; m->n_marks--) {
		size_t base = m->marks[m->n_marks - 1], n = m->n_stack - base;
		struct pickle_value *into = base > 0 ? &m->stack[base - 1] : NULL;
		int r = 0;
		if (into && into->kind == PICKLE_DICT)
			r = node_add(m, into->node, &m->stack[base], n - n % 2);
		else if (into && (into->kind == PICKLE_LIST || into->kind == PICKLE_SET))
			r = node_add(m, into->node, &m->stack[base], n);
		if (r)
			return r;
		m->n_stack = base;
	}
	int r = settle(m);
	if (r == 0 && m->n_stack > 0)
		m->out->root = m->stack[0];
	return r;
}

/* Keeps what was read before a condition, even if salvage fails. */
static int end_early(struct machine *m, int condition)
{
	struct fault *fault = m->fault;
	m->fault = NULL; /* keep the sentence of the first condition */
	int r = salvage(m);
	m->fault = fault;
	if (r && m->n_stack > 0)
		m->out->root = m->stack[0];
	return r == -ENOMEM ? r : condition;
}

static int run(struct machine *m)
{
	int r = 0;
	while (r == 0) {
		if (m->p >= m->end)
			r = cut(m, "a value");
		else
			r = pickle_step(m);
	}
	if (r == STOP)
		return 0;
	return r < 0 ? r : end_early(m, r);
}

int pickle_parse(struct span bytes, const struct pickle_limits *limits, struct pickle **ret, struct fault *f)
{
	const unsigned char *start = (const unsigned char *)bytes.p;
	if (bytes.len < 2 || start[0] != OP_PROTO || start[1] < 2 || start[1] > PROTOCOL_MAX)
		return fault_set(f, PICKLE_FOREIGN,
				 "not a pickle: it does not begin with the mark of protocol 2 to 5 (%zu bytes)",
				 bytes.len);
	size_t bound = limits && limits->memory_bytes ? limits->memory_bytes : 0;
	if (bound == 0)
		bound = bytes.len > (SIZE_MAX - MIB) / 32 ? SIZE_MAX : bytes.len * 32 + MIB;
	cleanup(pickle_freep) struct pickle *out = calloc(1, sizeof(*out));
	if (!out)
		return -ENOMEM;
	out->arena.max_bytes = bound;
	struct machine m = {.out = out, .start = start, .p = start, .end = start + bytes.len, .fault = f};
	int r = run(&m);
	if (r < 0)
		return r;
	*ret = take(&out);
	return r;
}

struct pickle *pickle_free(struct pickle *p)
{
	if (p)
		arena_done(&p->arena);
	free(p);
	return NULL;
}

const struct pickle_value *pickle_root(const struct pickle *p)
{
	return &p->root;
}
