/*
 * Locks of files: /proc/locks, and the lines "lock:" of /proc/PID/fdinfo/FD (kernel: filesystems/proc.rst,
 * filesystems/locks.rst). The file lists only locks of processes of our own pid namespace.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"

enum filelock_type { FILELOCK_FLOCK, FILELOCK_POSIX, FILELOCK_OFD };

struct filelock {
	enum filelock_type type;
	bool write;
	bool waits; /* for the lock in the lines above it */
	pid_t pid; /* who took it; -1: told for no OFD lock */
	uint32_t major, minor;
	uint64_t inode;
	uint64_t start, end; /* bytes, inclusive; UINT64_MAX: to the end of the file */
};

/* One line of /proc/locks; leases and the like are -EBADMSG, too. Pure. */
int must_check filelock_parse(struct span line, struct filelock *ret);
/* True if `held` can keep a wait for `wanted` from ending; pid of wanted: the process that waits. Pure. */
bool filelock_blocks(const struct filelock *held, const struct filelock *wanted);
