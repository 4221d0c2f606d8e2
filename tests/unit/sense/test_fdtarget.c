#include "agent/made_world.h"

#include "sense/net/fdtarget.h"

static struct made_world m;

static int begin(void **state)
{
	(void)state;
	made_begin(&m);
	return 0;
}

static int end(void **state)
{
	(void)state;
	made_end(&m);
	return 0;
}

static void process(pid_t pid, pid_t ppid, const char *comm)
{
	char path[64];
	made_process(&m, &(struct made_process){.pid = pid, .ppid = ppid, .comm = comm});
	TEXT_FORMAT(path, "proc/%d/fd", (int)pid);
	made_folder(&m, path);
	TEXT_FORMAT(path, "proc/%d/fdinfo", (int)pid);
	made_folder(&m, path);
}

static void descriptor(pid_t pid, int fd, const char *link, const char *info)
{
	char path[400];
	TEXT_FORMAT(path, "%s/proc/%d/fd/%d", m.dir, (int)pid, fd);
	assert_int_equal(symlink(link, path), 0);
	TEXT_FORMAT(path, "proc/%d/fdinfo/%d", (int)pid, fd);
	made_write(&m, path, info, strlen(info));
}

#define READS "pos:\t0\nflags:\t00\nmnt_id:\t14\n"
#define WRITES "pos:\t0\nflags:\t0100001\nmnt_id:\t14\n"
#define BOTH "pos:\t0\nflags:\t02\nmnt_id:\t14\n"

static void is_target(pid_t pid, int fd, const char *want)
{
	char text[200];
	struct fd_link link;
	assert_int_equal(fdtarget_read(&m.w, pid, fd, FDTARGET_PIPE_BUDGET_NS, &link, text, sizeof(text)), 0);
	assert_string_equal(text, want);
}

static void a_pipe_names_the_process_with_the_other_end(void **state)
{
	(void)state;
	process(10, 1, "sh");
	process(20, 10, "train");
	process(30, 10, "loader");
	descriptor(20, 0, "pipe:[5]", READS);
	descriptor(30, 1, "pipe:[5]", WRITES);
	descriptor(30, 2, "pipe:[6]", WRITES);
	descriptor(10, 3, "pipe:[5]", READS); /* the parent has the same end: no help */
	is_target(20, 0, "pipe, other end: pid 30 (loader)");
	is_target(30, 1, "pipe, other end: pid 10 (sh)"); /* the parent is asked first */
	is_target(30, 2, "pipe");                       /* no process reads it */
}

static void a_pipe_of_ones_own_and_a_named_one_have_both_ends(void **state)
{
	(void)state;
	process(20, 1, "train");
	descriptor(20, 3, "pipe:[5]", READS);
	descriptor(20, 4, "pipe:[5]", WRITES);
	is_target(20, 3, "pipe, other end: only this process itself");
	process(30, 1, "other");
	descriptor(30, 9, "pipe:[5]", BOTH);
	is_target(20, 3, "pipe, other end: pid 30 (other)");
}

static void a_pipe_is_not_searched_without_time(void **state)
{
	(void)state;
	char text[64];
	struct fd_link link;
	process(20, 1, "train");
	process(30, 1, "loader");
	descriptor(20, 0, "pipe:[5]", READS);
	descriptor(30, 1, "pipe:[5]", WRITES);
	assert_int_equal(fdtarget_read(&m.w, 20, 0, 0, &link, text, sizeof(text)), 0);
	assert_string_equal(text, "pipe");
	assert_true(link.kind == FD_PIPE && link.inode == 5);
}

static void a_file_names_its_server(void **state)
{
	(void)state;
	static const char mounts[] = "13 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
				     "14 13 0:40 / /data rw,noatime shared:7 - nfs4 server:/export rw,vers=4.2\n";
	process(20, 1, "train");
	made_write(&m, "proc/20/mountinfo", mounts, sizeof(mounts) - 1);
	descriptor(20, 3, "/data/a b", "pos:\t0\nflags:\t00\nmnt_id:\t14\n");
	descriptor(20, 4, "/home/x (deleted)", "pos:\t0\nflags:\t00\nmnt_id:\t13\n");
	descriptor(20, 5, "/gone/y", "pos:\t0\nflags:\t00\nmnt_id:\t99\n");
	is_target(20, 3, "/data/a b on nfs4 server:/export");
	is_target(20, 4, "/home/x (deleted)");
	is_target(20, 5, "/gone/y");
}

