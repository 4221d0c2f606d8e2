/*
 * The files of one VIGIL_HEAP_DIR, by their names and headers
 * (docs/formats/heap.md): who wrote them, whether that process still lives, how
 * much they hold. Only what housekeeping needs: the profiles themselves are
 * read by sense/heap/heapregion.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

#define HEAPFOLDER_NAME 64

struct heapfile {
	char name[HEAPFOLDER_NAME];
	pid_t pid;
	uint64_t start_ticks;
	uint32_t generation; /* 0, and one more for each exec */
	bool newest; /* no file of a later image of the same process, or of a later attach, is there */
	bool alive; /* the process runs, and this is its newest one */
	bool is_off; /* empty: says why there is no profile */
	uint64_t disk_bytes;
	uint32_t state; /* enum heap_state, of the header; 0 while there is none */
	uint64_t live_bytes, peak_bytes; /* estimates, of the header; 0 while there is none */
};

struct heapfolder {
	struct heapfile *file; /* owned; by pid, start and generation */
	size_t n;
	int fd; /* of the folder; owned */
};

/* PID.START[.N].heap or PID.START.off-WHY. -EINVAL: another name. Pure. */
int must_check heapfile_parse(struct span name, struct heapfile *ret);
/* -errno of open. world NULL: who is alive is not looked at. */
int must_check heapfolder_read(const struct world *w, const char *dir, struct heapfolder *ret);
int must_check heapfolder_read_at(const struct world *w, int dirfd, const char *dir, struct heapfolder *ret);
void heapfolder_done(struct heapfolder *h);
