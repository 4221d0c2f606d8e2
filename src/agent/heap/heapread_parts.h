/* What the parts of agent/heap/heapread share: the reader, and one profile while it is read. */
#pragma once

#include "agent/heap/heapfolder.h"
#include "agent/heap/heapread.h"
#include "agent/heap/heapresident.h"
#include "agent/heap/heapsymbols.h"

#define HEAPREAD_OFF_REASONS 16

struct read_process;
struct heapread {
	const struct world *w;
	struct heapset *set;
	struct heapread_want want;
	struct heapsymbols *names;
	size_t n_files; /* that share the budgets */
	size_t n_profiles; /* in the folder that is read, wanted or not */
	uint64_t shares_ns; /* spent on who shares what */
	struct heapresident *resident;
	size_t n_read, n_failed, n_approximate, n_stacks;
	char first_failed[300];
	size_t off[HEAPREAD_OFF_REASONS];
	uint64_t skipped_rows;
	struct read_process *read; /* owned; n_read of them */
	size_t cap_read;
	bool any_runs; /* of the folder that is read: what others held has gone */
};

/* What is known of one stack before it is named. */
struct heapread_row {
	uint32_t stack;
	double worth;
	struct heapset_figures f;
	double born[HEAP_LEAK_POINTS]; /* bytes that live, by when they came */
};

/* One profile at work. */
struct heapread_one {
	struct heapread *h;
	struct heapregion r;
	struct heapset_process p;
	struct heapread_row *rows; /* one for each stack of r */
	uint64_t end_mono_ns; /* until when it tells */
	bool alive;
	bool earlier; /* a later file of the same process is there */
	uint64_t inode;
	int dir; /* that it lies in; borrowed; AT_FDCWD: a file by itself */
	pid_t pid; /* as we number it */
	double seconds;
};

/* ---- heapread_process.c ---- */

/* NULL: the caller knows nothing of it. */
const struct heapread_who *heapread_who_of(const struct heapread *h, int32_t pid, uint64_t start_ticks);
/* True: the process of this file runs, and writes to it. dir: path of the folder, for comparison with its maps. */
bool heapread_is_running(const struct heapread *h, const struct heapfolder *folder, const struct heapfile *file,
			 const char *dir);
/* Fills rd->p, without its figures, and what rd says of the process. */
void heapread_describe(struct heapread_one *rd, const char *path);

/* ---- heapread_figures.c ---- */

/* Makes rd->rows, and the sums of rd->p. -ENOMEM. */
int must_check heapread_rows_make(struct heapread_one *rd);

/* ---- heapread_resident.c ---- */

/* What of a running process lies in memory, and what it shares. -ENOMEM. */
int must_check heapread_resident(struct heapread_one *rd);
/* The same of one that does not run any more, as it was when memory got short. */
void heapread_resident_noted(struct heapread_one *rd, const char *path);
