/* Paths as text: nothing here opens a file. Pure. */
#pragma once

#include "base/base.h"

/* What follows the last '/'; the whole path if it has none. Borrowed from the argument. */
const char *path_name(const char *path);
/* Cut the last component off, and the '/' before it: "/a/b" becomes "/a", "/a" becomes "". False: there was no '/'. */
bool path_cut(char *path);
