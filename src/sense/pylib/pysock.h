/*
 * The descriptors of connections that a Python thread has in hand: sockets (socket.socket, ssl.SSLSocket) and
 * connections of multiprocessing that are variables of its frames, or attributes of an object that is one (`self` of a
 * handler of http.server). Whoever waits at the other end of such a connection waits for this thread, whichever others
 * its process has. What is in a list or a dict is not looked for: a server keeps all of its clients there.
 *
 * Layout: Modules/socketmodule.h (the descriptor is the first member of a socket), Lib/multiprocessing/connection.py.
 */
#pragma once

#include "sense/python/pyslots.h"

#define PYSOCK_FRAMES 32 /* innermost frames that are looked at */
#define PYSOCK_MOST 16 /* connections of one thread; of more, the innermost */

struct pysock {
	int fd[PYSOCK_MOST];
	size_t n;
};

/*
 * Frames innermost first, of a thread that stands still. What cannot be read is left out. Numbers may be of no
 * descriptor. WORLD_GONE, WORLD_DENIED, -ENOMEM.
 */
int must_check pysock_in_hand(struct pyslots_reader *r, const struct pyframe *frames, size_t n, struct pysock *ret);
