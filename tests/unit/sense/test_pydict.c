#include "memory_fixture.h"

#include "sense/python/pydict.h"

/* PyDictKeysObject since 3.11: refcnt, log2_size, log2_index_bytes, kind, version, usable, nentries. */
static uint64_t keys_new(struct memory *m, uint8_t log2_index_bytes, uint8_t kind, uint64_t n)
{
	uint64_t addr;
	unsigned char *b = memory_add(m, 32, &addr);
	b[9] = log2_index_bytes;
	b[10] = kind;
	put(b + 24, n, 8);
	return addr;
}

/* Up to 3.10: refcnt, size, lookup, usable, nentries. */
static uint64_t keys_old(struct memory *m, uint64_t size, uint64_t n)
{
	uint64_t addr;
	unsigned char *b = memory_add(m, 40, &addr);
	put(b + 8, size, 8);
	put(b + 32, n, 8);
	return addr;
}

static void a_general_table_has_the_hash_before_each_key(void **state)
{
	(void)state;
	struct memory *m = memory_new(11);
	struct pydict_keys k;
	uint64_t addr = keys_new(m, 3, 0, 5);
	assert_int_equal(pydict_keys(&m->rt, &m->remote, addr, &k), 0);
	assert_int_equal(k.entries, addr + 32 + 8);
	assert_int_equal(k.n, 5);
	assert_int_equal(k.row_bytes, 24);
	assert_int_equal(k.key_at, 8);
	free(m);
}

static void tables_of_str_keys_have_no_hashes(void **state)
{
	(void)state;
	struct memory *m = memory_new(12);
	for (uint8_t kind = 1; kind <= 2; kind++) { /* unicode, split */
		struct pydict_keys k;
		uint64_t addr = keys_new(m, 8, kind, 100);
		assert_int_equal(pydict_keys(&m->rt, &m->remote, addr, &k), 0);
		assert_int_equal(k.entries, addr + 32 + 256);
		assert_int_equal(k.row_bytes, 16);
		assert_int_equal(k.key_at, 0);
	}
	free(m);
}

static void before_3_11_the_width_of_an_index_follows_from_the_size(void **state)
{
	(void)state;
	static const struct {
		uint64_t size, index_bytes;
	} cases[] = {{8, 8},
		     {0xff, 0xff},
		     {0x100, 0x200},
		     {0xffff, 0x1fffe},
		     {0x10000, 0x40000},
		     {UINT64_C(0xffffffff), UINT64_C(0x3fffffffc)},
		     {UINT64_C(0x100000000), UINT64_C(0x800000000)}};
	for (uint8_t minor = 8; minor <= 10; minor++) {
		struct memory *m = memory_new(minor);
		for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
			struct pydict_keys k;
			uint64_t addr = keys_old(m, cases[i].size, 3);
			assert_int_equal(pydict_keys(&m->rt, &m->remote, addr, &k), 0);
			assert_int_equal(k.entries, addr + 40 + cases[i].index_bytes);
			assert_int_equal(k.n, 3);
			assert_int_equal(k.row_bytes, 24);
			assert_int_equal(k.key_at, 8);
		}
		free(m);
	}
}

static void impossible_tables_are_refused(void **state)
{
	(void)state;
	struct memory *m = memory_new(11);
	struct pydict_keys k;
	assert_int_equal(pydict_keys(&m->rt, &m->remote, keys_new(m, 41, 0, 1), &k), REMOTE_FAULT);
	assert_int_equal(pydict_keys(&m->rt, &m->remote, keys_new(m, 3, 3, 1), &k), REMOTE_FAULT);
	assert_int_equal(pydict_keys(&m->rt, &m->remote, 0x999000, &k), REMOTE_FAULT);
	m->rt.minor = 10;
	assert_int_equal(pydict_keys(&m->rt, &m->remote, keys_old(m, (UINT64_C(1) << 40) + 1, 1), &k), REMOTE_FAULT);
	assert_int_equal(pydict_keys(&m->rt, &m->remote, keys_old(m, UINT64_C(1) << 40, 1), &k), 0);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_general_table_has_the_hash_before_each_key),
		cmocka_unit_test(tables_of_str_keys_have_no_hashes),
		cmocka_unit_test(before_3_11_the_width_of_an_index_follows_from_the_size),
		cmocka_unit_test(impossible_tables_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
