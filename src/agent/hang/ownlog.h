/*
 * Where a process that vigil did not start writes its output, if that can serve as its log: regular files behind
 * descriptors 1 and 2, on this machine (a dead server must keep nobody), that we may read. A file that is appended to and
 * is older than the process may hold what an earlier run has said, and is none.
 */
#pragma once

#include "sense/proc/proc.h"

#define OWNLOG_PATH 32

/* True if /proc/PID/fdinfo/FD shows O_APPEND, or no flags at all. Pure. */
bool ownlog_appends_parse(const char *fdinfo);
/* ret[0] of stdout, ret[1] of stderr: "/proc/4242/fd/1", "" where there is none. One file for both is told once. */
void ownlog_find(const struct world *w, const struct proc_id *id, char ret[static 2][OWNLOG_PATH]);
