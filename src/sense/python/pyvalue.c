#include "sense/python/pyvalue.h"

#include <string.h>

#include "sense/python/pydict.h"
#include "sense/python/pystr.h"

#define READS_MAX 4000

/* Bits of tp_flags: the built-in type that a type is, or inherits from. */
#define IS_INT (UINT64_C(1) << 24)
#define IS_LIST (UINT64_C(1) << 25)
#define IS_TUPLE (UINT64_C(1) << 26)
#define IS_BYTES (UINT64_C(1) << 27)
#define IS_STR (UINT64_C(1) << 28)
#define IS_DICT (UINT64_C(1) << 29)
#define IS_TYPE (UINT64_C(1) << 31)

void pyvalues_init(const struct pyrt *rt, struct remote *r, struct pyvalues *ret)
{
	*ret = (struct pyvalues){.rt = rt, .remote = r, .reads_left = READS_MAX};
}

int pyvalue_get(struct pyvalues *v, uint64_t addr, void *into, size_t len)
{
	if (v->reads_left == 0)
		return REMOTE_FAULT;
	v->reads_left--;
	return len ? remote_read(v->remote, addr, into, len) : 0;
}

static int pyvalue_get_u64(struct pyvalues *v, uint64_t addr, uint64_t *ret)
{
	return pyvalue_get(v, addr, ret, sizeof(*ret));
}

uint64_t pyvalue_body(const struct pyvalues *v)
{
	return v->rt->off.object.type + 8;
}

int pyvalue_type(struct pyvalues *v, uint64_t addr, struct pytype *ret)
{
	const struct pyoffsets *o = &v->rt->off;
	struct pytype t = {};
	uint64_t name = 0;
	int e = pyvalue_get_u64(v, addr + o->object.type, &t.addr);
	if (e)
		return e;
	for (size_t i = 0; i < ARRAY_SIZE(v->types); i++)
		if (t.addr && v->types[i].addr == t.addr) {
			*ret = v->types[i];
			return 0;
		}
	e = pyvalue_get_u64(v, t.addr + o->type.flags, &t.flags);
	if (e == 0)
		e = pyvalue_get_u64(v, t.addr + o->type.name, &name);
	if (e == 0)
		e = remote_text(v->remote, name, t.name, sizeof(t.name));
	if (e)
		return e;
	span_copy(span_of(t.name), t.name, sizeof(t.name));
	if (!t.name[0])
		return REMOTE_FAULT;
	v->types[v->next_type++ % ARRAY_SIZE(v->types)] = t;
	*ret = t;
	return 0;
}

static void unreadable(uint64_t addr, struct buf *to)
{
	buf_printf(to, "<unreadable at 0x%llx>", (unsigned long long)addr);
}

void pyvalue_plain(const struct pytype *t, uint64_t addr, struct buf *to)
{
	buf_printf(to, "<%s at 0x%llx>", t->name, (unsigned long long)addr);
}

/* Digits of 30 bits, the lowest first. *ret_digits is 0 for zero. */
static int int_read(struct pyvalues *v, uint64_t addr, bool *ret_negative, uint64_t *ret_n, uint32_t digits[3],
		    uint32_t *ret_top)
{
	const struct pyoffsets *o = &v->rt->off;
	uint64_t tag = 0;
	int e = pyvalue_get_u64(v, addr + o->integer.tag, &tag);
	if (e)
		return e;
	uint64_t n = v->rt->minor >= 12 ? tag >> 3 : (int64_t)tag < 0 ? -tag : tag;
	*ret_negative = v->rt->minor >= 12 ? (tag & 3) == 2 : (int64_t)tag < 0;
	if (v->rt->minor >= 12 && (tag & 3) == 1)
		n = 0;
	if (n > UINT32_MAX)
		return REMOTE_FAULT;
	*ret_n = n;
	e = n ? pyvalue_get(v, addr + o->integer.digit, digits, MIN(n, 3) * sizeof(*digits)) : 0;
	if (e == 0 && n > 3)
		e = pyvalue_get(v, addr + o->integer.digit + (n - 1) * sizeof(*ret_top), ret_top, sizeof(*ret_top));
	else if (e == 0 && n > 0)
		*ret_top = digits[n - 1];
	return e;
}

