#include "testing.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "sense/death/corefile.h"

static const struct corefile_facts train = {.pid = 4711,
					    .ns_pid = 17,
					    .uid = 1000,
					    .gid = 100,
					    .signal = 11,
					    .start_unix_ms = 1000,
					    .end_unix_ms = 1700000000000,
					    .comm = "python3",
					    .exe = "/usr/bin/python3.11",
					    .host = "node7",
					    .cwd = "/data/run"};

static void expect(const char *pattern, const char *expected)
{
	char path[256];
	assert_int_equal(corefile_expand(pattern, &train, 1700000000, path, sizeof(path)), 0);
	assert_string_equal(path, expected);
}

static void patterns_are_filled_in(void **state)
{
	(void)state;
	expect("/cores/core.%e.%p.%P", "/cores/core.python3.17.4711");
	expect("core", "/data/run/core");
	expect("%h-%u-%g-%s-%t-%%", "/data/run/node7-1000-100-11-1700000000-%");
	expect("/c/%E.%f", "/c/!usr!bin!python3.11.python3.11");
	expect("/c/core%", "/c/core");
}

static void pid_is_appended_where_the_kernel_does_so(void **state)
{
	(void)state;
	char path[64];
	struct corefile_facts f = train;
	f.uses_pid = true;
	assert_int_equal(corefile_expand("/c/core", &f, 0, path, sizeof(path)), 0);
	assert_string_equal(path, "/c/core.17");
	assert_int_equal(corefile_expand("/c/core.%p", &f, 0, path, sizeof(path)), 0);
	assert_string_equal(path, "/c/core.17");
}

static void what_cannot_be_told_is_not_guessed(void **state)
{
	(void)state;
	char path[64];
	struct corefile_facts f = train;
	assert_int_equal(corefile_expand("|/usr/lib/systemd/systemd-coredump %P", &f, 0, path, sizeof(path)),
			 COREFILE_PIPED);
	assert_int_equal(corefile_expand("/c/%i", &f, 0, path, sizeof(path)), COREFILE_PIPED);
	assert_int_equal(corefile_expand("", &f, 0, path, sizeof(path)), COREFILE_PIPED);
	f.cwd = NULL;
	assert_int_equal(corefile_expand("core", &f, 0, path, sizeof(path)), COREFILE_PIPED);
	f.comm = "../../etc/passwd";
	assert_int_equal(corefile_expand("/c/%e", &f, 0, path, sizeof(path)), 0);
	assert_string_equal(path, "/c/..!..!etc!passwd");
	char small[8];
	assert_int_equal(corefile_expand("/cores/core.%p", &f, 0, small, sizeof(small)), -ENAMETOOLONG);
}

static void touch(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static void the_file_is_found_at_the_second_it_was_begun(void **state)
{
	(void)state;
	char folder[] = "/tmp/corefile.XXXXXX", path[256], pattern[256], found[256];
	assert_non_null(mkdtemp(folder));
	struct corefile_facts f = train;
	f.end_unix_ms = clock_unix_ms();
	f.start_unix_ms = f.end_unix_ms - 60000;
	TEXT_FORMAT(pattern, "%s/core.%%t", folder);
	assert_int_equal(corefile_find(pattern, &f, found, sizeof(found)), COREFILE_NONE);
	TEXT_FORMAT(path, "%s/core.%lld", folder, (long long)(f.end_unix_ms / 1000 - 20));
	touch(path);
	assert_int_equal(corefile_find(pattern, &f, found, sizeof(found)), 0);
	assert_string_equal(found, path);
	if (geteuid() == 0) {
		/* another user's file at a later second is not taken for it */
		char others[256];
		f.uid = 60718;
		TEXT_FORMAT(others, "%s/core.%lld", folder, (long long)(f.end_unix_ms / 1000 - 10));
		touch(others);
		assert_int_equal(chown(others, 60717, 60717), 0);
		assert_int_equal(chown(path, 60718, 60718), 0);
		assert_int_equal(corefile_find(pattern, &f, found, sizeof(found)), 0);
		assert_string_equal(found, path);
		(void)unlink(others);
	}
	/* what lay there before the process began is not its core */
	f.start_unix_ms = f.end_unix_ms + 3600000;
	assert_int_equal(corefile_find(pattern, &f, found, sizeof(found)), COREFILE_NONE);
	(void)unlink(path);
	(void)rmdir(folder);
}

static void what_systemd_kept_is_found_by_pid(void **state)
{
	(void)state;
	char folder[] = "/tmp/corefile.XXXXXX", path[256], other[256], found[256];
	assert_non_null(mkdtemp(folder));
	struct corefile_facts f = train;
	f.end_unix_ms = clock_unix_ms();
	f.start_unix_ms = f.end_unix_ms - 60000;
	TEXT_FORMAT(other, "%s/core.python3.4711.0123456789abcdef0123456789abcdef.99.1700000000000000", folder);
	TEXT_FORMAT(path, "%s/core.python3.1000.0123456789abcdef0123456789abcdef.4711.1700000000000000.zst", folder);
	touch(other);
	assert_int_equal(corefile_find_kept(folder, &f, found, sizeof(found)), COREFILE_NONE);
	touch(path);
	assert_int_equal(corefile_find_kept(folder, &f, found, sizeof(found)), 0);
	assert_string_equal(found, path);
	(void)unlink(path);
	(void)unlink(other);
	(void)rmdir(folder);
	assert_int_equal(corefile_find_kept(folder, &f, found, sizeof(found)), COREFILE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_are_filled_in),
		cmocka_unit_test(pid_is_appended_where_the_kernel_does_so),
		cmocka_unit_test(what_cannot_be_told_is_not_guessed),
		cmocka_unit_test(the_file_is_found_at_the_second_it_was_begun),
		cmocka_unit_test(what_systemd_kept_is_found_by_pid),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
