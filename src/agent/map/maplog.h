/*
 * The joblog of a bag. A line is written whole, by one write, as soon as its task is over and its output passed on; the
 * disk is asked to keep it at most a second later, by a thread, so that nothing waits for it. What a runner that was
 * killed has left is read back for --resume; a last line without its end is cut off, and its task runs again.
 *
 * The file is locked (flock) while a runner uses it.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "agent/map/mapspec.h"
#include "model/map/joblog.h"

struct maplog_done {
	struct joblog_row row; /* command borrowed from the text */
};

struct maplog {
	int fd; /* -1: none */
	char *text; /* of the file, while its rows are used */
	struct maplog_done *done; /* by number; the last line of a task counts */
	size_t n_done;
	char id[48]; /* names the file for tasks of runners that are gone */
	_Atomic bool dirty, over;
	bool syncing, complained;
	int wake_fd;
	pthread_t thread;
};

#define MAPLOG_NONE ((struct maplog){.fd = -1, .wake_fd = -1})

/* -errno with a sentence. */
int must_check maplog_open(struct maplog *l, const struct map_spec *spec, struct fault *f);
/* The row of a task that was run before; NULL: none. */
const struct joblog_row *maplog_find(const struct maplog *l, uint64_t seq);
/* The highest number in it; 0: it is empty. */
uint64_t maplog_last(const struct maplog *l);
/* -errno is warned of once by the caller; the bag goes on. */
int must_check maplog_write(struct maplog *l, const struct joblog_row *row);
void maplog_close(struct maplog *l);
