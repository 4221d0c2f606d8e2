#include "sense/python/pyobj.h"

#include <string.h>

#include "base/hash.h"
#include "sense/python/pycode.h"
#include "sense/python/pydict.h"

#define READS_MAX 400000
#define MANAGED_DICT (UINT64_C(1) << 4) /* of tp_flags, from 3.11 on */
#define INLINE_VALUES (UINT64_C(1) << 2) /* from 3.13 on: values stand behind the object */
#define HEAP_TYPE (UINT64_C(1) << 9)
#define REFS_MAX (UINT64_C(1) << 30) /* more are none that a program makes: the object is immortal, or none */
#define DEQUE_BLOCK_ITEMS 64

/*
 * Fields behind the head of an object (reference count and type, 16 bytes), the same in all versions:
 *   method: function 16, object 24 (Include/cpython/classobject.h); builtin: PyMethodDef 16, object 24
 *   (cpython/methodobject.h); method_descriptor: PyMethodDef 40 (cpython/descrobject.h); cell: content 16
 *   (cpython/cellobject.h); deque: size 16, first block 24, index of the first item 40; block: previous, items
 *   (Modules/_collectionsmodule.c); dict: keys and values as in struct pyoffsets.
 * Function: Include/cpython/funcobject.h. Calls and `with`: Include/opcode.h, from 3.13 on Include/opcode_ids.h.
 * Locks are in pylocks_parts.h.
 */
static const struct pyobj_layout layouts[] = {
	{.function_name = 64, .function_code = 16, .calls = {131, 141, 142, 161}}, /* 3.8 */
	{.function_name = 64, .function_code = 16, .calls = {131, 141, 142, 161}}, /* 3.9 */
	{.function_name = 32, .function_code = 48, .calls = {131, 141, 142, 161}}, /* 3.10 */
	{.function_name = 32,
	 .function_code = 48,
	 .push_exc_info = 35,
	 .with_except_start = 49,
	 .before_with = 53,
	 .calls = {166, 171, 22, 23, 24, 64, 65, 66, 67, 72, 73, 76, 77, 78, 79, 80, 81, 113, 121, 127, 141, 143}},
	{.function_name = 32,
	 .function_code = 48,
	 .push_exc_info = 35,
	 .with_except_start = 49,
	 .before_with = 53,
	 .calls = {171, 23, 24, 28, 29, 34, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 56}},
	{.function_name = 32,
	 .function_code = 48,
	 .dict_values_at = 8,
	 .parks = true,
	 .push_exc_info = 33,
	 .with_except_start = 44,
	 .before_with = 2,
	 .call_lo = 162,
	 .call_hi = 181,
	 .calls = {53}},
	{.function_name = 32,
	 .function_code = 48,
	 .dict_values_at = 8,
	 .parks = true,
	 .push_exc_info = 32,
	 .with_except_start = 43},
	{.function_name = 32,
	 .function_code = 48,
	 .dict_values_at = 8,
	 .parks = true,
	 .push_exc_info = 30,
	 .with_except_start = 41},
};

bool pyobjs_init(const struct pyrt *rt, struct remote *r, struct pyobjs *ret)
{
	if (rt->free_threaded || rt->minor < 8 || rt->minor >= 8 + ARRAY_SIZE(layouts) || rt->off.object.type != 8)
		return false;
	*ret = (struct pyobjs){.rt = rt, .remote = r, .layout = &layouts[rt->minor - 8], .reads_left = READS_MAX};
	return true;
}

int pyobj_get(struct pyobjs *o, uint64_t addr, void *into, size_t len)
{
	if (o->reads_left == 0)
		return REMOTE_FAULT;
	o->reads_left--;
	return len ? remote_read(o->remote, addr, into, len) : 0;
}

int pyobj_u64(struct pyobjs *o, uint64_t addr, uint64_t *ret)
{
	return pyobj_get(o, addr, ret, sizeof(*ret));
}

