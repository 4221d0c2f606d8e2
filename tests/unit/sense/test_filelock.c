#include "testing.h"

#include "sense/wait/filelock.h"

static struct filelock lock(const char *line)
{
	struct filelock l = {.pid = 0};
	assert_int_equal(filelock_parse(span_of(line), &l), 0);
	return l;
}

static void lines_of_the_kernel_are_parsed(void **state)
{
	(void)state;
	struct filelock l = lock("2: POSIX  ADVISORY  WRITE 3817 fe:00:9977890 100 109");
	assert_true(l.type == FILELOCK_POSIX && l.write && !l.waits && l.pid == 3817);
	assert_true(l.major == 0xfe && l.minor == 0 && l.inode == 9977890 && l.start == 100 && l.end == 109);
	l = lock("2: -> OFDLCK ADVISORY  READ -1 00:2f:7 0 EOF");
	assert_true(l.type == FILELOCK_OFD && !l.write && l.waits && l.pid == -1 && l.minor == 0x2f);
	assert_true(l.end == UINT64_MAX);
	assert_int_equal(lock("3: FLOCK  ADVISORY  WRITE 1703 fe:00:9980265 0 EOF").type, FILELOCK_FLOCK);
}

static void other_lines_are_refused(void **state)
{
	(void)state;
	static const char *const lines[] = {
		"",
		"1:",
		"1: ->",
		"1: LEASE  ACTIVE    READ  12 fe:00:7 0 EOF",
		"1: FLOCK  ADVISORY  NONE 12 fe:00:7 0 EOF",
		"1: FLOCK  ADVISORY  WRITE -2 fe:00:7 0 EOF",
		"1: FLOCK  ADVISORY  WRITE 99999999999 fe:00:7 0 EOF",
		"1: FLOCK  ADVISORY  WRITE 12 fe:00 0 EOF",
		"1: FLOCK  ADVISORY  WRITE 12 fe:xx:7 0 EOF",
		"1: FLOCK  ADVISORY  WRITE 12 <none>:0 0 EOF",
		"1: POSIX  ADVISORY  WRITE 12 fe:00:7 9 8",
		"1: POSIX  ADVISORY  WRITE 12 fe:00:7 9",
		"1 FLOCK  ADVISORY  WRITE 12 fe:00:7 0 EOF",
	};
	struct filelock l;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_int_equal(filelock_parse(span_of(lines[i]), &l), -EBADMSG);
}

static void only_locks_that_are_in_the_way_block(void **state)
{
	(void)state;
	struct filelock want = lock("1: POSIX  ADVISORY  WRITE 5 fe:00:7 100 109");
	const struct filelock held[] = {
		lock("1: POSIX  ADVISORY  WRITE 6 fe:00:7 109 200"),
		lock("1: POSIX  ADVISORY  READ 6 fe:00:7 0 EOF"),
		lock("1: OFDLCK ADVISORY  WRITE -1 fe:00:7 0 EOF"),
	};
	const struct filelock free_ones[] = {
		lock("1: POSIX  ADVISORY  WRITE 6 fe:00:7 110 200"),  lock("1: POSIX  ADVISORY  WRITE 6 fe:00:7 0 99"),
		lock("1: POSIX  ADVISORY  WRITE 6 fe:00:8 0 EOF"),    lock("1: POSIX  ADVISORY  WRITE 6 fe:01:7 0 EOF"),
		lock("1: POSIX  ADVISORY  WRITE 5 fe:00:7 0 EOF"), /* its own */
		lock("1: FLOCK  ADVISORY  WRITE 6 fe:00:7 0 EOF"), /* another kind */
		lock("1: -> POSIX  ADVISORY  WRITE 6 fe:00:7 0 EOF"), /* waits itself */
	};
	for (size_t i = 0; i < ARRAY_SIZE(held); i++)
		assert_true(filelock_blocks(&held[i], &want));
	for (size_t i = 0; i < ARRAY_SIZE(free_ones); i++)
		assert_false(filelock_blocks(&free_ones[i], &want));
	want.write = false;
	assert_true(filelock_blocks(&held[0], &want));
	assert_false(filelock_blocks(&held[1], &want)); /* two readers */
	/* A second descriptor of the same process stands in its own way with flock. */
	want = lock("1: FLOCK  ADVISORY  WRITE 5 fe:00:7 0 EOF");
	const struct filelock own = lock("1: FLOCK  ADVISORY  WRITE 5 fe:00:7 0 EOF");
	assert_true(filelock_blocks(&own, &want));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_the_kernel_are_parsed),
		cmocka_unit_test(other_lines_are_refused),
		cmocka_unit_test(only_locks_that_are_in_the_way_block),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
