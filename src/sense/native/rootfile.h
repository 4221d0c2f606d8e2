/*
 * Files as a process sees them: paths are resolved below its own root (proc(5), /proc/PID/root), symbolic links
 * included, so that a link in a container cannot lead to files of the host (openat2(2), RESOLVE_IN_ROOT). Only regular
 * files are opened, never FIFOs or devices. The rights are those of the process's user (sense/proc/procfile), or of one
 * that the caller names; with pid 0 and none named they are vigil's own: not for a path that a process has a say in.
 */
#pragma once

#include <sys/types.h>

#include "base/foreign.h"
#include "sense/world.h"

enum {
	ROOTFILE_LINKS = 1, /* the last part of the path may be a symbolic link */
	ROOTFILE_OURS = 2, /* below our own root, with the rights of the process's user all the same */
};

/* Below whose root, with whose rights. */
struct rootfile_view {
	pid_t pid; /* 0: our own root */
	const struct foreign_user *as; /* borrowed; NULL: the user of the process, with pid 0 ourselves */
};

/* path: absolute. WORLD_ABSENT, WORLD_DENIED, WORLD_GONE. */
int must_check rootfile_open_as(const struct world *w, const struct rootfile_view *view, const char *path,
				unsigned flags, int *ret_fd);
/* The same with the rights of the process's user. */
int must_check rootfile_open(const struct world *w, pid_t pid, const char *path, unsigned flags, int *ret_fd);
/* True if the process has another root than vigil. */
bool rootfile_differs(const struct world *w, pid_t pid);
