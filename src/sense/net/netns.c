#include "sense/net/netns.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"

static bool netns_same(const struct world *w, const char *kind, int fd, uint64_t *ret_inode)
{
	char path[32];
	struct stat ours, theirs;
	TEXT_FORMAT(path, "self/ns/%s", kind);
	if (fstat(fd, &theirs) != 0)
		return false;
	*ret_inode = theirs.st_ino;
	return fstatat(w->proc_fd, path, &ours, 0) == 0 && ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

int netns_open(const struct world *w, pid_t pid, struct netns *ret)
{
	char path[48];
	uint64_t inode = 0, user_inode = 0;
	if (w->proc_fd < 0)
		return WORLD_ABSENT;
	TEXT_FORMAT(path, "%d/ns/net", (int)pid);
	cleanup(closep) int net = openat(w->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (net < 0)
		return world_condition(-errno);
	TEXT_FORMAT(path, "%d/ns/user", (int)pid);
	cleanup(closep) int user = openat(w->proc_fd, path, O_RDONLY | O_CLOEXEC);
	*ret = (struct netns){.net_fd = -1, .user_fd = -1};
	if (netns_same(w, "net", net, &inode))
		return 0;
	ret->inode = inode;
	ret->net_fd = take_fd(&net);
	if (user >= 0 && !netns_same(w, "user", user, &user_inode))
		ret->user_fd = take_fd(&user);
	return 0;
}

void netns_done(struct netns *n)
{
	closep(&n->net_fd);
	closep(&n->user_fd);
}

/*
 * Runs in the child. Without rights over the network namespace itself, the user namespace of the container is entered
 * first.
 */
static int enter(const struct netns *n)
{
	if (setns(n->net_fd, CLONE_NEWNET) == 0)
		return 0;
	int why = errno;
	if (n->user_fd < 0 || setns(n->user_fd, CLONE_NEWUSER) != 0 || setns(n->net_fd, CLONE_NEWNET) != 0)
		return -why;
	return 0;
}

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static bool hand_over(int to, int result, int fd)
{
	union control control;
	struct iovec part = {&result, sizeof(result)};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
	if (fd >= 0) {
		memset(&control, 0, sizeof(control));
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(to, &m, MSG_NOSIGNAL) == (ssize_t)sizeof(result);
}

static int take_over(int from, int *ret_fd)
{
	union control control;
	int result = -EPIPE, fd = -1;
	struct iovec part = {&result, sizeof(result)};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof(control.bytes)};
	ssize_t n;
	do
		n = recvmsg(from, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(result))
		return n < 0 ? -errno : -EPIPE;
	const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	if (result == 0 && fd < 0)
		result = -EPIPE;
	if (result == 0)
		*ret_fd = fd;
	return result;
}

static _Noreturn void netns_child_run(const struct netns *n, int to, int family, int type, int protocol)
{
	int r = enter(n), fd = -1;
	if (r == 0) {
		fd = socket(family, type, protocol);
		r = fd < 0 ? -errno : 0;
	}
	_exit(hand_over(to, r, fd) ? 0 : 1);
}

static int socket_inside(const struct netns *n, int family, int type, int protocol, int *ret_fd)
{
	int pair[2];
	type |= SOCK_CLOEXEC | SOCK_NONBLOCK;
	if (!n || n->net_fd < 0) {
		int fd = socket(family, type, protocol);
		if (fd < 0)
			return -errno;
		*ret_fd = fd;
		return 0;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	cleanup(closep) int ours = pair[0], theirs = pair[1];
	pid_t pid = fork();
	if (pid == 0)
		netns_child_run(n, theirs, family, type, protocol);
	int r = pid < 0 ? -errno : 0;
	closep(&theirs);
	if (r)
		return r;
	r = take_over(ours, ret_fd);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return r;
}

int netns_socket(const struct netns *n, int family, int type, int *ret_fd)
{
	return socket_inside(n, family, type, 0, ret_fd);
}

int netns_netlink(const struct netns *n, int protocol, int *ret_fd)
{
	return socket_inside(n, AF_NETLINK, SOCK_DGRAM, protocol, ret_fd);
}

static bool is_loopback(const struct sockaddr_storage *at)
{
	struct sockaddr_in in;
	memcpy(&in, at, sizeof(in));
	return at->ss_family == AF_INET && ntohl(in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

static bool netns_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr, &((const struct sockaddr_in6 *)b)->sin6_addr, 16) ==
	       0;
}

/* What goes to an own address comes from it, or from another of the loopback's; connecting a datagram socket asks. */
bool netns_is_own(const struct netns *n, const struct sockaddr *at, socklen_t len)
{
	cleanup(closep) int fd = -1;
	struct sockaddr_storage to = {.ss_family = AF_UNSPEC}, from;
	socklen_t from_len = sizeof(from);
	if (len > sizeof(to) || netns_socket(n, at->sa_family, SOCK_DGRAM, &fd) < 0)
		return false;
	memcpy(&to, at, len);
	if (connect(fd, at, len) < 0 || getsockname(fd, (struct sockaddr *)&from, &from_len) < 0)
		return false;
	return netns_same_host(&from, &to) || (is_loopback(&from) && is_loopback(&to));
}
