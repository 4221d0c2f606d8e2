#include "testing.h"

#include "sense/native/ehframe.h"

#define MEMORY 0x1000

static uint64_t words[2] = {UINT64_C(0x1122334455667788), 7};

static bool fake_load(void *ctx, uint64_t addr, uint64_t *ret)
{
	(void)ctx;
	if (addr < MEMORY || addr > MEMORY + 8)
		return false;
	memcpy(ret, (const char *)words + (addr - MEMORY), sizeof(*ret));
	return true;
}

static const uint64_t registers[33] = {[3] = 0x500, [7] = MEMORY, [32] = 9};
static struct eh_machine machine = {
	.reg = registers, .valid = UINT64_C(1) << 3 | UINT64_C(1) << 7 | UINT64_C(1) << 32, .load = fake_load};

static uint64_t value_of(const char *bytes, size_t len)
{
	uint64_t v = 0;
	assert_int_equal(eh_evaluate(&machine, (const uint8_t *)bytes, len, NULL, &v), 0);
	return v;
}
#define VALUE(literal) value_of(literal, sizeof(literal) - 1)

static void bad(const char *bytes, size_t len, bool unknown, bool fault)
{
	uint64_t v = 0;
	assert_int_equal(eh_evaluate(&machine, (const uint8_t *)bytes, len, NULL, &v), EH_BAD);
	assert_int_equal(machine.unknown, unknown);
	assert_int_equal(machine.fault, fault);
}
#define BAD(literal) bad(literal, sizeof(literal) - 1, false, false)

static void constants_of_each_width_keep_their_sign(void **state)
{
	(void)state;
	assert_int_equal(VALUE("\x30"), 0);
	assert_int_equal(VALUE("\x4f"), 31);
	assert_int_equal(VALUE("\x08\xff"), 0xff);
	assert_true(VALUE("\x09\xff") == UINT64_MAX);
	assert_int_equal(VALUE("\x0a\xfe\xff"), 0xfffe);
	assert_true(VALUE("\x0b\xfe\xff") == (uint64_t)-2);
	assert_int_equal(VALUE("\x0c\x01\x02\x03\x04"), 0x04030201);
	assert_true(VALUE("\x0d\xff\xff\xff\xff") == UINT64_MAX);
	assert_true(VALUE("\x0e\x01\x00\x00\x00\x00\x00\x00\x80") == UINT64_C(0x8000000000000001));
	assert_int_equal(VALUE("\x10\x80\x01"), 128);
	assert_true(VALUE("\x11\x7f") == UINT64_MAX);
}

static void stack_operators_move_values(void **state)
{
	(void)state;
	assert_int_equal(VALUE("\x31\x32\x16"), 1); /* swap */
	assert_int_equal(VALUE("\x31\x32\x14"), 1); /* over */
	assert_int_equal(VALUE("\x31\x32\x13"), 1); /* drop */
	assert_int_equal(VALUE("\x33\x12\x22"), 6); /* dup, plus */
	assert_int_equal(VALUE("\x31\x32\x33\x15\x02"), 1); /* pick 2 */
	assert_int_equal(VALUE("\x31\x32\x33\x17"), 2); /* rot: 1 2 3 becomes 3 1 2 */
	assert_int_equal(VALUE("\x31\x32\x33\x17\x13"), 1);
	assert_int_equal(VALUE("\x31\x32\x33\x17\x13\x13"), 3);
	BAD("\x31\x16");
	BAD("\x31\x15\x01");
	BAD("\x31\x13\x13");
}

static void arithmetic_is_twos_complement(void **state)
{
	(void)state;
	assert_true(VALUE("\x31\x32\x1c") == UINT64_MAX); /* 1 - 2 */
	assert_int_equal(VALUE("\x33\x34\x1e"), 12);
	assert_true(VALUE("\x09\xf9\x32\x1b") == (uint64_t)-3); /* -7 / 2 */
	assert_int_equal(VALUE("\x37\x34\x1d"), 3);
	assert_true(VALUE("\x31\x1f") == UINT64_MAX);
	assert_int_equal(VALUE("\x09\xfb\x19"), 5); /* |-5| */
	assert_true(VALUE("\x30\x20") == UINT64_MAX);
	assert_int_equal(VALUE("\x36\x33\x1a"), 2);
	assert_int_equal(VALUE("\x36\x33\x21"), 7);
	assert_int_equal(VALUE("\x36\x33\x27"), 5);
	assert_int_equal(VALUE("\x35\x23\x80\x01"), 133); /* 5 + 128 */
	BAD("\x31\x30\x1b");
	BAD("\x31\x30\x1d");
	BAD("\x0f\x00\x00\x00\x00\x00\x00\x00\x80\x09\xff\x1b"); /* the smallest number by -1 */
}

