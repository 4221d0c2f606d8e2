#include "testing.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sense/fdpass.h"
#include "sense/rightsdoor.h"

struct asked {
	uint32_t what;
	int32_t family, type, protocol;
};

/* What the door answers to these bytes; *ret_fd: -1: it sent no descriptor. */
static int32_t answer_to(const void *bytes, size_t len, int with_fd, int *ret_fd)
{
	int pair[2];
	int32_t result = -1;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	cleanup(closep) int ours = pair[0], theirs = pair[1];
	assert_int_equal(fdpass_send(ours, bytes, len, with_fd), 0);
	int r = rightsdoor_serve(theirs);
	if (r < 0)
		return r;
	assert_int_equal(fdpass_receive(ours, &result, sizeof(result), ret_fd), 0);
	return result;
}

static uint64_t namespace_now(void)
{
	struct stat st;
	assert_int_equal(stat("/proc/self/ns/net", &st), 0);
	return st.st_ino;
}

static void who_is_not_root_is_refused(void **state)
{
	int fd = -1;
	const struct asked ask = {.what = 1};
	(void)state;
	if (geteuid() == 0) {
		print_message("skipped: we are root, who is served\n");
		skip();
	}
	assert_int_equal(answer_to(&ask, sizeof(ask), -1, &fd), -EPERM);
	assert_int_equal(rightsdoor_kmsg(&fd), -EPERM);
	assert_int_equal(fd, -1);
}

static void what_is_no_request_is_refused(void **state)
{
	cleanup(closep) int net = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	cleanup(closep) int pid = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
	cleanup(closep) int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const struct asked good = {2, AF_NETLINK, SOCK_DGRAM, NETLINK_SOCK_DIAG};
	const struct asked bad[] = {
		{0, 0, 0, 0},
		{9, AF_NETLINK, SOCK_DGRAM, NETLINK_SOCK_DIAG},
		{2, AF_NETLINK, SOCK_DGRAM, NETLINK_ROUTE},
		{2, AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG},
		{2, AF_PACKET, SOCK_RAW, 0},
		{2, AF_INET, SOCK_RAW, 1},
		{2, AF_INET, SOCK_STREAM, 132},
		{2, -1, -1, -1},
	};
	const int wrong[] = {-1, pid, file};
	int fd = -1;
	(void)state;
	if (geteuid() != 0)
		skip(); /* it serves root only */
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(answer_to(&bad[i], sizeof(bad[i]), net, &fd), -EINVAL);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(answer_to(&good, sizeof(good), wrong[i], &fd), -EINVAL);
	assert_int_equal(answer_to(&good, sizeof(good) - 1, net, &fd), -EPIPE);
	assert_int_equal(fd, -1);
}

static void of_several_descriptors_none_stays(void **state)
{
	int pair[2], more[3], fd = -1;
	char byte = 'x';
	union {
		char bytes[CMSG_SPACE(sizeof(more))];
		struct cmsghdr align;
	} control = {.bytes = {0}};
	struct iovec part = {&byte, 1};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = CMSG_LEN(sizeof(more))};
	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	cleanup(closep) int ours = pair[0], theirs = pair[1];
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		more[i] = ours;
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	*c = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(more)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(c), more, sizeof(more));
	assert_int_equal(sendmsg(ours, &m, 0), 1);
	cleanup(closep) int before = dup(0);
	assert_int_equal(fdpass_receive(theirs, &byte, 1, &fd), 0);
	cleanup(closep) int after = dup(0);
	assert_int_equal(after, fd < 0 ? before + 1 : MAX(fd, before) + 1);
	closep(&fd);
	assert_int_equal(send(ours, "xy", 2, 0), 2);
	assert_int_equal(fdpass_receive(theirs, &byte, 1, &fd), -EPIPE); /* not its beginning */
}

static void who_connects_and_keeps_silent_is_not_waited_for(void **state)
{
	int pair[2];
	(void)state;
	if (geteuid() != 0)
		skip(); /* it serves root only */
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
	cleanup(closep) int ours = pair[0], theirs = pair[1];
	assert_true(rightsdoor_admits(theirs));
	assert_int_equal(rightsdoor_serve(theirs), -EAGAIN);
	closep(&ours);
	assert_int_equal(rightsdoor_serve(theirs), -EPIPE);
}

static void a_socket_is_made_where_it_is_asked_for_and_the_door_comes_back(void **state)
{
	cleanup(closep) int net = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), fd = -1;
	const struct asked ask = {2, AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0};
	const uint64_t home = namespace_now();
	int family = 0;
	socklen_t len = sizeof(family);
	(void)state;
	int32_t r = geteuid() == 0 ? answer_to(&ask, sizeof(ask), net, &fd) : -EPERM;
	if (r == -EPERM)
		skip(); /* it takes CAP_SYS_ADMIN */
	assert_int_equal(r, 0);
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len), 0);
	assert_int_equal(family, AF_INET);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(namespace_now(), home);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_not_root_is_refused),
		cmocka_unit_test(what_is_no_request_is_refused),
		cmocka_unit_test(of_several_descriptors_none_stays),
		cmocka_unit_test(who_connects_and_keeps_silent_is_not_waited_for),
		cmocka_unit_test(a_socket_is_made_where_it_is_asked_for_and_the_door_comes_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
