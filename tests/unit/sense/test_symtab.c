#include "elf_image.h"

#include <malloc.h>
#include <stdio.h>
#include <time.h>

#include "base/buf.h"
#include "sense/native/native_parts.h"

struct table {
	Elf64_Sym symbol[32];
	size_t n;
	char names[512];
	size_t names_len;
};

static struct table table_new(void)
{
	return (struct table){.n = 1, .names_len = 1};
}

static void add(struct table *t, const char *name, unsigned bind, unsigned type, uint64_t at, uint64_t size)
{
	t->symbol[t->n++] = (Elf64_Sym){.st_name = (uint32_t)t->names_len,
					.st_info = (unsigned char)ELF64_ST_INFO(bind, type),
					.st_shndx = 1,
					.st_value = IMAGE_TEXT + at,
					.st_size = size};
	memcpy(t->names + t->names_len, name, strlen(name) + 1);
	t->names_len += strlen(name) + 1;
}

static struct elf file_of(const struct table *t, bool exported)
{
	struct image m = {.text_len = 0x100000,
			  .n = 3,
			  .section = {{},
				      {exported ? ".dynsym" : ".symtab", exported ? SHT_DYNSYM : SHT_SYMTAB, t->symbol,
				       t->n * sizeof(t->symbol[0]), 2, sizeof(t->symbol[0])},
				      {".strtab", SHT_STRTAB, t->names, t->names_len}}};
	struct elf e;
	assert_int_equal(elf_open_fd(image_fd(&m), &e), 0);
	return e;
}

static const char *name_at(const struct symtab *t, uint64_t at)
{
	const char *name;
	uint64_t start;
	return symtab_find(t, IMAGE_TEXT + at, &name, &start) ? name : "-";
}

static void a_function_is_named_from_its_first_to_its_last_byte(void **state)
{
	(void)state;
	struct table t = table_new();
	add(&t, "second", STB_GLOBAL, STT_FUNC, 0x200, 0x10);
	add(&t, "first", STB_LOCAL, STT_FUNC, 0x100, 0x20);
	add(&t, "datum", STB_GLOBAL, STT_OBJECT, 0x300, 0x20);
	add(&t, "outside", STB_GLOBAL, STT_FUNC, 0x100000, 0x20);
	struct elf e = file_of(&t, false);
	struct symtab *s;
	const char *name;
	uint64_t start = 0;
	assert_int_equal(symtab_load(&e, NULL, SIZE_MAX, &s), 0);
	assert_string_equal(name_at(s, 0xff), "-");
	assert_string_equal(name_at(s, 0x100), "first");
	assert_string_equal(name_at(s, 0x11f), "first");
	assert_string_equal(name_at(s, 0x120), "-");
	assert_true(symtab_find(s, IMAGE_TEXT + 0x20f, &name, &start));
	assert_string_equal(name, "second");
	assert_int_equal(start, IMAGE_TEXT + 0x200);
	assert_string_equal(name_at(s, 0x210), "-");
	assert_string_equal(name_at(s, 0x300), "-");
	assert_string_equal(name_at(s, 0x100000), "-");
	assert_false(symtab_find(s, 0, &name, &start));
	assert_false(symtab_find(s, UINT64_MAX, &name, &start));
	symtab_free(s);
	elf_done(&e);
}

static void of_several_names_the_plainest_wins_whatever_their_order(void **state)
{
	(void)state;
	static const char *const groups[][4] = {
		{"write", "__write", "__libc_write", "_write"},
		{"free", "cfree", "__libc_free", "__free"},
		{"alpha", "gamma", "delta", "omega"},
	};
	for (size_t g = 0; g < ARRAY_SIZE(groups); g++)
		for (size_t first = 0; first < 4; first++) {
			struct table t = table_new();
			struct symtab *s;
			add(&t, "l", STB_LOCAL, STT_FUNC, 0x100, 0x20);
			for (size_t i = 0; i < 4; i++)
				add(&t, groups[g][(first + i) % 4], i % 2 ? STB_WEAK : STB_GLOBAL, STT_FUNC, 0x100,
				    0x20);
			struct elf e = file_of(&t, false);
			assert_int_equal(symtab_load(&e, NULL, SIZE_MAX, &s), 0);
			assert_string_equal(name_at(s, 0x110), groups[g][0]);
			symtab_free(s);
			elf_done(&e);
		}
}

