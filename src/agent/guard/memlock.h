/*
 * Locks the memory that the guard touches, and no other: the program, libc, the stack and the given tables. The guard
 * never touches the rest of what is mapped (SQLite, systemd's library); locking it too would cost several times the
 * memory and exceed an ordinary RLIMIT_MEMLOCK.
 */
#pragma once

#include "base/base.h"

/* True when everything asked for is locked. Pages are locked as they are touched. */
bool memlock_own(void *a, size_t a_len, void *b, size_t b_len);
/*
 * Have the kernel allocate the pages of p now, so that writing to them later causes no page fault. Their bytes stay as
 * they are. Does nothing on kernels before 5.14. Source: madvise(2), MADV_POPULATE_WRITE.
 */
void memlock_populate(void *p, size_t len);