static void other_descriptors_have_short_names(void **state)
{
	(void)state;
	static const struct {
		const char *link, *want;
		enum fd_kind kind;
	} cases[] = {
		{"anon_inode:[eventpoll]", "epoll", FD_EPOLL},
		{"anon_inode:[timerfd]", "timerfd", FD_TIMER},
		{"anon_inode:[signalfd]", "signalfd", FD_SIGNAL},
		{"anon_inode:inotify", "inotify", FD_INOTIFY},
		{"anon_inode:[userfaultfd]", "userfaultfd", FD_USERFAULT},
		{"anon_inode:[pidfd]", "pidfd", FD_PIDFD},
		{"pidfd:[4242]", "pidfd", FD_PIDFD}, /* Linux 6.9 */
		{"/dev/accel/accel0", "/dev/accel/accel0", FD_GPU},
		{"/dev/console", "/dev/console", FD_TTY},
		{"anon_inode:[io_uring]", "anon_inode:[io_uring]", FD_OTHER},
		{"socket:[9]", "socket", FD_SOCKET},
	};
	process(20, 1, "train");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fd_link link;
		char text[64];
		descriptor(20, (int)i, cases[i].link, BOTH);
		assert_int_equal(fdtarget_read(&m.w, 20, (int)i, 0, &link, text, sizeof(text)), 0);
		assert_string_equal(text, cases[i].want);
		assert_int_equal(link.kind, cases[i].kind);
	}
}

static void a_listening_socket_is_marked(void **state)
{
	(void)state;
	static const char tcp[] = "   0: 0100007F:1F90 00000000:0000 0A 0:0 0:0 0 1000 0 41 1\n";
	char text[64];
	struct fd_link link;
	process(20, 1, "serve");
	made_folder(&m, "proc/20/net");
	made_write(&m, "proc/20/net/tcp", tcp, sizeof(tcp) - 1);
	descriptor(20, 3, "socket:[41]", BOTH);
	assert_int_equal(fdtarget_read(&m.w, 20, 3, 0, &link, text, sizeof(text)), 0);
	assert_string_equal(text, "socket tcp 127.0.0.1:8080 (listening)");
	assert_true(link.listens && link.inode == 41);
}

static void a_process_without_sockets_is_known_as_such(void **state)
{
	(void)state;
	process(20, 1, "train");
	assert_false(fd_any_socket(&m.w, 20));
	descriptor(20, 3, "/data/a", READS);
	assert_false(fd_any_socket(&m.w, 20));
	descriptor(20, 4, "socket:[1]", BOTH);
	assert_true(fd_any_socket(&m.w, 20));
	assert_true(fd_any_socket(&m.w, 99)); /* unknown */
}

static void a_descriptor_that_is_not_there_is_gone(void **state)
{
	(void)state;
	char text[64] = "as it was";
	struct fd_link link;
	process(20, 1, "train");
	assert_int_equal(fdtarget_read(&m.w, 20, 3, 0, &link, text, sizeof(text)), WORLD_GONE);
	assert_int_equal(fdtarget_read(&m.w, 99, 3, 0, &link, text, sizeof(text)), WORLD_GONE);
	struct world none = m.w;
	none.proc_fd = -1;
	assert_int_equal(fdtarget_read(&none, 20, 3, 0, &link, text, sizeof(text)), WORLD_ABSENT);
	assert_string_equal(text, "as it was");
}

#define MADE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MADE(a_pipe_names_the_process_with_the_other_end),
		MADE(a_pipe_of_ones_own_and_a_named_one_have_both_ends),
		MADE(a_pipe_is_not_searched_without_time),
		MADE(a_file_names_its_server),
		MADE(other_descriptors_have_short_names),
		MADE(a_listening_socket_is_marked),
		MADE(a_process_without_sockets_is_known_as_such),
		MADE(a_descriptor_that_is_not_there_is_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
