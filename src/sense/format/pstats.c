#include "sense/format/pstats.h"

#include <math.h>
#include <string.h>

#include "base/vec.h"

/* Real files nest 5 deep: dict, tuple, dict, tuple, tuple. */
#define DEPTH_MAX 32
/* Bounds memory: an object with references takes 32 bytes here, but can be one byte in a hostile file. */
#define REFS_MAX ((size_t)1 << 23)
/* A longer time is implausible, and sums of such times would lose precision. */
#define SECONDS_MAX 1e15
/* Flag of a type byte: the object gets a reference number. */
#define FLAG_REF 0x80

enum value_kind { VALUE_OTHER, VALUE_TEXT, VALUE_INT, VALUE_FLOAT, VALUE_KEY };

struct value {
	enum value_kind kind;
	uint32_t key; /* VALUE_KEY: index into keys */
	union {
		struct span text;
		int64_t integer;
		double real;
	};
};

struct reader {
	const unsigned char *start, *p, *end;
	struct value *refs; /* objects with a reference number; marshal 3 and later */
	size_t n_refs, cap_refs;
	struct value *interned; /* interned strings; Python 2 */
	size_t n_interned, cap_interned;
	struct pstats_key *keys; /* function names in VALUE_KEY tuples */
	size_t n_keys, cap_keys;
	const struct pstats_sink *sink;
	struct fault *fault;
};

static void reader_done(struct reader *r)
{
	free(r->refs);
	free(r->interned);
	free(r->keys);
}

static int bad(const struct reader *r, const char *expected)
{
	size_t at = (size_t)(r->p - r->start);
	if (r->p >= r->end)
		return fault_set(r->fault, -EBADMSG, "the profile is cut off after %zu bytes, where %s should be", at,
				 expected);
	return fault_set(r->fault, -EBADMSG, "not a profile of cProfile: at byte %zu there should be %s, not 0x%02x",
			 at, expected, *r->p);
}

static int too_large(const struct reader *r)
{
	return fault_set(r->fault, -EFBIG, "the profile has more than %zu objects that others refer to", REFS_MAX);
}

static size_t left(const struct reader *r)
{
	return (size_t)(r->end - r->p);
}

