#include "testing.h"

#include <string.h>

#include "sense/python/pystr.h"

/* A process made of a few pieces of memory. */
struct piece {
	uint64_t addr;
	unsigned char bytes[512];
	size_t len;
};

static struct piece pieces[16];
static size_t n_pieces;
static struct pyrt rt;

static ssize_t fake_readv(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from,
			  size_t n_from)
{
	ssize_t total = 0;
	(void)r;
	assert_int_equal(n_into, n_from);
	for (size_t i = 0; i < n_from; i++) {
		uint64_t addr = (uint64_t)(uintptr_t)from[i].iov_base;
		size_t n = 0;
		for (size_t k = 0; k < n_pieces; k++)
			if (addr >= pieces[k].addr && addr - pieces[k].addr < pieces[k].len) {
				n = MIN(from[i].iov_len, pieces[k].len - (size_t)(addr - pieces[k].addr));
				memcpy(into[i].iov_base, pieces[k].bytes + (addr - pieces[k].addr), n);
			}
		total += (ssize_t)n;
		if (n < from[i].iov_len)
			return total > 0 ? total : -EFAULT;
	}
	return total;
}

static const struct remote_ops fake_ops = {.readv = fake_readv};
static struct remote fake = {.pid = 1, .mem_fd = -1, .proc_fd = -1, .ops = &fake_ops};

static void start(uint8_t minor)
{
	n_pieces = 0;
	rt = (struct pyrt){.minor = minor, .instr_in_units = minor == 10, .code_type = 0x7000};
	assert_true(pyoffsets_of(minor, &rt.off));
}

static unsigned char *piece_add(uint64_t addr, size_t len)
{
	struct piece *p = &pieces[n_pieces++];
	*p = (struct piece){.addr = addr, .len = len};
	return p->bytes;
}

static void put(unsigned char *at, uint64_t value, size_t bytes)
{
	memcpy(at, &value, bytes);
}

/* state: interned:2 kind:3 compact:1 ascii:1 */
static void str_add(uint64_t addr, const void *chars, size_t n, unsigned width, bool ascii)
{
	uint64_t head = ascii ? rt.off.str.ascii : rt.off.str.compact;
	unsigned char *b = piece_add(addr, head + n * width);
	put(b + rt.off.str.length, n, 8);
	put(b + rt.off.str.state, width << 2 | 1 << 5 | (ascii ? 1 << 6 : 0), 4);
	memcpy(b + head, chars, n * width);
}

static void bytes_add(uint64_t addr, const void *bytes, size_t n)
{
	unsigned char *b = piece_add(addr, 33 + n);
	put(b + rt.off.bytes.size, n, 8);
	memcpy(b + rt.off.bytes.value, bytes, n);
}

static unsigned char *code_add(uint64_t addr, uint64_t name, uint64_t file, uint64_t table)
{
	unsigned char *b = piece_add(addr, 256);
	put(b + rt.off.object.type, rt.code_type, 8);
	put(b + rt.off.code.filename, file, 8);
	put(b + (rt.minor >= 11 ? rt.off.code.qualname : rt.off.code.name), name, 8);
	put(b + rt.off.code.linetable, table, 8);
	put(b + rt.off.code.firstlineno, 10, 4);
	put(b + rt.off.code.flags, 3, 4); /* a function's */
	if (rt.minor >= 11)
		put(b + rt.off.tuple.size, 8, 8); /* units */
	else
		put(b + rt.off.code.code_bytes, 0x6000, 8);
	return b;
}

static void expect_rows(uint8_t minor, struct span table, int32_t first, const struct pycode_line *rows, size_t n)
{
	struct pycode_line *got = NULL;
	size_t n_got = 0;
	assert_int_equal(pylines_parse(minor, table, first, &got, &n_got), 0);
	assert_int_equal(n_got, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(got[i].start, rows[i].start);
		assert_int_equal(got[i].line, rows[i].line);
	}
	free(got);
}

