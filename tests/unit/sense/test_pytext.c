#include "testing.h"

#include <math.h>

#include "sense/python/pystr.h"
#include "sense/python/pyvalue.h"

static const char *repr(const uint32_t *chars, size_t n, bool is_bytes, bool cut)
{
	static char text[256];
	struct buf b = BUF_ON(text);
	pytext_repr(chars, n, is_bytes, cut, &b);
	return text;
}
#define CHARS(...) ((const uint32_t[]){__VA_ARGS__})
#define REPR(...) repr(CHARS(__VA_ARGS__), ARRAY_SIZE(CHARS(__VA_ARGS__)), false, false)
#define REPR_BYTES(...) repr(CHARS(__VA_ARGS__), ARRAY_SIZE(CHARS(__VA_ARGS__)), true, false)

static const char *number(double x)
{
	static char text[64];
	struct buf b = BUF_ON(text);
	pytext_float(x, PYTEXT_DOUBLE, &b);
	return text;
}

static void texts_are_quoted_as_python_quotes_them(void **state)
{
	(void)state;
	assert_string_equal(REPR('a', 'b'), "'ab'");
	assert_string_equal(REPR('\''), "\"'\"");
	assert_string_equal(REPR('\'', '"'), "'\\'\"'");
	assert_string_equal(REPR('"'), "'\"'");
	assert_string_equal(REPR('\\', '\n', '\r', '\t'), "'\\\\\\n\\r\\t'");
	assert_string_equal(repr(NULL, 0, false, false), "''");
}

static void a_shortened_text_says_so_behind_its_quote(void **state)
{
	(void)state;
	assert_string_equal(repr((const uint32_t[]){'a'}, 1, false, true), "'a'...");
	assert_string_equal(repr((const uint32_t[]){'a'}, 1, true, true), "b'a'...");
}

static void characters_that_act_on_a_terminal_are_escaped(void **state)
{
	(void)state;
	assert_string_equal(REPR(0, 0x1b, 0x7f, 0x80, 0xa0, 0xad), "'\\x00\\x1b\\x7f\\x80\\xa0\\xad'");
	assert_string_equal(REPR(0x202e, 0x2028, 0xfeff), "'\\u202e\\u2028\\ufeff'");
	assert_string_equal(REPR(0xd800, 0xdfff), "'\\ud800\\udfff'");
	assert_string_equal(REPR(0x110000), "'?'");
	assert_string_equal(REPR(0xa1, 0x202f, 0x10ffff), "'\xc2\xa1\xe2\x80\xaf\xf4\x8f\xbf\xbf'");
}

static void bytes_above_ascii_are_numbers(void **state)
{
	(void)state;
	assert_string_equal(REPR_BYTES(0xe9, 'z', 0xff), "b'\\xe9z\\xff'");
	assert_string_equal(REPR_BYTES('\''), "b\"'\"");
}

static void floats_have_the_fewest_digits_that_read_back(void **state)
{
	(void)state;
	assert_string_equal(number(0), "0.0");
	assert_string_equal(number(-0.0), "-0.0");
	assert_string_equal(number(1), "1.0");
	assert_string_equal(number(0.1), "0.1");
	assert_string_equal(number(0.1 + 0.2), "0.30000000000000004");
	assert_string_equal(number(1.0 / 3), "0.3333333333333333");
	assert_string_equal(number(-1234.5), "-1234.5");
	assert_string_equal(number(5e-324), "5e-324");
	assert_string_equal(number(1.7976931348623157e308), "1.7976931348623157e+308");
}

static void the_form_changes_where_that_of_repr_does(void **state)
{
	(void)state;
	assert_string_equal(number(1e15), "1000000000000000.0");
	assert_string_equal(number(1e16), "1e+16");
	assert_string_equal(number(1e-4), "0.0001");
	assert_string_equal(number(1e-5), "1e-05");
	assert_string_equal(number((double)NAN), "nan");
	assert_string_equal(number((double)INFINITY), "inf");
	assert_string_equal(number((double)-INFINITY), "-inf");
}

static void utf8_has_one_to_four_bytes(void **state)
{
	(void)state;
	static const struct {
		uint32_t c;
		const char *text;
	} cases[] = {{0x7f, "\x7f"},
		     {0x80, "\xc2\x80"},
		     {0x7ff, "\xdf\xbf"},
		     {0x800, "\xe0\xa0\x80"},
		     {0xffff, "\xef\xbf\xbf"},
		     {0x10000, "\xf0\x90\x80\x80"},
		     {0xd7ff, "\xed\x9f\xbf"},
		     {0xe000, "\xee\x80\x80"},
		     {0xd800, "?"},
		     {0xdfff, "?"},
		     {0x110000, "?"},
		     {UINT32_MAX, "?"}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[5] = "";
		size_t n = pystr_utf8(cases[i].c, text);
		assert_int_equal(n, strlen(cases[i].text));
		assert_memory_equal(text, cases[i].text, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_quoted_as_python_quotes_them),
		cmocka_unit_test(a_shortened_text_says_so_behind_its_quote),
		cmocka_unit_test(characters_that_act_on_a_terminal_are_escaped),
		cmocka_unit_test(bytes_above_ascii_are_numbers),
		cmocka_unit_test(floats_have_the_fewest_digits_that_read_back),
		cmocka_unit_test(the_form_changes_where_that_of_repr_does),
		cmocka_unit_test(utf8_has_one_to_four_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
