/* Real processes that wait for descriptors, and who is said to be able to end each wait. */
#include "testing.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>

#include "base/buf.h"
#include "base/file.h"
#include "waitfacts_fixture.h"

static void read_one(int fd)
{
	char c;
	while (read(fd, &c, 1) < 0 && errno == EINTR)
		;
}

static void must(bool ok)
{
	if (!ok)
		_exit(99);
}

/* ---- pipes ---- */

static void body_pipe_alone(void)
{
	int p[2];
	must(pipe(p) == 0);
	read_one(p[0]);
}

static void a_pipe_that_only_its_reader_could_write_to(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_pipe_alone);
	const struct waitfact *a = await_fact((struct expected){WAITFACT_PIPE, true, 1, child}, &t);
	assert_false(a->to_write);
	assert_true(a->id != 0 && !t->timed && t->readable && !t->cut);
	assert_int_equal(t->tid, child);
	const struct waitfact_process *p = waitfacts_process(&facts, child);
	assert_true(p && p->wanted && p->readable);
	assert_int_equal(p->ppid, getpid());
	assert_true(waitfacts_thread(&facts, child, child) == t);
	assert_null(waitfacts_thread(&facts, child, child + 1));
}

static void body_pipe_to_inner(void)
{
	int p[2];
	must(pipe(p) == 0);
	if (fork_inner() == 0) {
		close(p[0]);
		pause_for_ever();
	}
	close(p[1]);
	read_one(p[0]);
}

static void a_pipe_names_who_has_its_other_end_only(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_pipe_to_inner);
	const pid_t inner = child_of(child);
	await_fact((struct expected){WAITFACT_PIPE, true, 1, inner}, &t);
	/* The one that was not asked for is known by its name, without its threads; but a child of a later tick than
	 * the one that was asked for could not be on the list, and is looked into as well. */
	const struct waitfact_process *p = waitfacts_process(&facts, inner);
	const struct waitfact_process *outer = waitfacts_process(&facts, child);
	assert_true(p && outer);
	assert_int_equal(p->wanted, p->start_ticks > outer->start_ticks);
	assert_int_equal(p->n_threads, p->wanted ? 1 : 0);
}

static void body_pipe_full(void)
{
	int p[2];
	static char block[65536];
	must(pipe(p) == 0);
	for (;;)
		must(write(p[1], block, sizeof(block)) >= 0);
}

static void a_full_pipe_waits_for_its_readers(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_pipe_full);
	const struct waitfact *a = await_fact((struct expected){WAITFACT_PIPE, true, 1, child}, &t);
	assert_true(a->to_write);
}

/* ---- sockets ---- */

/* The folder in which the receiver has its socket; the abstract name if it is empty. */
static char receiver_folder[64];
static bool sends_by_message;

/* A receiver that does not read, and a sender that is connected to nobody and names it in each send. */
static void body_datagrams_to_a_name(void)
{
	struct sockaddr_un bound = {.sun_family = AF_UNIX}, to = {.sun_family = AF_UNIX};
	socklen_t n_bound = sizeof(bound), n_to = sizeof(to);
	if (receiver_folder[0]) {
		must(chdir(receiver_folder) == 0);
		TEXT_COPY(bound.sun_path, "in.sock");
		must(snprintf(to.sun_path, sizeof(to.sun_path), "%s/in.sock", receiver_folder) > 0);
	} else {
		must(snprintf(bound.sun_path + 1, sizeof(bound.sun_path) - 1, "vigil-waits-%d", getpid()) > 0);
		n_bound = n_to = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(bound.sun_path + 1));
		to = bound;
	}
	int in = socket(AF_UNIX, SOCK_DGRAM, 0), out = socket(AF_UNIX, SOCK_DGRAM, 0);
	must(in >= 0 && out >= 0 && bind(in, (struct sockaddr *)&bound, n_bound) == 0);
	if (fork_inner() == 0)
		pause_for_ever();
	close(in);
	char byte = 'x';
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	const struct msghdr m = {.msg_name = &to, .msg_namelen = n_to, .msg_iov = &part, .msg_iovlen = 1};
	while (sends_by_message ? sendmsg(out, &m, 0) == 1
				: sendto(out, &byte, 1, 0, (struct sockaddr *)&to, n_to) == 1)
		;
	_exit(98);
}

