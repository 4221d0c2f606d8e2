/*
 * Copies registers, stack and further memory of a running thread at one instant, without stopping it: a BPF program
 * runs once, by an interrupt, on the processor that the thread is on (BPF_PROG_TEST_RUN with BPF_F_TEST_RUN_ON_CPU,
 * bpf(2)). The thread loses the time of the copying, some microseconds, and nothing else: no signal, no stop, no
 * failing system call.
 *
 * Needs CAP_BPF and CAP_PERFMON (or root) and Linux 5.17 with BTF on x86_64. Where that is missing, and for a thread
 * that is on no processor at this moment, native/stopper.h stops the thread instead. One caller at a time. The program
 * is loaded on first use, once, in about 1 ms.
 */
#pragma once

#include <sys/uio.h>

#include "sense/native/unwind.h"

enum {
	INSTANT_CANNOT = 44, /* not available here or not permitted; this does not change */
	INSTANT_ELSEWHERE = 45, /* the thread does not run on this processor */
	INSTANT_TOO_MUCH = 46, /* more chunks or bytes than fit */
};

struct instant;

/* Borrows the world. NULL: no memory. */
struct instant *instant_new(const struct world *w);
struct instant *instant_free(struct instant *in);
static inline void instant_freep(struct instant **in)
{
	*in = instant_free(*in);
}

struct instant_want {
	/* ids in our pid namespace; a thread in a namespace below ours is found only if ours is the initial one */
	pid_t pid, tid;
	uint32_t processor;
	uint64_t stack_lo, stack_end; /* expected bounds of its stack; 0 and 0: unknown. Only this range is copied */
	const struct iovec *from; /* further chunks of memory; an unmapped page in one reads as zero */
	size_t n_from;
	void *into; /* room for all chunks, one behind the other */
};

struct instant_seen {
	struct unwind_regs *regs; /* the caller's, filled */
	struct unwind_stack *stack; /* the caller's, filled */
	/*
	 * bytes of the chunks copied; less than all if the first page of a chunk is not mapped: it ends before that
	 * chunk
	 */
	size_t n_bytes;
	uint64_t pause_ns; /* how long the thread was interrupted, without the time to enter and leave the kernel */
};

/*
 * Moves our thread to another processor and keeps it (and threads it starts later) off this one: the thread we want to
 * sample cannot run on the processor that our waking up took from it. False: we are not on this processor, may use no
 * other, or have moved less than 500 ms ago; moving takes time where all processors are busy.
 */
bool instant_step_aside(struct instant *in, uint32_t processor);
/* 0, or INSTANT_* as above. */
int must_check instant_take(struct instant *in, const struct instant_want *want, struct instant_seen *ret);
