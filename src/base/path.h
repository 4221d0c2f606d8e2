/* Paths as text: nothing here opens a file. Pure. */
#pragma once

#include "base/base.h"

/* What follows the last '/'; the whole path if it has none. Borrowed from the argument. */
const char *path_name(const char *path);
/*
 * "." and "..", which every listing has. Other names that begin with a dot are as good as any: who may choose them must
 * not be able to hide by one.
 */
bool path_is_dots(const char *name);
/* Cut the last component off, and the '/' before it: "/a/b" becomes "/a", "/a" becomes "". False: there was no '/'. */
bool path_cut(char *path);
/* The path, printable, for a sentence; of one of more than `most` bytes "…" and its end, which says most. */
void path_show(const char *path, size_t most, char *dst, size_t cap);
