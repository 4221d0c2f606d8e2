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

#include "sense/heapregion.h"
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
