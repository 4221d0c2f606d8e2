/*
 * Vigil's own oom_score_adj (kernel: filesystems/proc.rst, 3.1). Between the
 * kernel's kill at a group's limit and the return of the memory, a process that
 * touches a new page triggers a second kill, and only vigil may be left as victim.
 * With -1000 the kernel waits instead. The children of vigil get the value that
 * vigil was started with.
 */
#pragma once

#include "sense/world.h"

/* Lowers the value of vigil to -1000 and keeps the old one and the world. -EACCES: no CAP_SYS_RESOURCE. */
int must_check oomadj_exempt_self(const struct world *w);
/*
 * Puts the old value back in a forked child, before exec. Makes system calls only; does nothing if nothing was lowered.
 */
void oomadj_restore(void);
