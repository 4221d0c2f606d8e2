#include "testing.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/foreign.h"

/* A number that nobody has. */
#define SOMEBODY 60717

static const struct foreign_user somebody = {.uid = SOMEBODY, .gid = SOMEBODY, .n_groups = 1, .group = {SOMEBODY}};
static char base[64];
static int base_fd;

static int base_make(void **state)
{
	(void)state;
	TEXT_FORMAT(base, "/tmp/vigil-foreign-XXXXXX");
	if (!mkdtemp(base) || chmod(base, 0755) < 0)
		return -1;
	base_fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return base_fd < 0 ? -1 : 0;
}

static int base_remove(void **state)
{
	(void)state;
	static const char *const made[] = {"file", "fifo", "link", "closed/file", "own/made/file", "own/link"};
	static const char *const folders[] = {"own/made", "own/deep/er", "own/deep", "own", "closed", "victim"};
	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		(void)unlinkat(base_fd, made[i], 0);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		(void)unlinkat(base_fd, folders[i], AT_REMOVEDIR);
	closep(&base_fd);
	return rmdir(base);
}

static void put(const char *name, mode_t mode)
{
	cleanup(closep) int fd = openat(base_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && write(fd, "text", 4) == 4 && fchmod(fd, mode) == 0);
}

static int tried(const struct foreign_user *as, unsigned flags, const char *path)
{
	const struct foreign_place at = {.dirfd = base_fd, .as = as, .flags = flags};
	cleanup(closep) int fd = -1;
	return foreign_open(&at, path, &fd);
}

static void only_regular_files_are_opened(void **state)
{
	(void)state;
	put("file", 0600);
	assert_int_equal(mkfifoat(base_fd, "fifo", 0600), 0);
	assert_int_equal(symlinkat("file", base_fd, "link"), 0);
	assert_int_equal(tried(NULL, 0, "file"), 0);
	assert_int_equal(tried(NULL, 0, "fifo"), FOREIGN_OTHER); /* and does not wait */
	assert_int_equal(tried(NULL, 0, "/dev/null"), FOREIGN_OTHER);
	assert_int_equal(tried(NULL, 0, "."), FOREIGN_OTHER);
	assert_int_equal(tried(NULL, 0, "none"), -ENOENT);
	assert_int_equal(tried(NULL, 0, "link"), -ELOOP);
	assert_int_equal(tried(NULL, FOREIGN_LINKS, "link"), 0);
	assert_int_equal(tried(NULL, 0, "/proc/self/maps"), FOREIGN_OTHER);
	char magic[64];
	TEXT_FORMAT(magic, "/proc/self/fd/%d/file", base_fd);
	assert_true(tried(NULL, FOREIGN_LINKS, magic) < 0);
}

static void paths_stay_below_a_root(void **state)
{
	(void)state;
	put("file", 0600);
	assert_int_equal(symlinkat("/etc/passwd", base_fd, "link"), 0);
	assert_int_equal(tried(NULL, FOREIGN_IN_ROOT, "/file"), 0);
	assert_int_equal(tried(NULL, FOREIGN_IN_ROOT, "/../../file"), 0);
	assert_int_equal(tried(NULL, FOREIGN_IN_ROOT | FOREIGN_LINKS, "/link"), -ENOENT);
	assert_int_equal(tried(NULL, FOREIGN_LINKS, "link"), 0);
}

static void nothing_is_read_that_the_user_may_not_read(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	put("file", 0600);
	assert_int_equal(mkdirat(base_fd, "closed", 0700), 0);
	put("closed/file", 0644);
	assert_int_equal(tried(&somebody, 0, "file"), -EACCES);
	assert_int_equal(tried(&somebody, 0, "closed/file"), -EACCES);
	assert_int_equal(tried(NULL, 0, "closed/file"), 0);
	put("file", 0644);
	assert_int_equal(tried(&somebody, 0, "file"), 0);
	put("file", 0600);
	assert_int_equal(fchownat(base_fd, "file", SOMEBODY, 0, 0), 0);
	assert_int_equal(tried(&somebody, 0, "file"), 0);
}

