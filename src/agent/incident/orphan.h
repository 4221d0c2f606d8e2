/*
 * The last duty of a guard whose supervisor was killed: it alone is left to
 * write down what happened. Runs in the guard's process, after the job has
 * been ended; may allocate and wait, nothing depends on it any more.
 */
#pragma once

#include "agent/guard/guardloop.h"
#include "agent/notify/notifier.h"

/* state_dir is borrowed for the process's life. */
void orphan_prepare(const char *state_dir, struct notifier *notifier);
/* A guardloop_orphan_fn. */
void orphan_report(const struct guard_shm *shm, size_t job, size_t ended);
