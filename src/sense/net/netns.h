/*
 * Sockets in the network namespace of another process, a container's for example (network_namespaces(7)). A socket
 * stays in the namespace in which it was made. A short-lived child enters the namespace (setns(2)), makes the socket
 * and sends it to vigil (unix(7), SCM_RIGHTS); vigil itself never enters it.
 *
 * Entering takes CAP_SYS_ADMIN over the namespace: held by root and by the owner of the user namespace of the
 * container.
 */
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include "sense/world.h"

struct netns {
	int net_fd; /* owned; -1: our own namespace */
	int user_fd; /* owned; user namespace of the process; -1: ours */
	uint64_t inode; /* identifies the namespace; 0: ours */
};

/* Opens the namespace of the process. WORLD_GONE, WORLD_DENIED. */
int must_check netns_open(const struct world *w, pid_t pid, struct netns *ret);
void netns_done(struct netns *n);
/*
 * As socket(2) with SOCK_CLOEXEC and SOCK_NONBLOCK, in that namespace. NULL: ours. -EPERM: vigil may not enter it;
 * -errno.
 */
int must_check netns_socket(const struct netns *n, int family, int type, int *ret_fd);
/* True if the address is one of the host in that namespace. Nothing is sent. */
bool netns_is_own(const struct netns *n, const struct sockaddr *at, socklen_t len);
/* The same for netlink(7): NETLINK_SOCK_DIAG and the like. */
int must_check netns_netlink(const struct netns *n, int protocol, int *ret_fd);
