/*
 * Sockets in the network namespace of another process, a container's for
 * example (network_namespaces(7)). A socket stays in the namespace that it was
 * made in: a short-lived child enters it (setns(2)), makes the socket and
 * hands it over (unix(7), SCM_RIGHTS), and nobody else of us is ever in there.
 *
 * Entering takes CAP_SYS_ADMIN over the namespace: root's, or that of whoever
 * owns the user namespace which the container was made with.
 */
#pragma once

#include <sys/types.h>

#include "sense/world.h"

struct netns {
	int net_fd; /* owned; -1: our own namespace */
	int user_fd; /* owned; of the process, where it is not ours; -1 */
	uint64_t inode; /* says which; 0: our own */
};

/* Where the process is. WORLD_GONE, WORLD_DENIED. */
int must_check netns_open(const struct world *w, pid_t pid, struct netns *ret);
void netns_done(struct netns *n);
/* As socket(2), with SOCK_CLOEXEC and SOCK_NONBLOCK, in there. NULL: ours. -EPERM: we may not enter it; -errno. */
int must_check netns_socket(const struct netns *n, int family, int type, int *ret_fd);
