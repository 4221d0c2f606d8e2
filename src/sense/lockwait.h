/*
 * Whether a process would answer: its command line, environment, mappings, page counts and memory are read under its
 * memory lock, which may never come back (a thread that replaces a mapping of a file on a dead server keeps it).
 * Whoever asks then waits in the kernel, and on older ones not even SIGKILL ends the wait.
 *
 * A thread that may not wait, the loop of a supervisor or a command that reads, says so once (lockwait_begin). From
 * then on the readers of this layer ask here first, for that thread only: a helper process, which stays, reads one byte
 * that takes the lock. Who does not answer it in 0.1 s is not asked again for 5 s, then 10, up to a minute, and not
 * before the helper that waits for it has come back; another one is made meanwhile. An answer counts for a second, so
 * that many small reads cost one question. A lock that is lost within that second still holds the reader.
 *
 * Memory itself is another matter: a page may be one of a file whose server never answers, which any user can have
 * (fusermount3). So the helper reads it as well (lockwait_readv), unless the process is our own user's.
 */
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include "base/base.h"

/* The most processes that a thread remembers the answers of. */
#define LOCKWAIT_KNOWN 4096

/* For the calling thread; a process that it forks later waits again as usual. */
void lockwait_begin(void);
/* Whether this thread has said so. A thread that works for it says so as well, and ends what it has before it ends. */
bool lockwait_hurries(void);
void lockwait_end(void);
/* The same for a thread that has to end at once: its helper is killed, and not waited for. */
void lockwait_drop(void);
/*
 * For a supervisor, whose children count as the job's: makes the helper now, so that it can be told to whoever counts
 * (lockwait_helper: this thread's; 0: none). Where one is left behind, the next has another number.
 */
void lockwait_start(int proc_fd);
pid_t lockwait_helper(void);
/* 0: go on. -ETIMEDOUT: it does not answer. proc_fd: /proc, or -1. Always 0 in a thread that may wait. */
int must_check lockwait_ask(int proc_fd, pid_t pid);
/* True: this thread reads this process's memory by lockwait_readv only. Asked after lockwait_ask. */
bool lockwait_reads(int proc_fd, pid_t pid);
/*
 * As process_vm_readv(2), in the helper: bytes, or -errno. -ETIMEDOUT: nothing came in half a second, or too often too
 * late; it counts as one that does not answer. Above 1 MiB it is read in several calls.
 */
ssize_t lockwait_readv(int proc_fd, pid_t pid, const struct iovec *into, size_t n_into, const struct iovec *from,
		       size_t n_from);
/*
 * Asks many processes at once; their answers count for some seconds. For whoever is about to read all processes of a
 * machine. Nothing in a thread that may wait.
 */
void lockwait_survey(int proc_fd, const pid_t *pids, size_t n);
/*
 * Whether a process that was asked is of what a command shows. One that was only left out of it is not told of; one
 * that was once shown is.
 */
void lockwait_shown(pid_t pid, bool shown);
/*
 * Those that did not answer this thread when they were asked last, but for those left out; at most cap of them. Returns
 * how many there are.
 */
size_t lockwait_standing(pid_t *dst, size_t cap);
