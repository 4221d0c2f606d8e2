#include "sense/python/pynames.h"

#include <string.h>

#include "base/buf.h"
#include "sense/python/pycode.h"
#include "sense/python/pydict.h"

#define MODULES_MAX 20000
#define ATTRIBUTES_MAX 64
#define MANAGED_DICT (UINT64_C(1) << 4) /* of tp_flags, from 3.11 on */
#define INLINE_VALUES (UINT64_C(1) << 2) /* from 3.13 on */

#define READS_MAX 100000 /* limit of all reads, for foreign memory that links without end */

struct reader {
	const struct pyrt *rt;
	struct remote *r;
	uint32_t reads_left;
};

static int pynames_get(struct reader *x, uint64_t addr, void *into, size_t len)
{
	if (x->reads_left == 0)
		return REMOTE_FAULT;
	x->reads_left--;
	return remote_read(x->r, addr, into, len);
}

static int pynames_get_u64(struct reader *x, uint64_t addr, uint64_t *ret)
{
	return pynames_get(x, addr, ret, sizeof(*ret));
}

/* A row of a dict with its own values. */
struct row {
	uint64_t hash, key, value; /* hash 0: a table without hashes, where all keys are str */
};

static int rows_read(struct reader *x, uint64_t dict, size_t most, struct row **ret, size_t *ret_n)
{
	struct pydict_keys k;
	uint64_t keys = 0, values = 0;
	*ret = NULL;
	*ret_n = 0;
	int e = pynames_get_u64(x, dict + x->rt->off.dict.keys, &keys);
	if (e == 0)
		e = pynames_get_u64(x, dict + x->rt->off.dict.values, &values);
	if (e == 0)
		e = pydict_keys(x->rt, x->r, keys, &k);
	if (e || k.n == 0 || k.n > most || values)
		return e;
	size_t n = (size_t)k.n;
	cleanup(freep) unsigned char *raw = malloc(n * k.row_bytes);
	cleanup(freep) struct row *rows = calloc(n, sizeof(*rows));
	if (!raw || !rows)
		return -ENOMEM;
	e = pynames_get(x, k.entries, raw, n * k.row_bytes);
	for (size_t i = 0; i < n && e == 0; i++) {
		const unsigned char *at = raw + i * k.row_bytes;
		if (k.key_at)
			memcpy(&rows[i].hash, at, sizeof(rows[i].hash));
		memcpy(&rows[i].key, at + k.key_at, sizeof(rows[i].key));
		memcpy(&rows[i].value, at + k.key_at + 8, sizeof(rows[i].value));
	}
	if (e)
		return e;
	*ret = take(&rows);
	*ret_n = n;
	return 0;
}

/* One read per key, because thousands of keys are compared. */
static bool is_text(struct reader *x, uint64_t str, const char *text)
{
	unsigned char raw[128];
	const struct pyoffsets *o = &x->rt->off;
	size_t len = strlen(text), want = (size_t)o->str.ascii + len;
	uint64_t length = 0;
	if (str == 0 || want > sizeof(raw) || o->str.length + 8 > want || pynames_get(x, str, raw, want) != 0)
		return false;
	memcpy(&length, raw + o->str.length, sizeof(length));
	return length == len && memcmp(raw + o->str.ascii, text, len) == 0;
}

/* 0 and *ret 0: there is no such key. */
static int value_of(struct reader *x, uint64_t dict, const char *key, uint64_t *ret)
{
	cleanup(freep) struct row *rows = NULL;
	size_t n;
	*ret = 0;
	int e = rows_read(x, dict, MODULES_MAX, &rows, &n);
	for (size_t i = 0; i < n && e == 0 && *ret == 0; i++)
		if (rows[i].value && is_text(x, rows[i].key, key))
			*ret = rows[i].value;
	return e;
}

/* PyHeapTypeObject.ht_cached_keys: the position of each attribute in instances that have no dict of their own. */
static uint64_t shared_keys_at(const struct pyrt *rt)
{
	if (rt->minor >= 15)
		return rt->off.type.cached_keys;
	return rt->minor == 11 ? 872 : 880;
}

/*
 * Include/internal/pycore_object.h: where the values of an instance without a dict are. 0: it has a dict, or no values.
 */
static int values_of(struct reader *x, uint64_t object, uint64_t type, uint64_t flags, uint64_t *ret_values,
		     uint64_t *ret_dict)
{
	uint64_t word = 0, size = 0;
	*ret_values = *ret_dict = 0;
	int e = pynames_get_u64(x, object - 24, &word);
	if (e)
		return e;
	if (x->rt->minor == 11) {
		*ret_dict = word;
		return word ? 0 : pynames_get_u64(x, object - 32, ret_values);
	}
	if (x->rt->minor == 12) {
		if (word & 1)
			*ret_values = word + 1;
		else
			*ret_dict = word;
		return 0;
	}
	unsigned char head[4] = {0}; /* capacity, size, embedded, valid */
	if (flags & INLINE_VALUES)
		e = pynames_get_u64(x, type + x->rt->off.type.basicsize, &size);
	if (e == 0 && size && size < 4096)
		e = pynames_get(x, object + size, head, sizeof(head));
	if (e == 0 && head[3]) /* the values stay there when a dict is created */
		*ret_values = object + size + 8;
	else
		*ret_dict = word;
	return e;
}

