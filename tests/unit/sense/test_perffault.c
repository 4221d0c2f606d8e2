#include "testing.h"

#include <linux/perf_event.h>

#include "sense/native/perffault.h"

#if defined(__x86_64__)
#define REGS 17
#define FIRST_DWARF 0 /* ax is the first for both */
#else
#define REGS 33
#define FIRST_DWARF 0
#endif

/* A record as it grows; its size is put in when it ends. */
struct maker {
	uint8_t bytes[1024];
	size_t len;
};

static void put(struct maker *m, uint64_t v, size_t width)
{
	memcpy(m->bytes + m->len, &v, width);
	m->len += width;
}

static struct maker record_begin(uint32_t type)
{
	struct maker m = {.len = 0};
	put(&m, type, 4);
	put(&m, 0, 2); /* misc */
	put(&m, 0, 2); /* size */
	return m;
}

static int parse(struct maker *m, struct perffault_sample *ret, enum perffault_record *ret_kind, uint64_t *ret_lost)
{
	uint16_t size = (uint16_t)m->len;
	memcpy(m->bytes + 6, &size, sizeof(size));
	return perffault_parse(m->bytes, m->len, ret, ret_kind, ret_lost);
}

static struct maker sample_begin(uint64_t abi)
{
	struct maker m = record_begin(PERF_RECORD_SAMPLE);
	put(&m, 100, 4);
	put(&m, 101, 4);
	put(&m, 0x7f001000, 8);
	put(&m, abi, 8);
	for (uint64_t i = 0; i < REGS && abi != PERF_SAMPLE_REGS_ABI_NONE; i++)
		put(&m, 0x1000 + i, 8);
	return m;
}

static struct perffault_sample sample;
static enum perffault_record kind;
static uint64_t lost;

static void a_sample_has_address_registers_and_stack(void **state)
{
	(void)state;
	struct maker m = sample_begin(PERF_SAMPLE_REGS_ABI_64);
	put(&m, 16, 8);
	put(&m, 0xaabb, 8);
	put(&m, 0xccdd, 8);
	put(&m, 8, 8); /* of which 8 bytes are of the stack */
	assert_int_equal(parse(&m, &sample, &kind, &lost), 0);
	assert_int_equal(kind, PERFFAULT_SAMPLE);
	assert_int_equal(sample.pid, 100);
	assert_int_equal(sample.tid, 101);
	assert_int_equal(sample.addr, 0x7f001000);
	assert_int_equal(sample.regs.reg[FIRST_DWARF], 0x1000);
	assert_true(sample.regs.valid == (UINT64_C(1) << REGS) - 1);
	assert_int_equal(sample.stack.sp, unwind_sp(&sample.regs));
	assert_int_equal(sample.stack.n_bytes, 8);
	assert_memory_equal(sample.stack.bytes, "\xbb\xaa\0\0\0\0\0\0", 8);
}

#if defined(__x86_64__)
static void registers_change_from_the_kernels_order_to_dwarfs(void **state)
{
	(void)state;
	/* The kernel: ax bx cx dx si di bp sp ip, then (behind flags and segments) r8 to r15. */
	static const uint64_t want[REGS] = {0x1000, 0x1003, 0x1002, 0x1001, 0x1004, 0x1005, 0x1006, 0x1007, 0x1009,
					    0x100a, 0x100b, 0x100c, 0x100d, 0x100e, 0x100f, 0x1010, 0x1008};
	struct maker m = sample_begin(PERF_SAMPLE_REGS_ABI_64);
	put(&m, 0, 8);
	assert_int_equal(parse(&m, &sample, &kind, &lost), 0);
	for (size_t i = 0; i < REGS; i++)
		assert_int_equal(sample.regs.reg[i], want[i]);
}
#endif

static void a_sample_without_registers_or_stack_is_one_too(void **state)
{
	(void)state;
	struct maker m = sample_begin(PERF_SAMPLE_REGS_ABI_NONE);
	put(&m, 0, 8);
	assert_int_equal(parse(&m, &sample, &kind, &lost), 0);
	assert_int_equal(kind, PERFFAULT_SAMPLE);
	assert_int_equal(sample.regs.valid, 0);
	assert_int_equal(sample.stack.n_bytes, 0);
	m = sample_begin(PERF_SAMPLE_REGS_ABI_32);
	put(&m, 0, 8);
	assert_int_equal(parse(&m, &sample, &kind, &lost), 0);
	assert_int_equal(sample.regs.valid, 0); /* of a 32-bit program: not used */
}

static void lost_samples_are_counted_and_other_records_passed_over(void **state)
{
	(void)state;
	struct maker m = record_begin(PERF_RECORD_LOST);
	put(&m, 1, 8);
	put(&m, 42, 8);
	assert_int_equal(parse(&m, &sample, &kind, &lost), 0);
	assert_int_equal(kind, PERFFAULT_LOST);
	assert_int_equal(lost, 42);
	m = record_begin(PERF_RECORD_THROTTLE);
	assert_int_equal(parse(&m, &sample, &kind, &lost), 0);
	assert_int_equal(kind, PERFFAULT_OTHER);
}

static void records_that_end_early_are_bad(void **state)
{
	(void)state;
	struct maker whole = sample_begin(PERF_SAMPLE_REGS_ABI_64);
	put(&whole, 8, 8);
	put(&whole, 0, 8);
	put(&whole, 8, 8);
	for (size_t len = 8; len < whole.len; len++) {
		struct maker m = whole;
		m.len = len;
		assert_int_equal(parse(&m, &sample, &kind, &lost), -EBADMSG);
	}
	assert_int_equal(perffault_parse(whole.bytes, 7, &sample, &kind, &lost), -EBADMSG);
	assert_int_equal(parse(&whole, &sample, &kind, &lost), 0);
	assert_int_equal(perffault_parse(whole.bytes, whole.len - 1, &sample, &kind, &lost), -EBADMSG);
	struct maker m = record_begin(PERF_RECORD_THROTTLE);
	put(&m, 0, 8);
	assert_int_equal(parse(&m, &sample, &kind, &lost), 0);
	assert_int_equal(perffault_parse(m.bytes, m.len - 8, &sample, &kind, &lost), -EBADMSG);
	m = record_begin(PERF_RECORD_LOST);
	put(&m, 1, 8);
	assert_int_equal(parse(&m, &sample, &kind, &lost), -EBADMSG);
}

static void a_stack_that_claims_more_than_it_has_is_bad(void **state)
{
	(void)state;
	struct maker m = sample_begin(PERF_SAMPLE_REGS_ABI_64);
	put(&m, 8, 8);
	put(&m, 0, 8);
	put(&m, 9, 8); /* more of the stack than was copied */
	assert_int_equal(parse(&m, &sample, &kind, &lost), -EBADMSG);
	m = sample_begin(PERF_SAMPLE_REGS_ABI_64);
	put(&m, UINT64_MAX, 8);
	put(&m, 0, 8);
	assert_int_equal(parse(&m, &sample, &kind, &lost), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_has_address_registers_and_stack),
#if defined(__x86_64__)
		cmocka_unit_test(registers_change_from_the_kernels_order_to_dwarfs),
#endif
		cmocka_unit_test(a_sample_without_registers_or_stack_is_one_too),
		cmocka_unit_test(lost_samples_are_counted_and_other_records_passed_over),
		cmocka_unit_test(records_that_end_early_are_bad),
		cmocka_unit_test(a_stack_that_claims_more_than_it_has_is_bad),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
