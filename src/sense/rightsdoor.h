/*
 * The node service has neither the right to open the kernel's log (CAP_SYSLOG) nor the one to enter network namespaces
 * (CAP_SYS_ADMIN). A small program beside it, vigil-rights, has them (packaging/systemd/vigil-rights.service) and hands
 * over descriptors: of /dev/kmsg, and of sockets that it makes in a namespace whose descriptor it was given. It reads
 * no name and no memory of anybody.
 *
 * It serves root only, and is asked by root only. Without systemd there is no such program, and asking is -ENOENT.
 */
#pragma once

#include "base/base.h"

#define RIGHTSDOOR_PATH "/run/vigil-rights.socket"

/* A descriptor of /dev/kmsg with a position of its own. -errno: there is no door, or it refuses. Waits at most 10 s. */
int must_check rightsdoor_kmsg(int *ret_fd);
/* As socket(2) in the network namespace of net_fd. -errno. Waits at most 10 s. */
int must_check rightsdoor_socket(int net_fd, int family, int type, int protocol, int *ret_fd);

/* The door itself: answers one request. -errno: the connection is of no use; the caller closes it. */
int must_check rightsdoor_serve(int connection);
