#include "testing.h"

#include <fcntl.h>
#include <stdio.h>

#include "../fuzz/pymemory.h"
#include "base/file.h"
#include "sense/python/pyvalue.h"

/* What tests/tool/pyrecord took from each version, held in the same function. */
static const char *const recorded[] = {"3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.13t", "3.14", "3.15"};

struct held {
	char *bytes;
	struct pymemory memory;
	struct remote remote;
	struct pyrt rt;
	uint64_t frame, code;
};

static void hold(struct held *h, const char *version)
{
	char path[512];
	size_t len = 0;
	*h = (struct held){};
	TEXT_FORMAT(path, FIXTURES "/../fuzz/corpus/pyremote/%s", version);
	assert_int_equal(file_slurp(AT_FDCWD, path, MIB, &h->bytes, &len), 0);
	h->memory = (struct pymemory){.data = (const uint8_t *)h->bytes, .size = len};
	assert_true(len > PYMEMORY_HEAD && pymemory_layout(&h->memory, &h->rt));
	h->remote = (struct remote){.pid = 1, .mem_fd = -1, .proc_fd = -1, .ops = &pymemory_ops, .ctx = &h->memory};
	h->frame = u64_at(h->memory.data + 2);
	h->code = u64_at(h->memory.data + 10);
	h->rt.code_type = u64_at(h->memory.data + 18);
}

static const char *value_of(const struct pylocals *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->items[i].name, name) == 0)
			return l->items[i].value;
	return "(unbound)";
}

static void every_version_shows_the_same_variables(void **state)
{
	(void)state;
	static const char *const want[][2] = {
		{"a", "1"},
		{"rest", "(2,)"},
		{"k", "3"},
		{"kw", "{'z': 3}"},
		{"n", "None"},
		{"i", "-7"},
		{"big", "int of 201 bits"},
		{"x", "0.5"},
		{"s", "'h\xc3\xa9'"},
		{"w", "'\xe4\xb8\xad'"},
		{"b", "b'\\x00z'"},
		{"nest", "[1, [2, [3, <list>]]]"},
		{"d", "{'k': {5: None}}"},
		{"st", "{7}"},
		{"e", "()"},
		{"t", "(1,)"},
		{"inst", "{'v': 1}"},
		{"cyc", "[...]"},
		{"never", "(unbound)"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(recorded); i++) {
		struct held h;
		struct pylocals l = {};
		hold(&h, recorded[i]);
		assert_int_equal(pylocals_read(&h.rt, &h.remote, h.frame, h.code, &l), 0);
		for (size_t k = 0; k < ARRAY_SIZE(want); k++)
			assert_string_equal(value_of(&l, want[k][0]), want[k][1]);
		assert_int_equal(strncmp(value_of(&l, "g"), "<function at 0x", 15), 0);
		for (size_t k = 0; k < l.n; k++)
			assert_int_equal(l.items[k].is_arg, k < 4); /* a, k, rest, kw */
		pylocals_done(&l);
		free(h.bytes);
	}
}

static void every_version_names_the_function_and_its_file(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(recorded); i++) {
		struct held h;
		const struct pycode *code = NULL;
		hold(&h, recorded[i]);
		struct pycodes *c = pycodes_new(&h.rt, &h.remote);
		assert_int_equal(pycodes_get(c, h.code, &code), 0);
		assert_string_equal(code->name, "f");
		assert_string_equal(code->file, "<string>");
		assert_int_equal(code->first_line, 2);
		assert_true(code->n_lines > 3 && code->code_bytes > 50);
		pycodes_free(c);
		free(h.bytes);
	}
}

static void what_is_missing_in_memory_is_said_and_the_rest_is_shown(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(recorded); i++) {
		struct held h;
		struct pylocals l = {};
		hold(&h, recorded[i]);
		/* Less and less of the process can be read. */
		for (size_t size = h.memory.size; size > PYMEMORY_HEAD + 1100; size -= 97) {
			h.memory.size = size;
			int r = pylocals_read(&h.rt, &h.remote, h.frame, h.code, &l);
			assert_true(r == 0 || r == REMOTE_FAULT || r == PYCODE_GARBAGE);
			if (r == 0)
				pylocals_done(&l);
		}
		free(h.bytes);
	}
}

static void another_object_in_the_place_of_the_code_is_refused(void **state)
{
	(void)state;
	struct held h;
	struct pylocals l = {};
	hold(&h, "3.11");
	h.rt.code_type++;
	assert_int_equal(pylocals_read(&h.rt, &h.remote, h.frame, h.code, &l), PYCODE_GARBAGE);
	free(h.bytes);
}

static void floats_are_written_as_python_does(void **state)
{
	(void)state;
	static const struct {
		double x;
		const char *text;
	} cases[] = {
		{0, "0.0"},
		{-0.0, "-0.0"},
		{1, "1.0"},
		{0.1, "0.1"},
		{1.0 / 3, "0.3333333333333333"},
		{1e15, "1000000000000000.0"},
		{1e16, "1e+16"},
		{123456789012345680.0, "1.2345678901234568e+17"},
		{1e-4, "0.0001"},
		{1e-5, "1e-05"},
		{-2.5e-7, "-2.5e-07"},
		{5e-324, "5e-324"},
		{1.7976931348623157e308, "1.7976931348623157e+308"},
		{9007199254740993.0, "9007199254740992.0"},
		{100, "100.0"},
		{0.30000000000000004, "0.30000000000000004"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[64];
		struct buf b = BUF_ON(text);
		buf_reset(&b);
		pytext_float(cases[i].x, PYTEXT_DOUBLE, &b);
		assert_string_equal(text, cases[i].text);
	}
}

static void texts_are_quoted_as_python_does(void **state)
{
	(void)state;
	static const struct {
		uint32_t chars[8];
		size_t n;
		bool is_bytes, cut;
		const char *text;
	} cases[] = {
		{{'a', '\'', 'b'}, 3, false, false, "\"a'b\""},
		{{'\'', '"'}, 2, false, false, "'\\'\"'"},
		{{'\n', '\\', 0x1b}, 3, false, false, "'\\n\\\\\\x1b'"},
		{{0xff, 'a'}, 2, true, false, "b'\\xffa'"},
		{{0xd800, 0x202e, 0x1f600}, 3, false, true, "'\\ud800\\u202e\xf0\x9f\x98\x80'..."},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[64];
		struct buf b = BUF_ON(text);
		buf_reset(&b);
		pytext_repr(cases[i].chars, cases[i].n, cases[i].is_bytes, cases[i].cut, &b);
		assert_string_equal(text, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_version_shows_the_same_variables),
		cmocka_unit_test(every_version_names_the_function_and_its_file),
		cmocka_unit_test(what_is_missing_in_memory_is_said_and_the_rest_is_shown),
		cmocka_unit_test(another_object_in_the_place_of_the_code_is_refused),
		cmocka_unit_test(floats_are_written_as_python_does),
		cmocka_unit_test(texts_are_quoted_as_python_does),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
