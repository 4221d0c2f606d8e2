/*
 * When copies of heap profiles are made while memory is short, so that a report can show the moment before a process
 * died. Times in ns of one clock, 0: never. Pure.
 */
#pragma once

#include "base/base.h"

struct heapcopy {
	uint64_t read_ns; /* when the profiles were last read */
	uint64_t took_ns; /* what that read, with its copies, took */
	uint64_t copy_ns; /* when copies were last made */
	uint64_t live_bytes; /* what all processes held then */
};

/* When the profiles are to be read again: at most twice a second, and for at most a twentieth of the time. */
uint64_t heapcopy_read_due_ns(const struct heapcopy *last);
/* True: no copy was made yet, the last one is ten seconds old, or an eighth more bytes live than at that time. */
bool heapcopy_is_due(const struct heapcopy *last, uint64_t now_ns, uint64_t live_bytes);
