#include "sense/python/pylocals.h"

#include <string.h>

#include "sense/python/pystr.h"
#include "sense/python/pyvalue.h"

/* Variables beyond this number are left out. */
#define LOCALS_MAX 256
#define NAME_CHARS 200
#define VALUE_BYTES 4096

/* co_localspluskinds, 3.11 and later. */
enum { KIND_HIDDEN = 0x10, KIND_CELL = 0x40, KIND_FREE = 0x80 };
/* co_flags. */
enum { FLAG_VARARGS = 4, FLAG_VARKEYWORDS = 8 };

struct reader {
	struct pyvalues values;
	uint64_t slots[LOCALS_MAX]; /* the frame's localsplus */
	uint8_t kinds[LOCALS_MAX];
	uint64_t names[LOCALS_MAX];
	size_t n, n_args;
};

void pylocals_done(struct pylocals *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->items[i].name);
		free(l->items[i].value);
	}
	free(l->items);
	*l = (struct pylocals){};
}

/* Appends the addresses of the names in a tuple, all of one kind. */
static int names_add(struct reader *l, uint64_t tuple, uint8_t kind)
{
	const struct pyoffsets *o = &l->values.rt->off;
	uint64_t n = 0;
	int e = remote_u64(l->values.remote, tuple + o->tuple.size, &n);
	if (e)
		return e;
	if (n > INT32_MAX)
		return PYCODE_GARBAGE;
	size_t add = (size_t)MIN(n, LOCALS_MAX - l->n);
	e = add ? remote_read(l->values.remote, tuple + o->tuple.item, &l->names[l->n], add * 8) : 0;
	if (e)
		return e;
	memset(&l->kinds[l->n], kind, add);
	l->n += add;
	return 0;
}

static int kinds_read(struct reader *l, uint64_t bytes)
{
	const struct pyoffsets *o = &l->values.rt->off;
	uint64_t n = 0;
	int e = remote_u64(l->values.remote, bytes + o->bytes.size, &n);
	if (e)
		return e;
	l->n = (size_t)MIN(n, l->n);
	return l->n ? remote_read(l->values.remote, bytes + o->bytes.value, l->kinds, l->n) : 0;
}

static int args_count(struct reader *l, uint64_t code)
{
	const struct pyoffsets *o = &l->values.rt->off;
	uint32_t positional = 0, keyword = 0, flags = 0;
	int e = remote_read(l->values.remote, code + o->code.argcount, &positional, sizeof(positional));
	if (e == 0)
		e = remote_read(l->values.remote, code + o->code.kwonlyargcount, &keyword, sizeof(keyword));
	if (e == 0)
		e = remote_read(l->values.remote, code + o->code.flags, &flags, sizeof(flags));
	if (e)
		return e;
	l->n_args = (size_t)MIN(UINT64_C(0) + positional + keyword + !!(flags & FLAG_VARARGS) +
					!!(flags & FLAG_VARKEYWORDS),
				LOCALS_MAX);
	return 0;
}

static int shape_read(struct reader *l, uint64_t code)
{
	const struct pyoffsets *o = &l->values.rt->off;
	uint64_t type = 0, a = 0, b = 0, c = 0;
	int e = remote_u64(l->values.remote, code + o->object.type, &type);
	if (e == 0 && l->values.rt->code_type && type != l->values.rt->code_type)
		return PYCODE_GARBAGE;
	if (e == 0)
		e = args_count(l, code);
	if (e)
		return e;
	if (o->code.localsplusnames != PYOFF_NONE) {
		e = remote_u64(l->values.remote, code + o->code.localsplusnames, &a);
		if (e == 0)
			e = remote_u64(l->values.remote, code + o->code.localspluskinds, &b);
		if (e == 0)
			e = names_add(l, a, 0);
		return e ? e : kinds_read(l, b);
	}
	e = remote_u64(l->values.remote, code + o->code.varnames, &a);
	if (e == 0)
		e = remote_u64(l->values.remote, code + o->code.cellvars, &b);
	if (e == 0)
		e = remote_u64(l->values.remote, code + o->code.freevars, &c);
	if (e == 0)
		e = names_add(l, a, 0);
	if (e == 0)
		e = names_add(l, b, KIND_CELL);
	return e ? e : names_add(l, c, KIND_FREE);
}

