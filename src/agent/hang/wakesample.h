/*
 * Samples, while wakes are counted, at which places in Python threads wait for locks, and asks who ends those very
 * waits. Views of processes are kept from one counting to the next, as opening one costs milliseconds. Bounded: at most
 * WAKESAMPLE_VIEWS processes, and 10 ms of processor time a counting; other processes of the same role have the same
 * places.
 */
#pragma once

#include "sense/wait/wakers.h"
#include "sense/world.h"

#define WAKESAMPLE_VIEWS 16

struct wakesample;

struct wakesample *wakesample_new(const struct world *w); /* NULL without memory: all below then do nothing */
/* Begins a counting: name its processes then, the most telling ones first. */
void wakesample_begin(struct wakesample *s);
void wakesample_process(struct wakesample *s, pid_t pid);
/*
 * Python's name of a thread whose places are sampled, "" where the kernel has it; NULL: it is none. The addresses of
 * the locks of one say less than its places.
 */
const char *wakesample_name(const struct wakesample *s, pid_t pid, pid_t tid);
/* Takes the answers, each with its place, and asks again unless it is the end (ask false). */
void wakesample_take(struct wakesample *s, struct wakers *k, bool ask,
		     void (*keep)(void *ctx, const struct waker_row *r, uint64_t place), void *ctx);