static void a_datagram_to_a_name_waits_for_who_is_bound_to_it(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	char folder[] = "/tmp/vigil-waits-XXXXXX", path[64];
	assert_non_null(mkdtemp(folder));
	for (int turn = 0; turn < 3; turn++) {
		TEXT_FORMAT(receiver_folder, "%s", turn ? folder : "");
		sends_by_message = turn == 2;
		start(body_datagrams_to_a_name);
		const pid_t inner = child_of(child);
		const struct waitfact *a = await_fact((struct expected){WAITFACT_UNIX, false, 1, inner}, &t);
		assert_true(a->to_write && a->peer_id != 0);
		assert_non_null(strstr(a->text, turn ? "/in.sock" : "@vigil-waits-"));
		child_end();
		TEXT_FORMAT(path, "%s/in.sock", folder);
		unlink(path);
	}
	rmdir(folder);
}

static void body_socketpair(void)
{
	int s[2];
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
	if (fork_inner() == 0) {
		close(s[0]);
		pause_for_ever();
	}
	close(s[1]);
	read_one(s[0]);
}

static void a_socketpair_names_the_process_with_the_other_end(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_socketpair);
	const pid_t inner = child_of(child);
	const struct waitfact *a = await_fact((struct expected){WAITFACT_UNIX, true, 1, inner}, &t);
	assert_true(a->peer_id != 0 && a->peer_id != a->id && !a->to_write);
}

static int tcp_server(struct sockaddr_in *a)
{
	socklen_t len = sizeof(*a);
	int s = socket(AF_INET, SOCK_STREAM, 0);
	*a = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	must(bind(s, (struct sockaddr *)a, sizeof(*a)) == 0 && listen(s, 4) == 0 &&
	     getsockname(s, (struct sockaddr *)a, &len) == 0);
	return s;
}

/* The child receives; an inner process has accepted and keeps still. */
static void body_tcp(void)
{
	struct sockaddr_in a;
	int server = tcp_server(&a);
	if (fork_inner() == 0) {
		must(accept(server, NULL, NULL) >= 0);
		pause_for_ever();
	}
	int client = socket(AF_INET, SOCK_STREAM, 0);
	must(connect(client, (struct sockaddr *)&a, sizeof(a)) == 0);
	close(server);
	read_one(client);
}

static void a_connection_names_the_process_with_the_other_end(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_tcp);
	const pid_t inner = child_of(child);
	const struct waitfact *a = await_fact((struct expected){WAITFACT_TCP, true, 1, inner}, &t);
	assert_true(a->peer_id != 0 && a->peer_id != a->id);
	assert_true(strncmp(a->text, "tcp 127.0.0.1:", 14) == 0 && strstr(a->text, " -> 127.0.0.1:"));
	/* Seen from the other side it is the same connection: pause() there, so only the ids are compared. */
	const uint64_t id = a->id, peer = a->peer_id;
	facts_read((pid_t[]){child, inner}, 2);
	a = fact_of(child, WAITFACT_TCP, &t);
	assert_true(a && a->id == id && a->peer_id == peer);
}

/* An IPv6 socket that accepts IPv4: the two ends show different families. */
static void body_mapped(void)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
	socklen_t len = sizeof(a);
	int server = socket(AF_INET6, SOCK_STREAM, 0), off = 0;
	must(server >= 0 && setsockopt(server, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) == 0 &&
	     bind(server, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(server, 1) == 0 &&
	     getsockname(server, (struct sockaddr *)&a, &len) == 0);
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = a.sin6_port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int client = socket(AF_INET, SOCK_STREAM, 0);
	must(connect(client, (struct sockaddr *)&to, sizeof(to)) == 0);
	read_one(accept(server, NULL, NULL));
}

