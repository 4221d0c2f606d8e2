/* Shared by the files that implement sense/wait/threadwait.h. */
#pragma once

#include "sense/net/fdtarget.h"
#include "sense/wait/threadlist.h"
#include "sense/wait/threadwait.h"

/* The kind of wait that the number of a system call implies. */
enum call_shape {
	CALL_OTHER,
	CALL_FD, /* the descriptor in its first argument decides */
	CALL_FILE, /* works on a file system: open, stat, mount */
	CALL_LOCK,
	CALL_SLEEP,
	CALL_POLL,
	CALL_CHILD,
	CALL_SIGNAL,
	CALL_MEMORY, /* mmap and the like: page faults, memory limits */
	CALL_VFORK, /* clone and vfork: waits while the child uses its memory */
	CALL_RESTART,
};
enum call_shape call_shape(int64_t nr);
/* Index of the path argument of a call on the file system; -1: none to report. */
int call_path_argument(int64_t nr);
enum wait_kind wait_kind_of_fd(enum fd_kind k);
/* The kind that a kernel function implies; WAIT_UNKNOWN for most. state: as in stat. */
enum wait_kind wait_kind_of_wchan(const char *wchan, char state);
/* True for a kernel function whose waits are never D otherwise: a task in state D there is frozen (cgroup v1). */
bool wchan_of_frozen(const char *wchan);

/*
 * Derives the kind from state, syscall and wchan, without target and text. Links of descriptors are read (1 us) where
 * they decide.
 */
enum wait_kind wait_kind_decide(const struct world *w, pid_t pid, const struct threadwait *t, int *ret_fd);

/*
 * The owner of the lock that a futex call waits for. Only certain owners are
 * reported: condition variables, semaphores and the locks of other runtimes
 * store none.
 */
enum lock_shape {
	LOCK_FUTEX, /* owner unknown */
	LOCK_MUTEX, /* glibc's pthread_mutex_t, contended */
	LOCK_TID, /* the word names its owner: PI and robust locks */
	LOCK_JOIN, /* pthread_join: the joined thread */
};
struct lock_owner {
	enum lock_shape shape;
	pid_t tid; /* tid in our /proc; 0: unknown */
	bool gone; /* proven to be inherited over fork */
	bool gone_maybe; /* no thread of this process, without proof of a fork */
	bool elsewhere; /* the owner is in another process: shared memory */
};
void lock_owner_read(const struct world *w, pid_t pid, pid_t tid, const struct threadwait *t, struct remote *r,
		     struct lock_owner *ret);
/* The word of a contended glibc mutex: lock, count, owner, nusers, kind, spins, list. Pure. */
bool mutex_is_plausible(const uint32_t word[10]);

/* Fills target and text. */
void wait_describe(const struct world *w, pid_t pid, pid_t tid, struct remote *r, struct threadwait *t);
