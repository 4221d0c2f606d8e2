/*
 * The files of one VIGIL_HEAP_DIR (docs/formats/heap.md), by their names and headers: which process wrote each, whether
 * that process still lives, and how much it holds. sense/heap/heapregion reads the profiles themselves.
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
	uint32_t generation; /* 0, and one more after each exec */
	bool newest; /* there is no file of a later image of the same process, or of a later attach */
	bool alive; /* the process runs, and this is its newest file */
	bool is_off; /* an empty file, which says why there is no profile */
	uint64_t disk_bytes, inode;
	uint32_t state; /* enum heap_state of the header; 0: no header yet */
	uint64_t live_bytes, peak_bytes; /* estimates of the header; 0: no header yet */
};

struct heapfolder {
	struct heapfile *file; /* owned; sorted by pid, start and generation */
	size_t n;
	int fd; /* the folder; owned */
};

/* Parses PID.START[.N].heap or PID.START.off-WHY. -EINVAL: another name. Pure. */
int must_check heapfile_parse(struct span name, struct heapfile *ret);
/* -errno of open, -ENOMEM. world NULL: `alive` is not determined. Free with heapfolder_done. */
int must_check heapfolder_read(const struct world *w, const char *dir, struct heapfolder *ret);
/* The same of a folder that is open for reading; it stays the caller's. Files are read with the rights of its owner. */
int must_check heapfolder_read_fd(const struct world *w, int dir, struct heapfolder *ret);
void heapfolder_done(struct heapfolder *h);