static int int_write(struct pyvalues *v, const struct pytype *t, uint64_t addr, struct buf *to)
{
	bool negative = false;
	uint32_t digits[3] = {}, top = 0;
	uint64_t n = 0;
	int e = int_read(v, addr, &negative, &n, digits, &top);
	if (e)
		return e;
	if (strcmp(t->name, "bool") == 0) {
		buf_add(to, n ? "True" : "False");
		return 0;
	}
	unsigned __int128 value = (unsigned __int128)digits[2] << 60 | (uint64_t)digits[1] << 30 | digits[0];
	bool own = strcmp(t->name, "int") != 0; /* an enum, a named constant */
	if (own)
		buf_printf(to, "%s(", t->name);
	if (n <= 3 && value < UINT64_C(10000000000000000000))
		buf_printf(to, "%s%llu", negative ? "-" : "", (unsigned long long)value);
	else
		buf_printf(to, "%sint of %llu bits", negative ? "negative " : "",
			   (unsigned long long)((n - 1) * 30 + (top ? 32 - (unsigned)__builtin_clz(top) : 0)));
	if (own)
		buf_add(to, ")");
	return 0;
}

static int float_write(struct pyvalues *v, uint64_t addr, struct buf *to)
{
	double x = 0;
	int e = pyvalue_get(v, addr + v->rt->off.real.value, &x, sizeof(x));
	if (e == 0)
		pytext_float(x, PYTEXT_DOUBLE, to);
	return e;
}

static int str_write(struct pyvalues *v, uint64_t addr, struct buf *to)
{
	cleanup(freep) uint32_t *chars = NULL;
	size_t n = 0;
	uint64_t length = 0;
	if (v->reads_left == 0)
		return REMOTE_FAULT;
	v->reads_left--;
	int e = pystr_chars(v->rt, v->remote, addr, PYVALUE_CHARS, &chars, &n, &length);
	if (e == 0)
		pytext_repr(chars, n, false, length > n, to);
	return e == PYCODE_GARBAGE ? REMOTE_FAULT : e;
}

static int bytes_write(struct pyvalues *v, uint64_t addr, struct buf *to)
{
	unsigned char bytes[PYVALUE_CHARS];
	uint32_t chars[PYVALUE_CHARS];
	uint64_t len = 0;
	int e = pyvalue_get_u64(v, addr + v->rt->off.bytes.size, &len);
	if (e)
		return e;
	size_t n = (size_t)MIN(len, sizeof(bytes));
	e = pyvalue_get(v, addr + v->rt->off.bytes.value, bytes, n);
	if (e)
		return e;
	for (size_t i = 0; i < n; i++)
		chars[i] = bytes[i];
	pytext_repr(chars, n, true, len > n, to);
	return 0;
}

static int nested(struct pyvalues *v, uint64_t addr, unsigned depth, struct buf *to);

static void more_add(uint64_t left, struct buf *to)
{
	if (left > 0)
		buf_printf(to, ", ... %llu more", (unsigned long long)left);
}

