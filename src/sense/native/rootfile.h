/*
 * Files as a process sees them: paths are resolved below its own root (proc(5), /proc/PID/root), symbolic links
 * included, so that a link in a container cannot lead to files of the host (openat2(2), RESOLVE_IN_ROOT). Only regular
 * files are opened, never FIFOs or devices.
 */
#pragma once

#include <sys/types.h>

#include "sense/world.h"

enum { ROOTFILE_LINKS = 1 /* the last part of the path may be a symbolic link */ };

/* path: absolute. pid 0: our own root. WORLD_ABSENT, WORLD_DENIED, WORLD_GONE. */
int must_check rootfile_open(const struct world *w, pid_t pid, const char *path, unsigned flags, int *ret_fd);
/*
 * Opens the folder of an absolute path below a root that is held open, and gives the last part of the path: a file
 * opened there without following links is the process's own. -errno.
 */
int must_check rootfile_folder(int root_fd, const char *path, int *ret_fd, const char **ret_name);
/* True if the process has another root than vigil. */
bool rootfile_differs(const struct world *w, pid_t pid);
