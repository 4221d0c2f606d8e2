/*
 * Values of numpy, of versions 1 and 2: of an array its shape and type, of a scalar its value. A scalar is an object's
 * head and the value behind it, in the layout of C (numpy's arrayscalars.h).
 */
#include <string.h>

#include "sense/python/pyvalue.h"

static const char *dtype_of(char c)
{
	static const struct {
		char c;
		const char *name;
	} names[] = {
		{'?', "bool"},	    {'b', "int8"},	 {'B', "uint8"},       {'h', "int16"},	 {'H', "uint16"},
		{'i', "int32"},	    {'I', "uint32"},	 {'l', "int64"},       {'L', "uint64"},	 {'q', "int64"},
		{'Q', "uint64"},    {'e', "float16"},	 {'f', "float32"},     {'d', "float64"}, {'g', "longdouble"},
		{'F', "complex64"}, {'D', "complex128"}, {'O', "object"},      {'S', "bytes"},	 {'U', "str"},
		{'V', "void"},	    {'M', "datetime64"}, {'m', "timedelta64"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].c == c)
			return names[i].name;
	return NULL;
}

/* PyArrayObject: data, nd (int), dimensions*, strides*, base, descr; a descr begins with typeobj, kind, type. */
static int array_write(struct pyvalues *v, const struct pytype *t, uint64_t addr, struct buf *to)
{
	uint64_t fields[6], shape[32];
	char kind[2];
	int e = pyvalue_get(v, addr + pyvalue_body(v), fields, sizeof(fields));
	if (e)
		return e;
	uint32_t nd = (uint32_t)fields[1];
	if (nd > ARRAY_SIZE(shape) || (nd && pyvalue_get(v, fields[2], shape, nd * sizeof(*shape)) != 0) ||
	    pyvalue_get(v, fields[5] + pyvalue_body(v) + 8, kind, sizeof(kind)) != 0) {
		pyvalue_plain(t, addr, to);
		return 0;
	}
	buf_printf(to, "<%s shape (", t->name);
	for (uint32_t i = 0; i < nd; i++)
		buf_printf(to, "%s%lld", i ? ", " : "", (long long)shape[i]);
	buf_printf(to, "%s)", nd == 1 ? "," : "");
	const char *dtype = dtype_of(kind[1]);
	if (dtype)
		buf_printf(to, " dtype %s", dtype);
	buf_add(to, ">");
	return 0;
}

/* What lies behind the head of a scalar. */
enum held {
	HELD_BOOL,
	HELD_INT,
	HELD_UINT,
	HELD_FLOAT, /* of 2, 4, 8 or 16 bytes */
	HELD_COMPLEX, /* two floats of half the bytes */
	HELD_TIME, /* a number, and behind it its unit and how many of them */
};

struct scalar {
	const char *name;
	enum held held;
	uint8_t bytes;
};

/* Names as of version 1 and 2 on Linux of 64 bits. */
static const struct scalar scalars[] = {
	{"bool", HELD_BOOL, 1},		{"bool_", HELD_BOOL, 1},	{"int8", HELD_INT, 1},
	{"int16", HELD_INT, 2},		{"int32", HELD_INT, 4},		{"intc", HELD_INT, 4},
	{"int64", HELD_INT, 8},		{"longlong", HELD_INT, 8},	{"uint8", HELD_UINT, 1},
	{"uint16", HELD_UINT, 2},	{"uint32", HELD_UINT, 4},	{"uintc", HELD_UINT, 4},
	{"uint64", HELD_UINT, 8},	{"ulonglong", HELD_UINT, 8},	{"float16", HELD_FLOAT, 2},
	{"float32", HELD_FLOAT, 4},	{"float64", HELD_FLOAT, 8},	{"float128", HELD_FLOAT, 16},
	{"longdouble", HELD_FLOAT, 16}, {"complex64", HELD_COMPLEX, 8}, {"complex128", HELD_COMPLEX, 16},
	{"datetime64", HELD_TIME, 16},	{"timedelta64", HELD_TIME, 16},
};

