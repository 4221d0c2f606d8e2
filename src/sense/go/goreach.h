/*
 * Which goroutines that stand could still be woken by one that lives: because that one can come to what they wait for.
 * That is searched for as a collector does it: from the stacks of those that live, the program's variables and the
 * timers, through all objects that are pointed to from there. The runtime's own lists of goroutines, of who waits, and
 * of processors are left out, as the program does not come to anything by them.
 *
 * Anything that looks like a pointer counts as one, and giving up counts as having found it, so errors go to "could be
 * woken". Missed are what running goroutines have in registers only, memory of C, finalizers, and what changes while
 * it is read: that nobody can is likely then, and no proof.
 */
#pragma once

#include "sense/go/goroutine.h"

/*
 * reached: for each goroutine, on entry whether it lives (it has run, or will by a clock, a descriptor or a call), on
 * return whether it may be woken as well. *ret_cut: there was too much to look at, and nothing was found out.
 */
int must_check goreach_spread(struct goproc *p, const struct goroutines *s, bool *reached, bool *ret_cut);
