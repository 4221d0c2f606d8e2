/* Real threads that wait for real things, and what is said of them. */
#include "testing.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "wait_fixture.h"

#include "base/file.h"
#include "sense/net/fdtarget.h"
#include "sense/net/socktable.h"
#include "sense/wait/threadwait_parts.h"

/* Text ----------------------------------------------------------------------- */

static void a_line_of_syscall_is_read_and_a_broken_one_refused(void **state)
{
	(void)state;
	struct threadwait t = {};
	assert_int_equal(
		threadwait_syscall_parse(SPAN("230 0x0 0x0 0x7ffc8ecb8b70 0x3 0x0 0x5 0x7ffc 0x7fc5f675d503\n"), &t),
		0);
	assert_true(t.has_syscall && t.nr == 230 && t.arg[2] == 0x7ffc8ecb8b70 && t.arg[5] == 5 && t.sp == 0x7ffc);
	assert_int_equal(threadwait_syscall_parse(SPAN("-1 0x7ffe 0x55c7\n"), &t), 0);
	assert_true(t.has_syscall && t.nr == -1 && t.sp == 0x7ffe && t.pc == 0x55c7);
	assert_int_equal(threadwait_syscall_parse(SPAN("running\n"), &t), 0);
	assert_false(t.has_syscall);
	const char *const bad[] = {"",
				   "walking",
				   "1",
				   "1 0x0",
				   "-2 0x0 0x0",
				   "-1 0x0",
				   "-1 0x0 0x0 0x0",
				   "1 0x0 0x0 0x0 0x0 0x0 0x0 0x0",
				   "1 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0xg",
				   "1 0 0 0 0 0 0 0 0",
				   "-1 0x11112222333344445 0x0"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(threadwait_syscall_parse(span_of(bad[i]), &t), -EBADMSG);
}

static void system_calls_have_their_machines_names(void **state)
{
	(void)state;
	assert_string_equal(syscall_name(SYS_futex), "futex");
	assert_string_equal(syscall_name(SYS_read), "read");
	assert_string_equal(syscall_name(SYS_clone3), "clone3");
	assert_string_equal(syscall_name(99999), "syscall 99999");
}

static void lines_of_socket_tables_name_both_ends(void **state)
{
	(void)state;
	struct sock_line l;
	char text[128];
	assert_int_equal(
		sock_line_parse(SPAN("   1: 0100007F:1F90 0700000A:733C 01 00000000:00000000 00:00000000 00000000  "
				     "1000        0 4242 1 0000000000000000 20 4 30 10 -1"),
				&l),
		0);
	assert_int_equal(l.inode, 4242);
	sock_line_format(&l, "tcp", text, sizeof(text));
	assert_string_equal(text, "tcp 127.0.0.1:8080 -> 10.0.0.7:29500 (established)");
	assert_int_equal(
		sock_line_parse(
			SPAN(" 0: 0000000000000000FFFF00000100007F:0016 00000000000000000000000000000000:0000 0A "
			     "0:0 0:0 0 0 0 77 1"),
			&l),
		0);
	sock_line_format(&l, "tcp", text, sizeof(text));
	assert_string_equal(text, "tcp 127.0.0.1:22 (listening)");
	assert_int_equal(
		sock_line_parse(SPAN("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   "
				     "uid  timeout inode"),
				&l),
		-EBADMSG);
	assert_int_equal(sock_line_parse(SPAN("1: 0100007F:1F90 0700000A:733C 01 0 0 0 0 0"), &l), -EBADMSG);
	uint64_t inode;
	struct span path;
	assert_int_equal(
		sock_unix_parse(SPAN("ffff: 00000003 00000000 00000000 0001 03 31337 /run/a b.sock"), &inode, &path),
		0);
	assert_true(inode == 31337 && span_eq(path, "/run/a b.sock"));
	assert_int_equal(sock_unix_parse(SPAN("ffff: 00000003 00000000 00000000 0001 03 31337"), &inode, &path), 0);
	assert_int_equal(path.len, 0);
}

static void links_of_descriptors_tell_their_kind(void **state)
{
	(void)state;
	static const struct {
		const char *link;
		enum fd_kind kind;
		uint64_t inode;
	} cases[] = {
		{"pipe:[812]", FD_PIPE, 812},
		{"socket:[7]", FD_SOCKET, 7},
		{"socket:[", FD_SOCKET, 0},
		{"/dev/nvidia0", FD_GPU, 0},
		{"/dev/nvidiactl", FD_GPU, 0},
		{"/dev/kfd", FD_GPU, 0},
		{"/dev/dri/renderD128", FD_GPU, 0},
		{"/dev/davinci3", FD_GPU, 0},
		{"/dev/pts/4", FD_TTY, 0},
		{"/dev/null", FD_OTHER, 0},
		{"/dev/shm/x", FD_FILE, 0},
		{"/data/a (deleted)", FD_FILE, 0},
		{"anon_inode:[eventpoll]", FD_EPOLL, 0},
		{"anon_inode:[eventfd]", FD_EVENT, 0},
		{"", FD_OTHER, 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fd_link l = fd_link_parse(span_of(cases[i].link));
		assert_int_equal(l.kind, cases[i].kind);
		assert_int_equal(l.inode, cases[i].inode);
	}
}

static void mounts_are_found_by_number_and_remote_ones_known(void **state)
{
	(void)state;
	const struct span text = SPAN("22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
				      "31 22 0:44 / /data rw,relatime - nfs4 server:/export rw,vers=4.2\n"
				      "40 22 0:45 / /x rw\n");
	struct span type, source;
	assert_int_equal(mountinfo_find(text, 31, &type, &source), 0);
	assert_true(span_eq(type, "nfs4") && span_eq(source, "server:/export"));
	assert_true(mount_is_remote(type));
	assert_int_equal(mountinfo_find(text, 22, &type, &source), 0);
	assert_false(mount_is_remote(type));
	assert_int_equal(mountinfo_find(text, 40, &type, &source), -ENOENT);
	assert_int_equal(mountinfo_find(text, 99, &type, &source), -ENOENT);
	assert_true(mount_is_remote(SPAN("fuse.gcsfuse")));
}

static void only_what_looks_to_the_last_word_like_a_mutex_is_one(void **state)
{
	(void)state;
	const uint32_t good[10] = {2, 0, 812, 1, 0};
	assert_true(mutex_is_plausible(good));
	static const struct {
		size_t at;
		uint32_t value;
	} spoilt[] = {{0, 1},	       {0, 0}, {0, 3},	    {1, 1},	     {2, 0},
		      {2, 0x7f001234}, {3, 0}, {3, 0x7f00}, {4, 0x55c70000}, {3, 1 << 20}};
	for (size_t i = 0; i < ARRAY_SIZE(spoilt); i++) {
		uint32_t word[10];
		memcpy(word, good, sizeof(word));
		word[spoilt[i].at] = spoilt[i].value;
		assert_int_equal(mutex_is_plausible(word), i == 7); /* 32,512 users are many, but a number */
	}
	const uint32_t recursive[10] = {2, 3, 812, 1, 1};
	assert_true(mutex_is_plausible(recursive));
}

/* Waits ---------------------------------------------------------------------- */

static void body_sleep(void)
{
	nanosleep(&(struct timespec){.tv_sec = 3600}, NULL);
}

static void a_sleeping_thread_says_how_long(void **state)
{
	(void)state;
	start(body_sleep);
	struct threadwait t = await_child(WAIT_SLEEP);
	assert_text(&t, "sleeping 1 h 00 m");
	assert_int_equal(t.sleep_ns, 3600 * NS_PER_S);
	assert_int_equal(t.sleep_until_ns, 0);
	assert_int_equal(t.state, 'S');
	assert_string_equal(t.comm, "test_sense_thre");
}

static void body_sleep_until(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += 7200;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static void a_thread_that_sleeps_until_a_time_says_how_long_is_left(void **state)
{
	(void)state;
	start(body_sleep_until);
	struct threadwait t = await_child(WAIT_SLEEP);
	assert_text(&t, "sleeping, 1 h 59 m");
	assert_text(&t, " left");
	assert_in_range(t.sleep_left_ns, 7100 * NS_PER_S, 7200 * NS_PER_S);
	assert_true(t.sleep_until_ns > t.sleep_left_ns);
	assert_int_equal(t.sleep_ns, 0);
}

/* Sleeps for a minute in a time namespace whose clock is a day ahead. */
static void body_sleep_elsewhere(void)
{
	static const char ahead[] = "monotonic 86400 0\n";
	struct timespec ts;
	int fd = unshare(CLONE_NEWTIME) == 0 ? open("/proc/self/timens_offsets", O_WRONLY) : -1;
	if (fd < 0 || write(fd, ahead, sizeof(ahead) - 1) < 0)
		_exit(77);
	close(fd);
	pid_t self = getpid(), inside = fork();
	if (inside == 0) {
		end_with(self);
		clock_gettime(CLOCK_MONOTONIC, &ts);
		ts.tv_sec += 60;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		_exit(0);
	}
	prctl(PR_SET_NAME, "outside");
	waitpid(inside, NULL, 0);
}

static pid_t only_child_of(pid_t pid)
{
	char path[64], text[64] = "";
	size_t len;
	uint64_t number;
	struct span rest, word;
	TEXT_FORMAT(path, "/proc/%d/task/%d/children", pid, pid);
	if (file_read_at(AT_FDCWD, path, text, sizeof(text), &len) != 0)
		return 0;
	rest = span_of(text);
	return span_word(&rest, &word) && span_u64(word, &number) == 0 ? (pid_t)number : 0;
}

static void of_a_clock_of_another_namespace_nothing_is_left(void **state)
{
	(void)state;
	int status;
	pid_t inside = 0;
	start(body_sleep_elsewhere);
	for (uint64_t until = clock_mono_ns() + DEADLINE_NS; inside == 0 && clock_mono_ns() < until;) {
		pause_1ms();
		inside = only_child_of(child);
		if (waitpid(child, &status, WNOHANG) == child) {
			child = 0;
			assert_int_equal(WEXITSTATUS(status), 77);
			print_message("no time namespace may be made here\n");
			skip();
		}
	}
	assert_true(inside > 0);
	struct threadwait t = await_kind(inside, inside, WAIT_SLEEP);
	assert_text(&t, "sleeping until a set time");
	assert_int_equal(t.sleep_left_ns, 0);
	assert_true(t.sleep_until_ns > 0);
}

static void body_sleep_by_select(void)
{
	select(0, NULL, NULL, NULL, &(struct timeval){.tv_sec = 90, .tv_usec = 500});
}

static void a_select_on_nothing_says_how_long(void **state)
{
	(void)state;
	start(body_sleep_by_select);
	struct threadwait t = await_child(WAIT_POLL);
	assert_in_range(t.sleep_ns, 90 * NS_PER_S, 91 * NS_PER_S);
}

static void body_timer_off(void)
{
	uint64_t n;
	(void)!read(timerfd_create(CLOCK_MONOTONIC, 0), &n, sizeof(n));
}

static void body_timer_on(void)
{
	uint64_t n;
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	timerfd_settime(fd, 0, &(struct itimerspec){.it_value.tv_sec = 3600}, NULL);
	(void)!read(fd, &n, sizeof(n));
}

static void a_timer_is_a_sleep_unless_it_is_switched_off(void **state)
{
	(void)state;
	start(body_timer_on);
	struct threadwait t = await_child(WAIT_SLEEP);
	assert_text(&t, "read on timerfd");
	child_end();
	start(body_timer_off);
	t = await_child(WAIT_POLL);
	assert_text(&t, "read on timerfd, which is not set");
}

static void body_spin(void)
{
	for (volatile uint64_t i = 0;; i++)
		;
}

static void a_busy_thread_runs(void **state)
{
	(void)state;
	start(body_spin);
	struct threadwait t = await_child(WAIT_RUNNING);
	assert_false(t.has_syscall);
	assert_string_equal(t.text, "running");
}

static int ends[2];

static void body_pipe(void)
{
	char byte;
	close(ends[1]);
	ignore(read(ends[0], &byte, 1), "it never comes");
}

static void a_pipe_names_who_holds_the_other_end(void **state)
{
	(void)state;
	char expected[64];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	start(body_pipe);
	struct threadwait t = await_child(WAIT_PIPE);
	TEXT_FORMAT(expected, "pipe, other end: pid %d (test_sense_thre", getpid());
	assert_target(&t, expected);
	assert_int_equal(t.fd, ends[0]);
	close(ends[0]);
	close(ends[1]);
}

static void body_own_pipe(void)
{
	char byte;
	int mine[2];
	if (pipe2(mine, O_CLOEXEC) == 0)
		ignore(read(mine[0], &byte, 1), "it never comes");
}

static void a_pipe_of_ones_own_is_not_blamed_on_others(void **state)
{
	(void)state;
	start(body_own_pipe);
	struct threadwait t = await_child(WAIT_PIPE);
	assert_null(strstr(t.target, "other end: pid"));
}

static uint16_t tcp_port;

static void body_socket(void)
{
	char byte;
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(tcp_port)};
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		ignore(recv(fd, &byte, 1, 0), "it never comes");
}

static int listener_open(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t len = sizeof(at);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	tcp_port = ntohs(at.sin_port);
	return fd;
}

static void a_socket_names_its_peer(void **state)
{
	(void)state;
	char expected[64];
	cleanup(closep) unused int listener = listener_open();
	start(body_socket);
	struct threadwait t = await_child(WAIT_SOCKET);
	while (!strstr(t.text, "recv"))
		t = await_child(WAIT_SOCKET); /* it still connects */
	TEXT_FORMAT(expected, "-> 127.0.0.1:%u (established)", tcp_port);
	assert_target(&t, "socket tcp 127.0.0.1:");
	assert_target(&t, expected);
	assert_text(&t, "recvfrom on socket tcp");
	assert_false(t.listens);
}

static void body_unix(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)text_format(at.sun_path + 1, sizeof(at.sun_path) - 1, "vigil-test-%d", getpid());
	const size_t len = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(at.sun_path + 1);
	if (bind(fd, (struct sockaddr *)&at, (socklen_t)len) == 0 && listen(fd, 1) == 0)
		accept(fd, NULL, NULL);
}

static void a_unix_socket_says_its_name(void **state)
{
	(void)state;
	char expected[64];
	start(body_unix);
	struct threadwait t = await_child(WAIT_SOCKET);
	TEXT_FORMAT(expected, "socket unix @vigil-test-%d", child);
	assert_target(&t, expected);
	assert_text(&t, "accept");
	assert_true(t.listens);
}

static void body_server(void)
{
	struct pollfd fds[2] = {{.fd = eventfd(0, EFD_CLOEXEC), .events = POLLIN},
				{.fd = listener_open(), .events = POLLIN}};
	poll(fds, 2, -1);
}

static void a_server_waits_for_connections(void **state)
{
	(void)state;
	start(body_server);
	struct threadwait t = await_child(WAIT_POLL);
	assert_true(t.listens);
	assert_text(&t, "(listening)");
}

static void body_poll(void)
{
	struct pollfd fds[2] = {{.fd = ends[0], .events = POLLIN}, {.fd = eventfd(0, EFD_CLOEXEC), .events = POLLIN}};
	poll(fds, 2, -1);
}

static void body_select(void)
{
	fd_set set;
	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	select(ends[0] + 1, &set, NULL, NULL, NULL);
}

static void body_epoll(void)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event e = {.events = EPOLLIN};
	epoll_ctl(fd, EPOLL_CTL_ADD, ends[0], &e);
	epoll_wait(fd, &e, 1, -1);
}