static double half_of(uint16_t bits)
{
	int exponent = bits >> 10 & 31;
	double x = bits & 1023;
	if (exponent == 31)
		return x > 0 ? __builtin_nan("") : bits >> 15 ? -__builtin_inf() : __builtin_inf();
	x = exponent ? x + 1024 : x;
	for (int e = exponent ? exponent : 1; e < 25; e++)
		x /= 2;
	for (int e = 25; e < exponent; e++)
		x *= 2;
	return bits >> 15 ? -x : x;
}

static void float_add(const uint8_t *p, size_t bytes, struct buf *to)
{
	uint16_t half;
	float single;
	double x;
	if (bytes == sizeof(half)) {
		memcpy(&half, p, sizeof(half));
		pytext_float(half_of(half), PYTEXT_HALF, to);
	} else if (bytes == sizeof(single)) {
		memcpy(&single, p, sizeof(single));
		pytext_float(single, PYTEXT_SINGLE, to);
	} else if (bytes == sizeof(x)) {
		memcpy(&x, p, sizeof(x));
		pytext_float(x, PYTEXT_DOUBLE, to);
	} else {
		long double wide;
		memcpy(&wide, p, sizeof(wide));
		x = (double)wide;
		buf_add(to, (long double)x == wide || x != x ? "" : "about ");
		pytext_float(x, PYTEXT_DOUBLE, to);
	}
}

static void time_add(const uint8_t *p, struct buf *to)
{
	static const char *const units[] = {"Y", "M", "W", "", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"};
	int64_t n;
	int32_t unit, many;
	memcpy(&n, p, sizeof(n));
	memcpy(&unit, p + sizeof(n), sizeof(unit));
	memcpy(&many, p + sizeof(n) + sizeof(unit), sizeof(many));
	if (n == INT64_MIN) {
		buf_add(to, "NaT");
		return;
	}
	buf_printf(to, "%lld", (long long)n);
	if (many > 1)
		buf_printf(to, " x %d", many);
	if (unit >= 0 && (size_t)unit < ARRAY_SIZE(units) && units[unit][0])
		buf_printf(to, " %s", units[unit]);
}

static void int_add(const struct scalar *s, const uint8_t *p, struct buf *to)
{
	uint64_t n = 0;
	memcpy(&n, p, s->bytes);
	unsigned shift = 64 - 8u * s->bytes;
	if (s->held == HELD_INT)
		buf_printf(to, "%lld", (long long)((int64_t)(n << shift) >> shift));
	else
		buf_printf(to, "%llu", (unsigned long long)n);
}

static void value_add(const struct scalar *s, const uint8_t *p, struct buf *to)
{
	uint64_t sign = 0;
	switch (s->held) {
	case HELD_BOOL:
		buf_add(to, p[0] ? "True" : "False");
		return;
	case HELD_INT:
	case HELD_UINT:
		int_add(s, p, to);
		return;
	case HELD_FLOAT:
		float_add(p, s->bytes, to);
		return;
	case HELD_COMPLEX:
		float_add(p, s->bytes / 2, to);
		memcpy(&sign, p + s->bytes / 2, s->bytes / 2);
		buf_add(to, sign >> (4 * s->bytes - 1) ? "" : "+");
		float_add(p + s->bytes / 2, s->bytes / 2, to);
		buf_add(to, "j");
		return;
	case HELD_TIME:
		time_add(p, to);
		return;
	}
}

static int scalar_write(struct pyvalues *v, const struct pytype *t, const struct scalar *s, uint64_t addr,
			struct buf *to)
{
	uint8_t bytes[16] = {0};
	uint64_t at = pyvalue_body(v);
	int e = pyvalue_get(v, addr + at, bytes, s->bytes);
	if (e)
		return e;
	buf_printf(to, "%s(", t->name);
	value_add(s, bytes, to);
	buf_add(to, ")");
	return 0;
}

int pynumpy_write(struct pyvalues *v, const struct pytype *t, uint64_t addr, struct buf *to, bool *ret_known)
{
	struct span name = span_after(span_of(t->name), "numpy.");
	*ret_known = true;
	if (name.p && name.p == t->name + strlen("numpy.")) {
		if (span_eq(name, "ndarray"))
			return array_write(v, t, addr, to);
		for (size_t i = 0; i < ARRAY_SIZE(scalars); i++)
			if (span_eq(name, scalars[i].name))
				return scalar_write(v, t, &scalars[i], addr, to);
	}
	*ret_known = false;
	return 0;
}
