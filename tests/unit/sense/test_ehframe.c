#include "testing.h"

#include "sense/native/ehframe.h"

/* A section as it grows: entries with their lengths put in when they end. */
struct maker {
	uint8_t bytes[4096];
	size_t len, entry;
};

static void put(struct maker *m, uint64_t v, size_t width)
{
	memcpy(m->bytes + m->len, &v, width);
	m->len += width;
}

static void put_bytes(struct maker *m, const char *bytes, size_t len)
{
	memcpy(m->bytes + m->len, bytes, len);
	m->len += len;
}
#define PUT(m, literal) put_bytes(m, literal, sizeof(literal) - 1)

static void entry_begin(struct maker *m)
{
	m->entry = m->len;
	put(m, 0, 4);
}

static void entry_end(struct maker *m)
{
	while (m->len % 8)
		put(m, 0, 1);
	uint32_t len = (uint32_t)(m->len - m->entry - 4);
	memcpy(m->bytes + m->entry, &len, sizeof(len));
}

#define FRAME_AT 0x10000

/* CIE of x86_64: CFA rsp+8, return address at CFA-8; addresses of four bytes relative to where they are. */
static void cie_zr(struct maker *m, const char *letters)
{
	entry_begin(m);
	put(m, 0, 4);
	put(m, 1, 1);
	put_bytes(m, letters, strlen(letters) + 1);
	PUT(m, "\x01\x78\x10");
	PUT(m, "\x01\x1b");
	PUT(m, "\x0c\x07\x08\x90\x01");
	entry_end(m);
}

static void function_of(struct maker *m, uint64_t start, uint32_t len, const char *program, size_t n)
{
	entry_begin(m);
	put(m, m->len, 4); /* back to the CIE at 0 */
	put(m, start - (FRAME_AT + m->len), 4);
	put(m, len, 4);
	put(m, 0, 1);
	put_bytes(m, program, n);
	entry_end(m);
}
#define FUNCTION(m, start, len, program) function_of(m, start, len, program, sizeof(program) - 1)

static struct eh_section section_of(const struct maker *m)
{
	uint8_t *bytes = malloc(m->len);
	assert_non_null(bytes);
	memcpy(bytes, m->bytes, m->len);
	return (struct eh_section){bytes, m->len, FRAME_AT};
}

static struct ehtable *table_of(const struct maker *m)
{
	struct ehtable *t = NULL;
	assert_int_equal(ehtable_from(section_of(m), (struct eh_section){NULL, 0, 0}, &t), 0);
	return t;
}

static const struct eh_rule *rule_at(const struct eh_row *row, uint8_t reg)
{
	for (size_t i = 0; i < row->n; i++)
		if (row->what[i].reg == reg)
			return &row->what[i].rule;
	return NULL;
}

static void a_row_is_what_the_program_has_said_up_to_the_address(void **state)
{
	(void)state;
	struct maker m = {.len = 0};
	const struct eh_row *row;
	cie_zr(&m, "zR");
	/* push %rbp at 0, mov %rsp,%rbp at 1, back at 9 */
	FUNCTION(&m, 0x4000, 10, "\x41\x0e\x10\x86\x02\x43\x0d\x06\x45\x0c\x07\x08");
	struct ehtable *t = table_of(&m);
	assert_int_equal(ehtable_row(t, 0x4000, &row), 0);
	assert_int_equal(row->cfa.reg, 7);
	assert_int_equal(row->cfa.value, 8);
	assert_null(rule_at(row, 6));
	assert_int_equal(rule_at(row, 16)->value, -8);
	assert_int_equal(ehtable_row(t, 0x4001, &row), 0);
	assert_int_equal(row->cfa.value, 16);
	assert_int_equal(rule_at(row, 6)->value, -16);
	assert_int_equal(ehtable_row(t, 0x4008, &row), 0);
	assert_int_equal(row->cfa.reg, 6);
	assert_int_equal(row->cfa.value, 16);
	assert_int_equal(ehtable_row(t, 0x4009, &row), 0);
	assert_int_equal(row->cfa.reg, 7);
	assert_int_equal(row->start, 0x4000);
	ehtable_free(t);
}

