/*
 * The machine that is read: its /proc, /sys, control groups, shared memory, kernel log and clocks. It is opened once by
 * agent/host/world_open and given to every reader, so that tests can give a recorded machine (a directory with proc/,
 * sys/ and cgroup/ in it) instead of the real one.
 *
 * The descriptors stay open as long as the world and are borrowed by its users. A descriptor is -1 when that part of
 * the machine is absent or may not be read; readers then return WORLD_ABSENT.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

enum {
	WORLD_ABSENT = 1, /* the machine has no such file, or hides it from us */
	WORLD_DENIED = 2, /* it exists, and we may not read it */
	WORLD_GONE = 3,   /* the process or group ended while it was read */
};

struct world {
	int proc_fd;   /* /proc */
	int sys_fd;    /* /sys */
	int cgroup_fd; /* /sys/fs/cgroup */
	int shm_fd;    /* /dev/shm */
	int kmsg_fd;   /* /dev/kmsg, O_NONBLOCK, positioned by its reader */
	bool kmsg_denied; /* it exists, and we may not open it */
	/*
	 * Whose job is read, while it is one's; 0: root's, or no job. What processes of a user's job name is not opened
	 * with root's rights (sense/proc/procfile).
	 */
	uid_t owner;
	bool recorded; /* a recorded tree: no live-only calls (pidfd, BPF, journal) */
	char root[256];      /* "" for the live machine; else the recorded tree */
	uint64_t page_bytes;
	uint64_t ticks_per_s; /* unit of start times in /proc/PID/stat */
	uint64_t (*mono_ns)(void);
	int64_t (*unix_ms)(void);
};

/* Converts -errno of a file of a process or group to WORLD_GONE or WORLD_DENIED; other values stay unchanged. */
static inline int world_condition(int r)
{
	switch (r) {
	case -ENOENT:
	case -ESRCH:
	case -ENODEV:
		return WORLD_GONE;
	case -EACCES:
	case -EPERM:
		return WORLD_DENIED;
	default:
		return r;
	}
}
