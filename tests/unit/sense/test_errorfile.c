#include "testing.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "sense/framework/errorfile.h"
#include "base/buf.h"
#include "base/file.h"

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	TEXT_COPY(dir, "/tmp/vigil-errorfiles-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char path[128];
	(void)state;
	errorfile_path(dir, 3, path, sizeof(path));
	return unlink(path) == 0 || errno == ENOENT ? rmdir(dir) : -1;
}

static int read_of(const char *text, int64_t written_s, long written_ns, struct rank_error *e)
{
	char path[128];
	const struct timespec when[2] = {{.tv_sec = written_s, .tv_nsec = written_ns},
					 {.tv_sec = written_s, .tv_nsec = written_ns}};
	errorfile_path(dir, 3, path, sizeof(path));
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
	assert_int_equal(futimens(fd, when), 0);
	close(fd);
	return errorfile_read(path, 3, e);
}

#define FILE_OF(message)                                                                                               \
	"{\"message\": {\"message\": \"" message                                                                       \
	"\", \"extraInfo\": {\"py_callstack\": \"File \\\"/srv/train.py\\\", line 40, in "                             \
	"step\\n  f()\\n\", \"timestamp\": \"1700000100\"}}}"

static void the_first_line_the_place_and_the_time_are_read(void **state)
{
	(void)state;
	struct rank_error e;
	assert_int_equal(read_of(FILE_OF("RuntimeError: boom\\nand advice"), 1700000100, 250000000, &e), 0);
	assert_string_equal(e.text, "RuntimeError: boom");
	assert_string_equal(e.where, "/srv/train.py:40 (step)");
	assert_string_equal(e.source, "rank-3.error.json");
	assert_int_equal(e.rank, 3);
	assert_false(e.follows);
	/* finer than seconds, as long as it is the same moment */
	assert_int_equal(e.time_unix_ms, 1700000100250);
	assert_int_equal(read_of(FILE_OF("RuntimeError: Connection closed by peer"), 1700000900, 0, &e), 0);
	assert_int_equal(e.time_unix_ms, 1700000100000);
	assert_true(e.follows);
}

static void what_is_no_error_file_is_none(void **state)
{
	(void)state;
	struct rank_error e;
	char path[128];
	assert_int_equal(read_of("", 1, 0, &e), ERRORFILE_NONE);
	assert_int_equal(read_of("\x80\x04garbage", 1, 0, &e), ERRORFILE_NONE);
	errorfile_path(dir, 4, path, sizeof(path));
	assert_int_equal(errorfile_read(path, 4, &e), ERRORFILE_NONE);
	assert_int_equal(errorfile_read(dir, 4, &e), ERRORFILE_NONE);
	/* nobody ever writes into it, and nobody waits */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(errorfile_read(path, 4, &e), ERRORFILE_NONE);
	assert_int_equal(unlink(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_line_the_place_and_the_time_are_read),
		cmocka_unit_test(what_is_no_error_file_is_none),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
