/* Where jobs, logs and reports are kept. */
#pragma once

#include "base/fault.h"

/*
 * given: --state, or NULL. Else VIGIL_STATE_DIR, else /var/lib/vigil for root,
 * else $XDG_STATE_HOME/vigil, else ~/.local/state/vigil. Makes nothing.
 */
int must_check state_dir(const char *given, char *dst, size_t cap, struct fault *f);