static void a_function_without_a_size_ends_where_the_next_begins(void **state)
{
	(void)state;
	struct table t = table_new();
	struct symtab *s;
	add(&t, "start", STB_GLOBAL, STT_NOTYPE, 0x0, 0);
	add(&t, "next", STB_GLOBAL, STT_FUNC, 0x9000, 0x100);
	add(&t, "label", STB_LOCAL, STT_NOTYPE, 0x9010, 0);
	add(&t, "last", STB_GLOBAL, STT_FUNC, 0xa000, 0);
	struct elf e = file_of(&t, false);
	assert_int_equal(symtab_load(&e, NULL, SIZE_MAX, &s), 0);
	assert_string_equal(name_at(s, 0x8fff), "start");
	assert_string_equal(name_at(s, 0x9020), "next"); /* a label within says less */
	assert_string_equal(name_at(s, 0x9100), "-");
	assert_string_equal(name_at(s, 0xfffff), "last");
	assert_string_equal(name_at(s, 0x100000), "-");
	symtab_free(s);
	elf_done(&e);
	/* Only exported names: what follows may be a function of which no name is left. */
	e = file_of(&t, true);
	assert_int_equal(symtab_load(&e, NULL, SIZE_MAX, &s), 0);
	assert_string_equal(name_at(s, 0xfff), "start");
	assert_string_equal(name_at(s, 0x1000), "-");
	symtab_free(s);
	elf_done(&e);
}

static void a_function_within_another_is_itself_and_the_rest_the_other(void **state)
{
	(void)state;
	struct table t = table_new();
	struct symtab *s;
	add(&t, "outer", STB_GLOBAL, STT_FUNC, 0x100, 0x100);
	add(&t, "inner", STB_GLOBAL, STT_FUNC, 0x140, 0x10);
	struct elf e = file_of(&t, false);
	assert_int_equal(symtab_load(&e, NULL, SIZE_MAX, &s), 0);
	assert_string_equal(name_at(s, 0x13f), "outer");
	assert_string_equal(name_at(s, 0x140), "inner");
	assert_string_equal(name_at(s, 0x150), "outer");
	assert_string_equal(name_at(s, 0x200), "-");
	symtab_free(s);
	elf_done(&e);
}

static void the_separate_file_names_what_was_stripped(void **state)
{
	(void)state;
	struct table few = table_new(), all = table_new();
	struct symtab *s;
	add(&few, "exported", STB_GLOBAL, STT_FUNC, 0x100, 0x20);
	add(&all, "exported", STB_GLOBAL, STT_FUNC, 0x100, 0x20);
	add(&all, "hidden", STB_LOCAL, STT_FUNC, 0x200, 0x20);
	struct elf e = file_of(&few, true), debug = file_of(&all, false);
	assert_int_equal(symtab_load(&e, NULL, SIZE_MAX, &s), 0);
	assert_string_equal(name_at(s, 0x210), "-");
	symtab_free(s);
	assert_int_equal(symtab_load(&e, &debug, SIZE_MAX, &s), 0);
	elf_done(&e);
	elf_done(&debug); /* names stay readable */
	assert_string_equal(name_at(s, 0x210), "hidden");
	assert_string_equal(name_at(s, 0x110), "exported");
	symtab_free(s);
}

/* The two hash tables, made the simplest way: one bucket that holds all. */
static void without_section_headers_the_dynamic_linkers_tables_serve(void **state)
{
	(void)state;
	struct table t = table_new();
	add(&t, "one", STB_GLOBAL, STT_FUNC, 0x100, 0x20);
	add(&t, "two", STB_GLOBAL, STT_FUNC, 0x200, 0x20);
	uint32_t old_hash[2 + 1 + 3] = {1, 3, 1, 0, 2, 0};
	uint32_t gnu_hash[4 + 2 + 1 + 2] = {1, 1, 1, 0, UINT32_MAX, UINT32_MAX, 1, 0x10, 0x11};
	for (int gnu = 0; gnu < 2; gnu++) {
		struct image m = {.text_len = 0x1000,
				  .no_headers = true,
				  .n = 5,
				  .section = {{},
					      {"s", SHT_DYNSYM, t.symbol, t.n * sizeof(t.symbol[0])},
					      {"n", SHT_STRTAB, t.names, t.names_len},
					      {"h", SHT_HASH, gnu ? gnu_hash : old_hash,
					       gnu ? sizeof(gnu_hash) : sizeof(old_hash)}}};
		Elf64_Dyn d[] = {{DT_SYMTAB, {image_offset(&m, 1)}},
				 {DT_STRTAB, {image_offset(&m, 2)}},
				 {DT_STRSZ, {t.names_len}},
				 {gnu ? DT_GNU_HASH : DT_HASH, {image_offset(&m, 3)}},
				 {DT_NULL, {0}}};
		m.section[4] = (struct image_section){"d", SHT_DYNAMIC, d, sizeof(d)};
		struct elf e;
		struct symtab *s;
		assert_int_equal(elf_open_fd(image_fd(&m), &e), 0);
		assert_int_equal(e.n_shdr, 0);
		assert_int_equal(symtab_load(&e, NULL, SIZE_MAX, &s), 0);
		assert_string_equal(name_at(s, 0x11f), "one");
		assert_string_equal(name_at(s, 0x200), "two");
		assert_string_equal(name_at(s, 0x220), "-");
		symtab_free(s);
		elf_done(&e);
	}
}

