/*
 * Goroutines as threads of the facts of waits: in a process that runs a program made by Go the threads of the kernel
 * are put aside, as any of them runs any goroutine, and each goroutine stands in their place. What it waits for is
 *
 *  - an object of the process (WAITFACT_OBJECT): a channel, a lock, a group, a condition; its holders are the
 *    goroutines that come to it in the fewest steps and do not wait for it themselves (sense/go/gonear);
 *  - a descriptor: the fact of that descriptor, as the thread has it that waits for all of them at once;
 *  - a system call: the facts of the thread that is in it, which its stack pointer tells;
 *  - a clock.
 *
 * Nothing of this is complete (`cut`), so nothing is proved by it: of a descriptor's time limit, of a context, of
 * signals and of C no more than a part is seen. Pure.
 */
#pragma once

#include "sense/go/gonear.h"
#include "sense/wait/waitfacts.h"

#define GOWAITS_MOST 512 /* goroutines of a process; one with more is left as it is */
/* The numbers of goroutines as threads begin here, above those that the kernel gives. */
#define GOWAITS_TID (1 << 24)

struct gowaits {
	pid_t pid;
	const struct goroutines *s;
	const uint64_t *inode; /* of each: of the file that its descriptor is; 0: unknown */
	const struct gonear *near; /* NULL: not searched for, as in an earlier look */
	/* Threads that are in the runtime's own code, and on no goroutine's stack: they wait for some to run. */
	const pid_t *idle;
	size_t n_idle;
};

/*
 * False: the process has to be left as it is. A goroutine is in a call of an unknown thread, there are too many, the
 * main thread is in code of another language, or something holds all of its threads.
 */
bool gowaits_can(const struct waitfacts *f, const struct gowaits *g);
/* Puts the goroutines of these processes, for which gowaits_can holds, in the place of their threads. -ENOMEM. */
int must_check gowaits_put(struct waitfacts *f, const struct gowaits *g, size_t n);
/* The number of a goroutine as a thread, by its index. */
pid_t gowaits_tid(const struct gowaits *g, size_t i);
