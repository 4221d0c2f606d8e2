#include "testing.h"

#include <fcntl.h>
#include <ftw.h>
#include <linux/auxvec.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/native/rootfile.h"

/* A folder that stands for /proc: the root of process 7 is made below it. */
static char base[64];
static struct world world;

static void make(const char *path, const char *text)
{
	char full[512];
	TEXT_FORMAT(full, "%s/7/root/%s", base, path);
	if (text)
		assert_int_equal(file_replace(full, text, strlen(text), 0644), 0);
	else
		assert_int_equal(file_mkdirs(full, 0755), 0);
}

static void link_to(const char *target, const char *path)
{
	char full[512];
	TEXT_FORMAT(full, "%s/7/root/%s", base, path);
	assert_int_equal(symlink(target, full), 0);
}

static int set_up(void **state)
{
	(void)state;
	TEXT_COPY(base, "/tmp/rootfile-XXXXXX");
	assert_non_null(mkdtemp(base));
	world = (struct world){.proc_fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	assert_true(world.proc_fd >= 0);
	make("etc", NULL);
	char status[128];
	TEXT_FORMAT(status, "%s/7/status", base);
	const char *ids = "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n";
	assert_int_equal(file_replace(status, ids, strlen(ids), 0644), 0);
	char auxv[128];
	TEXT_FORMAT(auxv, "%s/7/auxv", base);
	const uint64_t started[] = {AT_UID, 0, AT_GID, 0, AT_SECURE, 0, AT_NULL, 0};
	assert_int_equal(file_replace(auxv, started, sizeof(started), 0644), 0);
	char outside[128];
	TEXT_FORMAT(outside, "%s/secret", base);
	assert_int_equal(file_replace(outside, "outside", 7, 0644), 0);
	return 0;
}

static int entry_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	closep(&world.proc_fd);
	return nftw(base, entry_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static int open_and_read(const char *path, unsigned flags, char *text, size_t cap)
{
	cleanup(closep) int fd = -1;
	size_t len = 0;
	int r = rootfile_open(&world, 7, path, flags, &fd);
	return r ? r : file_read_fd(fd, text, cap, &len);
}

static void a_file_is_found_below_the_root_of_its_process(void **state)
{
	(void)state;
	char text[32];
	make("etc/file", "inside");
	assert_int_equal(open_and_read("/etc/file", 0, text, sizeof(text)), 0);
	assert_string_equal(text, "inside");
	assert_int_equal(open_and_read("/../../etc/file", 0, text, sizeof(text)), 0); /* nothing is above the root */
	assert_int_equal(open_and_read("/etc/none", 0, text, sizeof(text)), WORLD_ABSENT);
	assert_int_equal(open_and_read("etc/file", 0, text, sizeof(text)), WORLD_ABSENT); /* not absolute */
}

static void links_are_followed_inside_and_only_when_asked_for(void **state)
{
	(void)state;
	char text[32];
	make("etc/file", "inside");
	link_to("/etc/file", "absolute");
	assert_int_equal(open_and_read("/absolute", 0, text, sizeof(text)), WORLD_ABSENT);
	assert_int_equal(open_and_read("/absolute", ROOTFILE_LINKS, text, sizeof(text)), 0);
	assert_string_equal(text, "inside");
	link_to("../../../../../../secret", "escape");
	link_to("../../secret", "near");
	assert_int_equal(open_and_read("/escape", ROOTFILE_LINKS, text, sizeof(text)), WORLD_ABSENT);
	assert_int_equal(open_and_read("/near", ROOTFILE_LINKS, text, sizeof(text)), WORLD_ABSENT);
}

static void only_regular_files_are_opened(void **state)
{
	(void)state;
	char text[32], fifo[128];
	TEXT_FORMAT(fifo, "%s/7/root/fifo", base);
	assert_int_equal(mkfifo(fifo, 0644), 0);
	assert_int_equal(open_and_read("/fifo", 0, text, sizeof(text)), WORLD_ABSENT); /* and does not wait */
	assert_int_equal(open_and_read("/etc", 0, text, sizeof(text)), WORLD_ABSENT);
	link_to("/fifo", "to-fifo");
	assert_int_equal(open_and_read("/to-fifo", ROOTFILE_LINKS, text, sizeof(text)), WORLD_ABSENT);
}

static void a_process_that_is_gone_has_no_files(void **state)
{
	(void)state;
	int fd = -1;
	assert_int_equal(rootfile_open(&world, 8, "/etc/file", 0, &fd), WORLD_GONE);
	assert_int_equal(fd, -1);
	assert_true(rootfile_differs(&world, 7));
	assert_false(rootfile_differs(&world, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_is_found_below_the_root_of_its_process, set_up, tear_down),
		cmocka_unit_test_setup_teardown(links_are_followed_inside_and_only_when_asked_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_regular_files_are_opened, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_process_that_is_gone_has_no_files, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