static void polls_name_what_they_poll(void **state)
{
	(void)state;
	static const struct {
		void (*body)(void);
		const char *text;
	} cases[] = {
		{body_poll, "poll of 2 descriptors: "},
		{body_select, "of 1 descriptor: "},
		{body_epoll, "of 1 descriptor: "},
	};
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		start(cases[i].body);
		struct threadwait t = await_child(WAIT_POLL);
		assert_text(&t, cases[i].text);
		assert_target(&t, "pipe");
		if (i == 0)
			assert_target(&t, "eventfd");
		child_end();
	}
	close(ends[0]);
	close(ends[1]);
}

static void body_wait(void)
{
	pid_t self = getpid(), pid = fork();
	if (pid == 0) {
		end_with(self);
		prctl(PR_SET_NAME, "worker");
		body_sleep();
	}
	waitpid(pid, NULL, 0);
}

static void a_parent_names_the_child_it_waits_for(void **state)
{
	(void)state;
	start(body_wait);
	struct threadwait t = await_child(WAIT_CHILD);
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	while (!strstr(t.target, "(worker)") && clock_mono_ns() < until)
		t = await_child(WAIT_CHILD);
	assert_target(&t, "(worker)");
	assert_text(&t, "to end");
}

static int child_of_vfork(void *arg)
{
	end_with(*(const pid_t *)arg);
	body_sleep();
	return 0;
}

