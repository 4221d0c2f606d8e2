#include "sense/fdpass.h"

#include <string.h>
#include <sys/socket.h>

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

int fdpass_send(int to, const void *bytes, size_t len, int fd)
{
	union control control;
	struct iovec part = {(void *)bytes, len};
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
	ssize_t n = sendmsg(to, &m, MSG_NOSIGNAL);
	return n == (ssize_t)len ? 0 : n < 0 ? -errno : -EPIPE;
}

/* The kernel makes as many descriptors as the room for control data holds: CMSG_SPACE would have room for two. */
int fdpass_receive(int from, void *bytes, size_t len, int *ret_fd)
{
	union control control;
	struct iovec part = {bytes, len};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = CMSG_LEN(sizeof(int))};
	int fd = -1;
	ssize_t n;
	do
		n = recvmsg(from, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	if (n != (ssize_t)len || (m.msg_flags & MSG_TRUNC)) {
		closep(&fd);
		return -EPIPE;
	}
	*ret_fd = fd;
	return 0;
}
