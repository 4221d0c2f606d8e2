/*
 * Whether a process would answer: its command line, environment, mappings, page counts and memory are read under its
 * memory lock, which may never come back (a thread that replaces a mapping of a file on a dead server keeps it).
 * Whoever asks then waits in the kernel, and on older ones not even SIGKILL ends the wait.
 *
 * A thread that may not wait, the loop of a supervisor, says so once (lockwait_begin). From then on the readers of this
 * layer ask here first, for that thread only: a helper process reads one byte that takes the lock. Who does not answer
 * it in 0.1 s is not asked again for 5 s, then 10, up to a minute. An answer counts for a second, so that many small
 * reads cost one helper. A lock that is lost within that second still holds the reader.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

/* For the calling thread; a process that it forks later waits again as usual. */
void lockwait_begin(void);
/* 0: go on. -ETIMEDOUT: it does not answer. proc_fd: /proc, or -1. Always 0 in a thread that may wait. */
int must_check lockwait_ask(int proc_fd, pid_t pid);
