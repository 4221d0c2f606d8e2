/*
 * Paths that a person typed for output, by somebody who may be root: whoever owns a folder or a link on the way could
 * have put there what follows, so from there on everything is done with that user's rights (base/foreign). Nothing of
 * root's is written through a user's link, and what is made in a user's folder is the user's.
 */
#pragma once

#include <stdio.h>

#include "base/foreign.h"

/* The uid whose root's files are on a server of files that maps root. */
#define FOREIGN_NOBODY 65534

/*
 * The first user but root and ourselves to whom something on the way belongs, the path itself included. Returns 1:
 * there is one, *ret; 0: none, or we are not root; -errno. What is not there yet belongs to nobody.
 */
int must_check foreign_path_user(const char *path, struct foreign_user *ret);
/*
 * False: we are root, and a user has a say in what the path leads to, also by making it where it is not there yet.
 */
bool foreign_path_is_ours(const char *path);
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
/*
 * open(2) of a path to be read, flags: 0 or O_NONBLOCK. FOREIGN_OTHER: a FIFO, a socket or a device, we are root, and a
 * user has a say in what the path leads to: it might never answer, or never end. /dev/stdin and /dev/fd/N are ours.
 */
int must_check foreign_path_input(const char *path, int flags, int *ret_fd);
/* foreign_path_input and file_slurp_fd; "-" is stdin. */
int must_check foreign_path_slurp(const char *path, size_t max, char **ret_text, size_t *ret_len);
/* What people are told of a result of these two that is not 0. */
const char *foreign_path_why(int r);
/*
 * A folder, which is made with those above it where it is not there; it is opened for reading. Returns 1: on the way is
 * something of *ret_user's, with whose rights it was done; 0: nothing is; -EACCES: it became a user's meanwhile.
 */
int must_check foreign_path_folder(const char *path, mode_t mode, struct foreign_user *ret_user, int *ret_fd);
/* foreign_path_open for a stream to write; fresh: it must not be there yet. NULL, and errno. */
FILE *foreign_path_fopen(const char *path, bool fresh);
/* rename(2) to a typed path, unlink(2), and file_replace with these rights. -errno. */
int must_check foreign_path_rename(const char *from, const char *to);
int must_check foreign_path_unlink(const char *path);
int must_check foreign_path_replace(const char *path, const void *data, size_t len, mode_t mode);
/* act(arg) with the rights of a user, NULL: ourselves; returns what it returns, or -errno where they cannot be had. */
int must_check foreign_act_as(const struct foreign_user *as, int (*act)(void *arg), void *arg);

/*
 * The environment of root's vigil may be a user's: sudo -E and su -m keep it. Variables name programs, libraries and
 * files, for vigil and for libraries that it loads; none is followed to what a user has a say in. Of a vigil that is
 * not root's nothing is changed.
 */

/*
 * Takes out of our environment what would have libraries of TLS, of names and of languages load, run or write something
 * that a user chose. For processes that start nothing of a job's, before such a library is loaded.
 */
void foreign_environ_clean(void);
/* The same of TZ and TZDIR, whose files libc opens as soon as a time is shown, and may wait for. */
void foreign_environ_zone(void);
/* True: we are root, and have the environment of a user who became root, as far as can be known. */
bool foreign_environ_given(void);
/*
 * Where PATH has the program; a name with a slash is taken as it is. False: it has none in whose way no user has a say.
 * An empty or relative part of PATH is a folder of whoever waits there: for root it has nothing.
 */
bool foreign_environ_find(const char *name, char path[static PATH_MAX]);
/* PATH, of root's vigil without the parts that a user has a say in; the usual one if none is left. */
void foreign_environ_path(char *dst, size_t cap);
/* HOME; root's own where a user has a say in it. NULL: there is none. */
const char *foreign_environ_home(void);
