/*
 * What a process does at an instant whose main thread waits for threads of its own: from many quick looks at all of its
 * threads. It waits for other ranks where none of them does anything and one is at a wait that another rank can end.
 *
 * One thread goes through the steps: the main one, or, where that only joins others, one that waits for ranks now and
 * then. What it does is what the process does, until it waits for the others. A word in memory that it waits at while
 * hardly ever nobody works is a wait for work; one at which mostly nobody does is a wait for messages that another
 * thread receives, whoever else may work meanwhile. Pure; zeroed by its owner.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define THREADSHARE_THREADS 64
#define THREADSHARE_WORDS 32

enum threadshare_does {
	THREADSHARE_RESTS, /* waits for others of its process, or at a lock */
	THREADSHARE_RUNS,
	THREADSHARE_NAPS,
	THREADSHARE_BLOCKS, /* waits for a disk, for memory, or for what is neither a rank nor of its process */
	THREADSHARE_FOR_RANKS,
	THREADSHARE_UNKNOWN, /* waits, and the kernel's facts of that were not read yet */
};

struct threadshare_look {
	pid_t tid;
	enum threadshare_does does;
	uint64_t word; /* of a thread that rests: what it waits at */
};

struct threadshare_thread {
	pid_t tid; /* 0: free */
	bool late; /* it was not there at the first look */
	uint32_t n, rests, ranks; /* looks; those in which it neither ran, slept nor was blocked; waits for ranks */
	uint32_t beside, apart; /* looks in which the one of the steps waited for ranks; busy was this one, or not */
	uint64_t word; /* at which it rested last */
	uint32_t same; /* looks at which it rested at that one */
};

struct threadshare_word {
	uint64_t word; /* 0: free */
	uint32_t n, idle; /* looks at which the one of the steps rested there; those in which all waited for ranks */
};

struct threadshare {
	uint32_t looks;
	struct threadshare_thread thread[THREADSHARE_THREADS];
	struct threadshare_word word[THREADSHARE_WORDS];
};

enum threadshare_is {
	THREADSHARE_VAGUE, /* it waits; for ranks, or for others of its own */
	THREADSHARE_AS_THREAD, /* it does what this thread does */
	THREADSHARE_WAITS, /* for ranks, as this thread does */
};

/* Adds a look at all threads of a process, its main one first; n > 0. ret_at: of that thread; 0 where it is vague. */
enum threadshare_is threadshare_add(struct threadshare *s, const struct threadshare_look *look, size_t n,
				    size_t *ret_at);