static enum pyobj_kind kind_of(const char *name)
{
	static const struct {
		const char *name;
		enum pyobj_kind kind;
	} known[] = {
		{"_thread.lock", PYOBJ_LOCK},
		{"_thread.RLock", PYOBJ_RLOCK},
		{"_queue.SimpleQueue", PYOBJ_SIMPLEQUEUE},
		{"_multiprocessing.SemLock", PYOBJ_SEMLOCK},
		{"_thread._ThreadHandle", PYOBJ_HANDLE},
		{"method", PYOBJ_METHOD},
		{"builtin_function_or_method", PYOBJ_BUILTIN},
		{"method_descriptor", PYOBJ_DESCRIPTOR},
		{"function", PYOBJ_FUNCTION},
		{"cell", PYOBJ_CELL},
		{"collections.deque", PYOBJ_DEQUE},
		{"tuple", PYOBJ_TUPLE},
		{"list", PYOBJ_LIST},
		{"weakref", PYOBJ_WEAKREF},
		{"weakref.ReferenceType", PYOBJ_WEAKREF},
		{"functools.partial", PYOBJ_PARTIAL},
		{"coroutine", PYOBJ_COROUTINE},
		{"generator", PYOBJ_COROUTINE},
		{"async_generator", PYOBJ_COROUTINE},
		{"coroutine_wrapper", PYOBJ_AWAITER},
		{"async_generator_asend", PYOBJ_AWAITER},
		{"_asyncio.FutureIter", PYOBJ_AWAITER},
		{"_asyncio.Task", PYOBJ_TASK},
	};
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].kind;
	return PYOBJ_OTHER;
}

static uint64_t pyobj_word_of(const unsigned char *bytes, uint64_t at)
{
	uint64_t v;
	memcpy(&v, bytes + at, sizeof(v));
	return v;
}

int pyobj_type(struct pyobjs *o, uint64_t object, const struct pyobj_type **ret)
{
	unsigned char raw[320];
	char name[sizeof(((struct pyobj_type *)0)->name)];
	const struct pyoffsets *off = &o->rt->off;
	uint64_t addr = 0, dot;
	if (object < 4096 || object % 8 || off->type.flags < 40 || off->type.flags > 256 || off->type.name > 256)
		return REMOTE_FAULT;
	int e = pyobj_u64(o, object + off->object.type, &addr);
	if (e)
		return e;
	if (addr < 4096 || addr % 8)
		return REMOTE_FAULT;
	struct pyobj_type *t = &o->types[hash_slot(addr, ARRAY_SIZE(o->types) - 1)];
	*ret = t;
	if (t->addr == addr)
		return 0;
	e = pyobj_get(o, addr, raw, sizeof(raw));
	if (e == 0)
		e = remote_text(o->remote, pyobj_word_of(raw, off->type.name), name, sizeof(name));
	if (e)
		return e;
	/* The order of a type's members has not changed since 3.8: Include/cpython/object.h. */
	*t = (struct pyobj_type){.addr = addr,
				 .flags = pyobj_word_of(raw, off->type.flags),
				 .call = pyobj_word_of(raw, off->type.flags - 40),
				 .size = pyobj_word_of(raw, off->type.name + 8),
				 .weak_at = (int64_t)pyobj_word_of(raw, off->type.flags + 40),
				 .kind = kind_of(name)};
	const char *last = strrchr(name, '.');
	dot = last ? (uint64_t)(last + 1 - name) : 0;
	span_copy(span_of(name + dot), t->name, sizeof(t->name));
	if (t->flags & HEAP_TYPE && !dot)
		t->kind = PYOBJ_OTHER; /* a class in Python of that name */
	return 0;
}

int pyobj_refs(struct pyobjs *o, uint64_t object, uint64_t *ret)
{
	uint64_t word = 0;
	int e = pyobj_u64(o, object, &word);
	if (e)
		return e;
	if (o->rt->minor >= 14)
		word &= UINT32_MAX; /* flags are behind it */
	*ret = word > REFS_MAX ? UINT64_MAX : word;
	return 0;
}

