/* Characters of UTF-8: the shortest form, the code points that exist, the ones that hide text. */
#include "testing.h"

#include "base/utf8.h"

static size_t length_of(const char *text, uint32_t *ret_code)
{
	*ret_code = 0;
	return utf8_char(text, strlen(text), ret_code);
}

static void characters_of_one_to_four_bytes_are_decoded(void **state)
{
	(void)state;
	uint32_t code;
	assert_int_equal(length_of("a", &code), 1);
	assert_int_equal(code, 'a');
	assert_int_equal(length_of("\xc2\x80", &code), 2);
	assert_int_equal(code, 0x80);
	assert_int_equal(length_of("\xe2\x94\x81", &code), 3);
	assert_int_equal(code, 0x2501);
	assert_int_equal(length_of("\xf4\x8f\xbf\xbd", &code), 4);
	assert_int_equal(code, 0x10fffd);
}

static void bytes_that_form_no_character_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"\x80", /* a continuation alone */
		"\xc0\xaf", /* overlong */
		"\xe0\x80\xaf", /* overlong */
		"\xf0\x80\x80\xaf", /* overlong */
		"\xed\xa0\x80", /* surrogate */
		"\xf4\x90\x80\x80", /* above U+10FFFF */
		"\xff",
		"\xef\xbf\xbe", /* U+FFFE */
		"\xc3", /* cut */
		"\xe2\x94", /* cut */
		"\xc3z",
	};
	uint32_t code;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (length_of(bad[i], &code) != 0)
			fail_msg("case %zu is taken as U+%x", i, (unsigned)code);
	assert_int_equal(utf8_char("a", 0, &code), 0);
}

static void characters_that_disguise_text_are_hidden(void **state)
{
	(void)state;
	static const uint32_t hidden[] = {0, 0x1b, 0x7f, 0x9f, 0x200e, 0x200f, 0x2028, 0x202a, 0x202e, 0x2066, 0x2069};
	static const uint32_t shown[] = {' ', '~', 0xa0, 0x200d, 0x2027, 0x202f, 0x2065, 0x206a};
	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
		assert_true(utf8_hidden(hidden[i]));
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		assert_false(utf8_hidden(shown[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_of_one_to_four_bytes_are_decoded),
		cmocka_unit_test(bytes_that_form_no_character_are_refused),
		cmocka_unit_test(characters_that_disguise_text_are_hidden),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
