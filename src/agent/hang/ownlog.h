/*
 * Finds the files that a process that vigil did not start writes its output into, where they can serve as its log:
 * regular files behind descriptors 1 and 2, open for writing, readable by the user of the process, and on this machine,
 * because a dead file server would block the reader. A file that is appended to and is older than the process may hold
 * output of an earlier run and does not count.
 */
#pragma once

#include "sense/proc/proc.h"

#define OWNLOG_PATH 32

/* True if /proc/PID/fdinfo/FD shows O_APPEND, or no flags at all. Pure. */
bool ownlog_appends_parse(const char *fdinfo);
/* ret[0] of stdout, ret[1] of stderr: "/proc/4242/fd/1"; "": none. One file for both is in ret[0] only. */
void ownlog_find(const struct world *w, const struct proc_id *id, char ret[static 2][OWNLOG_PATH]);