static void old_tables_are_pairs_of_bytes_and_lines(void **state)
{
	(void)state;
	/* 6 bytes of line 10; then +300 lines in three steps; then back. */
	expect_rows(8, SPAN("\x06\x7f\x00\x7f\x00\x2e\x08\xff"), 10,
		    (const struct pycode_line[]){{0, 10}, {6, 310}, {14, 309}}, 3);
	expect_rows(9, SPAN(""), 7, (const struct pycode_line[]){{0, 7}}, 1);
}

static void tables_of_3_10_know_code_without_a_line(void **state)
{
	(void)state;
	expect_rows(10, SPAN("\x04\x01\x02\x80\x00\x05\x06\x00"), 1,
		    (const struct pycode_line[]){{0, 2}, {4, 0}, {6, 7}}, 3);
}

static void tables_since_3_11_count_in_units(void **state)
{
	(void)state;
	/* short form 2 units; one line +2, 1 unit; none, 1 unit; long form -3 lines, 8 units; no columns +70. */
	expect_rows(11, SPAN("\x81\x00\xe0\x00\x00\xf8\xf7\x07\x00\x01\x01\xe8\x4c\x02"), 100,
		    (const struct pycode_line[]){{0, 100}, {4, 102}, {6, 0}, {8, 99}, {24, 169}}, 5);
}

static void tables_that_end_anywhere_are_read_as_far_as_they_go(void **state)
{
	(void)state;
	static const char whole[] = "\x81\x00\xe0\x00\x00\xf8\xf7\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x01";
	for (uint8_t minor = 8; minor <= 15; minor++)
		for (size_t n = 0; n < sizeof(whole); n++) {
			struct pycode_line *rows = NULL;
			size_t n_rows = 0;
			assert_int_equal(pylines_parse(minor, (struct span){whole, n}, INT32_MAX, &rows, &n_rows), 0);
			for (size_t i = 0; i < n_rows; i++)
				assert_true(rows[i].line >= 0 && (i == 0 || rows[i].start > rows[i - 1].start));
			free(rows);
		}
}

static void strings_of_every_width_become_utf_8(void **state)
{
	(void)state;
	char *text = NULL;
	start(12);
	str_add(0x1000, "plain\n", 6, 1, true);
	str_add(0x2000, "caf\xe9", 4, 1, false);
	str_add(0x3000, (const uint16_t[]){0x4e2d, 0xd800, 'x'}, 3, 2, false);
	str_add(0x4000, (const uint32_t[]){0x1f600, 0x110000, 0}, 3, 4, false);
	static const struct {
		uint64_t addr;
		const char *text;
	} want[] = {{0x1000, "plain\n"}, {0x2000, "caf\xc3\xa9"}, {0x3000, "\xe4\xb8\xad?x"},
		    {0x4000, "\xf0\x9f\x98\x80??"}};
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_int_equal(pystr_read(&rt, &fake, want[i].addr, 100, &text), 0);
		assert_string_equal(text, want[i].text);
		free(text);
	}
}

static void long_strings_are_cut_and_read_in_one_more_call(void **state)
{
	(void)state;
	char chars[300], *text = NULL;
	memset(chars, 'y', sizeof(chars));
	start(9);
	str_add(0x1000, chars, sizeof(chars), 1, true);
	fake.calls = 0;
	assert_int_equal(pystr_read(&rt, &fake, 0x1000, 250, &text), 0);
	assert_int_equal(strlen(text), 250);
	assert_int_equal(fake.calls, 2);
	free(text);
	fake.calls = 0;
	assert_int_equal(pystr_read(&rt, &fake, 0x1000, 20, &text), 0);
	assert_int_equal(fake.calls, 1);
	free(text);
}

