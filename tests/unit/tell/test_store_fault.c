#include "testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tell/store/store_fault.h"

static const char *explained(enum store_mode mode, int r)
{
	static struct fault f;
	f = (struct fault){.text = ""};
	assert_int_equal(store_explain("/s/vigil.db", "/s", mode, r, &f), r);
	return f.text;
}

static void each_error_says_what_to_do(void **state)
{
	(void)state;
	static const struct {
		int r;
		const char *part;
	} all[] = {
		{STORE_NONE, "start one with 'vigil run -- COMMAND'"},
		{-EPROTONOSUPPORT, "written by a newer vigil"},
		{-EPROTOTYPE, "written by an older vigil"},
		{-EBADMSG, "sqlite3 /s/vigil.db .recover"},
		{-ENOSPC, "free some space"},
		{-EFBIG, "free some space"},
		{-EDQUOT, "free some space"},
		{-EBUSY, "for more than 5 s"},
		{-EIO, "cannot open the store /s/vigil.db: Input/output error"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (!strstr(explained(STORE_WRITE, all[i].r), all[i].part))
			fail_msg("%d: no '%s' in '%s'", all[i].r, all[i].part, explained(STORE_WRITE, all[i].r));
}

static void a_missing_right_names_the_direction(void **state)
{
	(void)state;
	assert_non_null(strstr(explained(STORE_READ, -EACCES), "may not read /s/vigil.db"));
	assert_non_null(strstr(explained(STORE_WRITE, -EROFS), "may not write /s/vigil.db"));
}

static void the_directory_is_looked_at_first(void **state)
{
	(void)state;
	char dir[] = "/tmp/vigil-store-fault-XXXXXX", file[64];
	struct fault f = {.text = ""};
	assert_non_null(mkdtemp(dir));
	assert_int_equal(store_check_directory(dir, STORE_WRITE, &f), 0);
	assert_int_equal(store_check_directory(dir, STORE_READ, &f), 0);
	snprintf(file, sizeof(file), "%s/file", dir);
	assert_int_equal(store_check_directory(file, STORE_READ, &f), -ENOENT);
	assert_non_null(strstr(f.text, "cannot reach the state directory"));
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	closep(&fd);
	assert_int_equal(store_check_directory(file, STORE_READ, &f), -ENOTDIR);
	assert_non_null(strstr(f.text, "is not a directory"));
	if (geteuid() != 0) {
		assert_int_equal(chmod(dir, 0500), 0);
		assert_int_equal(store_check_directory(dir, STORE_READ, &f), 0);
		assert_int_equal(store_check_directory(dir, STORE_WRITE, &f), -EACCES);
		assert_int_equal(chmod(dir, 0700), 0);
	}
	assert_int_equal(unlink(file), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_error_says_what_to_do),
		cmocka_unit_test(a_missing_right_names_the_direction),
		cmocka_unit_test(the_directory_is_looked_at_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
