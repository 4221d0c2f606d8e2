/*
 * Two threads that free the memory of killed processes (process_mrelease(2) unmaps it in the caller), so that the guard
 * itself can keep watching. Started once; handing over a process neither allocates nor waits.
 */
#pragma once

#include <stdatomic.h>

#include "act/target.h"

#define REAPER_QUEUE 1024

struct reaper {
	struct target queue[REAPER_QUEUE];
	_Atomic uint32_t pushed, taken, done, worked;
	int wake_fd; /* eventfd, semaphore */
	bool running;
};

int must_check reaper_start(struct reaper *r);
/* The target's pidfd stays the caller's and must stay open until reaper_idle(). False when the queue is full. */
bool reaper_push(struct reaper *r, const struct target *t);
bool reaper_idle(const struct reaper *r);
/* Number of successful releases since the start. */
uint32_t reaper_worked(const struct reaper *r);