static void an_ipv4_connection_to_an_ipv6_socket_has_both_ends(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	int s = socket(AF_INET6, SOCK_STREAM, 0);
	if (s < 0) {
		print_message("no IPv6 here\n");
		skip();
	}
	close(s);
	start(body_mapped);
	const struct waitfact *a = await_fact((struct expected){WAITFACT_TCP, true, 1, child}, &t);
	assert_true(a->peer_id != 0);
}

static void body_tcp_not_accepted(void)
{
	struct sockaddr_in a;
	int server = tcp_server(&a);
	if (fork_inner() == 0)
		pause_for_ever();
	int client = socket(AF_INET, SOCK_STREAM, 0);
	must(connect(client, (struct sockaddr *)&a, sizeof(a)) == 0);
	close(server);
	read_one(client);
}

static void a_connection_that_is_not_accepted_waits_for_who_listens(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_tcp_not_accepted);
	const pid_t inner = child_of(child);
	const struct waitfact *a = await_fact((struct expected){WAITFACT_TCP, false, 1, inner}, &t);
	assert_int_equal(a->peer_id, 0);
}

static void body_accept(void)
{
	struct sockaddr_in a;
	(void)accept(tcp_server(&a), NULL, NULL);
}

static void body_udp(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	must(bind(s, (struct sockaddr *)&a, sizeof(a)) == 0);
	read_one(s);
}

static void anybody_may_connect_or_send(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_accept);
	await_fact((struct expected){WAITFACT_LISTEN, false, 0, 0}, &t);
	child_end();
	start(body_udp);
	await_fact((struct expected){WAITFACT_DATAGRAM, false, 0, 0}, &t);
}

static void body_unix_not_accepted(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	socklen_t len = sizeof(a);
	int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
	/* A name that the kernel chooses. */
	must(bind(server, (struct sockaddr *)&a, sizeof(sa_family_t)) == 0 && listen(server, 1) == 0 &&
	     getsockname(server, (struct sockaddr *)&a, &len) == 0);
	if (fork_inner() == 0)
		pause_for_ever();
	must(connect(client, (struct sockaddr *)&a, len) == 0);
	close(server);
	read_one(client);
}

static void a_unix_connection_that_is_not_accepted_waits_for_who_listens(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_unix_not_accepted);
	const pid_t inner = child_of(child);
	await_fact((struct expected){WAITFACT_UNIX, true, 1, inner}, &t);
}

static void body_other_namespace(void)
{
	must(unshare(CLONE_NEWNET) == 0);
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	/* struct ifreq with the flag IFF_UP. */
	struct {
		char name[16];
		short flags;
		char rest[22];
	} up = {.name = "lo", .flags = 1};
	must(ioctl(s, 0x8914 /* SIOCSIFFLAGS */, &up) == 0);
	close(s);
	body_tcp();
}

static void a_connection_in_another_network_namespace_has_both_ends(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	if (geteuid() != 0) {
		print_message("takes root\n");
		skip();
	}
	start(body_other_namespace);
	const pid_t inner = child_of(child);
	const struct waitfact *a = await_fact((struct expected){WAITFACT_TCP, true, 1, inner}, &t);
	assert_true(a->peer_id != 0);
}

/* A descriptor in the queue of a socket may come out anywhere: then no list of holders is whole. */
static void body_in_flight(void)
{
	int s[2], p[2];
	char c = 'x', control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec part = {&c, 1};
	struct msghdr m = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0 && pipe(p) == 0);
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	*h = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(h), &p[1], sizeof(int));
	must(sendmsg(s[0], &m, 0) == 1);
	close(p[1]);
	read_one(p[0]);
}

static void a_descriptor_on_its_way_leaves_nothing_complete(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_in_flight);
	await_fact((struct expected){WAITFACT_PIPE, false, 0, 0}, &t);
	for (int i = 0; i < 10; i++) {
		facts_read(&child, 1);
		const struct waitfact *a = fact_of(child, WAITFACT_PIPE, &t);
		assert_true(a && !a->complete);
	}
}

/* ---- descriptors of the kernel ---- */

static void body_eventfd(void)
{
	int e = eventfd(0, 0);
	if (fork_inner() == 0)
		pause_for_ever();
	uint64_t v;
	(void)!read(e, &v, sizeof(v));
}

