/*
 * The code that every allocation and every free runs: a subtraction, or a read of one byte. Nothing in here may call
 * anything.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
/* Keeps our own frames out of the stacks to unwind. */
#define INLINE __attribute__((always_inline)) inline
/* Keeps rare code apart from frequent code. */
#define COLD __attribute__((noinline, cold))
#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORTED __attribute__((visibility("default")))

#define load_relaxed(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define store_relaxed(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define add_relaxed(p, v) __atomic_fetch_add(p, v, __ATOMIC_RELAXED)
#define sub_relaxed(p, v) __atomic_fetch_sub(p, v, __ATOMIC_RELAXED)

/*
 * One per thread, at a fixed distance from its thread pointer, so that no call is needed to find it. At most 64 bytes,
 * so that the library can also be loaded late, into the loader's reserve of thread-local storage.
 */
struct thread {
	uint64_t left; /* bytes until the next sample; the byte after them is sampled */
	uint64_t gap; /* the initial value of left */
	uint64_t random; /* state of the random numbers; 0: this thread is new */
	uintptr_t busy_at; /* inside of the sampler: the stack address at entry; 0: outside */
	uint32_t rate; /* the rate that gap was drawn with; 0: dormant */
	int32_t pid, tid; /* tid is valid while pid is the process's */
	int32_t counted_pid; /* the process whose region has counted this thread */
};

extern HIDDEN __thread struct thread heap_thread __attribute__((tls_model("initial-exec")));

/* The free filter: an upper bound of the live samples whose address has this index; 255 never changes. */
#define FILTER_SIZE (1u << 16)
extern HIDDEN uint8_t heap_filter[FILTER_SIZE];

/*
 * Neighbouring addresses share an index or have adjacent ones, so 16 MiB of heap use 64 KiB of the filter, which a
 * cache holds.
 */
static inline size_t filter_index(const void *p)
{
	return (uintptr_t)p >> 8 & (FILTER_SIZE - 1);
}

/*
 * A plain load, which the compiler can merge into the comparison. It is safe: the freeing thread got the address from
 * the allocating thread, and so sees that thread's filter entry.
 */
static inline bool filter_has(const void *p)
{
	return heap_filter[filter_index(p)] != 0;
}

/*
 * Counts n bytes; true: they are a sample, call sample_undo() and then sample_slow(). The subtraction sets the flags
 * itself, so a dormant thread takes as few instructions as a sampling one.
 */
static inline bool sample_counted(size_t n)
{
#if defined(__x86_64__)
	/* One instruction, where compilers make three. */
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

/* The same, with sample_undo() already done. */
static inline bool sample_due(size_t n)
{
	bool due = sample_counted(n);
	if (unlikely(due))
		sample_undo(n);
	return due;
}