/* Reads an attribute of an instance whose values are an array indexed by the type's keys. */
static int value_by_keys(struct reader *x, uint64_t keys, uint64_t values, const char *name, uint64_t *ret)
{
	struct pydict_keys k;
	uint64_t key;
	int e = pydict_keys(x->rt, x->r, keys, &k);
	for (uint64_t i = 0; e == 0 && i < MIN(k.n, (uint64_t)ATTRIBUTES_MAX); i++) {
		e = pynames_get_u64(x, k.entries + i * k.row_bytes + k.key_at, &key);
		if (e == 0 && is_text(x, key, name))
			return pynames_get_u64(x, values + i * 8, ret);
	}
	return e;
}

static int attribute(struct reader *x, uint64_t object, const char *name, uint64_t *ret)
{
	const struct pyoffsets *o = &x->rt->off;
	uint64_t type = 0, flags = 0, dict = 0, values = 0, keys = 0;
	*ret = 0;
	int e = pynames_get_u64(x, object + o->object.type, &type);
	if (e == 0)
		e = pynames_get_u64(x, type + o->type.flags, &flags);
	if (e)
		return e;
	if (x->rt->minor <= 10) {
		uint64_t at = 0;
		e = pynames_get_u64(x, type + o->type.dictoffset, &at);
		if (e || at == 0 || at > 4096)
			return e;
		e = pynames_get_u64(x, object + at, &dict);
	} else if (flags & MANAGED_DICT) {
		e = values_of(x, object, type, flags, &values, &dict);
		if (e == 0 && values)
			e = pynames_get_u64(x, type + shared_keys_at(x->rt), &keys);
	}
	/* A dict that shares its keys with others of its type; in 3.13 its values are those above. */
	if (e == 0 && dict && x->rt->minor <= 12)
		e = pynames_get_u64(x, dict + o->dict.values, &values);
	if (e == 0 && dict && values)
		e = pynames_get_u64(x, dict + o->dict.keys, &keys);
	if (e)
		return e;
	if (keys)
		return value_by_keys(x, keys, values, name, ret);
	return dict ? value_of(x, dict, name, ret) : 0;
}

static int global_find(struct reader *x, uint64_t interp, const char *in, const char *name, uint64_t *ret)
{
	uint64_t modules = 0, module = 0, dict = 0;
	*ret = 0;
	int e = pynames_get_u64(x, interp + x->rt->off.interp.modules, &modules);
	if (e == 0 && modules)
		e = value_of(x, modules, in, &module);
	if (e == 0 && module) /* PyModuleObject.md_dict is its first member */
		e = pynames_get_u64(x, module + x->rt->off.object.type + 8, &dict);
	return e == 0 && dict ? value_of(x, dict, name, ret) : e;
}

int pynames_global(const struct pyrt *rt, struct remote *r, uint64_t interp, const char *module, const char *name,
		   uint64_t *ret)
{
	struct reader x = {rt, r, READS_MAX};
	*ret = 0;
	return rt->off.interp.modules == PYOFF_NONE ? 0 : global_find(&x, interp, module, name, ret);
}

static bool name_read(struct reader *x, uint64_t thread, struct pyname *ret)
{
	cleanup(freep) char *text = NULL;
	uint64_t name = 0;
	if (attribute(x, thread, "_name", &name) != 0 || name == 0 ||
	    pystr_read(x->rt, x->r, name, sizeof(ret->name) - 1, &text) != 0)
		return false;
	TEXT_COPY(ret->name, text);
	return ret->name[0] != '\0';
}

int pynames_read(const struct pyrt *rt, struct remote *r, uint64_t interp, struct pyname **ret, size_t *ret_n)
{
	struct reader x = {rt, r, READS_MAX};
	cleanup(freep) struct row *rows = NULL;
	uint64_t active = 0;
	size_t n = 0, found = 0;
	*ret = NULL;
	*ret_n = 0;
	if (rt->free_threaded || rt->off.interp.modules == PYOFF_NONE)
		return 0;
	int e = global_find(&x, interp, "threading", "_active", &active);
	if (e == 0 && active)
		e = rows_read(&x, active, PYNAMES_MAX, &rows, &n);
	if (e == WORLD_GONE || e == WORLD_DENIED || e < 0)
		return e;
	if (e || n == 0)
		return 0; /* it changed while it was read, or is no such object */
	cleanup(freep) struct pyname *names = calloc(n, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		/* The hash of a small int is the int itself, and thread numbers are small enough. */
		names[found].thread_id = rows[i].hash;
		if (rows[i].hash && rows[i].value && name_read(&x, rows[i].value, &names[found]))
			found++;
	}
	*ret = take(&names);
	*ret_n = found;
	return 0;
}
