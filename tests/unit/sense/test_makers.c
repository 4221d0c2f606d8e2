/* Who makes files in a folder, told by the kernel. */
#include "testing.h"
#include "world_fixture.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "sense/proc/makers.h"

static char dir[40];
static struct makers *k;
static int folder_fd = -1;
static uint64_t folder;
static char bytes[MAKERS_BYTES];
static struct makers_row row[64];
static size_t n_rows, n_bytes;

/* Whatever is not possible here is skipped. */
static void watch_begin(void)
{
	struct world w = live_world();
	int r = makers_open(&w, &k);
	if (r == WORLD_ABSENT || r == WORLD_DENIED)
		skip();
	assert_int_equal(r, 0);
	TEXT_COPY(dir, "/tmp/vigil-makers-XXXXXX");
	assert_non_null(mkdtemp(dir));
	folder_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(makers_folder(folder_fd, &folder), 0);
	r = makers_watch(k, folder_fd);
	if (r == WORLD_ABSENT)
		skip();
	assert_int_equal(r, 0);
	fixture_close(&w);
}

static int watch_end(void **state)
{
	(void)state;
	k = makers_free(k);
	closep(&folder_fd);
	(void)rmdir(dir);
	return 0;
}

static void rows_take(void)
{
	n_rows = 0;
	assert_int_equal(makers_read(k, bytes, &n_bytes), 0);
	for (struct span rest = {bytes, n_bytes}; n_rows < ARRAY_SIZE(row) && makers_next(&rest, &row[n_rows]);)
		n_rows++;
}

/* Whether this process was told to have made, or removed, a file of this name. */
static bool told(pid_t pid, const char *name, bool came, bool is_folder)
{
	for (size_t i = 0; i < n_rows; i++)
		if (row[i].pid == pid && row[i].folder == folder && strcmp(row[i].name, name) == 0 &&
		    (came ? row[i].came : row[i].went) && row[i].is_folder == is_folder && !row[i].lost)
			return true;
	return false;
}

static void file_make(const char *name)
{
	int fd = openat(folder_fd, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static void a_file_is_told_with_who_made_it(void **state)
{
	(void)state;
	watch_begin();
	file_make("mine");
	pid_t child = fork();
	if (child == 0) {
		file_make("its.part");
		_exit(renameat(folder_fd, "its.part", folder_fd, "its") || mkdirat(folder_fd, "below", 0700));
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(unlinkat(folder_fd, "its", 0) | unlinkat(folder_fd, "below", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(folder_fd, "mine", 0), 0);
	rows_take();
	assert_true(told(getpid(), "mine", true, false));
	assert_true(told(child, "its.part", true, false));
	assert_true(told(child, "its.part", false, false));
	assert_true(told(child, "its", true, false));
	assert_true(told(child, "below", true, true));
	assert_true(told(getpid(), "its", false, false));
	assert_true(told(getpid(), "below", false, true));
	rows_take();
	assert_int_equal(n_rows, 0);
}

/* Bytes that are cut, or say wrong lengths, are never read beyond their end. */
static void bytes_that_are_cut_are_left_out(void **state)
{
	(void)state;
	watch_begin();
	file_make("mine");
	assert_int_equal(unlinkat(folder_fd, "mine", 0), 0);
	assert_int_equal(makers_read(k, bytes, &n_bytes), 0);
	assert_true(n_bytes > 40);
	for (size_t len = 0; len < n_bytes; len++) {
		char *cut = malloc(len ? len : 1);
		memcpy(cut, bytes, len);
		size_t n = 0;
		for (struct span rest = {cut, len}; makers_next(&rest, &row[0]);)
			n++;
		assert_true(n <= 1);
		free(cut);
	}
	for (size_t at = 0; at < n_bytes; at++) {
		char *wrong = malloc(n_bytes);
		memcpy(wrong, bytes, n_bytes);
		wrong[at] = (char)0xff;
		for (struct span rest = {wrong, n_bytes}; makers_next(&rest, &row[0]);)
			assert_true(strlen(row[0].name) < MAKERS_NAME);
		free(wrong);
	}
}

static void a_folder_of_the_kernel_is_not_watched(void **state)
{
	(void)state;
	watch_begin();
	cleanup(closep) int fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(makers_watch(k, fd), WORLD_ABSENT);
	struct world recorded = {.recorded = true};
	struct makers *none = NULL;
	assert_int_equal(makers_open(&recorded, &none), WORLD_ABSENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_file_is_told_with_who_made_it, watch_end),
		cmocka_unit_test_teardown(bytes_that_are_cut_are_left_out, watch_end),
		cmocka_unit_test_teardown(a_folder_of_the_kernel_is_not_watched, watch_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