static void addresses_between_functions_have_no_row(void **state)
{
	(void)state;
	struct maker m = {.len = 0};
	const struct eh_row *row;
	cie_zr(&m, "zR");
	FUNCTION(&m, 0x5000, 16, "");
	FUNCTION(&m, 0x4000, 16, "");
	put(&m, 0, 4); /* a terminator in the middle */
	put(&m, 0, 4);
	FUNCTION(&m, 0x6000, 16, "");
	struct ehtable *t = table_of(&m);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(ehtable_row(t, 0x3fff, &row), EH_NONE);
		assert_int_equal(ehtable_row(t, 0x400f, &row), 0);
		assert_int_equal(ehtable_row(t, 0x4010, &row), EH_NONE);
		assert_int_equal(ehtable_row(t, 0x5000, &row), 0);
		assert_int_equal(ehtable_row(t, 0x600f, &row), 0);
		assert_int_equal(ehtable_row(t, 0x6010, &row), EH_NONE);
		assert_int_equal(ehtable_row(t, 0, &row), EH_NONE);
	}
	ehtable_free(t);
}

static void a_remembered_state_comes_back_with_its_cfa(void **state)
{
	(void)state;
	struct maker m = {.len = 0};
	const struct eh_row *row;
	cie_zr(&m, "zRS");
	/* remember; rsp+64, rbx saved; restore */
	FUNCTION(&m, 0x4000, 32, "\x0a\x0e\x40\x83\x04\x48\x0b\x48\xd0\x07\x10");
	struct ehtable *t = table_of(&m);
	assert_int_equal(ehtable_row(t, 0x4002, &row), 0);
	assert_int_equal(row->cfa.value, 64);
	assert_int_equal(rule_at(row, 3)->value, -32);
	assert_true(row->signal);
	assert_int_equal(ehtable_row(t, 0x4009, &row), 0);
	assert_int_equal(row->cfa.value, 8);
	assert_null(rule_at(row, 3));
	assert_int_equal(rule_at(row, 16)->kind, EH_OFFSET);
	assert_int_equal(ehtable_row(t, 0x4010, &row), 0);
	assert_int_equal(rule_at(row, 16)->kind, EH_UNDEFINED);
	ehtable_free(t);
}

static void rules_of_aarch64_are_read(void **state)
{
	(void)state;
	struct maker m = {.len = 0};
	const struct eh_row *row;
	entry_begin(&m);
	put(&m, 0, 4);
	put(&m, 1, 1);
	PUT(&m, "zRB\0\x04\x78\x1e\x01\x1b\x0c\x1f\x00");
	entry_end(&m);
	/* paciasp; stp x29, x30, [sp, -32]!; mov x29, sp; and the way back: signed, the frame, its address */
	FUNCTION(&m, 0x4000, 64, "\x41\x2d\x41\x0e\x20\x9d\x04\x9e\x03\x41\x0d\x1d\x44\xde\xdd\x0c\x1f\x00\x2d");
	struct ehtable *t = table_of(&m);
	assert_int_equal(ehtable_row(t, 0x4000, &row), 0);
	assert_int_equal(row->cfa.reg, 31);
	assert_int_equal(row->cfa.value, 0);
	assert_int_equal(row->ra, 30);
	assert_int_equal(ehtable_row(t, 0x400c, &row), 0);
	assert_int_equal(row->cfa.reg, 29);
	assert_int_equal(row->cfa.value, 32);
	assert_int_equal(rule_at(row, 29)->value, -32);
	assert_int_equal(rule_at(row, 30)->value, -24);
	assert_int_equal(ehtable_row(t, 0x401c, &row), 0);
	assert_null(rule_at(row, 30));
	assert_int_equal(row->cfa.reg, 31);
	ehtable_free(t);
}

static void what_contradicts_itself_is_bad_and_stays_so(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t len;
	} programs[] = {
		{"\x0b", 1}, /* restores what was not remembered */
		{"\x0c\x40\x08", 3}, /* a register that no processor has */
		{"\x3f", 1}, /* no such instruction */
		{"\x0f\x7f", 2}, /* an expression longer than the entry */
		{"\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 13},
		{"\x0f\x01\x30\x0e\x08", 5}, /* an offset to an expression */
		{"\x09\x03\x41", 3},
	};
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		struct maker m = {.len = 0};
		const struct eh_row *row;
		cie_zr(&m, "zR");
		function_of(&m, 0x4000, 16, programs[i].bytes, programs[i].len);
		struct ehtable *t = table_of(&m);
		assert_int_equal(ehtable_row(t, 0x4004, &row), EH_BAD);
		assert_int_equal(ehtable_row(t, 0x4004, &row), EH_BAD);
		ehtable_free(t);
	}
}

static void unknown_augmentations_are_refused(void **state)
{
	(void)state;
	struct maker m = {.len = 0};
	struct ehtable *t = NULL;
	cie_zr(&m, "zQ");
	FUNCTION(&m, 0x4000, 16, "");
	assert_int_equal(ehtable_from(section_of(&m), (struct eh_section){NULL, 0, 0}, &t), EH_NONE);
	assert_int_equal(ehtable_from((struct eh_section){NULL, 0, 0}, (struct eh_section){NULL, 0, 0}, &t), EH_NONE);
}

