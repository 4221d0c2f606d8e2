/*
 * Who has the lock of a file that a thread tries again and again (sense/proc/lookups): by /proc/locks, and by the
 * descriptor of the holder's that has it, whose link is the file's name. No file of a user's is opened.
 */
#pragma once

#include "sense/proc/lookups.h"

/*
 * The living processes that have a lock of the row's file, each once, but for the row's own; at most cap. A lock that
 * was inherited is told of who took it: if that one has it no more, nobody is.
 */
size_t hanglocks_holders(const struct world *w, const struct lookups_row *r, pid_t *pid, size_t cap);
/* The last part of the file's name, printable; "" if it cannot be told. */
void hanglocks_name(const struct world *w, const struct lookups_row *r, pid_t holder, char *dst, size_t cap);
