#include "testing.h"

#include "model/map/joblog.h"

static void a_line_of_gnu_parallel_is_read(void **state)
{
	(void)state;
	struct joblog_row row;
	struct span line = SPAN("3\t:\t1795522317.366\t     0.005\t0\t17\t2\t9\techo a/b.c |x\ty");
	assert_int_equal(joblog_parse(line, &row), 0);
	assert_int_equal(row.seq, 3);
	assert_true(row.start_unix_ms == 1795522317366 && row.run_ms == 5 && row.receive_bytes == 17);
	assert_true(row.exit_value == 2 && row.signal == 9);
	assert_true(joblog_same_command(&row, "echo a/b.c |x\ty"));
	assert_false(joblog_same_command(&row, "echo a/b.c |x\t"));
}

static void what_is_written_is_read_again(void **state)
{
	(void)state;
	struct joblog_row row = {.seq = 12,
				 .start_unix_ms = 1795522317001,
				 .run_ms = 61234,
				 .receive_bytes = 5,
				 .exit_value = -1,
				 .signal = 15,
				 .command = SPAN("sh -c 'a\nb'")},
			  again;
	size_t len;
	char *line = joblog_line(&row, &len);
	assert_int_equal(strcspn(line, "\n"), strlen(line) < len ? strlen(line) : len - 1);
	assert_true(line[len - 1] == '\n' && !memchr(line, '\n', len - 1));
	assert_int_equal(joblog_parse((struct span){line, len - 1}, &again), 0);
	assert_true(again.seq == 12 && again.run_ms == 61234 && again.exit_value == -1 && again.signal == 15);
	assert_true(again.start_unix_ms == row.start_unix_ms);
	assert_true(joblog_same_command(&again, "sh -c 'a\nb'"));
	free(line);
}

static void other_lines_are_refused(void **state)
{
	(void)state;
	struct joblog_row row;
	static const char *const bad[] = {"",
					  "1",
					  "0\t:\t1.0\t1.0\t0\t0\t0\t0\tx",
					  "x\t:\t1.0\t1.0\t0\t0\t0\t0\tx",
					  "1\t:\t1.0\t1.0\t0\t0\t0\t0",
					  "1\t:\t1.0000\t1.0\t0\t0\t0\t0\tx",
					  "1\t:\t1.0\t-1.0\t0\t0\t0\t0\tx",
					  "1\t:\t1.0\t1.0\t0\t0\t9999999999\t0\tx",
					  "1\t:\t99999999999999999999.0\t1.0\t0\t0\t0\t0\tx"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(joblog_parse(span_of(bad[i]), &row), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_of_gnu_parallel_is_read),
		cmocka_unit_test(what_is_written_is_read_again),
		cmocka_unit_test(other_lines_are_refused),
	};
	return cmocka_run_group_tests_name("model/map/joblog", tests, NULL, NULL);
}
