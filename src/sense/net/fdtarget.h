/*
 * The target of a descriptor of another process: a file and its mount, a pipe
 * and the process at its other end, a socket and its peer, a device. From the
 * links in /proc/PID/fd (kernel: filesystems/proc.rst).
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

enum fd_kind {
	FD_OTHER,
	FD_FILE,
	FD_PIPE,
	FD_SOCKET,
	FD_TTY,
	FD_GPU, /* device of an accelerator */
	FD_EPOLL,
	FD_EVENT,
	FD_TIMER,
	FD_SIGNAL,
	FD_PIDFD,
	FD_INOTIFY,
	FD_USERFAULT,
};

struct fd_link {
	enum fd_kind kind;
	uint64_t inode; /* of pipes and sockets; 0 */
	bool listens; /* a listening socket; set by fdtarget_read only */
};

/* The text of a link in /proc/PID/fd. Pure. */
struct fd_link fd_link_parse(struct span link);
/* The line of /proc/PID/mountinfo with that mount id. -ENOENT. Pure. */
int must_check mountinfo_find(struct span text, uint64_t mount_id, struct span *ret_type, struct span *ret_source);
/* True for the type of a file system that other machines or programs serve: nfs4, lustre, fuse.x, … Pure. */
bool mount_is_remote(struct span type);

/*
 * True if the process has a socket of any kind; without one, the long socket tables of the kernel need not be searched.
 * Also true where it is unknown: the process has ended, may not be read, or has too many descriptors.
 */
bool fd_any_socket(const struct world *w, pid_t pid);
/* One readlink. WORLD_GONE (also: no such descriptor), WORLD_DENIED. */
int must_check fd_link_read(const struct world *w, pid_t pid, int fd, struct fd_link *ret, char *link, size_t cap);
/* True if it is told that the timer of a timerfd is switched off, so that no read of it will end. */
bool fdtarget_timer_off(const struct world *w, pid_t pid, int fd);
/*
 * The target as text: "/data/x on nfs4 server:/export", "socket tcp …", "pipe, other end: pid 812 (python)". The search
 * for the process at the other end of a pipe takes at most pipe_budget_ns (0: no search).
 */
#define FDTARGET_PIPE_BUDGET_NS (10 * NS_PER_MS)
int must_check fdtarget_read(const struct world *w, pid_t pid, int fd, uint64_t pipe_budget_ns, struct fd_link *ret,
			     char *dst, size_t cap);
