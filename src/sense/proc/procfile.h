/*
 * Files that a process named (in its memory, its environment, by an open descriptor), opened as the process itself
 * could: below its root, with the rights of its user (base/foreign.h says what is refused). A path that is not absolute
 * starts at its current folder and may not leave that where the process has another root than vigil.
 *
 * Where the ids of a process differ (a program with the set-user-ID bit), the user is the one who started it. Where
 * such a program has given itself all ids of root, its auxiliary vector still says who did. The user then has one
 * group.
 *
 * Where a user's job is read (world->owner), a process that is root's by now has no user: WORLD_DENIED.
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
/* Whose the process is by its ids alone: a set-user-ID program that has become root wholly is root's. */
int must_check procfile_owner(const struct world *w, pid_t pid, uid_t *ret);

/* How the program of a process was started, from the bytes of /proc/PID/auxv (getauxval(3)), of 64 or 32 bits. */
struct procfile_start {
	bool secure; /* the file's set-user-ID or set-group-ID bit, or its capabilities, gave it rights (AT_SECURE) */
	uid_t uid; /* the real ids at that time */
	gid_t gid;
};

/* -EBADMSG. Pure. */
int must_check procfile_start_parse(struct span auxv, struct procfile_start *ret);
/* WORLD_GONE also of a process that has no memory any more. */
int must_check procfile_start(const struct world *w, pid_t pid, struct procfile_start *ret);

/* Who a process was at some moment. */
struct procfile_who {
	pid_t pid;
	uid_t uid;
	uint64_t start_ticks;
};

enum { PROCFILE_CHANGED = 4 }; /* the pid is another process's, or the process another user's, than it was */

int must_check procfile_who(const struct world *w, pid_t pid, struct procfile_who *ret);
/* O_PATH of the root of the process. */
int must_check procfile_root(const struct world *w, pid_t pid, int *ret_fd);
/* Whether that is another one than vigil's; the file system is not asked. */
int must_check procfile_root_differs(const struct world *w, pid_t pid, bool *ret);
/* flags: FOREIGN_LINKS. A regular file, for reading. */
int must_check procfile_open(const struct world *w, pid_t pid, const char *path, unsigned flags, int *ret_fd);
/* The same for what a process named while it was this one. PROCFILE_CHANGED. */
int must_check procfile_open_of(const struct world *w, const struct procfile_who *who, const char *path, unsigned flags,
				int *ret_fd);
/* A folder, for reading. */
int must_check procfile_folder(const struct world *w, pid_t pid, const char *path, int *ret_fd);
/* How long ago a file or folder was last changed; 0: unknown. Clocks of machines that share it differ. */
uint64_t procfile_changed_ns(const struct world *w, pid_t pid, const char *path);
/*
 * The regular file that the process writes to through one of its descriptors, for reading. A descriptor that was opened
 * for reading only, or for nothing (O_PATH), proves no right to the file: WORLD_DENIED.
 */
int must_check procfile_written(const struct world *w, pid_t pid, int fd, int *ret_fd);
/* True if the flags in the text of /proc/PID/fdinfo/FD let it write. Pure. */
bool procfile_writes_parse(const char *fdinfo);
