#include "memory_fixture.h"

#include "sense/python/pyvalue.h"

/* Bits of tp_flags. */
#define INT (UINT64_C(1) << 24)
#define LIST (UINT64_C(1) << 25)
#define TUPLE (UINT64_C(1) << 26)
#define BYTES (UINT64_C(1) << 27)
#define STR (UINT64_C(1) << 28)
#define DICT (UINT64_C(1) << 29)
#define TYPE (UINT64_C(1) << 31)

static uint64_t type_add(struct memory *m, const char *name, uint64_t flags)
{
	uint64_t text, addr;
	memcpy(memory_add(m, 64, &text), name, strlen(name) + 1);
	unsigned char *b = memory_add(m, 256, &addr);
	put(b + m->rt.off.type.name, text, 8);
	put(b + m->rt.off.type.flags, flags, 8);
	return addr;
}

static unsigned char *object_add(struct memory *m, uint64_t type, size_t len, uint64_t *ret_addr)
{
	unsigned char *b = memory_add(m, len, ret_addr);
	put(b + m->rt.off.object.type, type, 8);
	return b;
}

/* Digits of 30 bits; n below 0: a negative number. */
static uint64_t int_add(struct memory *m, uint64_t type, int64_t n, const uint32_t *digits)
{
	uint64_t addr;
	size_t many = (size_t)(n < 0 ? -n : n);
	unsigned char *b = object_add(m, type, 64, &addr);
	put(b + m->rt.off.integer.tag, m->rt.minor >= 12 ? many << 3 | (n == 0 ? 1 : n < 0 ? 2 : 0) : (uint64_t)n, 8);
	for (size_t i = 0; i < many; i++)
		put(b + m->rt.off.integer.digit + 4 * i, digits[i], 4);
	return addr;
}

static uint64_t tuple_add(struct memory *m, uint64_t type, const uint64_t *items, size_t n)
{
	uint64_t addr;
	unsigned char *b = object_add(m, type, 24 + 8 * n, &addr);
	put(b + m->rt.off.tuple.size, n, 8);
	if (n)
		memcpy(b + m->rt.off.tuple.item, items, 8 * n);
	return addr;
}

static uint64_t str_add(struct memory *m, uint64_t type, const char *text)
{
	uint64_t addr = memory_text(m, text);
	put(m->chunk[m->n - 1].bytes + m->rt.off.object.type, type, 8);
	return addr;
}

static void expect(struct memory *m, uint64_t addr, const char *want)
{
	char text[512];
	struct buf b = BUF_ON(text);
	struct pyvalues v;
	pyvalues_init(&m->rt, &m->remote, &v);
	text[0] = '\0';
	assert_int_equal(pyvalue_write(&v, addr, &b), 0);
	assert_string_equal(text, want);
}

static void scalars_of_numpy_have_their_value(void **state)
{
	(void)state;
	static const struct {
		const char *type, *want;
		uint64_t bits;
	} cases[] = {
		{"numpy.bool", "numpy.bool(True)", 1},
		{"numpy.int64", "numpy.int64(-1)", UINT64_MAX},
		{"numpy.int8", "numpy.int8(-128)", 0xff80},
		{"numpy.float16", "numpy.float16(1.5)", 0x3e00},
		{"numpy.float16", "numpy.float16(-0.3333)", 0xb555},
		{"numpy.float32", "numpy.float32(0.1)", 0x3dcccccd},
		{"numpy.float64", "numpy.float64(0.1)", UINT64_C(0x3fb999999999999a)},
		{"numpy.complex64", "numpy.complex64(0.1-0.1j)", UINT64_C(0xbdcccccd3dcccccd)},
		{"numpy.void", NULL, 0},
		{"my.numpy.int64", NULL, 0},
	};
	struct memory *m = memory_new(12);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char plain[80];
		uint64_t addr;
		unsigned char *b = object_add(m, type_add(m, cases[i].type, 0), 32, &addr);
		put(b + m->rt.off.object.type + 8, cases[i].bits, 8);
		TEXT_FORMAT(plain, "<%s at 0x%llx>", cases[i].type, (unsigned long long)addr);
		expect(m, addr, cases[i].want ? cases[i].want : plain);
	}
	free(m);
}

