/*
 * Who ends the waits of the threads of some processes, counted by a BPF program for a short time
 * (sense/bpf/wakers.bpf.c, tracepoint sched_waking). Off, it costs nothing. One program serves all jobs; wakes of
 * processes that are not watched cost one failed look-up each while it is on. Memory in the kernel is bounded: about
 * 1.3 MB.
 *
 * A waker counts only if it is no kernel thread and stands in a system call that can end such a wait. Wakes that a
 * timer or a packet brings are ascribed to whoever was interrupted; that test leaves few of them, spread over all
 * threads, so a single count says nothing and a large share does. Who is not of the wakee's job is counted without a
 * name.
 *
 * Process numbers are those of the initial pid namespace, so vigil has to run in it. Times are ticks since boot, as in
 * /proc/PID/stat.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "sense/world.h"

#define WAKERS_PROCESSES 2048 /* most that are watched at a time */
#define WAKERS_ROWS 4096 /* most that are counted between two times they are taken */

/* What a call waits for, and what a call may end. */
enum wake_kind {
	WAKE_NONE,
	WAKE_LOCK, /* a futex; argument: its address */
	WAKE_READ, /* of a descriptor; argument: its number */
	WAKE_WRITE, /* room in a descriptor; argument: its number */
	WAKE_POLL, /* any of several descriptors; argument: what the call names them by */
	WAKE_IPC, /* System V's tables; argument: the table's number */
};

/* The kind of the wait in a system call; WAKE_NONE: none that is counted. Pure. */
enum wake_kind wake_kind_of(int64_t nr);

struct waker_thread {
	pid_t pid, tid; /* tid 0: one that is not of the job, and nothing else is known of it */
	uint64_t start_ticks, process_start_ticks;
	char name[16]; /* as it calls itself: not printable in all cases */
};

struct waker_row {
	struct waker_thread wakee, waker;
	enum wake_kind kind;
	uint64_t arg;
	uint64_t n;
};

struct wakers;

/* WORLD_ABSENT, WORLD_DENIED: why (cap bytes) is then a sentence for people. -errno. Takes about 25 ms. */
int must_check wakers_open(const struct world *w, struct wakers **ret, char *why, size_t cap);
struct wakers *wakers_free(struct wakers *k);
/* Counts from now on the wakes of this process; jobs are told apart by number. -errno. */
int must_check wakers_watch(struct wakers *k, pid_t pid, uint32_t job);
/* Forgets all processes, and what was counted and asked. */
void wakers_clear(struct wakers *k);
/* Switches counting on or off; takes a quarter of a millisecond. -errno. */
int must_check wakers_on(struct wakers *k);
void wakers_off(struct wakers *k);
/* Takes what was counted, at most cap rows. *ret_n: their number. -errno. */
int must_check wakers_take(struct wakers *k, struct waker_row *row, size_t cap, size_t *ret_n);
/*
 * Asks who ends the wait in which a thread is now: turns is how often it has had a processor so far, arg the first
 * argument of its call. Answered only if it has not run since. A later question to the same thread replaces this one.
 */
int must_check wakers_ask(struct wakers *k, pid_t tid, uint64_t turns, uint64_t arg);
/* Takes the answer. False: there is none, and the question stands no more. */
bool wakers_answer(struct wakers *k, pid_t tid, struct waker_thread *ret);
