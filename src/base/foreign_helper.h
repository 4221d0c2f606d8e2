/*
 * For base/foreign, sense/lockwait and sense/native/lineserver only: work on a name whose file system may never answer
 * (a server of files that is gone, a file system in user space that stands), or on a process whose memory lock may
 * never come, is done by a helper process, which can be abandoned. A thread could not: whoever waits in the kernel for
 * such an answer may not even be killed, and a process ends only with all its threads.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "base/text.h"

/* Longest waits for a helper. One that has had no processor yet is given more, as it waits for no file system. */
#define FOREIGN_WAIT_NS (3 * NS_PER_S)
#define FOREIGN_CROWDED_NS (15 * NS_PER_S)
/* So many helpers of a thread may have answered and not ended yet. */
#define FOREIGN_LEAVING 8
/* So many may stand for a user, and for all, that got no answer and could not be ended. */
#define FOREIGN_STANDING_MOST 3
#define FOREIGN_STANDING 24

/*
 * True if what the descriptor stands for lies on a disk or in memory of this machine, so that looking at it, opening it
 * and reading it always comes to an end. Never waits itself; works on O_PATH.
 */
bool foreign_is_near(int fd);

/* Who answers when a file is looked at or read. */
enum foreign_served {
	FOREIGN_BY_KERNEL, /* as foreign_is_near */
	FOREIGN_BY_ROOTS, /* a server that root, or who runs vigil, mounted */
	FOREIGN_BY_ANYBODY, /* it is mounted in other namespaces alone, or FUSE that a user has mounted */
};
/* The text that foreign_served_by takes, to be read before a helper begins, which asks for itself. NULL: none. */
char *foreign_mounts(size_t *ret_len);
/* Never waits itself; works on O_PATH. */
enum foreign_served foreign_served_by(int fd, struct span mounts);

/* Called in the helper, which may not allocate: 0 and, if the work opens something, *ret_fd; else as of the door. */
typedef int foreign_work(const void *arg, int *ret_fd);

/*
 * Does the work in a helper that keeps of all descriptors only dirfd (-1 or AT_FDCWD: none). *ret_fd stays untouched
 * where the work opened nothing. -ETIMEDOUT: no answer in wait_ns (or later, see above); -EAGAIN: earlier helpers have
 * not ended in that time, for want of a processor.
 */
int must_check foreign_in_helper(foreign_work *work, const void *arg, int dirfd, uint64_t wait_ns, int *ret_fd);

/* A helper that stays, and serves what it is sent through a socket. Empty: {.pid = -1, .pidfd = -1, .fd = -1}. */
struct foreign_server {
	pid_t pid;
	int pidfd; /* -1: not to be had */
	int fd; /* our end of a pair of SOCK_SEQPACKET */
};

/* Called in the helper, which may not allocate; it ends where this returns. arg is copied memory. */
typedef void foreign_serve(const void *arg, int fd);

/* The helper keeps of all descriptors only dirfd and its end. It ends when the thread that calls this does. */
int must_check foreign_server_start(foreign_serve *serve, const void *arg, int dirfd, struct foreign_server *ret);
/*
 * The same for one that may allocate and call libraries. It is a child like any other: its end gives SIGCHLD. Who takes
 * in all children there are (waitpid(-1)) may not start one.
 */
int must_check foreign_worker_start(foreign_serve *serve, const void *arg, int dirfd, struct foreign_server *ret);
/* Waits until something can be received. False: no answer in wait_ns, or more where it had no processor. */
bool foreign_server_answers(const struct foreign_server *s, uint64_t wait_ns);
/* Lets it end by itself, or ends it. Empty afterwards. */
void foreign_server_end(struct foreign_server *s);
/* Kills it without waiting for its end. Empty afterwards. */
void foreign_server_drop(struct foreign_server *s);
/*
 * Ends one that does not answer. Empty afterwards. Where it cannot be ended now, as it waits in the kernel, its pidfd
 * is returned, owned by the caller, which can be read when it has ended; else, or without pidfds, -1.
 */
int foreign_server_leave(struct foreign_server *s);

/*
 * True: a name in the same folder got no answer in the last minute, and is not asked for again; or the most helpers
 * that may stand for this user, or for all, still do, and nothing can end them. Of this thread only.
 */
bool foreign_is_dead(int dirfd, const char *path, uid_t uid);
/* Right after foreign_in_helper: -ETIMEDOUT. */
void foreign_died(int dirfd, const char *path, uid_t uid);
