/*
 * Files of /proc that are kept open because they are read again and again.
 * All of one process together keep at most a quarter of the descriptors that
 * it may have (RLIMIT_NOFILE): whoever calls needs some as well. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* May one more be kept? Then it is counted, until keptfds_give. */
bool keptfds_take(void);
void keptfds_give(size_t n);
