/* Advice for a verdict: rows of text by the id of its cause, and some that are for a part of its verdicts. */
#pragma once

#include "judge/hang/hang_parts.h"

#define HANG_ADVICE_OWN_LOCK "deadlock of one thread"
#define HANG_ADVICE_BY_PIPE "deadlock over a pipe"
#define HANG_ADVICE_OWN_THREADS "deadlock of several threads"
#define HANG_ADVICE_RESTARTS "dead_rank that is made anew"
#define HANG_ADVICE_ASKS "child_fails that may ask"
#define HANG_ADVICE_LOST_LOCK "orphaned_wait for a lock"
#define HANG_ADVICE_APART "orphaned_wait for one process"

/* The usual advice for a cause, or that of one of these rows. */
void hang_advise_for(struct hang_work *w, const char *id);