/* 3.14 and later tag the two low bits of a reference; both set: a small int stored in the reference. */
static uint64_t slot_value(const struct pyrt *rt, uint64_t slot, bool *ret_number)
{
	*ret_number = rt->minor >= 14 && (slot & 3) == 3;
	return rt->minor >= 14 && !*ret_number ? slot & ~UINT64_C(3) : slot;
}

/* Replaces a cell by its content; a variable that will be shared need not be in its cell yet. */
static int cell_open(struct reader *l, size_t i, uint64_t *object)
{
	struct pytype t;
	if (!(l->kinds[i] & (KIND_CELL | KIND_FREE)) || !*object)
		return 0;
	int e = pyvalue_type(&l->values, *object, &t);
	if (e || strcmp(t.name, "cell") != 0)
		return e == REMOTE_FAULT ? 0 : e;
	return remote_u64(l->values.remote, *object + l->values.rt->off.object.type + 8, object);
}

/* Ends a shortened text between two characters and marks it as shortened. */
static char *text_finish(struct buf *b)
{
	if (b->cut) {
		size_t at = b->len > 4 ? b->len - 4 : 0;
		while (at > 0 && ((unsigned char)b->text[at] & 0xc0) == 0x80)
			at--;
		b->text[at] = '\0';
		b->len = at;
		b->cut = false;
		buf_add(b, "...");
	}
	return strdup(b->text);
}

/* *ret_any: true if the variable is bound. */
static int local_read(struct reader *l, size_t i, struct pylocal *ret, bool *ret_any)
{
	char text[VALUE_BYTES] = "";
	struct buf b = BUF_ON(text);
	bool number = false;
	uint64_t object = slot_value(l->values.rt, l->slots[i], &number);
	*ret_any = false;
	int e = number ? 0 : cell_open(l, i, &object);
	if (e == REMOTE_FAULT || (e == 0 && !object))
		return 0;
	struct pylocal local = {.is_arg = i < l->n_args};
	if (e == 0)
		e = pystr_read(l->values.rt, l->values.remote, l->names[i], NAME_CHARS, &local.name);
	if (e == 0 && number)
		buf_printf(&b, "%lld", (long long)((int64_t)object >> 2));
	else if (e == 0)
		e = pyvalue_write(&l->values, object, &b);
	if (e) {
		free(local.name);
		return e == REMOTE_FAULT ? PYCODE_GARBAGE : e;
	}
	local.value = text_finish(&b);
	if (!local.value) {
		free(local.name);
		return -ENOMEM;
	}
	*ret = local;
	*ret_any = true;
	return 0;
}

/* Before 3.11 an argument that an inner function uses has moved to a cell behind all other variables. */
static void args_join(struct reader *l)
{
	for (size_t i = 0; i < MIN(l->n_args, l->n); i++)
		for (size_t k = l->n_args; k < l->n && !l->slots[i]; k++) {
			if (l->names[k] != l->names[i] || !(l->kinds[k] & KIND_CELL))
				continue;
			l->slots[i] = l->slots[k];
			l->kinds[i] = KIND_CELL;
			l->slots[k] = 0;
		}
}

int pylocals_read(const struct pyrt *rt, struct remote *r, uint64_t frame, uint64_t code, struct pylocals *ret)
{
	cleanup(freep) struct reader *l = calloc(1, sizeof(*l));
	cleanup(pylocals_done) struct pylocals all = {};
	if (!l)
		return -ENOMEM;
	pyvalues_init(rt, r, &l->values);
	int e = shape_read(l, code);
	if (e == 0 && l->n)
		e = remote_read(r, frame + rt->off.frame.localsplus, l->slots, l->n * sizeof(*l->slots));
	if (e)
		return e;
	args_join(l);
	all.items = calloc(l->n + 1, sizeof(*all.items));
	if (!all.items)
		return -ENOMEM;
	for (size_t i = 0; i < l->n; i++) {
		bool any = false;
		e = local_read(l, i, &all.items[all.n], &any);
		if (e)
			return e;
		all.n += any;
	}
	*ret = all;
	all = (struct pylocals){};
	return 0;
}
