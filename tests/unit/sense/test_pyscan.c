#include "memory_fixture.h"

#include "sense/python/pyscan.h"

#define DATA UINT64_C(0x400000)
#define BSS (DATA + 0x1000)

/* Data and .bss of one file, the text of another. */
static struct map_row rows[] = {
	{.start = 0x200000, .end = 0x201000, .inode = 7, .flags = MAP_READ | MAP_EXEC, .path = "/usr/bin/app"},
	{.start = DATA, .end = BSS, .inode = 7, .flags = MAP_READ | MAP_WRITE, .path = "/usr/bin/app"},
	{.start = BSS, .end = BSS + 0x1000, .flags = MAP_READ | MAP_WRITE, .path = ""},
	{.start = BSS + 0x2000, .end = BSS + 0x3000, .flags = MAP_READ | MAP_WRITE, .path = ""},
};
static const struct maps maps = {.rows = rows, .n = ARRAY_SIZE(rows)};

/* Fills a page of the process: four chunks of the fixture. */
static unsigned char *page_add(struct memory *m, uint64_t addr, uint64_t used)
{
	unsigned char *ret = NULL;
	for (uint64_t at = 0; at < 0x1000; at += 1024) {
		unsigned char *b = memory_at(m, addr + at, 1024);
		if (used / 1024 == at / 1024)
			ret = b + used % 1024;
	}
	return ret;
}

static bool version(const char *text, unsigned minor, uint32_t *ret)
{
	struct memory *m = memory_new(11);
	unsigned char *b = page_add(m, DATA, 0x100);
	memcpy(b, text, strlen(text));
	(void)page_add(m, BSS, 0);
	bool found = pyscan_version(&m->remote, &maps, &rows[0], minor, ret);
	free(m);
	return found;
}

static void the_version_text_is_found_in_the_data(void **state)
{
	(void)state;
	uint32_t v = 0;
	assert_true(version("3.10.13 (main, Aug 2023) [GCC]", 0, &v));
	assert_int_equal(v, 0x030a0df0);
	assert_true(version("33.8.0+ (default, x)", 8, &v));
	assert_int_equal(v, 0x030800f0);
	assert_false(version("3.10.13 (main", 11, &v)); /* of another minor version */
	assert_true(version("3.9.2 (no) 3.10.13 (main", 10, &v)); /* the first is not the one asked for */
	assert_int_equal(v, 0x030a0df0);
}

static void texts_that_only_look_like_versions_are_passed_over(void **state)
{
	(void)state;
	uint32_t v = 0;
	static const char *const none[] = {"3.7.1 (main, old)",	 "3.13.0 (main, new)", "3.10.256 (main, x)",
					   "3.10 (main, Aug)  ", "3.10.1(main, Aug)  ", "3.10.1  main, Aug  ",
					   "2.10.1 (main, Aug) ", "3..1 (main, Aug)   "};
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		assert_false(version(none[i], 0, &v));
}

static void only_writable_memory_of_the_file_is_searched(void **state)
{
	(void)state;
	struct memory *m = memory_new(11);
	uint32_t v = 0;
	(void)page_add(m, DATA, 0);
	(void)page_add(m, BSS, 0);
	memcpy(page_add(m, 0x200000, 0x10), "3.11.2 (text", 12);
	memcpy(page_add(m, BSS + 0x2000, 0x10), "3.11.2 (heap", 12);
	assert_false(pyscan_version(&m->remote, &maps, &rows[0], 0, &v));
	struct map_row apart[] = {rows[0], rows[1], rows[3]}; /* what does not follow at once is no .bss */
	const struct maps without_bss = {.rows = apart, .n = ARRAY_SIZE(apart)};
	assert_false(pyscan_version(&m->remote, &without_bss, &rows[0], 0, &v));
	for (size_t i = 0; i < m->n; i++)
		if (m->chunk[i].addr == BSS + 1024)
			memcpy(m->chunk[i].bytes + 1000, "3.11.2 (bss. ", 13);
	assert_true(pyscan_version(&m->remote, &maps, &rows[0], 0, &v));
	free(m);
}

static void a_description_begins_at_a_multiple_of_eight(void **state)
{
	(void)state;
	struct memory *m = memory_new(11);
	uint64_t runtime = 0;
	unsigned char *b = page_add(m, DATA, 0x204);
	(void)page_add(m, BSS, 0);
	memcpy(b, "xdebugpy", 8);
	assert_false(pyscan_cookie(&m->remote, &maps, &rows[0], &runtime));
	memcpy(b + 0x1c, "xdebugpy", 8);
	assert_true(pyscan_cookie(&m->remote, &maps, &rows[0], &runtime));
	assert_int_equal(runtime, DATA + 0x220);
	free(m);
}

/* Two words that point at one interpreter, whose thread points back, stand in _PyRuntime.interpreters. */
static void a_chain_that_leads_back_is_the_runtime(void **state)
{
	(void)state;
	struct memory *m = memory_new(11);
	const struct pyoffsets *o = &m->rt.off;
	const uint64_t interp = BSS + 0x2000, thread = BSS + 0x2800;
	uint64_t runtime = 0;
	unsigned char *pair = page_add(m, DATA, 0x308);
	(void)page_add(m, BSS, 0);
	put(pair, interp, 8);
	put(pair + 8, interp, 8);
	unsigned char *i = page_add(m, interp, 0);
	put(i + o->interp.threads_head, thread, 8);
	unsigned char *t = i;
	for (size_t k = 0; k < m->n; k++)
		if (m->chunk[k].addr == thread)
			t = m->chunk[k].bytes;
	assert_false(pyscan_chain(&m->remote, &maps, &rows[0], o, &runtime));
	put(t + o->thread.interp, interp, 8);
	assert_true(pyscan_chain(&m->remote, &maps, &rows[0], o, &runtime));
	assert_int_equal(runtime, DATA + 0x308 - o->runtime.interpreters_head);
	put(i + o->interp.next, interp, 8); /* the main interpreter is the last of the chain */
	assert_false(pyscan_chain(&m->remote, &maps, &rows[0], o, &runtime));
	free(m);
}

static void the_minor_version_shows_in_paths(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		unsigned minor;
	} cases[] = {{"/usr/lib/python3.9/lib-dynload/_ssl.so", 9},
		     {"/opt/x/_C.cpython-311-x86_64-linux-gnu.so", 11},
		     {"/venv/lib/python3.12/site-packages/numpy/core.so", 12},
		     {"/usr/lib/python3/dist-packages/apt_pkg.so", 0},
		     {"/usr/lib/python3.x/a.so", 0},
		     {"/usr/lib/libc.so.6", 0}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct map_row two[] = {{.path = "/usr/lib/ld.so"}, {.path = cases[i].path}};
		const struct maps some = {.rows = two, .n = 2};
		assert_int_equal(pyscan_minor(&some), cases[i].minor);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_version_text_is_found_in_the_data),
		cmocka_unit_test(texts_that_only_look_like_versions_are_passed_over),
		cmocka_unit_test(only_writable_memory_of_the_file_is_searched),
		cmocka_unit_test(a_description_begins_at_a_multiple_of_eight),
		cmocka_unit_test(a_chain_that_leads_back_is_the_runtime),
		cmocka_unit_test(the_minor_version_shows_in_paths),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
