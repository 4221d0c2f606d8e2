/*
 * What /proc/PID/fdinfo/FD says of a descriptor (kernel: filesystems/proc.rst, "3.8 /proc/<pid>/fdinfo"). Each kind of
 * file adds lines of its own; those of kernels that do not have them are missing.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

enum fdinfo_field {
	FDINFO_FLAGS = 1 << 0,
	FDINFO_INODE = 1 << 1, /* Linux 5.14 */
	FDINFO_MOUNT = 1 << 2,
	FDINFO_EVENTFD = 1 << 3, /* Linux 5.2 */
	FDINFO_PID = 1 << 4,
	FDINFO_IN_FLIGHT = 1 << 5, /* Linux 5.6 */
	FDINFO_FUSE = 1 << 6, /* Linux 6.18 */
	FDINFO_TIMER = 1 << 7,
	FDINFO_SIGNALS = 1 << 8,
	FDINFO_TERMINAL = 1 << 9, /* Linux 4.14 */
	FDINFO_REGISTERED = 1 << 10, /* not told of a ring that is in use at that moment */
};

enum fdinfo_lock { FDINFO_LOCK_FLOCK = 1, FDINFO_LOCK_POSIX = 2, FDINFO_LOCK_OFD = 4 };

struct fdinfo {
	uint32_t has; /* enum fdinfo_field */
	int access; /* O_RDONLY, O_WRONLY, O_RDWR; of FDINFO_FLAGS */
	uint64_t inode, mount_id;
	uint64_t eventfd_id; /* the same in each process that has this eventfd */
	int64_t pid; /* of a pidfd; -1: it has ended */
	uint64_t in_flight; /* unix sockets: descriptors in its queue (SCM_RIGHTS) */
	uint64_t fuse_connection; /* minor number of the file system that a descriptor of /dev/fuse serves */
	bool timer_set; /* of FDINFO_TIMER */
	uint64_t signals; /* of a signalfd: those that it tells of; bit n - 1 of signal n */
	uint64_t registered; /* of an io_uring: open files that it keeps, with a descriptor or without */
	uint64_t terminal; /* of /dev/ptmx: number of the terminal whose other side this is */
	uint8_t locks; /* enum fdinfo_lock: file locks that this descriptor holds */
	uint32_t n_own; /* lines of FLOCK and OFD locks: those are of the open file, not of the process */
};

/* Pure. */
void fdinfo_parse(struct span text, struct fdinfo *ret);
/*
 * dir: "PID/fdinfo" or "PID/task/TID/fdinfo". text is the file, at most cap - 1 bytes. WORLD_GONE, WORLD_DENIED.
 */
int must_check fdinfo_text(const struct world *w, const char *dir, int fd, char *text, size_t cap, size_t *ret_len);

/*
 * O_RDONLY, O_WRONLY or O_RDWR of a descriptor, by the mode of its link in /proc/PID/fd: one call instead of three.
 * WORLD_ABSENT: not told.
 */
int must_check fdinfo_access(const struct world *w, const char *dir, int fd, int *ret);

/* One descriptor that an epoll descriptor watches. */
struct epoll_member {
	int fd; /* its number when it was added; another file may have it by now */
	uint32_t events;
	uint64_t inode; /* of its file; 0: not told (before Linux 4.13) */
};
/* Takes the next line "tfd:" of an epoll descriptor off the front; false at the end. Pure. */
bool epoll_member_next(struct span *rest, struct epoll_member *ret);

/* One file that an inotify descriptor watches. */
struct inotify_watch {
	uint64_t inode;
	uint32_t major, minor; /* its file system's device */
};
/* Takes the next line "inotify wd:" off the front; false at the end. Pure. */
bool inotify_watch_next(struct span *rest, struct inotify_watch *ret);