static void numbers_are_read_in_both_layouts(void **state)
{
	(void)state;
	for (uint8_t minor = 11; minor <= 12; minor++) {
		struct memory *m = memory_new(minor);
		uint64_t type = type_add(m, "int", INT), boolean = type_add(m, "bool", INT);
		expect(m, int_add(m, type, 0, NULL), "0");
		expect(m, int_add(m, type, 1, (const uint32_t[]){7}), "7");
		expect(m, int_add(m, type, -1, (const uint32_t[]){7}), "-7");
		expect(m, int_add(m, type, 2, (const uint32_t[]){1, 4}), "4294967297");
		expect(m, int_add(m, type, 3, (const uint32_t[]){0, 0, 1}), "1152921504606846976");
		expect(m, int_add(m, type, 3, (const uint32_t[]){0, 0, 16}), "int of 65 bits");
		expect(m, int_add(m, type, -4, (const uint32_t[]){0, 0, 0, 3}), "negative int of 92 bits");
		expect(m, int_add(m, boolean, 1, (const uint32_t[]){1}), "True");
		expect(m, int_add(m, boolean, 0, NULL), "False");
		expect(m, int_add(m, type_add(m, "Color", INT), 1, (const uint32_t[]){2}), "Color(2)");
		free(m);
	}
}

static void sequences_show_sixteen_items(void **state)
{
	(void)state;
	struct memory *m = memory_new(11);
	uint64_t tuple = type_add(m, "tuple", TUPLE), none, many[20], items;
	(void)object_add(m, type_add(m, "NoneType", 0), 16, &none);
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = none;
	expect(m, tuple_add(m, tuple, NULL, 0), "()");
	expect(m, tuple_add(m, tuple, many, 1), "(None,)");
	expect(m, tuple_add(m, tuple, many, 17),
	       "(None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, None, "
	       "... 1 more)");
	expect(m, tuple_add(m, type_add(m, "Point", TUPLE), many, 1), "Point(None)");
	memcpy(memory_add(m, 16, &items), many, 16);
	uint64_t list;
	unsigned char *b = object_add(m, type_add(m, "list", LIST), 40, &list);
	put(b + m->rt.off.list.size, 2, 8);
	put(b + m->rt.off.list.item, items, 8);
	expect(m, list, "[None, None]");
	put(b + m->rt.off.list.size, 3, 8); /* more than is mapped */
	char want[64];
	TEXT_FORMAT(want, "<unreadable at 0x%llx>", (unsigned long long)list);
	expect(m, list, want);
	free(m);
}

static void containers_end_at_depth_three_and_at_themselves(void **state)
{
	(void)state;
	struct memory *m = memory_new(11);
	uint64_t type = type_add(m, "tuple", TUPLE), empty = tuple_add(m, type, NULL, 0);
	uint64_t one = tuple_add(m, type, &empty, 1), two = tuple_add(m, type, &one, 1);
	expect(m, two, "(((),),)");
	expect(m, tuple_add(m, type, &two, 1), "(((<tuple>,),),)");
	uint64_t self = tuple_add(m, type, &two, 1);
	put(m->chunk[m->n - 1].bytes + m->rt.off.tuple.item, self, 8);
	expect(m, self, "(...,)");
	free(m);
}

/* A general table with two rows, of which the first was deleted. */
static void dicts_leave_out_what_was_deleted(void **state)
{
	(void)state;
	struct memory *m = memory_new(11);
	uint64_t key = str_add(m, type_add(m, "str", STR), "k"), table, dict;
	unsigned char *t = memory_add(m, 32 + 8 + 48, &table);
	t[9] = 3;
	put(t + 24, 2, 8);
	put(t + 40 + 24 + 8, key, 8);
	put(t + 40 + 24 + 16, key, 8);
	unsigned char *b = object_add(m, type_add(m, "dict", DICT), 48, &dict);
	put(b + 16, 1, 8);
	put(b + m->rt.off.dict.keys, table, 8);
	expect(m, dict, "{'k': 'k'}");
	put(b + 16, 0, 8);
	expect(m, dict, "{}");
	put(b + 16, 5, 8); /* more used than the table has */
	expect(m, dict, "{'k': 'k', ... 4 more}");
	put(b + m->rt.off.object.type, type_add(m, "Counter", DICT), 8);
	put(b + 16, 1, 8);
	expect(m, dict, "Counter({'k': 'k'})");
	free(m);
}

