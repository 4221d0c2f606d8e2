#include "sense/net/netns.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "sense/fdpass.h"
#include "sense/rightsdoor.h"

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

static _Noreturn void netns_child_run(const struct netns *n, int to, int family, int type, int protocol)
{
	int r = enter(n), fd = -1;
	if (r == 0) {
		fd = socket(family, type, protocol);
		r = fd < 0 ? -errno : 0;
	}
	_exit(fdpass_send(to, &r, sizeof(r), fd) == 0 ? 0 : 1);
}

static int take_over(int from, int *ret_fd)
{
	cleanup(closep) int fd = -1;
	int result = -EPIPE, r = fdpass_receive(from, &result, sizeof(result), &fd);
	if (r == 0)
		r = result == 0 && fd < 0 ? -EPIPE : result;
	if (r == 0)
		*ret_fd = take_fd(&fd);
	return r;
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
	/* the node service has no right to enter, and a door that has */
	if (r == -EPERM && rightsdoor_socket(n->net_fd, family, type, protocol, ret_fd) == 0)
		return 0;
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
