/*
 * Names as their author wrote them: C++ (Itanium ABI) and Rust (legacy and
 * v0), by libiberty. Names come out of foreign files: what would take too
 * much stack, room or depth stays as the linker has it.
 */
#pragma once

#include "base/base.h"

#define DEMANGLE_NAME_MAX 4096               /* longer names are left as they are */
#define DEMANGLE_TEXT_MAX (64 * KIB)

/* malloc'ed; NULL: it is no such name, or too much. */
char *demangle(const char *name);
