/*
 * Which pages of a running process its sampled blocks explain, when it shares
 * them: after a fork parent and child have the same pages until one of them
 * writes. Counted in each they would be more than there is, and in the child
 * nobody would have asked for them. So each page counts as its part for each
 * that has it (the kernel's proportional size), and blocks that an ancestor
 * asked for before the fork explain pages of the child as well.
 *
 * What the ancestor has given back since is not known any more, and stays
 * unexplained in the child. How many share a page is known on average only.
 */
#pragma once

#include "sense/heap/heapregion.h"
#include "sense/heap/heapshare.h"
#include "sense/world.h"

struct heapresident; /* remembers ancestors, which many have in common */
struct heapresident *heapresident_new(const struct world *w);
struct heapresident *heapresident_free(struct heapresident *h);

/* How much of its pages a process has for itself. */
struct heapresident_shares {
	bool valid;
	uint64_t pss_anon_bytes; /* anonymous memory, each page divided by how many have it */
	double part; /* of a page that it shares, on average; 1: it shares none */
};
/* Walks page tables: 20 ms for 2 GiB. anon_bytes: as its status says. */
struct heapresident_shares heapresident_shares(const struct world *w, pid_t pid, uint64_t anon_bytes);

/* Beside a copy NAME of a profile: what of its blocks lay in memory then. sense/heap/heapshare */
#define HEAPRESIDENT_SUFFIX ".share"
/*
 * Looks at the pages of the blocks that the copy `name` in dir has, of a process that runs, and writes what it saw beside
 * it. pid: as we number it; WORLD_GONE: it does not run. -errno.
 */
int must_check heapresident_note(const struct world *w, pid_t pid, int dir, const char *name, uint64_t budget_ns);
/* What was noted beside the profile at path, or beside its copy of when memory got short. WORLD_GONE: nothing was. */
int must_check heapresident_noted(const char *path, struct heapshare *ret);

struct heapresident_inherited {
	double resident_bytes; /* of ancestors' blocks, estimated, in this process */
	double own_bytes; /* of these, pages that nobody else has: written since the fork */
};
/*
 * r: the process's own profile, of a child of fork; dir: the folder that its ancestors' profiles lie in. Nothing where
 * there is none. -ENOMEM.
 */
int must_check heapresident_inherited(struct heapresident *h, int dir, const struct heapregion *r, pid_t pid,
				      uint64_t budget_ns, struct heapresident_inherited *ret);
