/*
 * The state of one thread: running, or waiting, with the system call, the file
 * or socket of its descriptor, the thread that holds the awaited lock, and the
 * kernel function it sleeps in. From /proc/PID/task/TID/{stat,syscall,wchan,comm} and
 * /proc/PID/fd (kernel: filesystems/proc.rst); the owner of a lock from the
 * lock's own memory (glibc's pthread_mutex_t, three ints: lock, count, owner).
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/proc/remote.h"
#include "sense/world.h"

enum wait_kind {
	WAIT_UNKNOWN, /* the reason of the wait is unknown; text says what was read */
	WAIT_RUNNING, /* on a processor, or runnable */
	WAIT_LOCK, /* futex: a mutex, condition variable or semaphore */
	WAIT_SLEEP, /* nanosleep and the like: an intended wait */
	WAIT_POLL, /* select, poll, epoll */
	WAIT_FILE, /* read, write, fsync of a file */
	WAIT_PIPE,
	WAIT_SOCKET,
	WAIT_TTY,
	WAIT_CHILD, /* wait4, waitid, vfork */
	WAIT_SIGNAL, /* pause, sigwait */
	WAIT_DISK, /* state D: uninterruptible */
	WAIT_GPU, /* ioctl or poll on a GPU's device file */
	WAIT_MEMORY, /* page fault, memory.high throttling, swap-in */
	WAIT_STOPPED, /* SIGSTOP, ptrace stop, frozen control group */
	WAIT_ZOMBIE,
};

struct threadwait {
	enum wait_kind kind;
	char state; /* R S D T t Z X */
	char comm[16];
	bool has_syscall; /* false for running threads and without the right to read it */
	int64_t nr; /* system call number; -1: blocked outside one */
	uint64_t arg[6], sp, pc;
	char wchan[64]; /* ""; "0" is made "" */
	pid_t owner; /* WAIT_LOCK: thread that holds it; 0 unknown */
	bool owner_gone; /* the owner is no thread of this process: inherited over fork */
	int fd; /* -1: none */
	bool listens; /* only with detail: accepts connections on a listening socket */
	/* of fd: path, "socket tcp 10.0.0.3:4000 -> 10.0.0.7:29500", "pipe to pid 812 (python)" */
	char target[200];
	/*
	 * With detail, of a sleeping thread: length of the sleep (0: unknown, it sleeps until a set time), or its end
	 * on the clock of the call and the time left. Another sleep_until_ns at a later read means another sleep.
	 */
	uint64_t sleep_ns, sleep_until_ns, sleep_left_ns;
	uint64_t start_ticks; /* since boot, as in stat */
	uint64_t user_ticks, system_ticks; /* CPU time used; grows while the thread runs */
	char text[256]; /* one line for people: "futex, held by thread 812 (loader)" */
};

/* Name of a system call of this machine; "syscall 999" for unknown ones. Borrowed. */
const char *syscall_name(int64_t nr);
/* /proc/PID/task/TID/syscall: "running", "-1 sp pc" or "nr args sp pc". -EBADMSG. Pure. */
int must_check threadwait_syscall_parse(struct span text, struct threadwait *ret);
/*
 * r may be NULL: lock owners are then not read. With detail false only state, syscall
 * number and kind are read (2 us, for sampling); with detail also targets and
 * text. WORLD_GONE; parts that may not be read are left out, text says so.
 */
int must_check threadwait_read(const struct world *w, pid_t pid, pid_t tid, struct remote *r, bool detail,
			       struct threadwait *ret);
/* Repeated reads of many threads; descriptors stay open between reads. */
struct threadwatch;
struct threadwatch *threadwatch_new(const struct world *w, pid_t pid);
struct threadwatch *threadwatch_free(struct threadwatch *t);
/* What a thread does, and the call that it is in: its number (-1: none) and first arguments. */
struct threadwatch_call {
	enum wait_kind kind;
	int64_t nr;
	uint64_t arg[3];
};
/* By one or two preads. WORLD_GONE. */
int must_check threadwatch_call(struct threadwatch *t, pid_t tid, struct threadwatch_call *ret);
/* The same: the kind, the call and its first argument (-1, 0: none). */
int must_check threadwatch_kind(struct threadwatch *t, pid_t tid, enum wait_kind *ret, int64_t *ret_nr,
				uint64_t *ret_arg);
const char *wait_kind_name(enum wait_kind k); /* "lock" */