static void shifts_by_more_than_a_word_leave_the_sign_only(void **state)
{
	(void)state;
	assert_int_equal(VALUE("\x31\x34\x24"), 16);
	assert_int_equal(VALUE("\x31\x08\x40\x24"), 0);
	assert_int_equal(VALUE("\x09\xff\x08\x3f\x25"), 1);
	assert_int_equal(VALUE("\x09\xff\x08\x40\x25"), 0);
	assert_true(VALUE("\x09\xfc\x31\x26") == (uint64_t)-2);
	assert_true(VALUE("\x09\xfc\x08\xff\x26") == UINT64_MAX);
}

static void comparisons_are_signed(void **state)
{
	(void)state;
	assert_int_equal(VALUE("\x09\xff\x31\x2d"), 1); /* -1 < 1 */
	assert_int_equal(VALUE("\x09\xff\x31\x2b"), 0);
	assert_int_equal(VALUE("\x31\x31\x2a"), 1);
	assert_int_equal(VALUE("\x31\x31\x2c"), 1);
	assert_int_equal(VALUE("\x31\x31\x29"), 1);
	assert_int_equal(VALUE("\x31\x31\x2e"), 0);
}

static void registers_and_memory_are_read_where_they_are_known(void **state)
{
	(void)state;
	assert_int_equal(VALUE("\x73\x10"), 0x510);
	assert_int_equal(VALUE("\x73\x70"), 0x4f0); /* an offset of -16 */
	assert_int_equal(VALUE("\x92\x20\x01"), 10); /* register 32 by its number */
	assert_true(VALUE("\x77\x00\x06") == UINT64_C(0x1122334455667788));
	assert_int_equal(VALUE("\x77\x00\x94\x02"), 0x7788);
	assert_int_equal(VALUE("\x77\x08\x06"), 7);
	bad("\x70\x00", 2, true, false);
	bad("\x92\x21\x00", 3, true, false);
	bad("\x30\x06", 2, false, true);
	BAD("\x77\x00\x94\x00");
	BAD("\x77\x00\x94\x09");
}

static void jumps_stay_inside_and_loops_end(void **state)
{
	(void)state;
	assert_int_equal(VALUE("\x31\x2f\x01\x00\x32"), 1); /* over the 2, to the very end */
	assert_int_equal(VALUE("\x35\x31\x28\x01\x00\x36"), 5); /* taken */
	assert_int_equal(VALUE("\x35\x30\x28\x01\x00\x36"), 6); /* not taken */
	assert_int_equal(VALUE("\x33\x31\x1c\x12\x28\xfa\xff"), 0); /* counts 3 down to 0 */
	BAD("\x31\x2f\xfd\xff"); /* for ever */
	BAD("\x31\x2f\x02\x00\x32");
	BAD("\x31\x2f\xfb\xff");
}

static void what_is_cut_off_or_too_deep_is_bad(void **state)
{
	(void)state;
	char deep[40];
	memset(deep, 0x31, sizeof(deep));
	assert_int_equal(value_of(deep, 32), 1);
	bad(deep, 33, false, false);
	BAD("");
	BAD("\x0c\x01\x02");
	BAD("\x96"); /* no value */
	BAD("\x31\xe0"); /* an operator of some vendor */
	uint64_t first = 40, v = 0;
	assert_int_equal(eh_evaluate(&machine, (const uint8_t *)"\x32\x22", 2, &first, &v), 0);
	assert_int_equal(v, 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants_of_each_width_keep_their_sign),
		cmocka_unit_test(stack_operators_move_values),
		cmocka_unit_test(arithmetic_is_twos_complement),
		cmocka_unit_test(shifts_by_more_than_a_word_leave_the_sign_only),
		cmocka_unit_test(comparisons_are_signed),
		cmocka_unit_test(registers_and_memory_are_read_where_they_are_known),
		cmocka_unit_test(jumps_stay_inside_and_loops_end),
		cmocka_unit_test(what_is_cut_off_or_too_deep_is_bad),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