bool pyobj_is(struct pyobjs *o, uint64_t object, enum pyobj_kind kind)
{
	const struct pyobj_type *t;
	uint64_t refs = 0;
	return pyobj_type(o, object, &t) == 0 && t->kind == kind && pyobj_refs(o, object, &refs) == 0 && refs > 0 &&
	       refs <= REFS_MAX;
}

int pyobj_weak(struct pyobjs *o, uint64_t object, bool *ret)
{
	const struct pyobj_type *t;
	uint64_t list = 0;
	int e = pyobj_type(o, object, &t);
	if (e)
		return e;
	*ret = false;
	if (t->weak_at == 0)
		return 0;
	if (t->weak_at < -64 || t->weak_at > 4096) {
		*ret = true;
		return 0;
	}
	e = pyobj_u64(o, object + (uint64_t)t->weak_at, &list);
	*ret = list != 0;
	return e;
}

bool pyobj_str_is(struct pyobjs *o, uint64_t str, const char *text)
{
	unsigned char raw[160];
	const struct pyoffsets *off = &o->rt->off;
	size_t len = strlen(text), want = (size_t)off->str.ascii + len;
	if (str < 4096 || want > sizeof(raw) || off->str.length + 8 > want || pyobj_get(o, str, raw, want) != 0)
		return false;
	return pyobj_word_of(raw, off->str.length) == len && memcmp(raw + off->str.ascii, text, len) == 0;
}

int pyobj_int(struct pyobjs *o, uint64_t object, uint64_t *ret)
{
	const struct pyoffsets *off = &o->rt->off;
	uint64_t tag = 0;
	uint32_t digit[3] = {};
	int e = pyobj_u64(o, object + off->integer.tag, &tag);
	if (e)
		return e;
	uint64_t n = o->rt->minor >= 12 ? (tag & 3) == 0 ? tag >> 3 : 0 : tag;
	if (n == 0 || n > ARRAY_SIZE(digit))
		return REMOTE_FAULT; /* zero, negative or too large: no number that is looked for */
	e = pyobj_get(o, object + off->integer.digit, digit, (size_t)n * sizeof(*digit));
	*ret = digit[0] | (uint64_t)digit[1] << 30 | (uint64_t)digit[2] << 60;
	return e;
}

int pyobj_index(struct pyobjs *o, uint64_t object, uint64_t *ret)
{
	const struct pyobj_type *t;
	uint64_t tag = 0;
	int e = pyobj_type(o, object, &t);
	if (e == 0 && strcmp(t->name, "int") != 0)
		return REMOTE_FAULT;
	if (e == 0)
		e = pyobj_u64(o, object + o->rt->off.integer.tag, &tag);
	bool zero = o->rt->minor >= 12 ? (tag & 3) == 1 : tag == 0;
	if (e == 0 && zero)
		*ret = 0;
	return e || zero ? e : pyobj_int(o, object, ret);
}

static int children_add(struct pyobjs *o, uint64_t items, uint64_t n, struct pyobj_child *ret, size_t *ret_n)
{
	uint64_t words[PYOBJ_CHILDREN];
	if (n > PYOBJ_CHILDREN)
		return 0;
	int e = pyobj_get(o, items, words, (size_t)n * sizeof(*words));
	for (size_t i = 0; e == 0 && i < n; i++)
		ret[i] = (struct pyobj_child){.object = words[i]};
	*ret_n = e ? 0 : (size_t)n;
	return e;
}

/* Only a deque of one block: the waiters of a condition are few. */
static int deque_children(struct pyobjs *o, uint64_t object, struct pyobj_child *ret, size_t *ret_n)
{
	uint64_t head[5] = {}; /* size, first block, last block, first index, last index */
	int e = pyobj_get(o, object + 16, head, sizeof(head));
	if (e || head[0] == 0 || head[1] != head[2] || head[3] >= DEQUE_BLOCK_ITEMS ||
	    head[0] > DEQUE_BLOCK_ITEMS - head[3])
		return e;
	return children_add(o, head[1] + 8 + 8 * head[3], head[0], ret, ret_n);
}

