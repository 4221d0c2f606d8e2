/*
 * Files as a process sees them: paths are looked up below its own root
 * (proc(5), /proc/PID/root), symbolic links included, so that a link of a
 * container cannot lead into our files (openat2(2), RESOLVE_IN_ROOT). Regular
 * files only, and nothing else is ever opened: not a FIFO, not a device.
 */
#pragma once

#include <sys/types.h>

#include "sense/world.h"

enum { ROOTFILE_LINKS = 1 /* the last part of the path may be a symbolic link */ };

/* path: absolute. pid 0: our own root. WORLD_ABSENT, WORLD_DENIED, WORLD_GONE. */
int must_check rootfile_open(const struct world *w, pid_t pid, const char *path, unsigned flags, int *ret_fd);
/*
 * The folder of an absolute path, looked up below a root that is held open, and the last part of the path: what is opened
 * there without following a link is the process's own. -errno.
 */
int must_check rootfile_folder(int root_fd, const char *path, int *ret_fd, const char **ret_name);
/* Whether the process has another root than we. */
bool rootfile_differs(const struct world *w, pid_t pid);
