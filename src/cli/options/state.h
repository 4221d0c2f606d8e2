/* The directory for jobs, logs and reports. */
#pragma once

#include "base/fault.h"
#include "tell/store/store.h"

/*
 * given: --state, or NULL. Else VIGIL_STATE_DIR, else /var/lib/vigil for root, else $XDG_STATE_HOME/vigil, else
 * ~/.local/state/vigil, else /tmp/vigil-UID, the only one that is made here.
 */
int must_check state_dir(const char *given, char *dst, size_t cap, struct fault *f);

/*
 * For root's commands that write there: warns where the state directory, or something on the way to it, is another
 * user's, who could put a link in place of what is written.
 */
void state_warn(const char *dir);

/*
 * What a vigil of root keeps of the calling user's jobs is lent to *s; where *s is NULL and there is something, *s
 * becomes a store of nothing else. Nothing is done for root, and where the user named a state directory (given).
 */
void state_lend(const char *given, struct store **s);
/*
 * True if a vigil of root keeps jobs that the calling user may not see; the sentence that says so is copied. given: as
 * above.
 */
bool state_others(const char *given, char *dst, size_t cap);
