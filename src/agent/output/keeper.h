/*
 * Writes the kept copy of a job's output, in a thread of its own: a disk that is slow, full or dead holds up this
 * thread, never the output. What waits for the disk is held in memory up to KEEPER_WAITING_BYTES a job; who has more is
 * told that there is no room (keeper_has_room), and keeps a gap that is written into the copy as a line of its own.
 *
 * What a disk does not take is held in memory, KEEPER_SPARE_BYTES of each file from the end, for the report of a death.
 *
 * All functions may be called by any thread. A file belongs to the keeper from keeper_file_open() on. Sizes are bytes.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "agent/output/keptlog.h"
#include "base/base.h"

#define KEEPER_WAITING_BYTES (16 * MIB)
#define KEEPER_SPARE_BYTES ((uint64_t)MIB)
#define KEEPER_FILES 256

struct keeper_file {
	int fd; /* -1: closed */
	int spare_fd; /* what came since the disk took nothing any more, and its last piece before; -1: none */
	bool used, ended; /* ended: closed, and nothing of it waits */
	bool err; /* stderr of the rank */
	int32_t rank;
	struct keptlog kept;
	_Atomic int error; /* errno of the write that failed, after which nothing is kept; 0: none */
	bool error_said; /* by the owner */
	_Atomic uint64_t gap_bytes; /* not kept, as they came too fast */
	_Atomic uint32_t gaps;
};

struct keeper_piece;

struct keeper {
	pthread_mutex_t lock;
	pthread_cond_t work, idle; /* idle: something was written */
	pthread_t thread;
	bool started, stop, busy;
	struct keeper_piece *first, **end;
	uint64_t waiting_bytes; /* what the thread has in hand included */
	uint64_t written_bytes;
	struct keptlogs *job; /* borrowed */
	_Atomic bool trimmed; /* something was taken out */
	int news_fd; /* eventfd, borrowed: written to when there is something to say; -1: none */
	struct keeper_file file[KEEPER_FILES];
};

void keeper_init(struct keeper *k, struct keptlogs *job, int news_fd);
/* fd becomes the keeper's. -1: the file could not be made, which has been told. NULL: there are too many files. */
struct keeper_file *keeper_file_open(struct keeper *k, int fd, int32_t rank, bool err);
/* Where this process and its forks can read what is held in memory. False: nothing is; it is in its file. */
bool keeper_spare_path(const struct keeper_file *f, char *dst, size_t cap);
/* Append; the bytes are copied. Takes them beyond the limit too: the caller asks first. */
void keeper_put(struct keeper *k, struct keeper_file *f, const char *p, size_t n);
/* So many bytes are left out here. What was put before ends with a line, and what comes begins with one. */
void keeper_gap(struct keeper *k, struct keeper_file *f, uint64_t bytes);
/* After all that was put. */
void keeper_file_close(struct keeper *k, struct keeper_file *f);
/* False: that part of the limit or more is waiting (1: all of it, 2: half). */
bool keeper_has_room(struct keeper *k, unsigned part);
/*
 * Wait until all is written, at most until the time given, and no longer than quiet_ns without any progress. False: not
 * all of it is.
 */
bool keeper_flush(struct keeper *k, uint64_t (*mono_ns)(void), uint64_t until_ns, uint64_t quiet_ns);
/* The next attempt: the files of the last one are forgotten. */
void keeper_files_forget(struct keeper *k);
/* Ends the thread where it is idle; else leaves it to the end of the process. */
void keeper_stop(struct keeper *k);
