/*
 * Macros and functions that every file uses: ownership, error tracing, small arithmetic.
 *
 * Errors: an int result is 0 when fine; negative (-errno) when something
 * unexpected happened, which is forwarded unchanged; positive for a condition
 * that the function's header names, which the caller must handle itself.
 * Results come back through last parameters named ret_*, untouched on failure.
 *
 * Ownership: a local that owns something carries cleanup(x_freep); it is
 * handed over with take(&p). Functions that use cleanup never use goto.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define must_check __attribute__((warn_unused_result))
#define cleanup(fn) __attribute__((cleanup(fn)))
#define printf_like(fmt, args) __attribute__((format(printf, fmt, args)))
#define unused __attribute__((unused))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

/* A result that may be left unused, with the reason spelled out at the call. */
#define ignore(call, reason)                      \
	do {                                      \
		unused __typeof__(call) r_ = (call); \
		(void)sizeof(reason);             \
	} while (0)

/* Hand over what a cleanup variable owns. */
#define take(pp)                        \
	({                              \
		__typeof__(*(pp)) p_ = *(pp); \
		*(pp) = NULL;           \
		p_;                     \
	})

static inline int take_fd(int *fd)
{
	int r = *fd;
	*fd = -1;
	return r;
}

static inline void freep(void *pp)
{
	free(*(void **)pp);
}

static inline void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1; /* the descriptor number may be reused from now on */
}

/* a - b, or 0 where b is larger: kernel counters are read at different instants. */
static inline uint64_t sub_floor(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static inline uint64_t add_cap(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}
