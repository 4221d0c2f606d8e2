/*
 * Locks what the guard touches, and only that: the program, libc, the stack
 * and the given tables. Everything else that happens to be mapped (SQLite,
 * systemd's library) is never touched by the guard; locking it all would
 * cost several times the memory and exceed an ordinary RLIMIT_MEMLOCK.
 */
#pragma once

#include "base/base.h"

/* True when everything asked for is locked. Pages are locked as they are touched. */
bool memlock_own(void *a, size_t a_len, void *b, size_t b_len);
/*
 * Pages that are there already need not be made when every microsecond counts: those of p are made, their bytes stay as
 * they are. Kernels before 5.14 make them when they are touched, as ever. Source: madvise(2), MADV_POPULATE_WRITE.
 */
void memlock_populate(void *p, size_t len);
