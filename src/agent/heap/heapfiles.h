/*
 * The heap profiles of one attempt of a job (docs/formats/heap.md), in its folder:
 *
 *   <folder>/         a file for each process that has the library, see agent/heap/heapfolder
 *   <folder>/warn/    copies of a few of them, made when memory got short
 *   <folder>/control  the rate at which all of them sample
 *
 * Keeps the files few, makes the copies, finds the file of a process and switches the rate. Times in ns since boot.
 */
#pragma once

#include <sys/types.h>

#include "base/foreign.h"
#include "judge/memory/heapcopy.h"
#include "sense/world.h"

/* Files of ended processes may have this much in all; the ones with the highest peak are kept. */
#define HEAPFILES_ENDED_BYTES (160 * MIB)

struct heapfiles {
	char folder[400]; /* "": no profiles */
	uint64_t next_tidy_ns;
	struct heapcopy last;
};

/* A new attempt has this folder. */
void heapfiles_begin(struct heapfiles *h, const char *folder);
/* When heapfiles_tidy is to be called next; UINT64_MAX: never. */
uint64_t heapfiles_due_ns(const struct heapfiles *h);
/* Removes files of ended processes beyond budget_bytes. */
void heapfiles_tidy(struct heapfiles *h, const struct world *w, uint64_t budget_bytes);
/*
 * Memory is short: copies the profiles of the few processes with most live bytes, so that a report shows the moment
 * before. judge/memory/heapcopy says when; before that this does nothing.
 */
void heapfiles_copy(struct heapfiles *h, const struct world *w);
/* When heapfiles_copy is to be called next; UINT64_MAX: there are no profiles. */
uint64_t heapfiles_copy_due_ns(const struct heapfiles *h);

/*
 * The profile of a process in a folder, by pid and start: the youngest image of it. copy: the one made when memory got
 * short, if there is one. WORLD_GONE: it has none.
 */
int must_check heapfiles_find(const char *folder, pid_t pid, uint64_t start_ticks, bool copy, char *dst, size_t cap);
/* Switches all processes that have the library to a rate, those that come later as well; 0 off. -errno. */
int must_check heapfiles_switch(int folder, const struct foreign_user *as, uint64_t rate_bytes, size_t *ret_regions);