static uint32_t u32_at(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static int take_u32(struct reader *r, uint32_t *ret)
{
	if (left(r) < 4) {
		r->p = r->end;
		return bad(r, "a number of four bytes");
	}
	*ret = u32_at(r->p);
	r->p += 4;
	return 0;
}

static int value_push(struct reader *r, struct value **list, size_t *n, size_t *cap, const struct value *v)
{
	if (*n == REFS_MAX)
		return too_large(r);
	if (vec_room(list, cap, *n + 1) < 0)
		return -ENOMEM;
	(*list)[(*n)++] = *v;
	return 0;
}

static int ref_push(struct reader *r, const struct value *v)
{
	return value_push(r, &r->refs, &r->n_refs, &r->cap_refs, v);
}

static int take_text(struct reader *r, size_t len, struct value *v)
{
	if (left(r) < len) {
		r->p = r->end;
		return bad(r, "the rest of a text");
	}
	*v = (struct value){.kind = VALUE_TEXT, .text = {(const char *)r->p, len}};
	r->p += len;
	return 0;
}

/* Reads an integer in digits of 15 bits; their count is negative for a negative integer. */
static int take_long(struct reader *r, struct value *v)
{
	uint32_t raw;
	int e = take_u32(r, &raw);
	if (e < 0)
		return e;
	uint32_t n = raw & 0x80000000u ? 0u - raw : raw;
	uint64_t sum = 0;
	if (n > 5 || left(r) < (size_t)n * 2)
		return bad(r, "an integer of at most 63 bits");
	for (uint32_t i = 0; i < n; i++, r->p += 2) {
		uint64_t digit = (uint64_t)r->p[0] | (uint64_t)r->p[1] << 8;
		if (digit > 0x7fff || (i == 4 && digit > 7))
			return bad(r, "an integer of at most 63 bits");
		sum |= digit << (15 * i);
	}
	*v = (struct value){.kind = VALUE_INT, .integer = raw & 0x80000000u ? -(int64_t)sum : (int64_t)sum};
	return 0;
}

static int take_i64(struct reader *r, struct value *v)
{
	uint32_t low, high;
	int e = take_u32(r, &low);
	if (e == 0)
		e = take_u32(r, &high);
	if (e < 0)
		return e;
	*v = (struct value){.kind = VALUE_INT, .integer = (int64_t)((uint64_t)high << 32 | low)};
	return 0;
}

static int take_double(struct reader *r, struct value *v)
{
	if (left(r) < 8) {
		r->p = r->end;
		return bad(r, "a number of eight bytes");
	}
	uint64_t bits = (uint64_t)u32_at(r->p + 4) << 32 | u32_at(r->p);
	r->p += 8;
	*v = (struct value){.kind = VALUE_FLOAT};
	memcpy(&v->real, &bits, sizeof(v->real));
	return 0;
}

/* Reads a float that is written as a text, as Python 2 does. */
static int take_float_text(struct reader *r, struct value *v)
{
	char text[64], *end;
	size_t len = left(r) > 0 ? *r->p : 0;
	if (left(r) < 1 + len || len == 0 || len >= sizeof(text))
		return bad(r, "a number as text");
	memcpy(text, r->p + 1, len);
	text[len] = '\0';
	*v = (struct value){.kind = VALUE_FLOAT, .real = strtod(text, &end)};
	if (end != text + len)
		return bad(r, "a number as text");
	r->p += 1 + len;
	return 0;
}

static int take_ref(struct reader *r, const struct value *list, size_t n, struct value *v)
{
	uint32_t i = 0;
	int e = take_u32(r, &i);
	if (e < 0)
		return e;
	if (i >= n) {
		r->p -= 4;
		return bad(r, "a reference to something that came before");
	}
	*v = list[i];
	return 0;
}

static int take_byte_text(struct reader *r, struct value *v)
{
	if (left(r) == 0)
		return bad(r, "the length of a text");
	size_t len = *r->p++;
	return take_text(r, len, v);
}

static int take_long_text(struct reader *r, struct value *v)
{
	uint32_t len;
	int e = take_u32(r, &len);
	return e < 0 ? e : take_text(r, len, v);
}

static int take_i32(struct reader *r, struct value *v)
{
	uint32_t raw;
	int e = take_u32(r, &raw);
	*v = (struct value){.kind = VALUE_INT, .integer = e == 0 ? (int32_t)raw : 0};
	return e;
}

/* Reads any object but a container; its type byte is read already. NOT_PLAIN: a container or the end of a dict. */
enum { NOT_PLAIN = 1 };

static int take_plain(struct reader *r, unsigned char type, struct value *v)
{
	switch (type) {
	case 'i':
		return take_i32(r, v);
	case 'g':
		return take_double(r, v);
	case 'z':
	case 'Z':
		return take_byte_text(r, v);
	case 'a':
	case 'A':
	case 'u':
	case 's':
	case 't':
		return take_long_text(r, v);
	case 'l':
		return take_long(r, v);
	case 'I':
		return take_i64(r, v);
	case 'f':
		return take_float_text(r, v);
	case 'T':
	case 'F':
		*v = (struct value){.kind = VALUE_INT, .integer = type == 'T'};
		return 0;
	case 'N':
	case '.':
		*v = (struct value){.kind = VALUE_OTHER};
		return 0;
	default:
		return NOT_PLAIN;
	}
}

static int any_value(struct reader *r, unsigned depth, struct value *v);

static int key_push(struct reader *r, const struct pstats_key *key, uint32_t *ret)
{
	if (r->n_keys == REFS_MAX)
		return too_large(r);
	if (vec_room(&r->keys, &r->cap_keys, r->n_keys + 1) < 0)
		return -ENOMEM;
	r->keys[r->n_keys] = *key;
	*ret = (uint32_t)r->n_keys++;
	return 0;
}

/* Reads the n items of a tuple. A tuple of (text, number, text) is the name of a function. */
static int tuple_rest(struct reader *r, uint32_t n, unsigned depth, struct value *ret)
{
	struct value item[3];
	*ret = (struct value){.kind = VALUE_OTHER};
	for (uint32_t i = 0; i < n; i++) {
		struct value v;
		int e = any_value(r, depth, &v);
		if (e < 0)
			return e;
		if (i < 3)
			item[i] = v;
	}
	if (n != 3 || item[0].kind != VALUE_TEXT || item[1].kind != VALUE_INT || item[2].kind != VALUE_TEXT)
		return 0;
	const struct pstats_key key = {item[0].text, item[2].text, item[1].integer};
	ret->kind = VALUE_KEY;
	return key_push(r, &key, &ret->key);
}

static int tuple_size(struct reader *r, unsigned char type, uint32_t *ret)
{
	if (type == '(')
		return take_u32(r, ret);
	if (left(r) == 0)
		return bad(r, "the length of a tuple");
	*ret = *r->p++;
	return 0;
}

static int dict_rest(struct reader *r, unsigned depth)
{
	for (;;) {
		struct value v;
		if (left(r) > 0 && *r->p == '0') {
			r->p++;
			return 0;
		}
		int e = any_value(r, depth, &v);
		if (e == 0)
			e = any_value(r, depth, &v);
		if (e < 0)
			return e;
	}
}

static int container(struct reader *r, unsigned char type, unsigned depth, struct value *v)
{
	uint32_t n = 0;
	int e;
	*v = (struct value){.kind = VALUE_OTHER};
	switch (type) {
	case '(':
	case ')':
		e = tuple_size(r, type, &n);
		return e < 0 ? e : tuple_rest(r, n, depth, v);
	case '{':
		return dict_rest(r, depth);
	case '[':
	case '<':
	case '>':
		e = take_u32(r, &n);
		for (uint32_t i = 0; e == 0 && i < n; i++)
			e = any_value(r, depth, v);
		v->kind = VALUE_OTHER;
		return e;
	default:
		r->p--;
		return bad(r, "an object of a profile");
	}
}

static int any_value(struct reader *r, unsigned depth, struct value *v)
{
	if (depth >= DEPTH_MAX || left(r) == 0)
		return bad(r, depth >= DEPTH_MAX ? "less nesting" : "an object");
	unsigned char raw = *r->p++, type = raw & (unsigned char)~FLAG_REF;
	if (type == 'r')
		return take_ref(r, r->refs, r->n_refs, v);
	if (type == 'R')
		return take_ref(r, r->interned, r->n_interned, v);
	int e = take_plain(r, type, v);
	if (e == 0 && raw == 't')
		e = value_push(r, &r->interned, &r->n_interned, &r->cap_interned, v);
	if (e <= 0)
		return e < 0 || !(raw & FLAG_REF) ? e : ref_push(r, v);
	/* A container gets its reference number before the objects in it do. */
	size_t place = r->n_refs;
	const struct value reserved = {.kind = VALUE_OTHER};
	if ((raw & FLAG_REF) && (e = ref_push(r, &reserved)) < 0)
		return e;
	e = container(r, type, depth + 1, v);
	if (e == 0 && (raw & FLAG_REF))
		r->refs[place] = *v;
	return e;
}

/* Reads a part of a name. References and small integers, the common forms, are read without any_value, for speed. */
static int take_part(struct reader *r, struct value *v)
{
	if (left(r) >= 5 && *r->p == 'r' && u32_at(r->p + 1) < r->n_refs) {
		*v = r->refs[u32_at(r->p + 1)];
		r->p += 5;
		return 0;
	}
	if (left(r) >= 5 && *r->p == 'i') {
		*v = (struct value){.kind = VALUE_INT, .integer = (int32_t)u32_at(r->p + 1)};
		r->p += 5;
		return 0;
	}
	return any_value(r, 2, v);
}

/*
 * Reads a key of a dict. Most keys are tuples without a reference number, which are not stored. NOT_PLAIN: the key is
 * not the name of a function.
 */
static int take_key(struct reader *r, struct pstats_key *key)
{
	struct value v[3];
	if (left(r) >= 2 && r->p[0] == ')' && r->p[1] == 3) {
		r->p += 2;
		for (unsigned i = 0; i < 3; i++) {
			int e = take_part(r, &v[i]);
			if (e < 0)
				return e;
		}
		*key = (struct pstats_key){v[0].text, v[2].text, v[1].integer};
		bool is_name = v[0].kind == VALUE_TEXT && v[1].kind == VALUE_INT && v[2].kind == VALUE_TEXT;
		return is_name ? 0 : NOT_PLAIN;
	}
	int e = any_value(r, 1, &v[0]);
	if (e < 0)
		return e;
	if (v[0].kind != VALUE_KEY)
		return NOT_PLAIN;
	*key = r->keys[v[0].key];
	return 0;
}

static int take_count(struct reader *r, uint64_t *ret)
{
	struct value v;
	const unsigned char *at = r->p;
	if (left(r) >= 5 && *at == 'i' && !(at[4] & 0x80)) {
		*ret = u32_at(at + 1);
		r->p += 5;
		return 0;
	}
	int e = any_value(r, 3, &v);
	if (e < 0)
		return e;
	bool whole = v.kind == VALUE_FLOAT && v.real >= 0 && v.real < 9e15 && v.real == floor(v.real);
	if (whole)
		*ret = (uint64_t)v.real;
	else if (v.kind == VALUE_INT && v.integer >= 0)
		*ret = (uint64_t)v.integer;
	else
		r->p = at;
	return r->p == at ? bad(r, "a count") : 0;
}

static int take_seconds(struct reader *r, double *ret)
{
	struct value v;
	const unsigned char *at = r->p;
	if (left(r) >= 9 && *at == 'g') {
		r->p++;
		ignore(take_double(r, &v), "there are eight bytes");
		*ret = v.real;
		if (fabs(v.real) < SECONDS_MAX)
			return 0;
		r->p = at;
	}
	int e = any_value(r, 3, &v);
	if (e < 0)
		return e;
	if (v.kind == VALUE_FLOAT && fabs(v.real) < SECONDS_MAX)
		*ret = v.real;
	else if (v.kind == VALUE_INT && fabs((double)v.integer) < SECONDS_MAX)
		*ret = (double)v.integer;
	else
		r->p = at;
	return r->p == at ? bad(r, "a time") : 0;
}

/* Reads (calls, primitive calls, own, cumulative), or the number of calls alone. */
static int take_edge(struct reader *r, struct pstats_number *n)
{
	uint32_t size;
	*n = (struct pstats_number){.n_calls = 0};
	if (left(r) == 0)
		return bad(r, "a caller's numbers");
	unsigned char raw = *r->p, type = raw & (unsigned char)~FLAG_REF;
	if (type != '(' && type != ')') {
		int e = take_count(r, &n->n_calls);
		n->n_primitive = n->n_calls;
		return e;
	}
	r->p++;
	const struct value reserved = {.kind = VALUE_OTHER};
	int e = raw & FLAG_REF ? ref_push(r, &reserved) : 0;
	if (e == 0)
		e = tuple_size(r, type, &size);
	if (e == 0 && size != 4)
		return bad(r, "a tuple of a caller's four numbers");
	if (e == 0)
		e = take_count(r, &n->n_calls);
	if (e == 0)
		e = take_count(r, &n->n_primitive);
	if (e == 0)
		e = take_seconds(r, &n->own_s);
	if (e == 0)
		e = take_seconds(r, &n->cumulative_s);
	return e;
}

static int dict_begin(struct reader *r, const char *what)
{
	if (left(r) == 0 || (*r->p & (unsigned char)~FLAG_REF) != '{')
		return bad(r, what);
	const struct value reserved = {.kind = VALUE_OTHER};
	return *r->p++ & FLAG_REF ? ref_push(r, &reserved) : 0;
}

static int take_callers(struct reader *r)
{
	int e = dict_begin(r, "a function's callers");
	while (e == 0) {
		struct pstats_key caller;
		struct pstats_number n;
		if (left(r) > 0 && *r->p == '0') {
			r->p++;
			return 0;
		}
		int named = take_key(r, &caller);
		e = named < 0 ? named : take_edge(r, &n);
		if (e == 0 && named == 0)
			e = r->sink->edge(r->sink->ctx, &caller, &n);
	}
	return e;
}

static int take_function(struct reader *r, const struct pstats_key *key)
{
	struct pstats_number n;
	uint32_t size = 0;
	unsigned char raw = left(r) > 0 ? *r->p : 0, type = raw & (unsigned char)~FLAG_REF;
	if (type != '(' && type != ')')
		return bad(r, "a function's numbers");
	r->p++;
	const struct value reserved = {.kind = VALUE_OTHER};
	int e = raw & FLAG_REF ? ref_push(r, &reserved) : 0;
	if (e == 0)
		e = tuple_size(r, type, &size);
	if (e == 0 && size != 5)
		return bad(r, "a tuple of a function's four numbers and its callers");
	if (e == 0)
		e = take_count(r, &n.n_primitive);
	if (e == 0)
		e = take_count(r, &n.n_calls);
	if (e == 0)
		e = take_seconds(r, &n.own_s);
	if (e == 0)
		e = take_seconds(r, &n.cumulative_s);
	if (e == 0)
		e = r->sink->function(r->sink->ctx, key, &n);
	return e == 0 ? take_callers(r) : e;
}

/* Reads an entry that is not a function: {("__sampled__",): True}. */
static int take_marker(struct reader *r, struct span key)
{
	struct value v;
	int e = any_value(r, 1, &v);
	if (e == 0 && r->sink->sampled && span_has(key, "__sampled__") && v.kind == VALUE_INT && v.integer == 1)
		r->sink->sampled(r->sink->ctx);
	return e;
}

int pstats_parse(struct span bytes, const struct pstats_sink *sink, struct fault *f)
{
	const unsigned char *start = (const unsigned char *)bytes.p;
	cleanup(reader_done) struct reader r = {
		.start = start, .p = start, .end = start + bytes.len, .sink = sink, .fault = f};
	int e = dict_begin(&r, "a dict of functions");
	while (e == 0) {
		struct pstats_key key;
		if (left(&r) > 0 && *r.p == '0')
			return 0;
		const unsigned char *at = r.p;
		int named = take_key(&r, &key);
		if (named < 0)
			return named;
		e = named == 0 ? take_function(&r, &key)
			       : take_marker(&r, (struct span){(const char *)at, (size_t)(r.p - at)});
	}
	return e;
}
