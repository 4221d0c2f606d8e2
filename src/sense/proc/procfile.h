/*
 * Files that a process named (in its memory, its environment, by an open descriptor), opened as the process itself
 * could: below its root, with the rights of its user (base/foreign.h says what is refused). A path that is not absolute
 * starts at its current folder and may not leave that where the process has another root than vigil.
 *
 * Where the ids of a process differ (a program with the set-user-ID bit), the user is the one who started it.
 *
 * WORLD_GONE, WORLD_DENIED, WORLD_ABSENT (no such file, or not of the type).
 */
#pragma once

#include "base/foreign.h"
#include "base/text.h"
#include "sense/world.h"

/* From the text of /proc/PID/status. -EBADMSG. Pure. */
int must_check procfile_user_parse(struct span status, struct foreign_user *ret);
int must_check procfile_user(const struct world *w, pid_t pid, struct foreign_user *ret);
/* O_PATH of the root of the process. */
int must_check procfile_root(const struct world *w, pid_t pid, int *ret_fd);
/* flags: FOREIGN_LINKS. A regular file, for reading. */
int must_check procfile_open(const struct world *w, pid_t pid, const char *path, unsigned flags, int *ret_fd);
/* A folder, for reading. */
int must_check procfile_folder(const struct world *w, pid_t pid, const char *path, int *ret_fd);
/*
 * The regular file that the process writes to through one of its descriptors, for reading. A descriptor that was opened
 * for reading only, or for nothing (O_PATH), proves no right to the file: WORLD_DENIED.
 */
int must_check procfile_written(const struct world *w, pid_t pid, int fd, int *ret_fd);
/* True if the flags in the text of /proc/PID/fdinfo/FD let it write. Pure. */
bool procfile_writes_parse(const char *fdinfo);
