/*
 * The separate file that holds the symbols stripped off a file (GDB manual, "Separate Debug Files"): found by build id
 * below /usr/lib/debug/.build-id, else by the name in .gnu_debuglink. It is searched in the process's own view of the
 * file system, then in ours, then among the files that debuginfod-find has fetched before, always with the rights of
 * the view: which one is wanted, the file itself says. The network is never used. A debug file must have the same build
 * id or, where there is none, the checksum that the link names.
 */
#pragma once

#include "sense/native/elffile.h"
#include "sense/native/rootfile.h"

/* path: where the file itself lies, in that view. WORLD_ABSENT: there is no debug file. */
int must_check debugfile_open(const struct world *w, const struct rootfile_view *view, const struct elf *e,
			      const char *path, struct elf *ret);
