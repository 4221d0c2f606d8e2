/*
 * Registers of one thread and a copy of its stack, in three ways.
 *
 * stopper_blocked looks at a thread that waits in the kernel, as most do,
 * without touching it: what /proc/PID/task/TID/syscall tells. It also works on
 * threads that cannot be stopped: frozen (cgroup freezer), in D state, traced
 * by somebody else.
 *
 * stopper_catch interrupts a thread that runs for as long as the copying
 * takes, where that is permitted (native/instant.h).
 *
 * stopper_take stops the thread for some microseconds: ptrace(2) SEIZE,
 * INTERRUPT, copy, DETACH. Never SIGSTOP, never PTRACE_ATTACH, never all
 * threads at once. It is let go each time, not kept seized: a thread that is
 * seized waits for its tracer at each signal and does not vanish when it ends,
 * and we are not always there to see to it. A signal that arrives meanwhile is
 * delivered; a group stop (SIGSTOP by somebody) stays one. What cannot be
 * avoided: a few system calls (epoll_wait, recv with a timeout, semop:
 * signal(7)) return EINTR to the program when they are interrupted in this way.
 * So for threads that wait try stopper_blocked first, for those that run stopper_catch.
 *
 * ptrace belongs to a thread: the stopper has one of its own. It waits without
 * burning time, and when a thread does not stop within the deadline, the
 * stopper's thread ends, which makes the kernel let go of the other for
 * certain; so nothing stays behind, and if we die it is the same. The process
 * gets a SIGCHLD for each stop unless it has SA_NOCLDSTOP, and its other
 * threads must not wait for any child (waitid P_ALL) but with __WNOTHREAD,
 * else they steal the stop (which then ends as STOPPER_STUCK).
 */
#pragma once

#include <sys/types.h>

#include "sense/native/instant.h"

enum {
	STOPPER_BUSY = 40, /* somebody else traces it (gdb, strace, another vigil) */
	STOPPER_STUCK =
		41, /* it does not stop within the deadline: in the kernel (D state), frozen, no CPU to run on */
	STOPPER_RUNNING = 42, /* it does not wait in the kernel, or did not stay there */
	STOPPER_FOREIGN = 43, /* a 32-bit program */
};

struct stopper;

/* Borrows world and r. NULL: no memory. */
struct stopper *stopper_new(const struct world *w, pid_t pid, struct remote *r);
struct stopper *stopper_free(struct stopper *s);
static inline void stopper_freep(struct stopper **s)
{
	*s = stopper_free(*s);
}
/*
 * Registers and stack of one thread; it runs on before this returns. With
 * `during` the function is called while the thread stands still (to read its
 * Python stack at the same instant), by the stopper's thread: 256 KiB of stack,
 * no signals. deadline_us: how long to wait for the stop (1000 is plenty).
 * One caller at a time. WORLD_GONE, WORLD_DENIED, STOPPER_BUSY, _STUCK, _FOREIGN.
 */
int must_check stopper_take(struct stopper *s, pid_t tid, uint64_t deadline_us, struct unwind_regs *ret_regs,
			    struct unwind_stack *ret_stack, void (*during)(void *ctx), void *ctx);
/*
 * The same of a thread that runs now, with further pieces of its memory of the same instant (n_from 0: none), without
 * stopping it. *ret_bytes: of the pieces, as remote_readv tells it; a page of them that was never used is zero.
 * STOPPER_RUNNING: it could not be caught, for now or at all. WORLD_GONE.
 */
int must_check stopper_catch(struct stopper *s, struct instant *in, pid_t tid, const struct iovec *from, size_t n_from,
			     void *into, size_t *ret_bytes, struct unwind_regs *ret_regs,
			     struct unwind_stack *ret_stack);
/*
 * The same of a thread that waits, without stopping it: only the program
 * counter, the stack pointer and arguments are known, which is enough for most stacks
 * (native_unwind ends with UNWIND_NO_INFO where it is not). Both were the same
 * before and after the stack was copied and `during`, if there is one, was
 * called. WORLD_GONE, WORLD_DENIED, WORLD_ABSENT (kernel without it),
 * STOPPER_RUNNING.
 */
int must_check stopper_blocked(const struct world *w, pid_t pid, pid_t tid, struct remote *r,
			       struct unwind_regs *ret_regs, struct unwind_stack *ret_stack, void (*during)(void *ctx),
			       void *ctx);
/* Whether this call fails with EINTR when its thread is stopped in it, instead of going on (signal(7)). */
bool stopper_would_fail(int64_t syscall);

/* Lengths, four classes to each doubling: the last one is all from 8 s on. */
#define STOPPER_CLASSES 132

struct stopper_stats {
	/* From PTRACE_INTERRUPT until it was let go, as we see it; of those that were caught what the copying took. */
	uint64_t stops, pause_ns_sum, pause_ns_max;
	uint64_t caught; /* of the stops, by stopper_catch */
	uint64_t stuck;
	uint32_t lengths[STOPPER_CLASSES];
};
void stopper_stats_add(struct stopper_stats *to, const struct stopper_stats *s);
/* Half of the pauses were not longer, to a quarter of it; 0: there was none. */
uint64_t stopper_median_ns(const struct stopper_stats *s);
struct stopper_stats stopper_stats(const struct stopper *s);