static void body_vfork(void)
{
	/* vfork(2) itself is refused by compilers and checkers: the same call, spelled out. */
	static char stack[65536];
	pid_t self = getpid();
	clone(child_of_vfork, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &self);
}

static void a_parent_in_vfork_is_not_taken_for_a_disk_wait(void **state)
{
	(void)state;
	start(body_vfork);
	struct threadwait t = await_child(WAIT_CHILD);
	assert_int_equal(t.state, 'D');
	assert_text(&t, "vfork: waits for child pid ");
}

static void body_signal(void)
{
	for (;;)
		pause();
}

static void a_wait_for_signals_is_one(void **state)
{
	(void)state;
	start(body_signal);
	(void)await_child(WAIT_SIGNAL);
}

static void a_stopped_process_says_what_lets_it_go_on(void **state)
{
	(void)state;
	start(body_sleep);
	kill(child, SIGSTOP);
	struct threadwait t = await_child(WAIT_STOPPED);
	assert_int_equal(t.state, 'T');
	assert_text(&t, "SIGCONT");
	kill(child, SIGCONT);
#ifdef __x86_64__
	t = await_child(WAIT_SLEEP); /* as restart_syscall */
	assert_text(&t, "sleeping 1 h 00 m");
#endif
}

static void a_traced_process_names_its_tracer(void **state)
{
	(void)state;
	char expected[64];
	start(body_sleep);
	assert_int_equal(ptrace(PTRACE_SEIZE, child, NULL, NULL), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, child, NULL, NULL), 0);
	struct threadwait t = await_child(WAIT_STOPPED);
	assert_int_equal(t.state, 't');
	TEXT_FORMAT(expected, "pid %d (test_sense_thre", getpid());
	assert_text(&t, expected);
}