static void sets_leave_out_free_places(void **state)
{
	(void)state;
	struct memory *m = memory_new(11);
	uint64_t item = str_add(m, type_add(m, "str", STR), "x"), table, set;
	unsigned char *t = memory_add(m, 8 * 16, &table);
	put(t + 3 * 16, item, 8);
	put(t + 16, item + 1, 8);
	put(t + 16 + 8, UINT64_MAX, 8); /* deleted */
	unsigned char *b = object_add(m, type_add(m, "set", 0), 64, &set);
	put(b + m->rt.off.set.used, 1, 8);
	put(b + m->rt.off.set.mask, 7, 8);
	put(b + m->rt.off.set.table, table, 8);
	expect(m, set, "{'x'}");
	put(b + m->rt.off.set.used, 0, 8);
	expect(m, set, "set()");
	put(b + m->rt.off.object.type, type_add(m, "frozenset", 0), 8);
	put(b + m->rt.off.set.used, 1, 8);
	expect(m, set, "frozenset({'x'})");
	free(m);
}

static void arrays_show_shape_and_dtype(void **state)
{
	(void)state;
	struct memory *m = memory_new(11);
	uint64_t array, shape, descr;
	put(memory_add(m, 16, &shape), 3, 8);
	put(m->chunk[m->n - 1].bytes + 8, 4, 8);
	unsigned char *d = memory_add(m, 32, &descr);
	d[24] = 'f';
	d[25] = 'd';
	unsigned char *b = object_add(m, type_add(m, "numpy.ndarray", 0), 64, &array);
	put(b + 24, 2, 4);
	put(b + 32, shape, 8);
	put(b + 56, descr, 8);
	expect(m, array, "<numpy.ndarray shape (3, 4) dtype float64>");
	put(b + 24, 1, 4);
	d[25] = '*';
	expect(m, array, "<numpy.ndarray shape (3,)>");
	put(b + 24, 33, 4); /* more dimensions than there can be */
	char want[64];
	TEXT_FORMAT(want, "<numpy.ndarray at 0x%llx>", (unsigned long long)array);
	expect(m, array, want);
	free(m);
}

static void other_objects_show_type_and_address(void **state)
{
	(void)state;
	struct memory *m = memory_new(11);
	uint64_t thing, bytes, class = type_add(m, "pkg.Class", 0);
	char want[64];
	(void)object_add(m, class, 16, &thing);
	TEXT_FORMAT(want, "<pkg.Class at 0x%llx>", (unsigned long long)thing);
	expect(m, thing, want);
	for (size_t i = 0; i < m->n; i++)
		if (m->chunk[i].addr == class)
			put(m->chunk[i].bytes + m->rt.off.object.type, type_add(m, "type", TYPE), 8);
	expect(m, class, "<class 'pkg.Class'>");
	unsigned char *b = object_add(m, type_add(m, "bytes", BYTES), 40, &bytes);
	put(b + m->rt.off.bytes.size, 2, 8);
	memcpy(b + m->rt.off.bytes.value, "\0z", 2);
	expect(m, bytes, "b'\\x00z'");
	expect(m, 0, "<NULL>");
	expect(m, 0x999000, "<unreadable at 0x999000>");
	TEXT_FORMAT(want, "<unreadable at 0x%llx>", (unsigned long long)thing + 1); /* no object is there */
	expect(m, thing + 1, want);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_read_in_both_layouts),
		cmocka_unit_test(scalars_of_numpy_have_their_value),
		cmocka_unit_test(sequences_show_sixteen_items),
		cmocka_unit_test(containers_end_at_depth_three_and_at_themselves),
		cmocka_unit_test(dicts_leave_out_what_was_deleted),
		cmocka_unit_test(sets_leave_out_free_places),
		cmocka_unit_test(arrays_show_shape_and_dtype),
		cmocka_unit_test(other_objects_show_type_and_address),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
