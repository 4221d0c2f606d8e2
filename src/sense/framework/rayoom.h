/*
 * What Ray's memory monitor of a node has killed, by what the raylet writes into "raylet.out" at that time: a process
 * that goes on is told nothing of it where Ray tries again. Source: Ray 2.60, src/ray/raylet/node_manager.cc.
 *
 * The log is the user's, and no proof. It is opened with the rights of that user, once: of a log that is moved away
 * what comes later is not seen.
 */
#pragma once

#include "sense/death/killerlog.h"
#include "sense/framework/raylogs.h"

struct rayoom {
	int fd; /* of the log; -1: not opened yet */
	uint64_t at; /* read up to here */
	struct killerlog talk; /* a report takes several lines */
};
#define RAYOOM_NONE ((struct rayoom){.fd = -1})

void rayoom_done(struct rayoom *o);
/*
 * The kills since the call before, at most cap: of more the newest. The first call finds none: it begins at the end of
 * the log. At most 64 KiB are read in one call. time_unix_ms of each is now. Returns how many.
 */
size_t rayoom_read(const struct raylogs *l, struct rayoom *o, int64_t now_unix_ms, struct killer_line *ret, size_t cap);
