/*
 * A variable of the environment that a process has now. /proc/PID/environ keeps what it was started with; what the
 * program sets itself (setenv(3), os.environ) is in its memory, where the C library's `environ` leads.
 *
 * glibc and musl, 64 bit. The symbol is in the program itself where the linker has copied it there.
 */
#pragma once

#include "sense/proc/remote.h"

/*
 * Copies the value of a variable, cut to cap - 1 bytes. WORLD_ABSENT: it is not set, or there is no environment to be
 * found; WORLD_GONE, WORLD_DENIED, REMOTE_FAULT, -errno.
 */
int must_check livenv_read(const struct world *w, struct remote *r, const char *name, char *dst, size_t cap);
