/*
 * The separate file that holds the symbols stripped off a file (GDB manual, "Separate Debug Files"): found by build id
 * below /usr/lib/debug/.build-id, else by the name in .gnu_debuglink. It is searched in the process's own view of the
 * file system, then in ours, then among the files that debuginfod-find has fetched before. The network is never used. A
 * debug file must have the same build id or, where there is none, the checksum that the link names.
 */
#pragma once

#include "sense/native/elffile.h"

/* path: where the file itself lies, as the process sees it. WORLD_ABSENT: there is no debug file. */
int must_check debugfile_open(const struct world *w, pid_t pid, const struct elf *e, const char *path, struct elf *ret);
