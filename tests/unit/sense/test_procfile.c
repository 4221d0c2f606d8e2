#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "testing.h"

#include "base/buf.h"
#include "sense/proc/procfile.h"

static struct foreign_user user_of(const char *status)
{
	struct foreign_user u = {.uid = 99};
	assert_int_equal(procfile_user_parse(span_of(status), &u), 0);
	return u;
}

static void the_user_is_the_one_who_started_it(void **state)
{
	(void)state;
	struct foreign_user u = user_of("Name:\tx\nUid:\t7\t7\t7\t7\nGid:\t8\t8\t8\t8\nGroups:\t8 9 10 \n");
	assert_true(u.uid == 7 && u.gid == 8 && u.n_groups == 3 && u.group[2] == 10);
	u = user_of("Uid:\t7\t0\t0\t0\nGid:\t8\t0\t0\t0\nGroups:\t\n"); /* set-user-ID of root */
	assert_true(u.uid == 7 && u.gid == 8 && u.n_groups == 0);
	u = user_of("Uid:\t0\t7\t0\t7\nGid:\t0\t8\t0\t8\n"); /* root that gave rights up for a while */
	assert_true(u.uid == 7 && u.gid == 8);
	u = user_of("Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t5\n");
	assert_true(u.uid == 0 && u.gid == 5);
}

static void what_is_cut_names_nobody(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "Uid:\t7\t7\t7\nGid:\t8\t8\t8\t8\n",
					  "Uid:\t7\t7\t7\tx\nGid:\t8\t8\t8\t8\n", "Uid:\t7\t7\t7\t7\n",
					  "Uid:\t7\t7\t7\t4294967296\nGid:\t8\t8\t8\t8\n"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct foreign_user u;
		assert_int_equal(procfile_user_parse(span_of(bad[i]), &u), -EBADMSG);
	}
}

static void only_a_descriptor_for_writing_writes(void **state)
{
	(void)state;
	assert_true(procfile_writes_parse("pos:\t0\nflags:\t0100001\nmnt_id:\t29\n"));
	assert_true(procfile_writes_parse("pos:\t0\nflags:\t0102002\n"));
	assert_false(procfile_writes_parse("pos:\t0\nflags:\t0100000\n"));
	assert_false(procfile_writes_parse("pos:\t0\nflags:\t010000001\n")); /* O_PATH, whatever else is set */
	assert_false(procfile_writes_parse("pos:\t0\n"));
	assert_false(procfile_writes_parse(""));
}

/* Its folder is on a mount that only it has, and a name in it is a link to the whole path of another. */
static _Noreturn void far_away(const char *folder, int ready)
{
	char path[128];
	bool good = unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		    mount("none", folder, "tmpfs", 0, NULL) == 0 && chdir(folder) == 0;
	TEXT_FORMAT(path, "%s/real", folder);
	int fd = good ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644) : -1;
	good = fd >= 0 && write(fd, "x", 1) == 1 && symlink(path, "named") == 0;
	ignore(write(ready, good ? "y" : "n", 1), "the other end then reads nothing");
	for (;;)
		pause();
}

static void an_absolute_link_in_its_folder_leads_where_it_leads_the_process(void **state)
{
	(void)state;
	struct world w = {.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	char folder[] = "/tmp/vigil-test-XXXXXX", answer = 'n';
	int ready[2], fd = -1, r = 0;
	if (geteuid() != 0)
		skip(); /* a mount of one's own takes root */
	assert_true(w.proc_fd >= 0);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0)
		far_away(folder, ready[1]);
	bool answered = read(ready[0], &answer, 1) == 1;
	if (answered && answer == 'y')
		r = procfile_open(&w, pid, "named", FOREIGN_LINKS, &fd);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	(void)rmdir(folder);
	(void)close(ready[0]);
	(void)close(ready[1]);
	(void)close(w.proc_fd);
	if (answer != 'y')
		skip(); /* this container may not mount */
	assert_int_equal(r, 0);
	assert_int_equal(close(fd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_user_is_the_one_who_started_it),
		cmocka_unit_test(what_is_cut_names_nobody),
		cmocka_unit_test(only_a_descriptor_for_writing_writes),
		cmocka_unit_test(an_absolute_link_in_its_folder_leads_where_it_leads_the_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
