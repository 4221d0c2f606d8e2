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

/*
 * A descriptor of /dev/kmsg, borrowed: one for each thread, until it ends. Waits for nothing: the first call asks, and
 * until the door has answered this is -EAGAIN. Other -errno: there is no door, or it refuses; the next call asks again.
 */
int must_check rightsdoor_kmsg(int *ret_fd);
/*
 * As socket(2) in the network namespace of net_fd. -errno. -ETIMEDOUT: no answer in 3 s; then nobody is asked for a
 * minute. Not for a loop that others wait for.
 */
int must_check rightsdoor_socket(int net_fd, int family, int type, int protocol, int *ret_fd);

/*
 * The door itself. A connection of somebody who is not root is not admitted, and serving it is -EPERM. Serving answers
 * the one request that has come, and does not wait where the connection does not. Either way the caller closes it.
 */
bool must_check rightsdoor_admits(int connection);
int must_check rightsdoor_serve(int connection);