/* Keys and values of a dict; values 0: they stand with the keys. */
static int table_children(struct pyobjs *o, uint64_t keys, uint64_t values, struct pyobj_child *ret, size_t *ret_n)
{
	unsigned char rows[PYOBJ_CHILDREN * 24];
	uint64_t words[PYOBJ_CHILDREN];
	struct pydict_keys k;
	int e = pydict_keys(o->rt, o->remote, keys, &k);
	if (e)
		return e;
	if (k.n > PYOBJ_CHILDREN)
		return 0;
	size_t n = (size_t)k.n;
	e = pyobj_get(o, k.entries, rows, n * k.row_bytes);
	if (e == 0 && values)
		e = pyobj_get(o, values, words, n * sizeof(*words));
	for (size_t i = 0; e == 0 && i < n; i++) {
		const unsigned char *row = rows + i * k.row_bytes + k.key_at;
		uint64_t value = values ? words[i] : pyobj_word_of(row, 8);
		if (value)
			ret[(*ret_n)++] = (struct pyobj_child){pyobj_word_of(row, 0), value};
	}
	return e;
}

static int dict_children(struct pyobjs *o, uint64_t dict, bool alone, struct pyobj_child *ret, size_t *ret_n)
{
	uint64_t refs = 0, keys = 0, values = 0;
	int e = pyobj_refs(o, dict, &refs);
	if (e == 0)
		e = pyobj_u64(o, dict + o->rt->off.dict.keys, &keys);
	if (e == 0)
		e = pyobj_u64(o, dict + o->rt->off.dict.values, &values);
	if (e || (alone && refs != 1))
		return e; /* somebody else has the dict, and so the attributes */
	return table_children(o, keys, values ? values + o->layout->dict_values_at : 0, ret, ret_n);
}

int pyobj_items(struct pyobjs *o, uint64_t dict, struct pyobj_child ret[static PYOBJ_CHILDREN], size_t *ret_n)
{
	const struct pyobj_type *t;
	*ret_n = 0;
	int e = pyobj_type(o, dict, &t);
	if (e)
		return e;
	return strcmp(t->name, "dict") == 0 ? dict_children(o, dict, false, ret, ret_n) : REMOTE_FAULT;
}

/* PyHeapTypeObject.ht_cached_keys: the names of the values of instances without a dict. */
static uint64_t cached_keys_at(const struct pyrt *rt)
{
	if (rt->minor >= 15)
		return rt->off.type.cached_keys;
	return rt->minor == 11 ? 872 : 880;
}

/* From 3.11 on (Include/internal/pycore_object.h): values behind or before the object, or a dict before it. */
static int managed_children(struct pyobjs *o, uint64_t object, const struct pyobj_type *t, bool alone,
			    struct pyobj_child *ret, size_t *ret_n)
{
	uint64_t type = t->addr, word = 0, values = 0, keys = 0, size = 0, refs = 1;
	unsigned char head[4] = {0}; /* capacity, size, embedded, valid */
	int e = pyobj_u64(o, object - 24, &word);
	if (e)
		return e;
	if (o->rt->minor == 11 && word == 0) {
		e = pyobj_u64(o, object - 32, &values);
	} else if (o->rt->minor == 12 && (word & 1)) {
		values = word + 1;
	} else if (o->rt->minor >= 13 && (t->flags & INLINE_VALUES)) {
		e = pyobj_u64(o, type + o->rt->off.type.basicsize, &size);
		if (e == 0 && size < 4096)
			e = pyobj_get(o, object + size, head, sizeof(head));
		if (e == 0 && head[3])
			values = object + size + 8;
		if (e == 0 && values && word) /* a dict that uses the same values */
			e = pyobj_refs(o, word, &refs);
	}
	if (e || (alone && refs != 1))
		return e;
	if (!values)
		return word ? dict_children(o, word, alone, ret, ret_n) : 0;
	e = pyobj_u64(o, type + cached_keys_at(o->rt), &keys);
	return e ? e : keys ? table_children(o, keys, values, ret, ret_n) : 0;
}

