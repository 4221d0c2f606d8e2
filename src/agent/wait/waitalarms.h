/*
 * Whose alarm is set (alarm(2), setitimer(2)): /proc lists the timers of timer_create(2) alone, so a BPF task iterator
 * is asked (sense/bpf/taskiter.bpf.c). An alarm ends a process that has no handler for it, and so whatever others wait
 * for of that one. Without the right to load the program it is not known, nor of a process whose main thread has ended
 * alone.
 */
#pragma once

#include "sense/wait/waitfacts.h"
#include "sense/world.h"

struct waitalarms {
	int link_fd; /* of the iterator; -1: not needed so far, or not to be had */
	bool tried;
};

#define WAITALARMS_INIT                                                                                                \
	{                                                                                                              \
		.link_fd = -1                                                                                          \
	}
void waitalarms_close(struct waitalarms *a);

/*
 * Marks the processes of the facts that have an alarm set (has_timers), or may (alarm_unknown). Loads the program at
 * the first time; NULL: nobody is asked.
 */
void waitalarms_take(struct waitalarms *a, const struct world *w, struct waitfacts *f);
