/*
 * The files beside the store's own, by the path of the store ("<state>/vigil.db"): the lock of whoever makes or repairs
 * it, the mark that a reader left, and what is moved aside. And whose rights they are opened with: where root looks at
 * the state directory of a user, who can make anything of any name in there, all of it is done as that user.
 */
#pragma once

#include "base/base.h"

/*
 * act(arg), as the owner of the folder of path if we are root and the owner is not. Returns what it returns. From then
 * on a mapped file of such an owner that is cut off ends the process with a message and status 1.
 */
int must_check store_as_owner(const char *path, int (*act)(void *arg), void *arg);

/*
 * Making and repairing is for one vigil at a time. On a file system without locks, or when the holder hangs, it goes
 * on after busy_ms: at worst two files move aside. Returns a descriptor to close; -1: none.
 */
int store_lock(const char *path, int busy_ms);
/* Moves the main file last: while it is in place, no other vigil starts a new one. note says where to. -errno. */
int must_check store_move_aside(const char *path, const char *why, char note[static 256]);
/* True if a reader left a mark: it met damage that opening the file does not show. */
bool store_suspected(const char *path);
/* Leaves the mark, or takes it away. */
void store_suspect(const char *path, bool on);
