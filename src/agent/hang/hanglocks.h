/*
 * Who has the lock of a file that a thread tries again and again (sense/proc/lookups): by /proc/locks, and by the
 * descriptor of the holder's that has it, whose link is the file's name. No file of a user's is opened.
 */
#pragma once

#include "sense/proc/lookups.h"

struct hanglocks_holder {
	pid_t pid;
	int fd; /* its descriptor that has the lock */
};

#define HANGLOCKS_HOLDERS 8 /* of one lock that are told */

/*
 * The processes that have a lock of the row's file by a descriptor of theirs, each once, into ret; their number. A lock
 * that was inherited is told of who took it: if that one has it no more, nobody is.
 */
size_t hanglocks_holders(const struct world *w, const struct lookups_row *r,
			 struct hanglocks_holder ret[static HANGLOCKS_HOLDERS]);
/* The last part of the file's name, printable; "" if it cannot be told. */
void hanglocks_name(const struct world *w, const struct hanglocks_holder *h, char *dst, size_t cap);
