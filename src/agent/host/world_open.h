/*
 * Opens the outside: the live machine, or a recorded one (--world DIR, for
 * tests and for reports made elsewhere). The only place that names /proc,
 * /sys and /dev.
 */
#pragma once

#include "base/fault.h"
#include "sense/world.h"

/* dir NULL: the live machine. Absent parts are -1, not an error; no /proc is (-ENOENT). */
int must_check world_open(const char *dir, struct world *ret, struct fault *f);
/* For those who read logs by their paths: the file behind a descriptor of a process of the living world. */
char *world_fd_path(pid_t pid, int fd, char dst[static 32]);
void world_close(struct world *w);
