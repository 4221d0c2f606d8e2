/*
 * How the C library's allocator serves large tables.
 *
 * A table that is sized for the largest job costs only the pages that are used of it, as long as calloc takes it fresh
 * from the kernel. By default that ends with the first large block that is freed: from then on the C library takes
 * blocks of that size out of its heap, and calloc writes zeros into all of them. And where the kernel makes huge pages
 * of any memory (transparent_hugepage/enabled is "always"), it turns a table with one used page into 2 MiB of memory
 * as soon as the machine has a quiet minute.
 */
#pragma once

#include "base/base.h"

/*
 * For a process that keeps many such tables: from now on a large block (36 KiB or more) is always mapped by itself,
 * and given back to the kernel when it is freed (glibc only), and there are no transparent huge pages. Children that
 * are forked inherit it. The latter outlives exec as well, so who executes somebody else's program undoes it first.
 */
void heap_keep_sparse(void);
/*
 * For a child that becomes somebody else's program: huge pages as vigil was started with. A system call only. It is
 * of the memory, so who shares that with a child (vfork) calls it itself, and heap_huge_pages_redo() afterwards.
 */
void heap_huge_pages_undo(void);
void heap_huge_pages_redo(void);
/*
 * No more than so many bytes beside what is mapped now, for this process and whom it forks: for one that reads what a
 * user wrote, whose size is the user's choice. proc_fd is /proc. False: there is no limit.
 */
bool must_check heap_limit(int proc_fd, uint64_t bytes);
/* Gives back to the kernel the free pages between the blocks of the heap, which may take some milliseconds. */
void heap_give_back(void);
