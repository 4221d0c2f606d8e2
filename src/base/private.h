/*
 * What vigil keeps is for its user alone; what a vigil of root keeps is for root and the group "vigil" as well. No file
 * and no folder of a state directory may be read by all others. A folder of root's state may be passed (x) where a user
 * must get to something of his own below it.
 *
 * Modes come from private_file() and private_mkdirs(), so they hold in every command; the umask of the programs that
 * run for long holds for what a library makes. Access lists are those of acl(5).
 *
 * Errors: -errno.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

/* Members of this group may read what a vigil of root keeps. */
#define PRIVATE_GROUP "vigil"

/* Of a file: 0640 for root, else 0600. */
mode_t private_file(void);
/* From now on nothing that this process makes is for all others. */
void private_umask(void);
/* In a child that becomes somebody else's program: the umask that vigil was started with. System calls only. */
void private_umask_undo(void);

/* mkdir -p with 0750 for root, else 0700. */
int must_check private_mkdirs(const char *path);
/*
 * Makes the state directory. Where it is there, takes the rights of others away from what vigil keeps in it, and from
 * the directory itself where nothing else is in it. Files of other programs and of other users stay as they are.
 */
int must_check private_state(const char *path);
/* Makes a folder in a state directory that users of root's vigil must be able to pass. */
int must_check private_passed_folder(const char *path);
/*
 * Makes the folder of a user in the state directory of root, "<state>/users/<uid>": it is root's, the user may read it
 * and what comes to lie in it, and change nothing. dst gets its path. -EOPNOTSUPP: the file system has no access lists.
 */
int must_check private_user_folder(const char *state, uid_t uid, char *dst, size_t cap);