/* Writes list and tuple, and types that inherit from them. */
static int sequence_write(struct pyvalues *v, const struct pytype *t, uint64_t addr, unsigned depth, struct buf *to)
{
	const struct pyoffsets *o = &v->rt->off;
	bool list = t->flags & IS_LIST, own = strcmp(t->name, list ? "list" : "tuple") != 0;
	uint64_t n = 0, items = addr + o->tuple.item, item[PYVALUE_ITEMS];
	int e = pyvalue_get_u64(v, addr + (list ? o->list.size : o->tuple.size), &n);
	if (e == 0 && list)
		e = pyvalue_get_u64(v, addr + o->list.item, &items);
	if (e)
		return e;
	size_t shown = (size_t)MIN(n, PYVALUE_ITEMS);
	e = pyvalue_get(v, items, item, shown * sizeof(*item));
	if (e)
		return e;
	buf_printf(to, "%s%s", own ? t->name : "", list ? own ? "([" : "[" : "(");
	for (size_t i = 0; i < shown && e == 0; i++) {
		buf_add(to, i ? ", " : "");
		e = nested(v, item[i], depth, to);
	}
	more_add(n - shown, to);
	buf_add(to, list ? own ? "])" : "]" : n == 1 && !own ? ",)" : ")");
	return e;
}

/* More entries than are shown, because some of them may have been deleted. */
#define ENTRIES_READ 64

static int dict_items(struct pyvalues *v, const struct pydict_keys *k, uint64_t values, uint64_t used, unsigned depth,
		      struct buf *to)
{
	unsigned char rows[ENTRIES_READ * 24];
	uint64_t split[ENTRIES_READ], shown = 0;
	size_t n = (size_t)MIN(k->n, ENTRIES_READ);
	int e = pyvalue_get(v, k->entries, rows, n * k->row_bytes);
	if (e == 0 && values)
		e = pyvalue_get(v, values + (v->rt->minor >= 13 ? 8 : 0), split, n * sizeof(*split));
	for (size_t i = 0; i < n && e == 0 && shown < PYVALUE_ITEMS; i++) {
		uint64_t key, value;
		memcpy(&key, rows + i * k->row_bytes + k->key_at, sizeof(key));
		memcpy(&value, rows + i * k->row_bytes + k->key_at + 8, sizeof(value));
		value = values ? split[i] : value;
		if (!key || !value)
			continue;
		buf_add(to, shown++ ? ", " : "");
		e = nested(v, key, depth, to);
		buf_add(to, ": ");
		if (e == 0)
			e = nested(v, value, depth, to);
	}
	more_add(sub_floor(used, shown), to);
	return e;
}

static int dict_write(struct pyvalues *v, const struct pytype *t, uint64_t addr, unsigned depth, struct buf *to)
{
	const struct pyoffsets *o = &v->rt->off;
	uint64_t used = 0, keys = 0, values = 0;
	bool own = strcmp(t->name, "dict") != 0;
	struct pydict_keys k;
	int e = pyvalue_get_u64(v, addr + pyvalue_body(v), &used);
	if (e == 0)
		e = pyvalue_get_u64(v, addr + o->dict.keys, &keys);
	if (e == 0)
		e = pyvalue_get_u64(v, addr + o->dict.values, &values);
	if (e == 0)
		e = v->reads_left > 0 ? (v->reads_left--, pydict_keys(v->rt, v->remote, keys, &k)) : REMOTE_FAULT;
	if (e)
		return e;
	buf_printf(to, "%s%s{", own ? t->name : "", own ? "(" : "");
	e = used ? dict_items(v, &k, values, used, depth, to) : 0;
	buf_add(to, own ? "})" : "}");
	return e;
}

#define SET_ROWS 256

static int set_write(struct pyvalues *v, const struct pytype *t, uint64_t addr, unsigned depth, struct buf *to)
{
	const struct pyoffsets *o = &v->rt->off;
	uint64_t used = 0, table = 0, mask = 0, rows[SET_ROWS][2], shown = 0;
	bool own = strcmp(t->name, "set") != 0;
	int e = pyvalue_get_u64(v, addr + o->set.used, &used);
	if (e == 0)
		e = pyvalue_get_u64(v, addr + o->set.mask, &mask);
	if (e == 0)
		e = pyvalue_get_u64(v, addr + o->set.table, &table);
	size_t n = (size_t)MIN(mask, SET_ROWS - 1) + 1;
	if (e == 0)
		e = pyvalue_get(v, table, rows, n * sizeof(rows[0]));
	if (e)
		return e;
	if (used == 0) {
		buf_printf(to, "%s()", t->name);
		return 0;
	}
	buf_printf(to, "%s%s{", own ? t->name : "", own ? "(" : "");
	for (size_t i = 0; i < n && e == 0 && shown < MIN(used, PYVALUE_ITEMS); i++) {
		if (!rows[i][0] || rows[i][1] == UINT64_MAX) /* free, or deleted */
			continue;
		buf_add(to, shown++ ? ", " : "");
		e = nested(v, rows[i][0], depth, to);
	}
	more_add(sub_floor(used, shown), to);
	buf_add(to, own ? "})" : "}");
	return e;
}

