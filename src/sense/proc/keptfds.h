/*
 * Files of /proc that are kept open because they are read again and again.
 * All callers together keep at most a quarter of RLIMIT_NOFILE, so that the rest
 * of vigil has descriptors left. For one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* True if one more may be kept; it then counts until keptfds_give. */
bool keptfds_take(void);
void keptfds_give(size_t n);