static void more_rows_than_are_kept_are_still_right(void **state)
{
	(void)state;
	struct maker m = {.len = 0};
	const struct eh_row *row;
	cie_zr(&m, "zR");
	FUNCTION(&m, 0x4000, 40000, "\x03\x10\x27\x0e\x10\x03\x10\x27\x0e\x18");
	struct ehtable *t = table_of(&m);
	for (int round = 0; round < 2; round++)
		for (uint64_t at = 0; at < 30000; at++) {
			assert_int_equal(ehtable_row(t, 0x4000 + at, &row), 0);
			assert_int_equal(row->cfa.value, at < 10000 ? 8 : at < 20000 ? 16 : 24);
		}
	ehtable_free(t);
}

/* --- expressions --- */

static bool memory_plus_one(void *ctx, uint64_t addr, uint64_t *ret)
{
	(void)ctx;
	*ret = addr + 1;
	return addr != 0xdead;
}

static uint64_t value_of(const char *bytes, size_t len)
{
	static const uint64_t reg[EH_REGS] = {[7] = 1000, [16] = 0x402b};
	struct eh_machine m = {.reg = reg, .valid = 1 << 7 | 1 << 16, .load = memory_plus_one};
	uint64_t v = 77777;
	return eh_evaluate(&m, (const uint8_t *)bytes, len, NULL, &v) == 0 ? v : UINT64_MAX;
}
#define VALUE(literal) value_of(literal, sizeof(literal) - 1)

static void the_plt_s_expression_depends_on_the_place_in_the_entry(void **state)
{
	(void)state;
	/* rsp + 8 + ((rip & 15) >= 11) << 3; rip ends in b */
	assert_int_equal(VALUE("\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"), 1016);
	assert_int_equal(VALUE("\x77\x08\x80\x00\x3f\x1a\x3c\x2a\x33\x24\x22"), 1008);
}

static void each_operation_does_what_dwarf_says(void **state)
{
	(void)state;
	assert_int_equal(VALUE("\x77\x78\x06"), 993);
	assert_int_equal(VALUE("\x08\xff\x09\xff\x22"), 254);
	assert_int_equal(VALUE("\x35\x33\x1c"), 2);
	assert_int_equal(VALUE("\x33\x35\x17"), UINT64_MAX); /* rotates three, has two */
	assert_int_equal(VALUE("\x31\x32\x33\x17"), 2);
	assert_int_equal(VALUE("\x31\x32\x16"), 1);
	assert_int_equal(VALUE("\x31\x32\x14"), 1);
	assert_int_equal(VALUE("\x31\x32\x15\x01"), 1);
	assert_int_equal(VALUE("\x09\xf8\x33\x26\x19"), 1);
	assert_int_equal(VALUE("\x31\x30\x1b"), UINT64_MAX); /* divides by zero */
	assert_int_equal(VALUE("\x31\x28\x01\x00\x35\x36"), 6); /* jumps over the five */
}

static void expressions_end(void **state)
{
	(void)state;
	static const uint64_t reg[EH_REGS];
	struct eh_machine m = {.reg = reg, .load = memory_plus_one};
	uint64_t v, dead = 0xdead;
	assert_int_equal(VALUE("\x2f\xfd\xff"), UINT64_MAX);
	assert_int_equal(VALUE("\x2f\x00\x80"), UINT64_MAX);
	assert_int_equal(VALUE("\x31\x12\x2f\xfc\xff"), UINT64_MAX);
	assert_int_equal(VALUE(""), UINT64_MAX);
	assert_int_equal(eh_evaluate(&m, (const uint8_t *)"\x77", 2, NULL, &v), EH_BAD);
	assert_true(m.unknown);
	assert_int_equal(eh_evaluate(&m, (const uint8_t *)"\x06", 1, &dead, &v), EH_BAD);
	assert_true(m.fault);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_is_what_the_program_has_said_up_to_the_address),
		cmocka_unit_test(addresses_between_functions_have_no_row),
		cmocka_unit_test(a_remembered_state_comes_back_with_its_cfa),
		cmocka_unit_test(rules_of_aarch64_are_read),
		cmocka_unit_test(what_contradicts_itself_is_bad_and_stays_so),
		cmocka_unit_test(unknown_augmentations_are_refused),
		cmocka_unit_test(more_rows_than_are_kept_are_still_right),
		cmocka_unit_test(the_plt_s_expression_depends_on_the_place_in_the_entry),
		cmocka_unit_test(each_operation_does_what_dwarf_says),
		cmocka_unit_test(expressions_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
