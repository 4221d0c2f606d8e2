#include "memory_fixture.h"

#include "sense/python/pynames.h"

/* A row of a dict. The process is one of 3.11 that has threading._active = {ident: Thread, ...}. */
struct entry {
	uint64_t hash, key, value;
};

/* A dict with a general table. */
static uint64_t dict_add(struct memory *m, const struct entry *rows, size_t n)
{
	uint64_t table, dict;
	unsigned char *t = memory_add(m, 32 + 8 + 24 * n, &table);
	t[9] = 3;
	put(t + 24, n, 8);
	memcpy(t + 40, rows, 24 * n);
	put(memory_add(m, 48, &dict) + m->rt.off.dict.keys, table, 8);
	return dict;
}

/* An instance whose type's keys are {"_target", "_name"} and whose values are an array. */
static uint64_t thread_add(struct memory *m, uint64_t name)
{
	uint64_t keys, type, values, block;
	unsigned char *k = memory_add(m, 32 + 8 + 2 * 16, &keys);
	k[9] = 3;
	k[10] = 2;
	put(k + 24, 2, 8);
	put(k + 40, memory_text(m, "_target"), 8);
	put(k + 56, memory_text(m, "_name"), 8);
	unsigned char *t = memory_add(m, 900, &type);
	put(t + m->rt.off.type.flags, 1 << 4, 8); /* Py_TPFLAGS_MANAGED_DICT */
	put(t + 872, keys, 8);
	put(memory_add(m, 16, &values) + 8, name, 8);
	unsigned char *b = memory_add(m, 64, &block); /* values and dict stand before the object */
	put(b, values, 8);
	put(b + 32 + m->rt.off.object.type, type, 8);
	return block + 32;
}

/* Returns the address of the interpreter. */
static uint64_t interp_add(struct memory *m, const char *module_name, const struct entry *active, size_t n)
{
	uint64_t module, interp;
	const struct entry globals[] = {{1, memory_text(m, "_active"), dict_add(m, active, n)}};
	put(memory_add(m, 64, &module) + 16, dict_add(m, globals, 1), 8);
	const struct entry modules[] = {{1, memory_text(m, "sys"), module}, {2, memory_text(m, module_name), module}};
	put(memory_add(m, 960, &interp) + m->rt.off.interp.modules, dict_add(m, modules, 2), 8);
	return interp;
}

static size_t names_of(struct memory *m, uint64_t interp, struct pyname **ret)
{
	size_t n = 99;
	assert_int_equal(pynames_read(&m->rt, &m->remote, interp, ret, &n), 0);
	return n;
}

static void names_stand_with_the_number_of_their_thread(void **state)
{
	(void)state;
	struct memory *m = memory_new(11);
	const struct entry active[] = {{0x7001, 1, thread_add(m, memory_text(m, "MainThread"))},
				       {0x7002, 1, thread_add(m, memory_text(m, "loader 0"))}};
	struct pyname *names = NULL;
	assert_int_equal(names_of(m, interp_add(m, "threading", active, 2), &names), 2);
	assert_int_equal(names[0].thread_id, 0x7001);
	assert_string_equal(names[0].name, "MainThread");
	assert_int_equal(names[1].thread_id, 0x7002);
	assert_string_equal(names[1].name, "loader 0");
	free(names);
	free(m);
}

static void entries_without_a_usable_name_are_left_out(void **state)
{
	(void)state;
	struct memory *m = memory_new(11);
	const struct entry active[] = {{0x7001, 1, thread_add(m, memory_text(m, ""))},
				       {0x7002, 1, thread_add(m, 0)},
				       {0x7003, 1, 0},			/* deleted */
				       {0x7004, 1, 0x999000},		/* not mapped */
				       {0x7005, 1, thread_add(m, memory_text(m, "x"))}};
	struct pyname *names = NULL;
	assert_int_equal(names_of(m, interp_add(m, "threading", active, ARRAY_SIZE(active)), &names), 1);
	assert_int_equal(names[0].thread_id, 0x7005);
	free(names);
	free(m);
}

static void a_long_name_is_cut(void **state)
{
	(void)state;
	struct memory *m = memory_new(11);
	char text[100];
	memset(text, 'n', sizeof(text));
	const struct entry active[] = {{1, 1, thread_add(m, memory_str(m, text, sizeof(text), 1, true))}};
	struct pyname *names = NULL;
	assert_int_equal(names_of(m, interp_add(m, "threading", active, 1), &names), 1);
	assert_int_equal(strlen(names[0].name), sizeof(names[0].name) - 1);
	free(names);
	free(m);
}

static void a_program_without_threading_has_no_names(void **state)
{
	(void)state;
	struct memory *m = memory_new(11);
	const struct entry active[] = {{1, 1, thread_add(m, memory_text(m, "x"))}};
	struct pyname *names = NULL;
	assert_int_equal(names_of(m, interp_add(m, "threadin_", active, 1), &names), 0);
	assert_null(names);
	assert_int_equal(names_of(m, 0x999000, &names), 0); /* nothing there can be read */
	uint64_t interp = interp_add(m, "threading", active, 1);
	m->rt.free_threaded = true; /* a layout that is not known */
	assert_int_equal(names_of(m, interp, &names), 0);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_stand_with_the_number_of_their_thread),
		cmocka_unit_test(entries_without_a_usable_name_are_left_out),
		cmocka_unit_test(a_long_name_is_cut),
		cmocka_unit_test(a_program_without_threading_has_no_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
