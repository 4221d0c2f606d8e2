/*
 * Opens a world: the live machine, or a recorded one (--world DIR, for tests
 * and for reports made on another machine). The only file that names /proc,
 * /sys and /dev.
 */
#pragma once

#include "base/fault.h"
#include "base/text.h"
#include "sense/world.h"

/* dir NULL: the live machine. Parts that are absent are -1; only a missing /proc is an error (-ENOENT). */
int must_check world_open(const char *dir, struct world *ret, struct fault *f);
/* Path of the file behind a descriptor of a process on the live machine, for readers of logs. Returns dst. */
char *world_fd_path(pid_t pid, int fd, char dst[static 32]);
/* Takes such a path apart. False: another kind of path. Pure. */
bool world_fd_parse(const char *path, pid_t *ret_pid, int *ret_fd);
void world_close(struct world *w);
