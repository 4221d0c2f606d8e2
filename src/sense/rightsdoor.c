#include "sense/rightsdoor.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/netlink.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sense/fdpass.h"

enum what { WHAT_KMSG = 1, WHAT_SOCKET };

struct ask {
	uint32_t what;
	int32_t family, type, protocol;
};

/* A program that has to be started first, on a machine that is out of memory, takes seconds. */
static const struct timeval answer_time = {.tv_sec = 10};

/* Only root's door is used, and only root is served. */
static bool peer_is_root(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && len == sizeof(peer) && peer.uid == 0;
}

static int door_connect(int *ret_fd)
{
	const struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = RIGHTSDOOR_PATH};
	if (geteuid() != 0)
		return -EPERM;
	cleanup(closep) int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &answer_time, sizeof(answer_time)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &answer_time, sizeof(answer_time)) < 0 ||
	    connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
		return -errno;
	if (!peer_is_root(fd))
		return -EPERM;
	*ret_fd = take_fd(&fd);
	return 0;
}

static int door_ask(const struct ask *ask, int with_fd, int *ret_fd)
{
	cleanup(closep) int door = -1, fd = -1;
	int32_t result = -EPIPE;
	int r = door_connect(&door);
	if (r == 0)
		r = fdpass_send(door, ask, sizeof(*ask), with_fd);
	if (r == 0)
		r = fdpass_receive(door, &result, sizeof(result), &fd);
	if (r == 0)
		r = result < 0 ? result : fd < 0 ? -EPIPE : 0;
	if (r == 0)
		*ret_fd = take_fd(&fd);
	return r;
}

int rightsdoor_kmsg(int *ret_fd)
{
	const struct ask ask = {.what = WHAT_KMSG};
	return door_ask(&ask, -1, ret_fd);
}

int rightsdoor_socket(int net_fd, int family, int type, int protocol, int *ret_fd)
{
	const struct ask ask = {.what = WHAT_SOCKET, .family = family, .type = type, .protocol = protocol};
	return door_ask(&ask, net_fd, ret_fd);
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

int rightsdoor_serve(int connection)
{
	cleanup(closep) int given = -1, fd = -1;
	struct ask ask;
	if (setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &answer_time, sizeof(answer_time)) < 0 ||
	    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &answer_time, sizeof(answer_time)) < 0)
		return -errno;
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
