/*
 * Symbol names as written in the source: C++ (Itanium ABI) and Rust (legacy and v0), by libiberty. Names come from
 * foreign files: a name that would take too much stack, room or depth stays mangled.
 */
#pragma once

#include "base/base.h"

#define DEMANGLE_NAME_MAX 4096               /* longer names are left as they are */
#define DEMANGLE_TEXT_MAX (64 * KIB)

/* malloc'ed; NULL: the name is not mangled, or exceeds a limit. */
char *demangle(const char *name);
