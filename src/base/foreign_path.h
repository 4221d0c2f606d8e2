/*
 * Paths that a person typed for output, by somebody who may be root: whoever owns a folder or a link on the way could
 * have put there what follows, so from there on everything is done with that user's rights (base/foreign). Nothing of
 * root's is written through a user's link, and what is made in a user's folder is the user's.
 */
#pragma once

#include <stdio.h>

#include "base/foreign.h"

/*
 * The first user but root and ourselves to whom something on the way belongs, the path itself included. Returns 1:
 * there is one, *ret; 0: none, or we are not root; -errno. What is not there yet belongs to nobody.
 */
int must_check foreign_path_user(const char *path, struct foreign_user *ret);
/*
 * A variable of the environment that names what is loaded, run or believed. NULL: it is not set, is empty, or a user
 * has a say in what it leads to while we are root (sudo -E and su -m keep a user's variables); that is logged once.
 */
const char *foreign_path_variable(const char *name);
/*
 * open(2) with these flags, O_CLOEXEC and O_NOCTTY, and mode, with the rights of that user. FOREIGN_OTHER: in a user's
 * folder, and no regular file; or in one that others may write to as well (/tmp), and a link, or a file of two names.
 */
int must_check foreign_path_open(const char *path, int flags, mode_t mode, int *ret_fd);
/* The same for a stream to write; fresh: it must not be there yet. NULL, and errno. */
FILE *foreign_path_fopen(const char *path, bool fresh);
/* rename(2) to a typed path, unlink(2), and file_replace with these rights. -errno. */
int must_check foreign_path_rename(const char *from, const char *to);
int must_check foreign_path_unlink(const char *path);
int must_check foreign_path_replace(const char *path, const void *data, size_t len, mode_t mode);
/* act(arg) with the rights of a user, NULL: ourselves; returns what it returns, or -errno where they cannot be had. */
int must_check foreign_act_as(const struct foreign_user *as, int (*act)(void *arg), void *arg);
