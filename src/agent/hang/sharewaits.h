/*
 * Whether a blocked main thread waits for another rank, for many quick samples: the kernel's facts are read now and
 * then, and remembered by the system call and its first argument (a descriptor, a lock's address), which a training
 * loop uses again and again. A call that was not seen in a read of the facts is unknown, and counts as no wait for
 * ranks.
 */
#pragma once

#include "agent/hang/hangprocs.h"
#include "sense/wait/threadwait.h"

struct sharewaits;

struct sharewaits *sharewaits_new(void); /* NULL without memory */
struct sharewaits *sharewaits_free(struct sharewaits *s);
/* All threads of this process count, not its main one alone. */
void sharewaits_threads_of(struct sharewaits *s, pid_t pid);
/* True if the main thread of pid, which is in this wait, waits for another rank. */
bool sharewaits_for_ranks(const struct sharewaits *s, pid_t pid, const struct threadwait *t);
/* The same for a lock that its owner, another rank, has to release. */
bool sharewaits_for_lock(const struct sharewaits *s, pid_t pid, const struct threadwait *t);
/* What it waits for, if that is no other rank or a lock: "loader 812 of rank 1 (read, pipe 4711)". NULL: unknown. */
const char *sharewaits_whom(const struct sharewaits *s, pid_t pid, const struct threadwait *t);
/* True if it waits for threads of its own process first: its main thread is not where the work is. */
bool sharewaits_own(const struct sharewaits *s, pid_t pid, const struct threadwait *t);
/* True if it waits for a thread of its own that was caught while it looked for something, and may wait for ranks. */
bool sharewaits_vague(const struct sharewaits *s, pid_t pid, const struct threadwait *t);
/* True if it blocks in a call that is not known yet. */
bool sharewaits_unknown(const struct sharewaits *s, pid_t pid, const struct threadwait *t);
/* Reads the facts of the job's processes as they are now, until the time for that is used up. go: Go made some. */
void sharewaits_learn(struct sharewaits *s, const struct world *w, const struct hangprocs *procs, bool go);
