#include "testing.h"

#include "sense/native/ehframe.h"

#define SECTION_AT UINT64_C(0x20000)

static struct eh_section section;

static struct eh_bytes reader(const void *bytes, size_t len)
{
	section = (struct eh_section){(uint8_t *)(uintptr_t)bytes, len, SECTION_AT};
	return (struct eh_bytes){.section = &section, .end = len};
}
#define READER(literal) reader(literal, sizeof(literal) - 1)

static void numbers_past_the_end_are_zero_and_bad(void **state)
{
	(void)state;
	struct eh_bytes b = READER("\x01\x02\x03");
	assert_int_equal(eh_uint(&b, 2), 0x0201);
	assert_false(b.bad);
	assert_int_equal(eh_uint(&b, 2), 0);
	assert_true(b.bad);
	assert_int_equal(eh_uint(&b, 1), 0); /* bad stays, although one byte is left */
	assert_int_equal(b.at, 2);
}

static void leb128_has_seven_bits_a_byte(void **state)
{
	(void)state;
	struct eh_bytes b = READER("\x02\xff\x00\xe5\x8e\x26\x3f\x40\x80\x7f\xff\x00");
	assert_int_equal(eh_uleb(&b), 2);
	assert_int_equal(eh_uleb(&b), 127);
	assert_int_equal(eh_uleb(&b), 624485);
	assert_int_equal(eh_sleb(&b), 63);
	assert_int_equal(eh_sleb(&b), -64);
	assert_int_equal(eh_sleb(&b), -128);
	assert_int_equal(eh_sleb(&b), 127);
	assert_false(b.bad);
	(void)eh_uleb(&b);
	assert_true(b.bad);
}

static void leb128_of_more_than_64_bits_is_bad(void **state)
{
	(void)state;
	struct eh_bytes b = READER("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	assert_true(eh_uleb(&b) == UINT64_MAX);
	assert_false(b.bad);
	b = READER("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01");
	(void)eh_uleb(&b);
	assert_true(b.bad);
	b = READER("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f");
	assert_true(eh_sleb(&b) == INT64_MIN);
	assert_false(b.bad);
}

static void pointers_count_from_what_their_encoding_says(void **state)
{
	(void)state;
	struct eh_bytes b = READER("\x10\x00\xf0\xff\xff\xff\xfe\xff\x08\x07\x06\x05\x04\x03\x02\x01");
	assert_int_equal(eh_pointer(&b, 0x02, 0), 0x10); /* udata2 */
	assert_int_equal(eh_pointer(&b, 0x1b, 0), SECTION_AT + 2 - 16); /* pcrel, sdata4 */
	assert_int_equal(eh_pointer(&b, 0x3a, 0x9000), 0x8ffe); /* datarel, sdata2 */
	assert_true(eh_pointer(&b, 0x00, 0) == UINT64_C(0x0102030405060708));
	assert_false(b.bad);
}

static void encodings_that_no_linker_writes_are_bad(void **state)
{
	(void)state;
	static const uint8_t encodings[] = {0xff, 0x20, 0x40, 0x50, 0x05, 0x0d};
	for (size_t i = 0; i < ARRAY_SIZE(encodings); i++) {
		struct eh_bytes b = READER("\x01\x02\x03\x04\x05\x06\x07\x08");
		(void)eh_pointer(&b, encodings[i], 0);
		assert_true(b.bad);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_past_the_end_are_zero_and_bad),
		cmocka_unit_test(leb128_has_seven_bits_a_byte),
		cmocka_unit_test(leb128_of_more_than_64_bits_is_bad),
		cmocka_unit_test(pointers_count_from_what_their_encoding_says),
		cmocka_unit_test(encodings_that_no_linker_writes_are_bad),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
