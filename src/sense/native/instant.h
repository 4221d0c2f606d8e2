/*
 * Registers, stack and further memory of a thread that runs, all of one
 * instant, without stopping it: a BPF program is run once on the processor
 * that the thread is on (BPF_PROG_TEST_RUN with BPF_F_TEST_RUN_ON_CPU, bpf(2)),
 * by an interrupt. The thread notices the time that the copying takes, some
 * microseconds, and nothing else: no signal, no stop, no system call that
 * fails.
 *
 * It takes CAP_BPF and CAP_PERFMON (or root) and Linux 5.17 with BTF on x86_64;
 * else there is native/stopper.h, and so it is for a thread that has no
 * processor at this moment. One caller at a time. The program is loaded when
 * it is first needed, once in about a millisecond.
 */
#pragma once

#include <sys/uio.h>

#include "sense/native/unwind.h"

enum {
	INSTANT_CANNOT = 44, /* not here, or not by us: for good */
	INSTANT_ELSEWHERE = 45, /* the thread does not run on this processor */
	INSTANT_TOO_MUCH = 46, /* more pieces or bytes than fit */
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
	pid_t pid, tid; /* as we see them; a thread of a pid namespace below ours is never found unless ours is the first one */
	uint32_t processor;
	uint64_t stack_lo, stack_end; /* where its stack is believed to be, 0 and 0: not known. Only so much is copied */
	const struct iovec *from; /* further pieces; a page of them that is not mapped reads as zero */
	size_t n_from;
	void *into; /* room for all of them, one behind the other */
};

struct instant_seen {
	struct unwind_regs *regs; /* the caller's, filled */
	struct unwind_stack *stack; /* likewise */
	size_t n_bytes; /* of the pieces; less than all where the first page of one is not mapped: it ends before that */
	uint64_t pause_ns; /* how long the thread was interrupted, less what entering and leaving the kernel takes */
};

/*
 * A thread cannot run on a processor that we took from it by waking up: go to another one, and stay off this one from
 * then on (threads of ours that begin later do so, too). False: we are not on it, may use no other, or have just moved,
 * which takes its time where all processors are busy.
 */
bool instant_step_aside(struct instant *in, uint32_t processor);
/* 0, or as above. */
int must_check instant_take(struct instant *in, const struct instant_want *want, struct instant_seen *ret);
