#include "sense/rightsdoor.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "sense/fdpass.h"

enum what { WHAT_KMSG = 1, WHAT_SOCKET };

struct ask {
	uint32_t what;
	int32_t family, type, protocol;
};

/*
 * For the door's answer: a program that has to be started first, on a machine that is out of memory, takes seconds. Who
 * did not answer is left alone for a while.
 */
static const int socket_wait_ms = 3000;
static const uint64_t shut_ns = 60 * NS_PER_S;

/* Only root's door is used, and only root is served. */
static bool peer_is_root(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && len == sizeof(peer) && peer.uid == 0;
}

/* Sends the question and waits for nothing. -EAGAIN: the door has more askers than it can hold. */
static int door_begin(const struct ask *ask, int with_fd, int *ret_door)
{
	const struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = RIGHTSDOOR_PATH};
	if (geteuid() != 0)
		return -EPERM;
	cleanup(closep) int door = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (door < 0 || connect(door, (const struct sockaddr *)&at, sizeof(at)) < 0)
		return -errno;
	if (!peer_is_root(door))
		return -EPERM;
	int r = fdpass_send(door, ask, sizeof(*ask), with_fd);
	if (r == 0)
		*ret_door = take_fd(&door);
	return r;
}

/* -EAGAIN: no answer yet. */
static int door_take(int door, int *ret_fd)
{
	cleanup(closep) int fd = -1;
	int32_t result = -EPIPE;
	int r = fdpass_receive(door, &result, sizeof(result), &fd);
	if (r == 0)
		r = result < 0 ? result : fd < 0 ? -EPIPE : 0;
	if (r == 0)
		*ret_fd = take_fd(&fd);
	return r;
}

int rightsdoor_kmsg(int *ret_fd)
{
	static _Thread_local struct {
		pid_t of; /* whose connection it is: a fork must not take its parent's answer */
		int door, fd;
	} log = {0, -1, -1};
	const struct ask ask = {.what = WHAT_KMSG};
	int r = 0;
	if (log.of != getpid())
		closep(&log.door);
	log.of = getpid();
	if (log.fd < 0 && log.door < 0)
		r = door_begin(&ask, -1, &log.door);
	if (log.fd < 0 && r == 0)
		r = door_take(log.door, &log.fd);
	if (log.door >= 0 && r != -EAGAIN)
		closep(&log.door);
	if (r == 0)
		*ret_fd = log.fd;
	return r;
}

int rightsdoor_socket(int net_fd, int family, int type, int protocol, int *ret_fd)
{
	static _Thread_local uint64_t shut_until_ns;
	const struct ask ask = {.what = WHAT_SOCKET, .family = family, .type = type, .protocol = protocol};
	cleanup(closep) int door = -1;
	if (clock_mono_ns() < shut_until_ns)
		return -ETIMEDOUT;
	int r = door_begin(&ask, net_fd, &door);
	if (r < 0)
		return r;
	struct pollfd p = {.fd = door, .events = POLLIN};
	if (poll(&p, 1, socket_wait_ms) == 0) {
		shut_until_ns = clock_mono_ns() + shut_ns;
		return -ETIMEDOUT;
	}
	return door_take(door, ret_fd);
}

/* ---- the other side ---- */

static bool is_plain_socket(const struct ask *ask)
{
	int type = ask->type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (ask->family == AF_NETLINK)
		return type == SOCK_DGRAM && ask->protocol == NETLINK_SOCK_DIAG;
	return (ask->family == AF_INET || ask->family == AF_INET6 || ask->family == AF_UNIX) &&
	       (type == SOCK_STREAM || type == SOCK_DGRAM) && ask->protocol == 0;
}

/* A child enters the namespace, makes the socket and answers; the program itself never leaves its own. */
static int serve_socket(int connection, const struct ask *ask, int net_fd)
{
	if (net_fd < 0 || !is_plain_socket(ask) || ioctl(net_fd, NS_GET_NSTYPE) != CLONE_NEWNET)
		return -EINVAL;
	pid_t pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		int fd = setns(net_fd, CLONE_NEWNET) < 0
				 ? -1
				 : socket(ask->family, ask->type | SOCK_CLOEXEC, ask->protocol);
		int32_t result = fd < 0 ? -errno : 0;
		_exit(fdpass_send(connection, &result, sizeof(result), fd) == 0 ? 0 : 1);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return 0;
}

static int serve_kmsg(int *ret_fd)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

bool rightsdoor_admits(int connection)
{
	return peer_is_root(connection);
}

int rightsdoor_serve(int connection)
{
	cleanup(closep) int given = -1, fd = -1;
	struct ask ask;
	if (!peer_is_root(connection))
		return -EPERM;
	int r = fdpass_receive(connection, &ask, sizeof(ask), &given);
	if (r < 0)
		return r;
	int32_t result = -EINVAL;
	if (ask.what == WHAT_SOCKET && (result = serve_socket(connection, &ask, given)) == 0)
		return 0;
	if (ask.what == WHAT_KMSG)
		result = serve_kmsg(&fd);
	return fdpass_send(connection, &result, sizeof(result), fd);
}
