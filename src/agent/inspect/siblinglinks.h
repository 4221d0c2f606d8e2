/*
 * Whether programs that were started side by side are linked with each other: trials of a sweep are not, ranks are. A
 * link is a connection (TCP or unix) whose ends two of them have, a file that both have mapped shared and writable, or
 * a pipe that both have and their parent has not. Forks have all that their parent had open or mapped, so of them only
 * connections count. A server between them that is none of them is no link: trials too report to one.
 *
 * Reads links of descriptors, mappings and the tables of sockets; that may take some milliseconds.
 */
#pragma once

#include <sys/types.h>

#include "sense/world.h"

#define SIBLINGLINKS_MOST 64 /* of more nothing is said */

struct siblinglinks_one {
	pid_t pid;
	bool forked;
};

/* True: each is linked with each other one, over others of them perhaps. False: not, or it cannot be read. */
bool siblinglinks_join(const struct world *w, pid_t parent, const struct siblinglinks_one *p, size_t n);
