/*
 * The goroutines of a process: in which state each is, what it waits for, and its stack. Follows runtime.g,
 * runtime.sudog and runtime.hchan; read from outside while the process runs, so of a goroutine that runs meanwhile
 * anything may be wrong. One that waits stands still: how often it has left a processor (`turns`) says whether it has
 * run between two readings.
 *
 * Stacks are unwound by the runtime's own table of frame sizes, calls that the compiler put into their caller
 * included. Of a goroutine that runs at that instant only where it began is known.
 */
#pragma once

#include "sense/go/goproc.h"

#define GOROUTINES_MAX 10000 /* that are read; more are counted */
#define GOROUTINE_FRAMES 64
#define GOROUTINE_ON 4

enum goroutine_state {
	GOROUTINE_RUNNABLE, /* it gets a processor soon */
	GOROUTINE_RUNS,
	GOROUTINE_SYSCALL, /* in a system call, or in C */
	GOROUTINE_WAITS,
	GOROUTINE_OTHER, /* its stack is being moved, it has been preempted, it is being made */
};

/* Kinds of waits, by what they are called. */
enum goroutine_wait {
	GOWAIT_NONE, /* it does not wait */
	GOWAIT_CHAN, /* a channel */
	GOWAIT_SELECT,
	GOWAIT_LOCK, /* Mutex, RWMutex */
	GOWAIT_GROUP, /* WaitGroup */
	GOWAIT_SEMAPHORE, /* one of the two before, of which Go 1.19 does not tell which */
	GOWAIT_COND,
	GOWAIT_FOREVER, /* a nil channel, a select without cases */
	GOWAIT_IO,
	GOWAIT_SLEEP,
	GOWAIT_RUNTIME, /* the runtime's own: collector, finalizers */
	GOWAIT_UNKNOWN,
};

struct goroutine {
	uint64_t id;
	uint64_t addr; /* of its g */
	enum goroutine_state state;
	enum goroutine_wait wait;
	uint8_t turns; /* modulo 256 */
	char reason[GO_REASON_MAX]; /* "chan receive"; "": none */
	uint64_t since_ns; /* a collector's run that found it waiting (CLOCK_MONOTONIC); 0: unknown */
	uint64_t sp, pc; /* 0: unknown, as it runs */
	uint64_t stack_from, stack_to;
	uint64_t start_pc; /* of the function that it began with */
	uint64_t waiting; /* its first sudog */
	/* Channels or addresses of semaphores that it waits for; more than GOROUTINE_ON of a select are left out. */
	uint64_t on[GOROUTINE_ON];
	uint8_t n_on;
	bool on_cut; /* there are more */
	bool by_timer; /* one is a channel that the clock may end, or all are without content and may be a context's */
	bool by_clock; /* one is a channel of times, or a timer's */
	int fd; /* descriptor of GOWAIT_IO; -1: unknown */
	bool to_write;
	uint64_t poll, file; /* of that descriptor: the runtime's pollDesc, and the program's poll.FD; 0: unknown */
};

struct goroutines {
	struct goroutine *item; /* in the order of the runtime's list: goroutine 1 first; owned */
	size_t n;
	uint64_t n_all; /* living ones; more than n where there are too many, and then at least as many */
};

/* GO_UNKNOWN: the list makes no sense. Otherwise as goproc_open. */
int must_check goroutines_read(struct goproc *p, struct goroutines *ret);
void goroutines_done(struct goroutines *s);
const char *goroutine_state_name(enum goroutine_state s); /* "runs" */

struct goroutine_frame {
	uint64_t pc; /* in the process; 0: it was inlined */
	struct span name, file; /* borrowed from goproc.table; foreign bytes */
	int32_t line; /* 0: unknown */
	bool library; /* of the runtime, or of Go's library that waits for others: sync, internal/poll … */
};

/* Innermost first. *ret_cut: it has more, or could not be followed to its end. Errors of remote_read. */
int must_check goroutine_frames(struct goproc *p, const struct goroutine *g,
				struct goroutine_frame frames[static GOROUTINE_FRAMES], size_t *ret_n, bool *ret_cut);
/* The function that it began with; an empty span: unknown. */
struct span goroutine_start(const struct goproc *p, const struct goroutine *g);