static int class_write(struct pyvalues *v, uint64_t addr, struct buf *to)
{
	char name[64];
	uint64_t at = 0;
	int e = pyvalue_get_u64(v, addr + v->rt->off.type.name, &at);
	if (e == 0)
		e = remote_text(v->remote, at, name, sizeof(name));
	if (e)
		return e;
	span_copy(span_of(name), name, sizeof(name));
	buf_printf(to, "<class '%s'>", name);
	return 0;
}

/* Writes values that contain no other objects. *ret_known: it was one of them. */
static int simple_write(struct pyvalues *v, const struct pytype *t, uint64_t addr, struct buf *to, bool *ret_known)
{
	static const char *const alone[][2] = {
		{"NoneType", "None"}, {"ellipsis", "Ellipsis"}, {"NotImplementedType", "NotImplemented"}};
	*ret_known = true;
	for (size_t i = 0; i < ARRAY_SIZE(alone); i++)
		if (strcmp(t->name, alone[i][0]) == 0) {
			buf_add(to, alone[i][1]);
			return 0;
		}
	if (t->flags & IS_INT)
		return int_write(v, t, addr, to);
	if (t->flags & IS_STR)
		return str_write(v, addr, to);
	if (t->flags & IS_BYTES)
		return bytes_write(v, addr, to);
	if (t->flags & IS_TYPE)
		return class_write(v, addr, to);
	if (strcmp(t->name, "float") == 0)
		return float_write(v, addr, to);
	return pynumpy_write(v, t, addr, to, ret_known);
}

static int container_write(struct pyvalues *v, const struct pytype *t, uint64_t addr, unsigned depth, struct buf *to)
{
	bool set = strcmp(t->name, "set") == 0 || strcmp(t->name, "frozenset") == 0;
	if (!(t->flags & (IS_LIST | IS_TUPLE | IS_DICT)) && !set && strcmp(t->name, "frozendict") != 0) {
		pyvalue_plain(t, addr, to);
		return 0;
	}
	for (unsigned i = 0; i < depth; i++)
		if (v->within[i] == addr) {
			buf_add(to, "...");
			return 0;
		}
	if (depth >= PYVALUE_DEPTH) {
		buf_printf(to, "<%s>", t->name);
		return 0;
	}
	v->within[depth] = addr;
	if (t->flags & (IS_LIST | IS_TUPLE))
		return sequence_write(v, t, addr, depth + 1, to);
	return set ? set_write(v, t, addr, depth + 1, to) : dict_write(v, t, addr, depth + 1, to);
}

static int nested(struct pyvalues *v, uint64_t addr, unsigned depth, struct buf *to)
{
	struct pytype t;
	bool known = false;
	if (to->cut)
		return 0; /* the text is full */
	if (!addr) {
		buf_add(to, "<NULL>");
		return 0;
	}
	int e = addr & 7 ? REMOTE_FAULT : pyvalue_type(v, addr, &t);
	if (e == 0)
		e = simple_write(v, &t, addr, to, &known);
	if (e == 0 && !known)
		e = container_write(v, &t, addr, depth, to);
	if (e == REMOTE_FAULT) {
		unreadable(addr, to);
		e = 0;
	}
	return e;
}

int pyvalue_write(struct pyvalues *v, uint64_t addr, struct buf *to)
{
	return nested(v, addr, 0, to);
}
