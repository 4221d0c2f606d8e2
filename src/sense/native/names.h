/*
 * Interned names: each text is kept once until the natives end, so that profiles may hold pointers. Control bytes of
 * foreign names become '?', because names are shown on terminals.
 */
#pragma once

#include "base/base.h"

#define NAMES_BYTES_MAX (256 * MIB)

struct names;
struct names *names_new(void);
struct names *names_free(struct names *n);
/* Returns the same pointer for the same text. Without room: a constant that says so. */
const char *names_keep(struct names *n, const char *text);
/*
 * The form of a linker's name that people wrote: demangled, and of a function that Cython made the one in the .pyx.
 * module: the file that has it.
 */
const char *names_of_function(struct names *n, const char *linker_name, const char *module);
/* The demangled form of a linker's name. */
const char *names_readable(struct names *n, const char *linker_name);