static void what_is_not_a_string_is_refused(void **state)
{
	(void)state;
	char *text = NULL;
	start(11);
	assert_int_equal(pystr_read(&rt, &fake, 0x9000, 20, &text), REMOTE_FAULT);
	unsigned char *b = piece_add(0x1000, 100);
	put(b + rt.off.str.length, UINT64_MAX, 8);
	put(b + rt.off.str.state, 1 << 2 | 3 << 5, 4);
	assert_int_equal(pystr_read(&rt, &fake, 0x1000, 20, &text), PYCODE_GARBAGE);
	put(b + rt.off.str.length, 1, 8);
	put(b + rt.off.str.state, 3 << 2, 4);
	assert_int_equal(pystr_read(&rt, &fake, 0x1000, 20, &text), PYCODE_GARBAGE);
	put(b + rt.off.str.state, 1 << 2, 4); /* characters elsewhere, which is nowhere */
	put(b + rt.off.str.data, 0x123456, 8);
	assert_int_equal(pystr_read(&rt, &fake, 0x1000, 20, &text), REMOTE_FAULT);
	put(b + rt.off.str.length, UINT64_C(1) << 60, 8); /* far more than there is: only what is asked for is read */
	assert_int_equal(pystr_read(&rt, &fake, 0x1000, 20, &text), REMOTE_FAULT);
	assert_null(text);
}

static void texts_add(void)
{
	str_add(0x1000, "Model.step", 10, 1, true);
	str_add(0x2000, "train.py", 8, 1, true);
	str_add(0x3000, "other", 5, 1, true);
	bytes_add(0x4000, rt.minor >= 11 ? "\x81\x00\xe0\x00\x00" : "\x04\x01\x0c\x01", rt.minor >= 11 ? 5 : 4);
	bytes_add(0x6000, "0123456789abcdef", 16);
}

static void a_code_object_is_read_once(void **state)
{
	(void)state;
	const struct pycode *code = NULL, *again = NULL;
	start(11);
	texts_add();
	code_add(0x5000, 0x1000, 0x2000, 0x4000);
	struct pycodes *c = pycodes_new(&rt, &fake);
	assert_null(pycodes_peek(c, 0x5000));
	assert_null(pycodes_peek(c, 0));
	assert_int_equal(pycodes_get(c, 0x5000, &code), 0);
	assert_string_equal(code->name, "Model.step");
	assert_string_equal(code->file, "train.py");
	assert_int_equal(code->first_line, 10);
	assert_int_equal(code->code_bytes, 16);
	fake.calls = 0;
	assert_int_equal(pycodes_get(c, 0x5000, &again), 0);
	assert_ptr_equal(again, code);
	assert_ptr_equal(pycodes_peek(c, 0x5000), code);
	assert_int_equal(fake.calls, 0);
	assert_int_equal(pycode_line(&rt, code, code->code_start - 2), 10);
	assert_int_equal(pycode_line(&rt, code, code->code_start), 10);
	assert_int_equal(pycode_line(&rt, code, code->code_start + 4), 12);
	assert_int_equal(pycode_line(&rt, code, code->code_start + 16), 0);
	assert_int_equal(pycode_line(&rt, code, 0), 0);
	pycodes_free(c);
}

static void instructions_before_3_11_are_offsets(void **state)
{
	(void)state;
	const struct pycode *code = NULL;
	for (uint8_t minor = 9; minor <= 10; minor++) {
		start(minor);
		texts_add();
		code_add(0x5000, 0x1000, 0x2000, 0x4000);
		struct pycodes *c = pycodes_new(&rt, &fake);
		assert_int_equal(pycodes_get(c, 0x5000, &code), 0);
		assert_int_equal(code->code_bytes, 16);
		unsigned unit = minor == 10 ? 2 : 1;
		assert_int_equal(pycode_line(&rt, code, 4 / unit), minor == 10 ? 12 : 11);
		assert_int_equal(pycode_line(&rt, code, 16 / unit), 0);
		assert_int_equal(pycode_line(&rt, code, (uint32_t)-1), 10);
		assert_int_equal(pycode_line(&rt, code, UINT64_MAX), 10);
		pycodes_free(c);
	}
}

