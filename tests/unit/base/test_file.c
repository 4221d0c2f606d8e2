#include "agent/scratch_fixture.h"
#include "base/foreign.h"

static int folder(void)
{
	int fd = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void a_small_file_is_read_whole_and_terminated(void **state)
{
	(void)state;
	char text[8];
	size_t len = 99;
	const char *path = scratch_put("a", "seven77", 7, 0600);
	assert_int_equal(file_read_at(AT_FDCWD, path, text, sizeof(text), &len), 0);
	assert_int_equal(len, 7);
	assert_string_equal(text, "seven77");
	assert_int_equal(file_read_at(AT_FDCWD, scratch_put("a", "eight888", 8, 0600), text, sizeof(text), &len), 0);
	assert_int_equal(len, 7); /* cut, with room for the NUL */
	assert_string_equal(text, "eight88");
	assert_int_equal(file_read_at(AT_FDCWD, scratch_put("a", "", 0, 0600), text, sizeof(text), &len), 0);
	assert_int_equal(len, 0);
	assert_string_equal(text, "");
}

static void a_missing_file_is_an_error_and_the_length_stays(void **state)
{
	(void)state;
	char text[8], *slurped = text;
	size_t len = 99;
	assert_int_equal(file_read_at(AT_FDCWD, scratch_path("none"), text, sizeof(text), &len), -ENOENT);
	assert_int_equal(file_slurp(AT_FDCWD, scratch_path("none"), 10, &slurped, &len), -ENOENT);
	assert_int_equal(file_write_at(AT_FDCWD, scratch_path("none"), "x"), -ENOENT);
	assert_int_equal(len, 99);
	assert_ptr_equal(slurped, text);
	assert_false(scratch_has("none")); /* a write of a value makes no file */
}

static void an_open_file_is_read_from_its_start_each_time(void **state)
{
	(void)state;
	char text[16];
	size_t len;
	cleanup(closep) int fd = open(scratch_put("a", "0123456789", 10, 0600), O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(file_read_fd(fd, text, sizeof(text), &len), 0);
		assert_string_equal(text, "0123456789");
		assert_int_equal(file_read_once(fd, text, sizeof(text), &len), 0);
		assert_string_equal(text, "0123456789");
	}
	assert_int_equal(file_read_fd(-1, text, sizeof(text), &len), -EBADF);
}

static void a_part_of_a_file_ends_with_the_file(void **state)
{
	(void)state;
	char bytes[4] = "????";
	size_t len;
	cleanup(closep) int fd = open(scratch_put("a", "0123456789", 10, 0600), O_RDONLY | O_CLOEXEC);
	assert_int_equal(file_read_from(fd, 3, bytes, sizeof(bytes), &len), 0);
	assert_true(len == 4 && memcmp(bytes, "3456", 4) == 0);
	assert_int_equal(file_read_from(fd, 8, bytes, sizeof(bytes), &len), 0);
	assert_true(len == 2 && memcmp(bytes, "89", 2) == 0);
	assert_int_equal(file_read_from(fd, 11, bytes, sizeof(bytes), &len), 0);
	assert_int_equal(len, 0);
}

static void a_file_over_the_limit_is_refused(void **state)
{
	(void)state;
	static char block[40000]; /* more than the first block of the reader */
	char *text = NULL;
	size_t len = 0;
	memset(block, 'x', sizeof(block));
	const char *path = scratch_put("big", block, sizeof(block), 0600);
	assert_int_equal(file_slurp(AT_FDCWD, path, sizeof(block) - 1, &text, &len), -EFBIG);
	assert_null(text);
	assert_int_equal(file_slurp(AT_FDCWD, path, sizeof(block), &text, &len), 0);
	assert_int_equal(len, sizeof(block));
	assert_int_equal(strlen(text), sizeof(block));
	free(text);
}

static void a_replaced_file_has_the_new_bytes_and_mode_and_nothing_beside(void **state)
{
	(void)state;
	struct stat st;
	char text[16];
	size_t len, n = 0;
	scratch_put("a", "old and longer", 14, 0600);
	mode_t before = umask(0);
	const char *path = scratch_put("a", "new", 3, 0640);
	(void)umask(before);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(file_read_at(AT_FDCWD, path, text, sizeof(text), &len), 0);
	assert_string_equal(text, "new");
	cleanup(closedirp) DIR *d = opendir(scratch);
	for (const struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	assert_int_equal(n, 1);
}

static void a_file_is_not_replaced_where_a_folder_has_its_name(void **state)
{
	(void)state;
	assert_int_equal(mkdir(scratch_path("dir"), 0700), 0);
	assert_int_equal(file_replace(scratch_path("dir"), "x", 1, 0600), -EISDIR);
	size_t n = 0;
	cleanup(closedirp) DIR *d = opendir(scratch);
	for (const struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	assert_int_equal(n, 1); /* the temporary file is removed */
}

static void folders_are_made_down_to_the_last(void **state)
{
	(void)state;
	struct stat st;
	assert_int_equal(file_mkdirs(scratch_path("a/b/c"), 0700), 0);
	assert_int_equal(stat(scratch_path("a/b/c"), &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(file_mkdirs(scratch_path("a/b/c"), 0700), 0);
	assert_int_equal(file_mkdirs("", 0700), -ENOENT);
	scratch_put("file", "", 0, 0600);
	assert_int_equal(file_mkdirs(scratch_path("file"), 0700), -ENOTDIR);
	assert_int_equal(file_mkdirs(scratch_path("file/below"), 0700), -ENOTDIR);
	char longest[PATH_MAX + 2];
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(file_mkdirs(longest, 0700), -ENAMETOOLONG);
}

static int copied(int dir, const char *from, int to_dir, const char *to)
{
	const struct foreign_place at = {.dirfd = dir};
	return foreign_copy(&at, from, to_dir, to);
}

static void a_copy_keeps_bytes_and_holes(void **state)
{
	(void)state;
	const off_t far = 8 * (off_t)MIB;
	cleanup(closep) int dir = folder();
	cleanup(closep) int fd = open(scratch_path("from"), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(pwrite(fd, "begin", 5, 0), 5);
	assert_int_equal(pwrite(fd, "middle", 6, far), 6);
	assert_int_equal(ftruncate(fd, 2 * far), 0);
	scratch_put("to", "what was there", 14, 0644);
	assert_int_equal(copied(dir, "from", dir, "to"), 0);
	struct stat from, to;
	assert_true(fstat(fd, &from) == 0 && fstatat(dir, "to", &to, 0) == 0);
	assert_int_equal(to.st_size, 2 * far);
	assert_int_equal(to.st_mode & 07777, 0600);
	if (from.st_blocks * 512 < far) /* the file system has holes */
		assert_true(to.st_blocks * 512 < far);
	char bytes[8] = "";
	size_t len;
	cleanup(closep) int copy = openat(dir, "to", O_RDONLY | O_CLOEXEC);
	assert_int_equal(file_read_from(copy, 0, bytes, 6, &len), 0);
	assert_memory_equal(bytes, "begin\0", 6);
	assert_int_equal(file_read_from(copy, (uint64_t)far, bytes, 7, &len), 0);
	assert_memory_equal(bytes, "middle\0", 7);
	assert_false(scratch_has("to.new"));
}

static void an_empty_file_is_copied(void **state)
{
	(void)state;
	struct stat to;
	cleanup(closep) int dir = folder();
	scratch_put("from", "", 0, 0600);
	assert_int_equal(copied(dir, "from", dir, "to"), 0);
	assert_int_equal(fstatat(dir, "to", &to, 0), 0);
	assert_int_equal(to.st_size, 0);
}

static void a_copy_that_fails_leaves_no_new_file(void **state)
{
	(void)state;
	char text[8];
	size_t len;
	cleanup(closep) int dir = folder();
	scratch_put("to", "old", 3, 0600);
	assert_int_equal(copied(dir, "none", dir, "to"), -ENOENT);
	assert_int_equal(symlink("to", scratch_path("link")), 0);
	assert_int_equal(copied(dir, "link", dir, "to"), -ELOOP);
	assert_int_equal(file_read_at(dir, "to", text, sizeof(text), &len), 0);
	assert_string_equal(text, "old");
	assert_false(scratch_has("to.new"));
	assert_int_equal(mkdir(scratch_path("dir"), 0700), 0);
	assert_int_equal(copied(dir, "to", dir, "dir"), -EISDIR);
	assert_false(scratch_has("dir.new"));
	assert_true(copied(dir, "dir", dir, "to") < 0); /* a folder has no bytes */
	assert_false(scratch_has("to.new"));
}

static void a_folder_takes_its_descriptor(void **state)
{
	(void)state;
	scratch_put("a", "", 0, 0600);
	int fd = folder();
	cleanup(closedirp) DIR *d = file_folder(fd);
	assert_non_null(d);
	assert_int_equal(dirfd(d), fd);
	size_t n = 0;
	for (const struct dirent *e; (e = readdir(d));)
		n += strcmp(e->d_name, "a") == 0;
	assert_int_equal(n, 1);
}

static void a_descriptor_of_no_folder_is_closed_and_the_error_stays(void **state)
{
	(void)state;
	int fd = open(scratch_put("a", "", 0, 0600), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_null(file_folder(fd));
	assert_int_equal(errno, ENOTDIR);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	errno = EACCES;
	assert_null(file_folder(-1));
	assert_int_equal(errno, EACCES);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(a_small_file_is_read_whole_and_terminated),
		IN_FOLDER(a_missing_file_is_an_error_and_the_length_stays),
		IN_FOLDER(an_open_file_is_read_from_its_start_each_time),
		IN_FOLDER(a_part_of_a_file_ends_with_the_file),
		IN_FOLDER(a_file_over_the_limit_is_refused),
		IN_FOLDER(a_replaced_file_has_the_new_bytes_and_mode_and_nothing_beside),
		IN_FOLDER(a_file_is_not_replaced_where_a_folder_has_its_name),
		IN_FOLDER(folders_are_made_down_to_the_last),
		IN_FOLDER(a_copy_keeps_bytes_and_holes),
		IN_FOLDER(an_empty_file_is_copied),
		IN_FOLDER(a_copy_that_fails_leaves_no_new_file),
		IN_FOLDER(a_folder_takes_its_descriptor),
		IN_FOLDER(a_descriptor_of_no_folder_is_closed_and_the_error_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
