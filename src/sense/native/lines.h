/*
 * Source file and line of an address from DWARF, by elfutils' libdw. The library is loaded when lines are first asked
 * for; where it is not installed there are no lines. Files are read, not mapped.
 */
#pragma once

#include "base/base.h"

struct libdw;
/* NULL: not installed. It is kept for good. */
struct libdw *libdw_load(void);

struct lines; /* the debug information of one file */
/* Takes fd. NULL: the file has no debug information. d must outlive the result, which is kept for good. */
struct lines *lines_open(const struct libdw *d, int fd);
/* vaddr: the file's own address. A relative path is completed with the compiler's folder. */
bool lines_find(struct lines *l, uint64_t vaddr, char *file, size_t cap, uint32_t *ret_line);
/* The line in the outermost function that was inlined there, not the line that calls it. False: there is none. */
bool lines_find_inlined(struct lines *l, uint64_t vaddr, char *file, size_t cap, uint32_t *ret_line);
