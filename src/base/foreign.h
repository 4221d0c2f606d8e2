/*
 * The door for foreign names: opens, makes and removes files whose names another user could have chosen (a path from a
 * job's environment or memory, anything in its folders, anything below its root). Everything is done with the rights of
 * that user, so that nothing is read, made or removed that the user could not have read, made or removed alone.
 *
 * What is opened is looked at first (O_PATH): a device, a FIFO, a socket or a folder where a file is expected is never
 * opened. Links that the kernel makes (/proc/PID/fd and others) are refused. No open waits for the other end of a FIFO.
 *
 * A file system that does not answer in 3 s costs those 3 s once (-ETIMEDOUT): what is not on a disk or in the memory
 * of this machine is looked at, opened and its first byte read in a helper process. A folder that did not answer is
 * left alone for a minute. What root mounted from a server and stops answering after that holds whoever reads the
 * descriptor. Where any user may answer (FUSE, or an overlay over it, that is no mount of root's) the helper reads the
 * file and a copy is handed out: its owner, size and time of modification are the file's, foreign_is_copy has its
 * inode. Of more than 16 MiB the last 4 are copied, the rest reads as a hole; where 32 MiB of copies are open, it is
 * -EFBIG. Folders and files to be written to are FOREIGN_OTHER there.
 *
 * Changing the user is per thread and lasts for one call (setfsuid(2)). Where it is not possible to a vigil of root
 * (CAP_SETUID and CAP_SETGID are missing), nothing is opened. Without root nothing is changed: the rights are our own.
 *
 * Errors: -errno of the call that failed. FOREIGN_OTHER: it is not of the expected type, or not the user's own.
 */
#pragma once

#include <limits.h>
#include <sys/types.h>

#include "base/base.h"

#define FOREIGN_GROUPS 64

enum { FOREIGN_OTHER = 1 };

struct foreign_user {
	uid_t uid;
	gid_t gid;
	size_t n_groups; /* at most FOREIGN_GROUPS; membership in more is not used */
	gid_t group[FOREIGN_GROUPS];
};

enum {
	FOREIGN_IN_ROOT = 1, /* dirfd is the root: "/" and ".." and all links stay below it (openat2(2)) */
	FOREIGN_LINKS = 2, /* the last part of the path may be a symbolic link */
	FOREIGN_ABOVE = 4, /* foreign_mkdir makes missing folders above as well */
	/*
	 * A person typed this path: links of the kernel (/dev/stdin) are followed, and a file system that does not
	 * answer is waited for, as any other command waits.
	 */
	FOREIGN_TYPED = 8,
};

/* A user's name and group, from the machine's own file: asking a directory service may take long. False: none there. */
bool foreign_account(uid_t uid, char name[static LOGIN_NAME_MAX], gid_t *ret_group);
/*
 * Fills ret with the owner of an open file or folder, and returns it; NULL, ourselves, where that fails. The file's
 * group is used only where the owner is in it, by the machine's own files; else the owner's own, or one without rights.
 */
const struct foreign_user *foreign_owner(int fd, struct foreign_user *ret);

struct foreign_place {
	int dirfd; /* as of openat(2); borrowed */
	const struct foreign_user *as; /* borrowed; NULL: ourselves, for files of which a person gave us the path */
	unsigned flags;
};

/* A regular file, for reading. */
int must_check foreign_open(const struct foreign_place *at, const char *path, int *ret_fd);
/*
 * A regular file, for reading, in a folder that vigil keeps or a person typed: with the rights of the folder's owner,
 * who could have put anything there. The last part of the path may be no link.
 */
int must_check foreign_open_kept(const char *path, int *ret_fd);
/* True: a copy as above, which does not grow with the file. ret_inode, the file's, may be NULL. */
bool foreign_is_copy(int fd, uint64_t *ret_inode);
/*
 * As foreign_open, of a file that belongs to the user, or to root: for names that anybody could have taken before, as
 * in /tmp, and content that is believed. FOREIGN_OTHER: it is another user's.
 */
int must_check foreign_open_own(const struct foreign_place *at, const char *path, int *ret_fd);
/* The same as foreign_open for reading and writing. */
int must_check foreign_open_both(const struct foreign_place *at, const char *path, int *ret_fd);
/* The writing end of a FIFO, which does not block. -ENXIO: nobody reads. */
int must_check foreign_open_fifo(const struct foreign_place *at, const char *path, int *ret_fd);
/* A folder, for reading; never through a link as the last part unless FOREIGN_LINKS. */
int must_check foreign_folder(const struct foreign_place *at, const char *path, int *ret_fd);
/* A regular file that is held as O_PATH or otherwise: opens it again with the rights of the user. */
int must_check foreign_reopen(int seen_fd, const struct foreign_user *as, int access, int *ret_fd);
/* Makes a folder, or takes one that is there; it is then opened, and is the user's. */
int must_check foreign_mkdir(const struct foreign_place *at, const char *path, mode_t mode, int *ret_fd);
/* Makes a file that is not there (-EEXIST), for reading and writing, in the folder dirfd itself. */
int must_check foreign_create(const struct foreign_place *at, const char *name, mode_t mode, int *ret_fd);
/* Writes a file of a few bytes beside it ("<name>.new") and renames it, both in the folder dirfd itself. */
int must_check foreign_replace(const struct foreign_place *at, const char *name, const void *data, size_t len,
			       mode_t mode);
/* Copies a regular file that it opens as foreign_open does; the copy is vigil's own (file_copy_fd). */
int must_check foreign_copy(const struct foreign_place *at, const char *path, int to_dir, const char *to_name);
/* unlinkat(2); a link is removed, not followed. */
int must_check foreign_unlink(const struct foreign_place *at, const char *path, int flags);
/* True of a helper of this process that stays: who lists a job's processes leaves it out as it leaves itself. */
bool foreign_is_own_helper(pid_t pid);
