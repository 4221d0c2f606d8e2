#include "elf_image.h"

#include "sense/native/strtab.h"

#define LARGE (5 * MIB) /* larger than what is copied */

/* A file that is nothing but a string table; what is at *at is put there. */
static struct elf file_of(size_t len, const size_t *at, const char *const *text, size_t n)
{
	char *bytes = calloc(1, len);
	assert_non_null(bytes);
	for (size_t i = 0; i < n; i++)
		memcpy(bytes + at[i], text[i], strlen(text[i]));
	struct elf e = {.fd = bytes_fd(bytes, len), .size = len};
	free(bytes);
	return e;
}

static const size_t places[] = {1, 10, 4096};
static const char *const texts[] = {"main", "_ZN1a1bEv", "last"};

static void expect_names(struct strtab *t)
{
	char text[8];
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		assert_string_equal(strtab_name(t, (uint32_t)places[i]), texts[i]);
	assert_string_equal(strtab_name(t, 0), "");
	assert_string_equal(strtab_name(t, 3), "in"); /* tables share the ends of names */
	assert_true(strtab_peek(t, 10, text, sizeof(text)));
	assert_string_equal(text, "_ZN1a1b");
	assert_null(strtab_name(t, (uint32_t)t->len));
	assert_false(strtab_peek(t, (uint32_t)t->len, text, sizeof(text)));
}

static void a_small_table_is_copied(void **state)
{
	(void)state;
	struct elf e = file_of(8192, places, texts, ARRAY_SIZE(places));
	struct strtab t;
	assert_int_equal(strtab_open(&e, 0, 8192, &t), 0);
	closep(&e.fd); /* not needed any more */
	assert_non_null(t.text);
	expect_names(&t);
	strtab_done(&t);
}

static void of_a_large_table_names_are_read_when_asked_for(void **state)
{
	(void)state;
	struct elf e = file_of(LARGE, places, texts, ARRAY_SIZE(places));
	struct strtab t;
	assert_int_equal(strtab_open(&e, 0, LARGE, &t), 0);
	closep(&e.fd); /* the table has a descriptor of its own */
	assert_null(t.text);
	expect_names(&t);
	const char *first = strtab_name(&t, 1);
	for (uint32_t i = 5000; i < 7000; i++) /* many more: what was given out stays where it is */
		assert_string_equal(strtab_name(&t, i), "");
	assert_ptr_equal(strtab_name(&t, 1), first);
	assert_string_equal(first, "main");
	strtab_done(&t);
}

static void names_without_an_end_are_none(void **state)
{
	(void)state;
	const size_t sizes[] = {8192, LARGE};
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		size_t at = sizes[i] - 3;
		const char *text = "end";
		struct elf e = file_of(sizes[i], &at, &text, 1);
		struct strtab t;
		assert_int_equal(strtab_open(&e, 0, sizes[i], &t), 0);
		/* The copy is terminated, the file is not. */
		assert_true(t.text ? strcmp(strtab_name(&t, (uint32_t)at), "end") == 0
				   : strtab_name(&t, (uint32_t)at) == NULL);
		strtab_done(&t);
		closep(&e.fd);
	}
}

static void a_name_longer_than_the_limit_is_none(void **state)
{
	(void)state;
	const size_t sizes[] = {2 * STRTAB_NAME_MAX, LARGE};
	char *name = malloc(STRTAB_NAME_MAX + 2);
	assert_non_null(name);
	memset(name, 'x', STRTAB_NAME_MAX + 1);
	name[STRTAB_NAME_MAX + 1] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		const size_t at = 8;
		const char *text = name;
		struct elf e = file_of(sizes[i], &at, &text, 1);
		struct strtab t;
		assert_int_equal(strtab_open(&e, 0, sizes[i], &t), 0);
		assert_null(strtab_name(&t, 8));
		assert_int_equal(strlen(strtab_name(&t, 8 + 1024)), STRTAB_NAME_MAX + 1 - 1024);
		strtab_done(&t);
		closep(&e.fd);
	}
	free(name);
}

static void tables_outside_of_the_file_are_refused(void **state)
{
	(void)state;
	struct elf e = file_of(8192, NULL, NULL, 0);
	struct strtab t;
	assert_int_equal(strtab_open(&e, 8193, 0, &t), ELF_NOT);
	assert_int_equal(strtab_open(&e, 1, 8192, &t), ELF_NOT);
	assert_int_equal(strtab_open(&e, UINT64_MAX, 2, &t), ELF_NOT);
	assert_int_equal(strtab_open(&e, 8192, 0, &t), 0);
	assert_null(strtab_name(&t, 0));
	strtab_done(&t);
	closep(&e.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_table_is_copied),
		cmocka_unit_test(of_a_large_table_names_are_read_when_asked_for),
		cmocka_unit_test(names_without_an_end_are_none),
		cmocka_unit_test(a_name_longer_than_the_limit_is_none),
		cmocka_unit_test(tables_outside_of_the_file_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
