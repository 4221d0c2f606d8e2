/*
 * A signal that the kernel sends to any process when the last of vigil's processes is gone, however they ended: a
 * pipe whose two ends both have an owner and a signal (O_ASYNC). One of the ends is closed first, and the kernel then
 * signals the owner of the other one. Unlike PR_SET_PDEATHSIG it may be set for any process at any time, it is sent
 * when the last process that has inherited the pipe ends, and executing a program does not drop it.
 *
 * Each process that has inherited it by fork(2) holds the signal back; a program that is executed does not. The kernel
 * holds the process itself, so a number that is used again brings no stranger in. Sources: fcntl(2), F_SETOWN,
 * F_SETSIG.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

struct deathsig {
	int fd[2]; /* -1: none */
};

#define DEATHSIG_NONE ((struct deathsig){{-1, -1}})

/* For nobody yet. -errno: no descriptor is free. */
int must_check deathsig_open(struct deathsig *ret, int signal);
/* From now on for this process; 0: for nobody. -ESRCH: it is gone. One that is not open is passed over. */
int must_check deathsig_set(const struct deathsig *d, pid_t pid);
/* Nothing is sent. */
void deathsig_close(struct deathsig *d);
