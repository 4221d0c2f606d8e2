/*
 * Whether a thread has run between two moments: the number of its turns on a processor (schedstat) and its system call.
 */
#pragma once

#include "sense/wait/threadwait.h"
#include "sense/world.h"

#define STANDSTILL_TOKEN 320

/*
 * Writes what stays the same as long as the thread has not run. via: a living thread of its process. False: it runs, or
 * it cannot be told.
 */
bool standstill_token(const struct world *w, pid_t via, pid_t tid, char token[static STANDSTILL_TOKEN],
		      struct threadwait *ret);
/* True: it has run since, or that cannot be told. */
bool standstill_moved(const struct world *w, pid_t via, pid_t tid, const char *token);