static void an_address_that_is_used_again_gets_a_new_entry_and_the_old_one_stays(void **state)
{
	(void)state;
	const struct pycode *code = NULL, *again = NULL;
	start(12);
	texts_add();
	unsigned char *b = code_add(0x5000, 0x1000, 0x2000, 0x4000);
	struct pycodes *c = pycodes_new(&rt, &fake);
	assert_int_equal(pycodes_get(c, 0x5000, &code), 0);
	pycodes_recheck(c);
	assert_null(pycodes_peek(c, 0x5000));
	assert_int_equal(pycodes_get(c, 0x5000, &again), 0);
	assert_ptr_equal(again, code); /* nothing has changed */
	put(b + rt.off.code.qualname, 0x3000, 8);
	assert_ptr_equal(pycodes_peek(c, 0x5000), code); /* not due yet */
	pycodes_recheck(c);
	assert_int_equal(pycodes_get(c, 0x5000, &again), 0);
	assert_string_equal(again->name, "other");
	assert_true(again->id != code->id);
	assert_string_equal(code->name, "Model.step");
	assert_null(pycodes_peek(c, 0x5000)); /* looked at anew each time from now on: */
	put(b + rt.off.code.qualname, 0x1000, 8);
	assert_int_equal(pycodes_get(c, 0x5000, &again), 0);
	assert_string_equal(again->name, "Model.step");
	put(b + rt.off.object.type, 0x7008, 8);
	pycodes_recheck(c);
	assert_int_equal(pycodes_get(c, 0x5000, &again), PYCODE_GARBAGE);
	pycodes_free(c);
}

static void code_that_runs_once_is_checked_each_time(void **state)
{
	(void)state;
	const struct pycode *code = NULL, *again = NULL;
	start(12);
	texts_add();
	unsigned char *b = code_add(0x5000, 0x1000, 0x2000, 0x4000);
	put(b + rt.off.code.flags, 0, 4); /* a module's or a class's */
	struct pycodes *c = pycodes_new(&rt, &fake);
	assert_int_equal(pycodes_get(c, 0x5000, &code), 0);
	assert_null(pycodes_peek(c, 0x5000));
	assert_int_equal(pycodes_get(c, 0x5000, &again), 0);
	assert_ptr_equal(again, code);
	put(b + rt.off.code.qualname, 0x3000, 8);
	assert_int_equal(pycodes_get(c, 0x5000, &again), 0);
	assert_string_equal(again->name, "other");
	pycodes_free(c);
}

static void what_is_not_code_is_refused(void **state)
{
	(void)state;
	const struct pycode *code = NULL;
	start(11);
	texts_add();
	unsigned char *b = code_add(0x5000, 0x1000, 0x2000, 0x4000);
	struct pycodes *c = pycodes_new(&rt, &fake);
	assert_int_equal(pycodes_get(c, 0, &code), PYCODE_GARBAGE);
	assert_int_equal(pycodes_get(c, 0x5001, &code), PYCODE_GARBAGE);
	assert_int_equal(pycodes_get(c, 0x8000, &code), REMOTE_FAULT);
	put(b + rt.off.tuple.size, UINT64_MAX, 8);
	assert_int_equal(pycodes_get(c, 0x5000, &code), PYCODE_GARBAGE);
	put(b + rt.off.tuple.size, 8, 8);
	put(b + rt.off.code.linetable, 0x8888, 8);
	assert_int_equal(pycodes_get(c, 0x5000, &code), REMOTE_FAULT);
	pycodes_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_tables_are_pairs_of_bytes_and_lines),
		cmocka_unit_test(tables_of_3_10_know_code_without_a_line),
		cmocka_unit_test(tables_since_3_11_count_in_units),
		cmocka_unit_test(tables_that_end_anywhere_are_read_as_far_as_they_go),
		cmocka_unit_test(strings_of_every_width_become_utf_8),
		cmocka_unit_test(long_strings_are_cut_and_read_in_one_more_call),
		cmocka_unit_test(what_is_not_a_string_is_refused),
		cmocka_unit_test(a_code_object_is_read_once),
		cmocka_unit_test(instructions_before_3_11_are_offsets),
		cmocka_unit_test(an_address_that_is_used_again_gets_a_new_entry_and_the_old_one_stays),
		cmocka_unit_test(code_that_runs_once_is_checked_each_time),
		cmocka_unit_test(what_is_not_code_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
