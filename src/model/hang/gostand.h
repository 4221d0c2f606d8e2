/*
 * Where the main goroutine of a program made by Go stands, and whether a goroutine of the same process is left that
 * could let it go on. The runtime's own check for deadlocks sees only programs all of whose goroutines sleep; a ticker
 * hides the rest from it.
 *
 * Made of two readings: a goroutine that waits in both, and has not had a turn in between, stands. All others live, and
 * so do those that wait for a descriptor, a sleep, a call, or a channel that a clock may end. Pure.
 */
#pragma once

#include "model/incident/incident.h"
#include "sense/go/goroutine.h"

enum gostand_kind {
	GOSTAND_UNKNOWN, /* not read, or nothing can be said of its wait */
	GOSTAND_LIVES, /* it has run between the readings, or sleeps */
	GOSTAND_OUTSIDE, /* it waits for a descriptor: for another process */
	GOSTAND_SOMEBODY, /* it waits for a goroutine, and one that lives could be meant */
	GOSTAND_NOBODY, /* likely, none that lives comes to what it waits for */
};

struct gostand {
	pid_t pid;
	int32_t rank; /* NO_RANK */
	enum gostand_kind kind;
	bool serves; /* a goroutine waits for a descriptor or in a call: a request may come */
	bool owed; /* of `nobody`: a goroutine that stands itself, and that nobody is left to wake, comes to it */
	char version[GO_VERSION_MAX];
	char text[200]; /* "goroutine 1 waits in sync.WaitGroup.Wait at gowait.go:38 in main.main" */
	char other[200]; /* another one that stands for the same object, or in the program's code; "": none */
	uint64_t since_ns; /* a run of the collector that found it waiting (CLOCK_MONOTONIC); 0: unknown */
	uint32_t n, n_stand; /* goroutines without the runtime's own; those that stand */
};

/* True if it waits for something that only a goroutine, or nobody, brings. */
bool gostand_waits_inside(const struct goroutine *g);
/* lives: for each goroutine of `now`, whether it counts as living. Those of the runtime itself do not. */
void gostand_living(const struct goroutines *before, const struct goroutines *now, bool *lives);
/*
 * Where a second search begins: at those that stand, and that nobody who lives comes to. Whoever they come to waits for
 * them. False: there are none.
 */
bool gostand_stuck(const struct goroutines *now, const bool *reached, bool *ret_stuck);
/*
 * What is true of goroutine 1. reached: what goreach_spread made of `lives`; cut: it found nothing out. Fills kind,
 * serves and the numbers.
 */
void gostand_make(const struct goroutines *before, const struct goroutines *now, const bool *lives, const bool *reached,
		  bool cut, struct gostand *ret);
