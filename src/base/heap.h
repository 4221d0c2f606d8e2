/*
 * How the C library's allocator serves large tables.
 *
 * A table that is sized for the largest job costs only the pages that are used of it, as long as calloc takes it fresh
 * from the kernel. By default that ends with the first large block that is freed: from then on the C library takes
 * blocks of that size out of its heap, and calloc writes zeros into all of them.
 */
#pragma once

/*
 * For a process that keeps many such tables: from now on a large block (36 KiB or more) is always mapped by itself,
 * and given back to the kernel when it is freed. Children that are forked inherit it. Does nothing where the C library
 * is not glibc.
 */
void heap_keep_sparse(void);
/* Gives back to the kernel the free pages between the blocks of the heap, which may take some milliseconds. */
void heap_give_back(void);
