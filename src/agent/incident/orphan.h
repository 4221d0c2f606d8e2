/*
 * The report about a supervisor that was killed, written by the guard, which is the only process left. Runs in the
 * guard's process after the job has been ended; it may allocate and wait, since nothing depends on the guard any more.
 */
#pragma once

#include "agent/guard/guardloop.h"
#include "agent/notify/notifier.h"

/* Call before the guard is forked. Both are borrowed for the process's life. */
void orphan_prepare(const char *state_dir, struct notifier *notifier);
