/*
 * Which resident pages of a process its sampled blocks explain, where processes share pages. After a fork parent and
 * child have the same pages until one of them writes. Counted in both they would be more than there are, and in the
 * child no block would explain them. So each page counts in parts (the kernel's proportional size), and blocks that an
 * ancestor allocated before the fork explain pages of the child as well.
 *
 * What the ancestor has freed since is unknown, and stays unexplained in the child. The number of processes that share
 * a page is known on average only.
 */
#pragma once

#include "sense/heap/heapregion.h"
#include "sense/heap/heapshare.h"
#include "sense/world.h"

struct heapresident; /* keeps ancestors, which many processes have in common */
struct heapresident *heapresident_new(const struct world *w);
struct heapresident *heapresident_free(struct heapresident *h);

/* How a process shares its pages. */
struct heapresident_shares {
	bool valid;
	uint64_t pss_anon_bytes; /* anonymous memory, each page divided by the number of its owners */
	double part; /* the process's mean part of a page that it shares; 1: it shares none */
};
/* Walks page tables: 20 ms for 2 GiB. anon_bytes: as its status file has it. */
struct heapresident_shares heapresident_shares(const struct world *w, pid_t pid, uint64_t anon_bytes);

/* Suffix of the file beside a copy of a profile that says which blocks lay in memory: sense/heap/heapshare. */
#define HEAPRESIDENT_SUFFIX ".share"
/*
 * Looks at the pages of the blocks that the copy `name` in dir has, of a running process, and writes the result beside
 * it. pid: as vigil numbers it. WORLD_GONE: it does not run; -errno.
 */
int must_check heapresident_note(const struct world *w, pid_t pid, int dir, const char *name, uint64_t budget_ns);
/*
 * Reads the note beside the profile, or beside its copy in warn/. WORLD_GONE: there is none. Free with heapshare_done.
 * dir, path: as of heapregion_read().
 */
int must_check heapresident_noted(int dir, const char *path, struct heapshare *ret);

struct heapresident_inherited {
	double resident_bytes; /* estimate of ancestors' blocks that are resident in this process */
	double own_bytes; /* of these, pages that no other process has: written since the fork */
};
/*
 * r: profile of the process itself, a child of fork; dir: folder with the profiles of its ancestors. *ret is 0 without
 * them. -ENOMEM.
 */
int must_check heapresident_inherited(struct heapresident *h, int dir, const struct heapregion *r, pid_t pid,
				      uint64_t budget_ns, struct heapresident_inherited *ret);
