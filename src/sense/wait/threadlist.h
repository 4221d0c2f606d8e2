/*
 * The threads of a process, their small files under /proc/PID/task/TID, and whether its control group is frozen
 * (kernel: filesystems/proc.rst, admin-guide/cgroup-v2.rst and cgroup-v1/freezer-subsystem.rst).
 * Results other than 0: WORLD_GONE, WORLD_DENIED and WORLD_ABSENT of sense/world.h.
 */
#pragma once

#include <sys/types.h>

#include "sense/world.h"

/* Thread ids of a process, malloc'ed, ascending. WORLD_GONE. */
int must_check threads_read(const struct world *w, pid_t pid, pid_t **ret, size_t *ret_n);

/* One file of a thread that the kernel gives in one read ("stat", "wchan"), terminated and cut at cap - 1 bytes. */
int must_check task_file_read(const struct world *w, pid_t pid, pid_t tid, const char *file, char *buf, size_t cap,
			      size_t *ret_len);
/* The kernel function in which the thread sleeps; "" for none ("0" in the file). */
int must_check task_wchan_read(const struct world *w, pid_t pid, pid_t tid, char *dst, size_t cap);
/* Name of a thread or process; "?" if it is gone. pid 0: tid is the thread that leads its process. */
const char *task_comm(const struct world *w, pid_t pid, pid_t tid, char dst[static 16]);

/*
 * True if the freezer of its control group holds the process; where: name of the group. Finding the group reads the
 * table of mounts, so that result is cached for a minute.
 */
bool process_is_frozen(const struct world *w, pid_t pid, char *where, size_t cap);
