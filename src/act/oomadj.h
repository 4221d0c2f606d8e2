/*
 * Vigil's own oom_score_adj (kernel: filesystems/proc.rst, 3.1). Between the
 * kernel's kill at a group's limit and the return of the memory, a process that
 * touches a new page triggers a second kill, and only vigil may be left as victim.
 * With -1000 the kernel waits instead. The children of vigil get the value that
 * vigil was started with.
 */
#pragma once

#include "sense/world.h"

/* Lowers our own to -1000, and remembers the world and what it was. -EACCES: no CAP_SYS_RESOURCE. */
int must_check oomadj_exempt_self(const struct world *w);
/* In a forked child, before exec: the old value again. System calls only; nothing happened, nothing is done. */
void oomadj_restore(void);
