/* The newest event, found by looking at few rows. */
#pragma once

#include "tell/store/store.h"

/* job NULL: of all jobs. STORE_NONE. */
int must_check store_last_event(struct store *s, const char *job, struct job_event *ret);
