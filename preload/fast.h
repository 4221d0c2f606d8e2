/*
 * What every single allocation and every free goes through: a subtraction, and
 * a look at one byte. Nothing in here may call anything.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
/* Fewer frames of our own to unwind. */
#define INLINE __attribute__((always_inline)) inline
/* What is rare, out of the way of what is not. */
#define COLD __attribute__((noinline, cold))
#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORTED __attribute__((visibility("default")))

#define load_relaxed(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define store_relaxed(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define add_relaxed(p, v) __atomic_fetch_add(p, v, __ATOMIC_RELAXED)
#define sub_relaxed(p, v) __atomic_fetch_sub(p, v, __ATOMIC_RELAXED)

/* One for each thread, at a fixed distance from its thread pointer: no call is needed to find it. At most 64 bytes,
 * so that the library can also be loaded late, into what the loader keeps in reserve. */
struct thread {
	uint64_t left; /* bytes that are not a sample yet: one more is */
	uint64_t gap; /* what left began with */
	uint64_t random; /* 0: this thread is new */
	uintptr_t busy_at; /* inside of the sampler: the stack address it was entered at; 0: outside */
	uint32_t rate; /* that gap was drawn with; 0: dormant */
	int32_t pid, tid; /* tid is right while pid is */
	int32_t counted_pid; /* the process whose region has counted this thread */
};

extern HIDDEN __thread struct thread heap_thread __attribute__((tls_model("initial-exec")));

/* The free filter: how many live samples, at most, have an address with this index; 255 stays. */
#define FILTER_SIZE (1u << 16)
extern HIDDEN uint8_t heap_filter[FILTER_SIZE];

/* Neighbours in memory share one or have the next, so 16 MiB of heap are looked up in what a cache holds of 64 KiB. */
static inline size_t filter_index(const void *p)
{
	return (uintptr_t)p >> 8 & (FILTER_SIZE - 1);
}

/*
 * A plain load, which the compiler can put into the comparison: who frees a block knows of it from the thread that
 * allocated it, and so sees what that one has put here.
 */
static inline bool filter_has(const void *p)
{
	return heap_filter[filter_index(p)] != 0;
}

/*
 * Counts n bytes; true: they are a sample, call sample_undo() and then sample_slow(). The subtraction is its own
 * comparison, so a thread that never samples takes the same few instructions as one that does.
 */
static inline bool sample_counted(size_t n)
{
#if defined(__x86_64__)
	/* One instruction, of which compilers make three. */
	bool due;
	__asm__("subq %2, %0" : "+m"(heap_thread.left), "=@ccc"(due) : "er"(n));
	return due;
#else
	return __builtin_sub_overflow(heap_thread.left, n, &heap_thread.left);
#endif
}

static inline void sample_undo(size_t n)
{
	heap_thread.left += n;
}

/* The same, undone already. */
static inline bool sample_due(size_t n)
{
	bool due = sample_counted(n);
	if (unlikely(due))
		sample_undo(n);
	return due;
}
