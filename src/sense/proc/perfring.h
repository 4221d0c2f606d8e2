/*
 * The records of one event of one thread, as the kernel samples them: perf_event_open(2) and its ring buffer. Nothing
 * is changed in the program and it is never stopped.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/base.h"

struct perfring {
	int fd; /* -1: closed */
	uint8_t *map; /* the control page, then the ring buffer */
	size_t map_bytes;
};

/*
 * pages: of the ring, a power of two. WORLD_GONE, WORLD_DENIED (perf_event_paranoid, another user's process),
 * WORLD_ABSENT (no such event here), -ENOMEM (RLIMIT_MEMLOCK).
 */
int must_check perfring_open(const struct perf_event_attr *a, pid_t tid, size_t pages, struct perfring *ret);
void perfring_close(struct perfring *p);
/* Takes the next record, its first cap bytes; returns its whole size, 0: none is ready. */
size_t perfring_next(struct perfring *p, void *into, size_t cap);