static void an_eventfd_names_everybody_who_has_it(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_eventfd);
	const pid_t inner = child_of(child);
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	const struct waitfact *a = NULL;
	do {
		facts_read(&child, 1);
		a = fact_of(child, WAITFACT_EVENTFD, &t);
	} while ((!a || a->n_holders != 2) && clock_mono_ns() < until);
	assert_true(a && a->n_holders == 2 && holds(a, child) && holds(a, inner) && a->id != 0);
}

static void body_timerfd(void)
{
	int e = timerfd_create(CLOCK_MONOTONIC, 0);
	must(timerfd_settime(e, 0, &(struct itimerspec){.it_value.tv_sec = 3600}, NULL) == 0);
	uint64_t v;
	(void)!read(e, &v, sizeof(v));
}

static void body_timerfd_off(void)
{
	uint64_t v;
	(void)!read(timerfd_create(CLOCK_MONOTONIC, 0), &v, sizeof(v));
}

static void body_timerfd_of_two(void)
{
	uint64_t v;
	int e = timerfd_create(CLOCK_MONOTONIC, 0);
	if (fork_inner() == 0)
		pause_for_ever();
	(void)!read(e, &v, sizeof(v));
}

static void a_timer_that_is_not_set_waits_for_who_has_it(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_timerfd_off);
	const struct waitfact *a = await_fact((struct expected){WAITFACT_EVENTFD, true, 1, child}, &t);
	assert_non_null(strstr(a->text, "which is not set"));
	child_end();
	start(body_timerfd_of_two);
	/* A child has it as well, which was not asked for. A look that listed the processes before the child began
	 * does not know it yet. */
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	do {
		facts_read(&child, 1);
		a = fact_of(child, WAITFACT_EVENTFD, &t);
	} while ((!a || a->complete) && clock_mono_ns() < until);
	assert_true(a && !a->complete && holds(a, child));
}

static void body_signalfd(void)
{
	sigset_t s;
	struct signalfd_siginfo info;
	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	sigprocmask(SIG_BLOCK, &s, NULL);
	(void)!read(signalfd(-1, &s, 0), &info, sizeof(info));
}

static void a_timer_and_a_signal_have_no_holders(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_timerfd);
	await_fact((struct expected){WAITFACT_CLOCK, false, 0, 0}, &t);
	child_end();
	start(body_signalfd);
	await_fact((struct expected){WAITFACT_SIGNAL, false, 0, 0}, &t);
	child_end();
	start(pause_for_ever);
	await_fact((struct expected){WAITFACT_SIGNAL, false, 0, 0}, &t);
}

static void body_poll_timer(void)
{
	struct pollfd p = {.fd = timerfd_create(CLOCK_MONOTONIC, 0), .events = POLLIN};
	must(timerfd_settime(p.fd, 0, &(struct itimerspec){.it_value.tv_sec = 3600}, NULL) == 0);
	(void)poll(&p, 1, -1);
}

static void body_poll_unset_timer(void)
{
	struct pollfd p = {.fd = timerfd_create(CLOCK_MONOTONIC, 0), .events = POLLIN};
	(void)poll(&p, 1, -1);
}

static void a_timer_that_is_not_set_is_no_clock(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_poll_timer);
	await_fact((struct expected){WAITFACT_CLOCK, false, 0, 0}, &t);
	child_end();
	start(body_poll_unset_timer);
	await_fact((struct expected){WAITFACT_EVENTFD, true, 1, child}, &t);
}

static void body_pidfd(void)
{
	pid_t pid = fork_inner();
	if (pid == 0)
		pause_for_ever();
	struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	must(p.fd >= 0);
	(void)poll(&p, 1, -1);
}

static void a_pidfd_waits_for_the_end_of_its_process(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_pidfd);
	const pid_t inner = child_of(child);
	const struct waitfact *a = await_fact((struct expected){WAITFACT_CHILD, true, 1, inner}, &t);
	assert_true(a->owner && a->id == (uint64_t)inner);
}

/* ---- several at once ---- */