static void tables_that_lie_name_nothing(void **state)
{
	(void)state;
	struct table t = table_new();
	struct symtab *s;
	add(&t, "wide", STB_GLOBAL, STT_FUNC, 0x100, UINT64_MAX);
	add(&t, "nowhere", STB_GLOBAL, STT_FUNC, 0x50, 0x10);
	t.symbol[2].st_name = 100000;
	struct elf e = file_of(&t, false);
	assert_int_equal(symtab_load(&e, NULL, SIZE_MAX, &s), 0);
	assert_string_equal(name_at(s, 0x55), "-");
	assert_string_equal(name_at(s, 0xfffff), "wide"); /* but not beyond its section */
	assert_string_equal(name_at(s, 0x100000), "-");
	symtab_free(s);
	elf_done(&e);
	t = table_new();
	e = file_of(&t, false);
	assert_int_equal(symtab_load(&e, NULL, SIZE_MAX, &s), ELF_NONE);
	elf_done(&e);
}

#define MANY 1000000

/* Bytes that malloc has given out; 0 under a sanitizer's allocator, which does not count them. */
static size_t heap_bytes(void)
{
	struct mallinfo2 m = mallinfo2();
	return m.uordblks + m.hblkhd;
}

/* A library as large as PyTorch's: names stay in the file. */
static void a_million_functions_are_loaded_quickly_and_kept_small(void **state)
{
	(void)state;
	Elf64_Sym *symbol = calloc(MANY, sizeof(*symbol));
	char *names = malloc(MANY * 64);
	assert_non_null(symbol);
	assert_non_null(names);
	size_t len = 1;
	names[0] = '\0';
	for (size_t i = 1; i < MANY; i++) {
		size_t k = (i * 7919) % MANY; /* in no order */
		symbol[i] = (Elf64_Sym){.st_name = (uint32_t)len,
					.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
					.st_shndx = 1,
					.st_value = IMAGE_TEXT + k * 64,
					.st_size = 48};
		len += 1 + (size_t)text_format(names + len, 64, "_ZN2at6native12function_%07zuERKNS_6TensorE", k);
	}
	struct image m = {.text_len = MANY * 64,
			  .n = 3,
			  .section = {{},
				      {".symtab", SHT_SYMTAB, symbol, MANY * sizeof(*symbol), 2, sizeof(*symbol)},
				      {".strtab", SHT_STRTAB, names, len}}};
	struct elf e;
	struct symtab *s;
	assert_int_equal(elf_open_fd(image_fd(&m), &e), 0);
	struct timespec a, b;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	size_t before = heap_bytes();
	assert_int_equal(symtab_load(&e, NULL, SIZE_MAX, &s), 0);
	size_t held = heap_bytes() - before;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	elf_done(&e);
	double ms = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
	print_message("# a million symbols: %.0f ms of processor time, %zu KiB\n", ms, held / 1024);
	assert_true(held < 20 * MIB);
	assert_string_equal(name_at(s, 64 * 7919 + 47), "_ZN2at6native12function_0007919ERKNS_6TensorE");
	assert_string_equal(name_at(s, 64 * 7919 + 48), "-");
	const char *once = name_at(s, 64 * 999999);
	assert_string_equal(once, "_ZN2at6native12function_0999999ERKNS_6TensorE");
	for (size_t i = 1; i < 2000; i++) { /* many names read: the first ones must stay where they are */
		char want[64];
		TEXT_FORMAT(want, "_ZN2at6native12function_%07zuERKNS_6TensorE", i);
		assert_string_equal(name_at(s, 64 * i), want);
	}
	assert_ptr_equal(name_at(s, 64 * 999999 + 3), once);
	symtab_free(s);
	free(symbol);
	free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_named_from_its_first_to_its_last_byte),
		cmocka_unit_test(of_several_names_the_plainest_wins_whatever_their_order),
		cmocka_unit_test(a_function_without_a_size_ends_where_the_next_begins),
		cmocka_unit_test(a_function_within_another_is_itself_and_the_rest_the_other),
		cmocka_unit_test(the_separate_file_names_what_was_stripped),
		cmocka_unit_test(without_section_headers_the_dynamic_linkers_tables_serve),
		cmocka_unit_test(tables_that_lie_name_nothing),
		cmocka_unit_test(a_million_functions_are_loaded_quickly_and_kept_small),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
