/*
 * A table of calls made from a recording, for processes without exact counts. It holds samples, not calls, and
 * calls_sampled is true: n_calls is the number of samples that show a function (once each, even if it is on the stack
 * several times), n_primitive the number in which it is the innermost, own_s and cumulative_s the time of these
 * samples. Running and waiting count alike, as with cProfile's clock; pass a view (stackset_view) to leave waiting
 * out. A function is identified by its file, its first line (0: unknown) and its name.
 */
#pragma once

#include "model/stacks/calls.h"
#include "model/stacks/stackset.h"

/* Each rank is a part; without ranks each process is one. Free *ret with calls_free. -ENOMEM. */
int must_check calls_from_stackset(const struct stackset *s, struct calls **ret);