static int instance_children(struct pyobjs *o, uint64_t object, const struct pyobj_type *t, bool alone,
			     struct pyobj_child *ret, size_t *ret_n)
{
	uint64_t at = 0, dict = 0;
	if (!(t->flags & HEAP_TYPE))
		return 0;
	if (o->rt->minor >= 11)
		return t->flags & MANAGED_DICT ? managed_children(o, object, t, alone, ret, ret_n) : 0;
	int e = pyobj_u64(o, t->addr + o->rt->off.type.dictoffset, &at);
	if (e || at == 0 || at > 4096)
		return e;
	e = pyobj_u64(o, object + at, &dict);
	return e || !dict ? e : dict_children(o, dict, alone, ret, ret_n);
}

int pyobj_children(struct pyobjs *o, uint64_t object, struct pyobj_child ret[static PYOBJ_CHILDREN], size_t *ret_n)
{
	const struct pyobj_type *t;
	uint64_t n = 0, items = 0;
	*ret_n = 0;
	int e = pyobj_type(o, object, &t);
	if (e)
		return e;
	switch (t->kind) {
	case PYOBJ_METHOD:
	case PYOBJ_BUILTIN:
		return children_add(o, object + 24, 1, ret, ret_n);
	case PYOBJ_CELL:
		return children_add(o, object + 16, 1, ret, ret_n);
	case PYOBJ_DEQUE:
		return deque_children(o, object, ret, ret_n);
	case PYOBJ_TUPLE:
		e = pyobj_u64(o, object + o->rt->off.tuple.size, &n);
		return e ? e : children_add(o, object + o->rt->off.tuple.item, n, ret, ret_n);
	case PYOBJ_LIST:
		e = pyobj_u64(o, object + o->rt->off.list.size, &n);
		if (e == 0)
			e = pyobj_u64(o, object + o->rt->off.list.item, &items);
		return e ? e : children_add(o, items, n, ret, ret_n);
	case PYOBJ_OTHER:
		return instance_children(o, object, t, true, ret, ret_n);
	default:
		return 0;
	}
}

int pyobj_attr(struct pyobjs *o, uint64_t object, const char *name, uint64_t *ret)
{
	struct pyobj_child all[PYOBJ_CHILDREN];
	const struct pyobj_type *t;
	size_t n = 0;
	int e = pyobj_type(o, object, &t);
	if (e == 0)
		e = instance_children(o, object, t, false, all, &n);
	for (size_t i = 0; e == 0 && i < n; i++)
		if (all[i].name && all[i].object && pyobj_str_is(o, all[i].name, name)) {
			*ret = all[i].object;
			return 0;
		}
	return e ? e : REMOTE_FAULT;
}

bool pyobj_function_is(struct pyobjs *o, uint64_t function, const char *name, const char *file)
{
	uint64_t str = 0, code = 0;
	cleanup(freep) char *text = NULL;
	if (pyobj_u64(o, function + o->layout->function_name, &str) != 0 || !pyobj_str_is(o, str, name) ||
	    pyobj_u64(o, function + o->layout->function_code, &code) != 0 ||
	    pyobj_u64(o, code + o->rt->off.code.filename, &str) != 0 ||
	    pystr_read(o->rt, o->remote, str, 4096, &text) != 0)
		return false;
	const char *slash = strrchr(text, '/');
	return strcmp(slash ? slash + 1 : text, file) == 0;
}

bool pyobj_method_is(struct pyobjs *o, uint64_t method, enum pyobj_kind kind, const char *name)
{
	uint64_t def = 0, text = 0;
	char found[32];
	return pyobj_is(o, method, kind) && pyobj_u64(o, method + (kind == PYOBJ_DESCRIPTOR ? 40 : 16), &def) == 0 &&
	       pyobj_u64(o, def, &text) == 0 && remote_text(o->remote, text, found, sizeof(found)) == 0 &&
	       strcmp(found, name) == 0;
}
