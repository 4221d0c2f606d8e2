/*
 * Attempts to connect by TCP that come to nothing, counted by a BPF program while it is on (sense/bpf/refused.bpf.c,
 * tracepoint inet_sock_set_state, Linux 4.16 and later). A loop that tries an address at which nobody listens leaves no
 * trace else: the kernel drops a socket that was refused at once.
 *
 * Off, it costs nothing; on, each change of the state of a TCP socket of the machine costs one call. Memory in the
 * kernel is bounded: 0.55 MB. What a successful connection reached is no longer told as refused; within the machine it
 * is counted as made. Process numbers are those of the initial pid namespace, so vigil has to run in it.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "sense/world.h"

#define REFUSED_ROWS 1024 /* most that are counted */

struct refused_row {
	pid_t pid, parent; /* who tried, and who had started it: a shell's loop tries by a new process each time */
	bool v6;
	uint8_t address[16]; /* network order; the first 4 bytes for IPv4 */
	uint16_t port;
	uint64_t n; /* attempts in vain since it was switched on, and since one succeeded; may be 0 */
	uint32_t made; /* connections that were made to an address of this machine */
	uint64_t last_ns; /* of the last of both; of the world's monotonic clock */
	int error; /* of the last one: ECONNREFUSED, ETIMEDOUT …; 0: it gave up before there was an answer */
};

struct refused;

/* WORLD_ABSENT, WORLD_DENIED: why (cap bytes) is then a sentence for people. -errno. Takes 15 ms of processor time. */
int must_check refused_open(const struct world *w, struct refused **ret, char *why, size_t cap);
struct refused *refused_free(struct refused *k);
/* Switches counting on, from nothing; no more than a look where it is on. -errno. */
int must_check refused_on(struct refused *k);
void refused_off(struct refused *k);
/* What was counted so far; it stays. At most cap rows. *ret_n: their number. -errno. */
int must_check refused_take(const struct refused *k, struct refused_row *row, size_t cap, size_t *ret_n);
/* "127.0.0.1:29500", "[::1]:29500". Pure. */
void refused_format(const struct refused_row *r, char *dst, size_t cap);
