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
	size_t n_files; /* files that share the budgets */
	size_t n_profiles; /* profiles in the folder, wanted or not */
	uint64_t shares_ns; /* time spent on reading shared pages */
	struct heapresident *resident;
	size_t n_read, n_failed, n_approximate, n_stacks;
	pid_t seen_by; /* see heapread_as_seen_by() */
	char first_failed[300];
	size_t off[HEAPREAD_OFF_REASONS];
	uint64_t skipped_rows;
	struct read_process *read; /* owned; n_read of them */
	size_t cap_read;
	bool any_runs; /* a process of the folder runs, so ended ones have no live memory */
};

/* One stack before it is named. */
struct heapread_row {
	uint32_t stack;
	double value; /* largest in any view */
	struct heapset_figures f;
	double born[HEAP_LEAK_POINTS]; /* live bytes by time of birth */
};

/* One profile while it is read. */
struct heapread_one {
	struct heapread *h;
	struct heapregion r;
	struct heapset_process p;
	struct heapread_row *rows; /* one for each stack of r, later sorted */
	uint64_t end_mono_ns; /* time of its last sample, or now if it runs */
	bool alive;
	bool earlier; /* the same process has a later file */
	uint64_t inode;
	int dir; /* folder of the file; borrowed; AT_FDCWD: the path is complete */
	pid_t pid; /* as vigil numbers it */
	double seconds;
};

/* ---- heapread_process.c ---- */

/* NULL: the caller knows nothing of the process. */
const struct heapread_who *heapread_who_of(const struct heapread *h, int32_t pid, uint64_t start_ticks);
/*
 * True: the process of this file runs and writes to it. dir: path of the folder, as the maps of the process may show
 * it.
 */
bool heapread_is_running(const struct heapread *h, const struct heapfile *file, const char *dir);
/* Sets rd->p except for its figures, and the fields of rd that describe the process. */
void heapread_describe(struct heapread_one *rd, const char *path);

/* ---- heapread_figures.c ---- */

/* Makes rd->rows and the sums of rd->p. -ENOMEM. */
int must_check heapread_rows_make(struct heapread_one *rd);

/* ---- heapread_resident.c ---- */

/* Adds which blocks of a running process lie in memory, and what it shares. -ENOMEM. */
int must_check heapread_resident(struct heapread_one *rd);
/* Adds the same for a process that has ended, from the note of when memory got short. */
void heapread_resident_noted(struct heapread_one *rd, const char *name);
