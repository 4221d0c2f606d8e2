/* The directory for jobs, logs and reports. */
#pragma once

#include "base/fault.h"

/*
 * given: --state, or NULL. Else VIGIL_STATE_DIR, else /var/lib/vigil for root, else $XDG_STATE_HOME/vigil, else
 * ~/.local/state/vigil, else /tmp/vigil-UID, the only one that is made here.
 */
int must_check state_dir(const char *given, char *dst, size_t cap, struct fault *f);
