/*
 * The separate file that holds what was stripped off a file (GDB manual,
 * "Separate Debug Files"): by build id below /usr/lib/debug/.build-id, else
 * by the name in .gnu_debuglink. Looked for as the process sees its files,
 * then as we see ours, then in what debuginfod-find has fetched before.
 * Never over the network. It must have the same build id, or where there is
 * none, the checksum that the link names.
 */
#pragma once

#include "sense/native/elffile.h"

/* path: where the file itself lies, as the process sees it. WORLD_ABSENT: there is none. */
int must_check debugfile_open(const struct world *w, pid_t pid, const struct elf *e, const char *path, struct elf *ret);
