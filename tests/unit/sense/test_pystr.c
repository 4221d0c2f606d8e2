#include "memory_fixture.h"

#include "sense/python/pystr.h"

static void expect_text(struct memory *m, uint64_t addr, size_t max, const char *want)
{
	char *text = NULL;
	assert_int_equal(pystr_read(&m->rt, &m->remote, addr, max, &text), 0);
	assert_string_equal(text, want);
	free(text);
}

static int read_fails(struct memory *m, uint64_t addr)
{
	char *text = NULL;
	int r = pystr_read(&m->rt, &m->remote, addr, 100, &text);
	assert_null(text);
	return r;
}

static void characters_of_each_width_become_utf8(void **state)
{
	(void)state;
	for (uint8_t minor = 8; minor <= 12; minor++) {
		struct memory *m = memory_new(minor);
		expect_text(m, memory_text(m, "plain"), 100, "plain");
		expect_text(m, memory_text(m, ""), 100, "");
		expect_text(m, memory_str(m, "h\xe9", 2, 1, false), 100, "h\xc3\xa9");
		expect_text(m, memory_str(m, (const uint16_t[]){0x4e2d, 'a'}, 2, 2, false), 100, "\xe4\xb8\xad" "a");
		expect_text(m, memory_str(m, (const uint32_t[]){0x1f600}, 1, 4, false), 100, "\xf0\x9f\x98\x80");
		free(m);
	}
}

static void a_long_text_is_cut_and_its_length_is_known(void **state)
{
	(void)state;
	struct memory *m = memory_new(11);
	char text[600];
	uint32_t *chars = NULL;
	size_t n = 0;
	uint64_t length = 0;
	memset(text, 'x', sizeof(text));
	uint64_t addr = memory_str(m, text, sizeof(text), 1, true); /* longer than what is read with the header */
	expect_text(m, addr, 3, "xxx");
	assert_int_equal(pystr_chars(&m->rt, &m->remote, addr, 500, &chars, &n, &length), 0);
	assert_int_equal(n, 500);
	assert_int_equal(length, 600);
	assert_int_equal(chars[499], 'x');
	free(chars);
	free(m);
}

static void characters_apart_from_the_header_are_followed(void **state)
{
	(void)state;
	struct memory *m = memory_new(11);
	uint64_t addr, data;
	memcpy(memory_add(m, 3, &data), "far", 3);
	unsigned char *b = memory_add(m, 80, &addr);
	put(b + m->rt.off.str.length, 3, 8);
	put(b + m->rt.off.str.state, 1 << 2, 4); /* neither compact nor ASCII */
	put(b + m->rt.off.str.data, data, 8);
	expect_text(m, addr, 100, "far");
	put(b + m->rt.off.str.length, 4, 8); /* one more than is mapped */
	assert_int_equal(read_fails(m, addr), REMOTE_FAULT);
	put(b + m->rt.off.str.data, 0, 8);
	assert_int_equal(read_fails(m, addr), PYCODE_GARBAGE);
	free(m);
}

static void a_nul_inside_does_not_end_the_text(void **state)
{
	(void)state;
	struct memory *m = memory_new(12);
	expect_text(m, memory_str(m, "a\0b", 3, 1, true), 100, "a?b");
	free(m);
}

static void other_objects_are_refused(void **state)
{
	(void)state;
	struct memory *m = memory_new(11);
	uint64_t addr;
	unsigned char *b = memory_add(m, 80, &addr);
	put(b + m->rt.off.str.length, 1, 8);
	put(b + m->rt.off.str.state, 3 << 2 | 1 << 5, 4); /* no character has three bytes */
	assert_int_equal(read_fails(m, addr), PYCODE_GARBAGE);
	put(b + m->rt.off.str.state, 2 << 2 | 1 << 5 | 1 << 6, 4); /* ASCII of two bytes */
	assert_int_equal(read_fails(m, addr), PYCODE_GARBAGE);
	put(b + m->rt.off.str.state, 1 << 2 | 1 << 5, 4);
	put(b + m->rt.off.str.length, UINT64_MAX, 8);
	assert_int_equal(read_fails(m, addr), PYCODE_GARBAGE);
	assert_int_equal(read_fails(m, 0x7000), REMOTE_FAULT);
	free(m);
}

static void without_the_gil_3_14_has_its_state_one_byte_further(void **state)
{
	(void)state;
	struct memory *m = memory_new(12);
	uint64_t addr;
	m->rt.minor = 14;
	m->rt.free_threaded = true;
	unsigned char *b = memory_add(m, 80, &addr);
	put(b + m->rt.off.str.length, 2, 8);
	put(b + m->rt.off.str.state, (1 | 1 << 3 | 1 << 4) << 8, 4);
	memcpy(b + m->rt.off.str.ascii, "ok", 2);
	expect_text(m, addr, 100, "ok");
	m->rt.free_threaded = false;
	assert_int_equal(read_fails(m, addr), PYCODE_GARBAGE);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_of_each_width_become_utf8),
		cmocka_unit_test(a_long_text_is_cut_and_its_length_is_known),
		cmocka_unit_test(characters_apart_from_the_header_are_followed),
		cmocka_unit_test(a_nul_inside_does_not_end_the_text),
		cmocka_unit_test(other_objects_are_refused),
		cmocka_unit_test(without_the_gil_3_14_has_its_state_one_byte_further),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
