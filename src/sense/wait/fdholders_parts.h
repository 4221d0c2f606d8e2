/* Shared by the files that implement sense/wait/fdholders.h. */
#pragma once

#include <dirent.h>

#include "sense/wait/fdholders.h"

#define FDLINK_MAX 4096

/* Opens the folder of the descriptors of a process. WORLD_GONE, WORLD_DENIED, -ENOMEM. */
int must_check fddir_open(const struct world *w, pid_t pid, bool leader_ended, DIR **ret, char info_dir[static 40]);
/* tid 0: those of the main thread. */
int must_check fddir_open_thread(const struct world *w, pid_t pid, pid_t tid, DIR **ret, char info_dir[static 40]);
/* The next descriptor and its link, which is borrowed from `link`; false at the end, *r then says if all was read. */
bool fddir_next(DIR *dir, int *ret_fd, struct span *ret_link, char link[static FDLINK_MAX], int *r);
struct fdentry fdentry_of(int fd, struct span link);
/* Keeps of these, which are all threads of the process, those that have descriptors of their own; their number. */
size_t threads_part_files(const struct world *w, const struct kin *k, pid_t *tids, size_t n);