static void freeze_and_look(const char *group, const char *file, const char *on, const char *off)
{
	char path[128], pid[16];
	TEXT_FORMAT(pid, "%d", child);
	if (mkdir(group, 0755) < 0)
		skip(); /* no such hierarchy here, or not root */
	TEXT_FORMAT(path, "%s/cgroup.procs", group);
	int moved = file_write_at(AT_FDCWD, path, pid);
	TEXT_FORMAT(path, "%s/%s", group, file);
	int frozen = moved == 0 ? file_write_at(AT_FDCWD, path, on) : moved;
	struct threadwait t = {};
	if (frozen == 0)
		t = await_child(WAIT_STOPPED);
	ignore(file_write_at(AT_FDCWD, path, off), "it may not be frozen");
	child_end();
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	while (rmdir(group) < 0 && errno == EBUSY && clock_mono_ns() < until)
		pause_1ms();
	if (frozen != 0)
		skip();
	assert_text(&t, "frozen: control group ");
	assert_text(&t, "vigil-test-wait");
}

static void a_process_frozen_by_v1_is_stopped(void **state)
{
	(void)state;
	start(body_signal);
	(void)await_child(WAIT_SIGNAL);
	freeze_and_look("/sys/fs/cgroup/freezer/vigil-test-wait", "freezer.state", "FROZEN", "THAWED");
}

