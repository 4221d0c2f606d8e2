/*
 * Registers of one thread and a copy of its stack, in three ways.
 *
 * stopper_blocked reads a thread that waits in the kernel, as most do, without touching it, from
 * /proc/PID/task/TID/syscall. It also works on threads that cannot be stopped: frozen (cgroup freezer), in D state,
 * traced by another process.
 *
 * stopper_catch interrupts a running thread for the time of the copying, where that is permitted (native/instant.h).
 *
 * stopper_take stops the thread for some microseconds: ptrace(2) SEIZE, INTERRUPT, copy, DETACH. It uses neither
 * SIGSTOP nor PTRACE_ATTACH, and stops one thread at a time. The thread is detached each time, because a seized thread
 * waits for its tracer at each signal and stays a zombie when it ends. A signal that arrives meanwhile is delivered; a
 * group stop (SIGSTOP by another process) persists. One side effect cannot be avoided: a few system calls (epoll_wait,
 * recv with a timeout, semop: signal(7)) return EINTR to the program when they are interrupted in this way. So use
 * stopper_blocked first for waiting threads and stopper_catch for running ones.
 *
 * ptrace is bound to a thread, so the stopper has a thread of its own, which sleeps while it waits, and ends when it
 * has had no work for a second. When the target
 * does not stop within the deadline, the stopper's thread ends, which makes the kernel detach the target for certain;
 * the same happens if vigil dies. Vigil gets a SIGCHLD for each stop unless it has SA_NOCLDSTOP. Other threads of
 * vigil must not wait for any child (waitid P_ALL) without __WNOTHREAD, else they consume the stop (which then ends as
 * STOPPER_STUCK).
 */
#pragma once

#include <sys/types.h>

#include "sense/native/instant.h"

enum {
	STOPPER_BUSY = 40, /* another process traces it (gdb, strace, another vigil) */
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
 * Registers and stack of one thread, which runs again before this returns. `during`, if not NULL, is called while the
 * thread is stopped (to read its Python stack at the same instant), on the stopper's thread: 256 KiB of stack, no
 * signals. deadline_us: the longest wait for the stop (1000 is plenty). One caller at a time. WORLD_GONE, WORLD_DENIED,
 * STOPPER_BUSY, _STUCK, _FOREIGN.
 */
int must_check stopper_take(struct stopper *s, pid_t tid, uint64_t deadline_us, struct unwind_regs *ret_regs,
			    struct unwind_stack *ret_stack, void (*during)(void *ctx), void *ctx);
/*
 * The same of a running thread, without stopping it, with further chunks of its memory at the same instant (n_from 0:
 * none). *ret_bytes: of the chunks, as remote_readv counts; a page that was never used reads as zero. STOPPER_RUNNING:
 * it could not be caught, this time or ever. WORLD_GONE.
 */
int must_check stopper_catch(struct stopper *s, struct instant *in, pid_t tid, const struct iovec *from, size_t n_from,
			     void *into, size_t *ret_bytes, struct unwind_regs *ret_regs,
			     struct unwind_stack *ret_stack);
/*
 * The same of a waiting thread, without stopping it. Only the program counter, the stack pointer and the arguments are
 * known, which is enough for most stacks (native_unwind ends with UNWIND_NO_INFO where it is not). The registers were
 * the same before and after the stack was copied and `during`, if there is one, was called. WORLD_GONE, WORLD_DENIED,
 * WORLD_ABSENT (kernel without it), STOPPER_RUNNING.
 */
int must_check stopper_blocked(const struct world *w, pid_t pid, pid_t tid, struct remote *r,
			       struct unwind_regs *ret_regs, struct unwind_stack *ret_stack, void (*during)(void *ctx),
			       void *ctx);
/*
 * True if this system call fails with EINTR when its thread is stopped in it, instead of being restarted (signal(7)).
 */
bool stopper_would_fail(int64_t syscall);

/* Histogram of pauses, four classes to each doubling; the last class holds all pauses from 8 s on. */
#define STOPPER_CLASSES 132

struct stopper_stats {
	/* Pause: from PTRACE_INTERRUPT to PTRACE_DETACH, on our clock; for caught threads the time of the copying. */
	uint64_t stops, pause_ns_sum, pause_ns_max;
	uint64_t caught; /* part of stops: by stopper_catch */
	uint64_t stuck;
	uint32_t lengths[STOPPER_CLASSES];
};
void stopper_stats_add(struct stopper_stats *to, const struct stopper_stats *s);
/* Median pause, rounded up to the end of its class (at most a quarter too high); 0: there was no pause. */
uint64_t stopper_median_ns(const struct stopper_stats *s);
struct stopper_stats stopper_stats(const struct stopper *s);