static void what_is_made_belongs_to_the_user(void **state)
{
	(void)state;
	struct stat st;
	cleanup(closep) int folder = -1, fd = -1;
	if (geteuid() != 0)
		skip();
	assert_int_equal(mkdirat(base_fd, "own", 0755), 0);
	assert_int_equal(mkdirat(base_fd, "victim", 0755), 0);
	assert_int_equal(fchownat(base_fd, "own", SOMEBODY, SOMEBODY, 0), 0);
	assert_int_equal(symlinkat("../victim", base_fd, "own/link"), 0);
	const struct foreign_place at = {.dirfd = base_fd, .as = &somebody};
	const struct foreign_place above = {.dirfd = base_fd, .as = &somebody, .flags = FOREIGN_ABOVE};
	assert_int_equal(foreign_mkdir(&at, "own/made", 0700, &folder), 0);
	assert_int_equal(fstat(folder, &st), 0);
	assert_int_equal(st.st_uid, SOMEBODY);
	const struct foreign_place in = {.dirfd = folder, .as = &somebody};
	assert_int_equal(foreign_create(&in, "file", 0600, &fd), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_uid, SOMEBODY);
	closep(&fd);
	assert_int_equal(foreign_create(&in, "file", 0600, &fd), -EEXIST);
	assert_int_equal(foreign_create(&in, "../file", 0600, &fd), -EINVAL);
	assert_int_equal(foreign_replace(&in, "file", "new", 3, 0600), 0);
	assert_int_equal(foreign_unlink(&in, "file", 0), 0);
	closep(&folder);
	assert_int_equal(foreign_mkdir(&at, "own/deep/er", 0700, &folder), -ENOENT);
	assert_int_equal(foreign_mkdir(&above, "own/deep/er", 0700, &folder), 0);
	closep(&folder);
	assert_true(foreign_mkdir(&at, "own/link", 0700, &folder) != 0); /* a link, and not the user's */
	assert_int_equal(foreign_mkdir(&at, "victim", 0700, &folder), FOREIGN_OTHER);
	assert_int_equal(foreign_mkdir(&at, "victim/new", 0700, &folder), -EACCES);
	assert_int_equal(foreign_unlink(&at, "victim", AT_REMOVEDIR), -EACCES);
}

static void afterwards_vigil_is_what_it_was(void **state)
{
	(void)state;
	int sig = 0;
	if (geteuid() != 0)
		skip();
	put("file", 0644);
	assert_int_equal(prctl(PR_SET_PDEATHSIG, (unsigned long)SIGUSR1), 0);
	int dumpable = prctl(PR_GET_DUMPABLE);
	assert_int_equal(tried(&somebody, 0, "file"), 0);
	assert_int_equal(setfsuid((uid_t)-1), 0);
	assert_int_equal(setfsgid((gid_t)-1), getegid());
	assert_int_equal(prctl(PR_GET_DUMPABLE), dumpable);
	assert_int_equal(prctl(PR_GET_PDEATHSIG, &sig), 0);
	assert_int_equal(sig, SIGUSR1);
	assert_int_equal(prctl(PR_SET_PDEATHSIG, 0UL), 0);
	put("file", 0600);
	assert_int_equal(tried(NULL, 0, "file"), 0);
}

#define IN_BASE(test) cmocka_unit_test_setup_teardown(test, base_make, base_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_BASE(only_regular_files_are_opened),
		IN_BASE(paths_stay_below_a_root),
		IN_BASE(nothing_is_read_that_the_user_may_not_read),
		IN_BASE(what_is_made_belongs_to_the_user),
		IN_BASE(afterwards_vigil_is_what_it_was),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
