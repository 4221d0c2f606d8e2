/* Shared by the files that implement sense/wait/fdholders.h. */
#pragma once

#include <dirent.h>

#include "sense/wait/fdholders.h"

#define FDLINK_MAX 4096

/* Opens the folder of the descriptors of a process. WORLD_GONE, WORLD_DENIED, -ENOMEM. */
int must_check fddir_open(const struct world *w, pid_t pid, bool leader_ended, DIR **ret, char info_dir[static 40]);
/* The next descriptor and its link, which is borrowed from `link`; false at the end, *r then says if all was read. */
bool fddir_next(DIR *dir, int *ret_fd, struct span *ret_link, char link[static FDLINK_MAX], int *r);
struct fdentry fdentry_of(int fd, struct span link);
/* True if a thread of these, which are all of the process, has descriptors of its own: those are not listed. */
bool threads_part_files(const struct world *w, const struct kin *k, const pid_t *tids, size_t n);
