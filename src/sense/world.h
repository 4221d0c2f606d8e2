/*
 * The machine that is read: its /proc, /sys, clocks. Made once (agent/host/world_open)
 * and passed to every reader, so that a recorded machine (a directory with proc/,
 * sys/ and cgroup/ in it) can stand in for the real one in tests.
 *
 * The directory descriptors stay open for the world's life and are borrowed
 * by all others. A member is -1 when that part is absent or may not be opened: readers then answer WORLD_ABSENT.
 */
#pragma once

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
