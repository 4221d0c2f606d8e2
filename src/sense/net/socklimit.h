/*
 * Time limits that are options of a socket, which /proc and sock_diag do not show: SO_RCVTIMEO and SO_SNDTIMEO of
 * socket(7) end a call that waits, TCP_USER_TIMEOUT of tcp(7) ends a connection whose data are not taken.
 *
 * They are asked of a copy of the descriptor (pidfd_getfd(2), Linux 5.6; it takes the rights of a tracer). Nothing is
 * read from, written to or shut down by the copy. It may be the last one when it is closed, and SO_LINGER would hold
 * whoever closes it. A process that ends does not linger. So a process of its own, which shares the memory and has its
 * own descriptors, makes the copies, asks and ends. The kernel gives a socket that is received the class of its
 * receiver's net_cls and net_prio groups: where these differ, nothing is copied.
 */
#pragma once

#include <sys/types.h>

#include "sense/world.h"

struct socklimit {
	pid_t pid;
	int fd;
	uint64_t inode; /* of the socket: another one that has got the number meanwhile is not asked */
	bool sends; /* SO_SNDTIMEO, else SO_RCVTIMEO */
	bool known; /* it could be asked; false before */
	uint64_t limit_ns; /* 0: none */
	uint64_t user_ns; /* TCP_USER_TIMEOUT; 0: none, or not TCP */
};
/* Asks all; by pid, so that one process is opened once. */
void socklimit_read(const struct world *w, struct socklimit *s, size_t n);
