/*
 * Who has the lock of a file that a thread tries again and again (sense/proc/lookups): by /proc/locks, and by the
 * descriptor of the holder's that has it, whose link is the file's name. No file of a user's is opened.
 */
#pragma once

#include "sense/proc/lookups.h"
#include "sense/wait/waitfacts.h"

struct hanglocks_holder {
	pid_t pid;
	int fd; /* its descriptor that has the lock */
};

#define HANGLOCKS_HOLDERS 8 /* of one lock that are told */

/*
 * The processes that have a lock of the row's file by a descriptor of theirs, but for who tries, each once, into ret;
 * their number. Who has a lock by open file description (F_OFD_SETLK, flock that was inherited) is looked for among the
 * processes of the facts, then among the machine's.
 */
size_t hanglocks_holders(const struct world *w, const struct lookups_row *r, const struct waitfacts *facts,
			 struct hanglocks_holder ret[static HANGLOCKS_HOLDERS]);
/* The last part of the file's name, printable; "" if it cannot be told. */
void hanglocks_name(const struct world *w, const struct hanglocks_holder *h, char *dst, size_t cap);