static void body_poll_two(void)
{
	int p[2], s[2];
	must(pipe(p) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
	struct pollfd fds[3] = {{.fd = p[0], .events = POLLIN}, {.fd = -1}, {.fd = s[0], .events = POLLIN}};
	(void)poll(fds, 3, 3600 * 1000);
}

static void body_select_two(void)
{
	int p[2], s[2];
	fd_set set;
	must(pipe(p) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
	FD_ZERO(&set);
	FD_SET(p[0], &set);
	FD_SET(s[0], &set);
	(void)select(MAX(p[0], s[0]) + 1, &set, NULL, NULL, &(struct timeval){.tv_sec = 3600});
}

static void body_epoll_nested(void)
{
	int p[2], s[2], e[3];
	struct epoll_event ev = {.events = EPOLLIN};
	must(pipe(p) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
	for (int i = 0; i < 3; i++)
		must((e[i] = epoll_create1(0)) >= 0);
	must(epoll_ctl(e[0], EPOLL_CTL_ADD, p[0], &ev) == 0 && epoll_ctl(e[1], EPOLL_CTL_ADD, e[0], &ev) == 0 &&
	     epoll_ctl(e[2], EPOLL_CTL_ADD, e[1], &ev) == 0 && epoll_ctl(e[2], EPOLL_CTL_ADD, s[0], &ev) == 0);
	(void)epoll_wait(e[2], &ev, 1, 3600 * 1000);
}

static void poll_select_and_epoll_wait_for_any_of_theirs(void **state)
{
	(void)state;
	void (*const body[])(void) = {body_poll_two, body_select_two, body_epoll_nested};
	for (size_t i = 0; i < ARRAY_SIZE(body); i++) {
		const struct waitfact_thread *t;
		start(body[i]);
		await_fact((struct expected){WAITFACT_PIPE, true, 1, child}, &t);
		assert_int_equal(t->n, 2);
		assert_true(t->timed);
		assert_true(t->limit_ns == 3600 * NS_PER_S);
		await_fact((struct expected){WAITFACT_UNIX, true, 1, child}, &t);
		child_end();
	}
}

/* The number that was added belongs to another file by now. */
static void body_epoll_reused(void)
{
	int p[2], other[2], e = epoll_create1(0);
	struct epoll_event ev = {.events = EPOLLIN};
	must(pipe(p) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, other) == 0);
	int number = dup(p[0]);
	must(epoll_ctl(e, EPOLL_CTL_ADD, number, &ev) == 0);
	must(dup2(other[0], number) == number);
	(void)epoll_wait(e, &ev, 1, -1);
}

static void a_member_of_an_epoll_is_its_file_and_not_its_number(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_epoll_reused);
	await_fact((struct expected){WAITFACT_PIPE, true, 1, child}, &t);
	assert_int_equal(t->n, 1);
}

/* ---- files ---- */

static char fifo[64];

static void body_fifo_open(void)
{
	(void)open(fifo, O_RDONLY);
}

static void body_fifo_read(void)
{
	read_one(open(fifo, O_RDWR));
}

static void a_fifo_may_be_opened_by_anybody(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	char dir[] = "/tmp/vigil-waitfacts-XXXXXX";
	assert_non_null(mkdtemp(dir));
	TEXT_FORMAT(fifo, "%s/fifo", dir);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	start(body_fifo_open);
	const struct waitfact *a = await_fact((struct expected){WAITFACT_FIFO, false, 0, 0}, &t);
	assert_string_equal(a->text, fifo);
	child_end();
	start(body_fifo_read);
	a = await_fact((struct expected){WAITFACT_PIPE, false, 1, child}, &t);
	assert_string_equal(a->text, fifo);
	child_end();
	unlink(fifo);
	rmdir(dir);
}

static char second[72];

static void body_fifo_without_a_name(void)
{
	const int fd = open(fifo, O_RDWR);
	must(second[0] ? link(fifo, second) == 0 : true);
	must(unlink(fifo) == 0);
	read_one(fd);
}

static void a_fifo_without_a_name_is_opened_by_nobody(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	char dir[] = "/tmp/vigil-waitfacts-XXXXXX";
	assert_non_null(mkdtemp(dir));
	TEXT_FORMAT(fifo, "%s/fifo", dir);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	start(body_fifo_without_a_name);
	await_fact((struct expected){WAITFACT_PIPE, true, 1, child}, &t);
	child_end();
	/* The link says the same of one that has another name left. */
	assert_int_equal(mkfifo(fifo, 0600), 0);
	TEXT_FORMAT(second, "%s/second", dir);
	start(body_fifo_without_a_name);
	await_fact((struct expected){WAITFACT_PIPE, false, 1, child}, &t);
	child_end();
	unlink(second);
	rmdir(dir);
}

/* A file system whose daemon never answers: the inner process asks, the child has the daemon's descriptor. */
static char mount_dir[64];

static void body_fuse(void)
{
	char options[96];
	struct stat st;
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	must(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	TEXT_FORMAT(options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	must(mount("fuse", mount_dir, "fuse", 0, options) == 0);
	if (fork_inner() == 0) {
		char path[80];
		close(fd);
		TEXT_FORMAT(path, "%s/x", mount_dir);
		(void)stat(path, &st);
		pause_for_ever();
	}
	pause_for_ever();
}

static void a_file_system_of_a_process_waits_for_its_daemon(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	int fd = geteuid() == 0 ? open("/dev/fuse", O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0) {
		print_message("takes root and /dev/fuse\n");
		skip();
	}
	close(fd);
	char dir[] = "/tmp/vigil-waitfacts-XXXXXX";
	assert_non_null(mkdtemp(dir));
	TEXT_COPY(mount_dir, dir);
	start(body_fuse);
	const pid_t inner = child_of(child);
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	const struct waitfact *a = NULL;
	do {
		facts_read(&inner, 1);
		a = fact_of(inner, WAITFACT_FUSE, &t);
	} while (!a && clock_mono_ns() < until);
	assert_non_null(a);
	/* Before Linux 6.18 the kernel does not say which descriptor serves which file system. */
	char path[64], text[512];
	size_t len;
	bool told = false;
	for (fd = 3; fd < 64 && !told; fd++) {
		TEXT_FORMAT(path, "%d/fdinfo/%d", (int)child, fd);
		told = file_read_at(w.proc_fd, path, text, sizeof(text), &len) == 0 &&
		       strstr(text, "fuse_connection") != NULL;
	}
	const uint32_t n = a->n_holders;
	const bool right = holds(a, child), said = strstr(a->text, "fuse") != NULL;
	child_end();
	rmdir(dir);
	assert_int_equal(n, told ? 1 : 0);
	assert_int_equal(right, told);
	assert_true(said);
}

/* ---- many ---- */

#define MANY 1000

static void body_many(void)
{
	int p[2];
	must(pipe(p) == 0);
	for (int i = 0; i < MANY; i++) {
		pid_t pid = fork_inner();
		must(pid >= 0);
		if (pid == 0)
			pause_for_ever();
	}
	read_one(p[0]);
}

static void a_thousand_copies_are_all_found(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_many);
	await_fact((struct expected){WAITFACT_PIPE, true, MANY + 1, child}, &t);
	print_message("%d processes with a copy: %.1f ms\n", MANY, (double)facts.took_ns / 1e6);
	assert_true(facts.n_processes == MANY + 1);
}

static void without_time_nothing_is_complete(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_pipe_to_inner);
	await_fact((struct expected){WAITFACT_PIPE, true, 1, 0}, &t);
	struct waitfacts f;
	assert_int_equal(waitfacts_read(&w, &child, 1, 1, &f), 0);
	assert_true(f.out_of_time);
	for (size_t i = 0; i < f.n_facts; i++)
		assert_false(f.fact[i].complete);
	waitfacts_done(&f);
}

static void processes_that_are_gone_are_left_out(void **state)
{
	(void)state;
	const pid_t pids[] = {0x3ffffff0, getpid(), getpid()};
	facts_read(pids, 3);
	assert_null(waitfacts_process(&facts, 0x3ffffff0));
	const struct waitfact_process *p = waitfacts_process(&facts, getpid());
	assert_true(p && p->wanted && p->n_threads == 1);
	assert_true(waitfacts_thread(&facts, getpid(), getpid())->runs);
	assert_int_equal(waitfacts_thread(&facts, getpid(), getpid())->n, 0);
}

/* ---- an ordinary user ---- */

/* Runs in the child as nobody: a job of its own, and what it may say of it. Exit status: what was wrong. */
static int ordinary_user(int shared_fd)
{
	int own[2];
	const struct waitfact_thread *t;
	must(pipe(own) == 0);
	const pid_t job = fork_inner();
	if (job == 0) {
		close(own[1]);
		struct pollfd fds[2] = {{.fd = shared_fd, .events = POLLIN}, {.fd = own[0], .events = POLLIN}};
		(void)poll(fds, 2, -1);
		_exit(0);
	}
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	do {
		pause_1ms();
		waitfacts_done(&facts);
		if (waitfacts_read(&w, &job, 1, SEARCH_NS, &facts) != 0)
			return 1;
	} while (!fact_of(job, WAITFACT_PIPE, &t) && clock_mono_ns() < until);
	if (!fact_of(job, WAITFACT_PIPE, &t) || t->n != 2)
		return 2;
	if (facts.unreadable == 0)
		return 3;
	const struct waitfact *shared = &facts.fact[t->first], *mine = &facts.fact[t->first + 1];
	/* The writer of the first is root's; nobody can see it, so the list must not pass for whole. */
	if (shared->complete)
		return 4;
	return mine->n_holders == 1 && facts.holder[mine->first_holder].pid == getpid() ? 0 : 5;
}

static int shared_pipe[2];

static void body_nobody(void)
{
	close(shared_pipe[1]);
	must(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
	/* The change of users made the files in /proc root's. */
	must(prctl(PR_SET_DUMPABLE, 1) == 0);
	_exit(ordinary_user(shared_pipe[0]));
}

static void an_ordinary_user_takes_no_list_for_whole_that_may_not_be(void **state)
{
	(void)state;
	int status = 0;
	if (geteuid() != 0) {
		print_message("takes root, to be somebody else\n");
		skip();
	}
	assert_int_equal(pipe(shared_pipe), 0);
	start(body_nobody);
	while (waitpid(child, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	child = 0;
	close(shared_pipe[0]);
	close(shared_pipe[1]);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FACTS(a_pipe_that_only_its_reader_could_write_to),
		FACTS(a_pipe_names_who_has_its_other_end_only),
		FACTS(a_full_pipe_waits_for_its_readers),
		FACTS(a_datagram_to_a_name_waits_for_who_is_bound_to_it),
		FACTS(a_socketpair_names_the_process_with_the_other_end),
		FACTS(a_connection_names_the_process_with_the_other_end),
		FACTS(an_ipv4_connection_to_an_ipv6_socket_has_both_ends),
		FACTS(a_connection_that_is_not_accepted_waits_for_who_listens),
		FACTS(anybody_may_connect_or_send),
		FACTS(a_unix_connection_that_is_not_accepted_waits_for_who_listens),
		FACTS(a_connection_in_another_network_namespace_has_both_ends),
		FACTS(a_descriptor_on_its_way_leaves_nothing_complete),
		FACTS(an_eventfd_names_everybody_who_has_it),
		FACTS(a_timer_that_is_not_set_waits_for_who_has_it),
		FACTS(a_timer_and_a_signal_have_no_holders),
		FACTS(a_timer_that_is_not_set_is_no_clock),
		FACTS(a_pidfd_waits_for_the_end_of_its_process),
		FACTS(poll_select_and_epoll_wait_for_any_of_theirs),
		FACTS(a_member_of_an_epoll_is_its_file_and_not_its_number),
		FACTS(a_fifo_may_be_opened_by_anybody),
		FACTS(a_fifo_without_a_name_is_opened_by_nobody),
		FACTS(a_file_system_of_a_process_waits_for_its_daemon),
		FACTS(a_thousand_copies_are_all_found),
		FACTS(without_time_nothing_is_complete),
		FACTS(processes_that_are_gone_are_left_out),
		FACTS(an_ordinary_user_takes_no_list_for_whole_that_may_not_be),
	};
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