static void a_process_frozen_by_v2_is_stopped(void **state)
{
	(void)state;
	start(body_signal);
	(void)await_child(WAIT_SIGNAL);
	const char *top = access("/sys/fs/cgroup/unified", F_OK) == 0 ? "/sys/fs/cgroup/unified/vigil-test-wait"
								      : "/sys/fs/cgroup/vigil-test-wait";
	freeze_and_look(top, "cgroup.freeze", "1", "0");
}

static void body_tty(void)
{
	int master, slave;
	char byte;
	if (openpty(&master, &slave, NULL, NULL, NULL) == 0)
		ignore(read(slave, &byte, 1), "nobody types");
}

static void a_terminal_is_one(void **state)
{
	(void)state;
	start(body_tty);
	struct threadwait t = await_child(WAIT_TTY);
	assert_target(&t, "/dev/pts/");
}

static void body_lock_file(void)
{
	int fd = open(FIXTURES, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	int other = open(FIXTURES, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	if (syscall(SYS_flock, fd, 2) == 0)
		syscall(SYS_flock, other, 2);
}

static void a_wait_on_a_file_names_the_file(void **state)
{
	(void)state;
	start(body_lock_file);
	struct threadwait t = await_child(WAIT_FILE);
	assert_target(&t, "fixtures");
	assert_text(&t, "flock on ");
}

static char fifo[64];

static void body_open(void)
{
	ignore(open(fifo, O_RDONLY | O_CLOEXEC), "nobody opens the other end");
}

static void a_wait_in_open_names_the_path(void **state)
{
	(void)state;
	TEXT_FORMAT(fifo, "/tmp/vigil-fifo-%d", getpid());
	assert_int_equal(mkfifo(fifo, 0600), 0);
	start(body_open);
	struct threadwait t = await_child(WAIT_FILE);
	unlink(fifo);
	assert_string_equal(t.target, fifo);
	assert_text(&t, "openat on /tmp/vigil-fifo-");
}

/* A stranger sees the state and the time used, and is told that the rest is closed. */
static void a_stranger_is_told_that_the_reason_is_closed(void **state)
{
	(void)state;
	struct threadwait t;
	enum wait_kind k = WAIT_ZOMBIE;
	int64_t nr = 7;
	uint64_t arg = 0;
	int status;
	if (geteuid() != 0)
		skip();
	start(body_sleep);
	(void)await_child(WAIT_SLEEP);
	pid_t stranger = fork();
	if (stranger == 0) {
		if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
			_exit(1);
		if (threadwait_read(&w, child, child, NULL, true, &t) != 0 || t.kind != WAIT_UNKNOWN ||
		    t.state != 'S' || t.has_syscall || !strstr(t.text, "may not see"))
			_exit(2);
		struct threadwatch *watch = threadwatch_new(&w, child);
		if (threadwatch_kind(watch, child, &k, &nr, &arg) != 0 || k != WAIT_UNKNOWN || nr != -1)
			_exit(3);
		_exit(0);
	}
	assert_int_equal(waitpid(stranger, &status, 0), stranger);
	assert_int_equal(status, 0);
}

static void a_zombie_is_one_and_a_process_that_is_gone_is_gone(void **state)
{
	(void)state;
	start(pause_1ms);
	struct threadwait t = await_child(WAIT_ZOMBIE);
	assert_int_equal(t.state, 'Z');
	pid_t gone = child;
	child_end();
	assert_int_equal(threadwait_read(&w, gone, gone, NULL, true, &t), WORLD_GONE);
	pid_t *tids;
	size_t n;
	assert_int_equal(threads_read(&w, gone, &tids, &n), WORLD_GONE);
}

/* Watching ------------------------------------------------------------------- */

static enum wait_kind await_watch(struct threadwatch *watch, pid_t tid, enum wait_kind kind)
{
	enum wait_kind k = WAIT_UNKNOWN;
	int64_t nr;
	uint64_t arg = 0;
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	do
		assert_int_equal(threadwatch_kind(watch, tid, &k, &nr, &arg), 0);
	while (k != kind && clock_mono_ns() < until);
	return k;
}

static void a_watch_follows_a_thread_through_its_states(void **state)
{
	(void)state;
	start(body_sleep);
	struct threadwatch *watch = threadwatch_new(&w, child);
	assert_non_null(watch);
	enum wait_kind k;
	int64_t nr;
	uint64_t arg = 0;
	assert_int_equal(await_watch(watch, child, WAIT_SLEEP), WAIT_SLEEP);
	kill(child, SIGSTOP);
	assert_int_equal(await_watch(watch, child, WAIT_STOPPED), WAIT_STOPPED);
	kill(child, SIGCONT);
	assert_int_equal(await_watch(watch, child, WAIT_SLEEP), WAIT_SLEEP);
	pid_t was = child;
	child_end();
	assert_int_equal(threadwatch_kind(watch, was, &k, &nr, &arg), WORLD_GONE);
	assert_int_equal(threadwatch_kind(watch, was, &k, &nr, &arg), WORLD_GONE);
	threadwatch_free(watch);
}

#define MANY 600

static void *forever(void *unused_argument)
{
	(void)unused_argument;
	for (;;)
		pause();
	return NULL;
}

static void body_many(void)
{
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_t thread;
	for (int i = 0; i < MANY; i++)
		pthread_create(&thread, &attr, forever, NULL);
	forever(NULL);
}

static size_t open_descriptors(void)
{
	size_t n = 0;
	for (int fd = 0; fd < 4096; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void a_watch_of_many_threads_keeps_few_descriptors(void **state)
{
	(void)state;
	start(body_many);
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	pid_t *tids = NULL;
	size_t n = 0;
	while (n <= MANY && clock_mono_ns() < until) {
		free(tids);
		tids = NULL;
		assert_int_equal(threads_read(&w, child, &tids, &n), 0);
	}
	assert_int_equal(n, MANY + 1);
	const size_t before = open_descriptors();
	struct threadwatch *watch = threadwatch_new(&w, child);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(await_watch(watch, tids[i], WAIT_SIGNAL), WAIT_SIGNAL);
	assert_true(open_descriptors() - before <= 512);
	threadwatch_free(watch);
	assert_int_equal(open_descriptors(), before);
	free(tids);
}

/* What was forgotten is a number that moves, so it is counted against the clock of this thread. */
static uint64_t cpu_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static void looking_is_cheap(void **state)
{
	(void)state;
	enum { LOOKS = 2000 };
	start(body_signal);
	struct threadwait t = await_child(WAIT_SIGNAL);
	struct threadwatch *watch = threadwatch_new(&w, child);
	enum wait_kind k;
	int64_t nr;
	uint64_t arg = 0;
	uint64_t from = cpu_ns();
	for (int i = 0; i < LOOKS; i++)
		assert_int_equal(threadwatch_kind(watch, child, &k, &nr, &arg), 0);
	const uint64_t watch_ns = (cpu_ns() - from) / LOOKS;
	from = cpu_ns();
	for (int i = 0; i < LOOKS; i++)
		assert_int_equal(threadwait_read(&w, child, child, NULL, false, &t), 0);
	const uint64_t read_ns = (cpu_ns() - from) / LOOKS;
	from = cpu_ns();
	for (int i = 0; i < LOOKS / 10; i++)
		assert_int_equal(threadwait_read(&w, child, child, NULL, true, &t), 0);
	const uint64_t detail_ns = (cpu_ns() - from) / (LOOKS / 10);
	printf("# CPU ns a look: watch %llu, read %llu, with detail %llu\n", (unsigned long long)watch_ns,
	       (unsigned long long)read_ns, (unsigned long long)detail_ns);
	threadwatch_free(watch);
	/* 200 threads a rank at 100 looks a second must stay a matter of percents, also under a sanitizer. */
	assert_true(watch_ns < 50 * NS_PER_US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_of_syscall_is_read_and_a_broken_one_refused),
		cmocka_unit_test(system_calls_have_their_machines_names),
		cmocka_unit_test(lines_of_socket_tables_name_both_ends),
		cmocka_unit_test(links_of_descriptors_tell_their_kind),
		cmocka_unit_test(mounts_are_found_by_number_and_remote_ones_known),
		cmocka_unit_test(only_what_looks_to_the_last_word_like_a_mutex_is_one),
		LIVE(a_sleeping_thread_says_how_long),
		LIVE(a_thread_that_sleeps_until_a_time_says_how_long_is_left),
		LIVE(of_a_clock_of_another_namespace_nothing_is_left),
		LIVE(a_select_on_nothing_says_how_long),
		LIVE(a_timer_is_a_sleep_unless_it_is_switched_off),
		LIVE(a_busy_thread_runs),
		LIVE(a_pipe_names_who_holds_the_other_end),
		LIVE(a_pipe_of_ones_own_is_not_blamed_on_others),
		LIVE(a_socket_names_its_peer),
		LIVE(a_unix_socket_says_its_name),
		LIVE(a_server_waits_for_connections),
		LIVE(polls_name_what_they_poll),
		LIVE(a_parent_names_the_child_it_waits_for),
		LIVE(a_parent_in_vfork_is_not_taken_for_a_disk_wait),
		LIVE(a_wait_for_signals_is_one),
		LIVE(a_stopped_process_says_what_lets_it_go_on),
		LIVE(a_traced_process_names_its_tracer),
		LIVE(a_process_frozen_by_v1_is_stopped),
		LIVE(a_process_frozen_by_v2_is_stopped),
		LIVE(a_terminal_is_one),
		LIVE(a_wait_on_a_file_names_the_file),
		LIVE(a_wait_in_open_names_the_path),
		LIVE(a_stranger_is_told_that_the_reason_is_closed),
		LIVE(a_zombie_is_one_and_a_process_that_is_gone_is_gone),
		LIVE(a_watch_follows_a_thread_through_its_states),
		LIVE(a_watch_of_many_threads_keeps_few_descriptors),
		LIVE(looking_is_cheap),
	};
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
