/*
 * A table of calls made of a recording: the stand-in for processes that
 * nobody counted. It holds samples, not calls, and says so (calls_sampled):
 * n_calls are the samples that show a function (once each, however often it
 * is on the stack), n_primitive those in which it is the innermost one, own_s
 * and cumulative_s the time these stand for. Running and waiting count alike,
 * as cProfile's clock does; give a view (stackset_view) to leave waiting out.
 * A function is its file and name; its line is 0, since only the lines that
 * ran are known.
 */
#pragma once

#include "model/stacks/calls.h"
#include "model/stacks/stackset.h"

/* Each rank is a part; without ranks each process. */
int must_check calls_from_stackset(const struct stackset *s, struct calls **ret);
