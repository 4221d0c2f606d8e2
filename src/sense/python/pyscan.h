/*
 * Finds a Python by the content of its memory, when it has no symbols or its file cannot be opened any more. Slower
 * than symbols, so it is the last resort, and bounded: the data of one file, 8 MiB at most.
 */
#pragma once

#include "sense/python/pyrt.h"

/*
 * Finds the text of sys.version ("3.10.13 (main, ...") in the data of a file, as PY_VERSION_HEX. row: any mapping of
 * the file. minor: the version it must have; 0: any from 8 to 12. False: it is not there.
 */
bool pyscan_version(struct remote *r, const struct maps *m, const struct map_row *row, unsigned minor,
		    uint32_t *ret_version);
/* The minor version in the paths of its mapped folders and modules ("lib/python3.9/", ".cpython-39-"); 0: none. */
unsigned pyscan_minor(const struct maps *m);
/* Finds the start of a self-description (3.13+), which is the address of _PyRuntime. */
bool pyscan_cookie(struct remote *r, const struct maps *m, const struct map_row *row, uint64_t *ret_runtime);
/* 3.8 to 3.12: finds two adjacent words that lead to interpreters whose threads lead back. */
bool pyscan_chain(struct remote *r, const struct maps *m, const struct map_row *row, const struct pyoffsets *o,
		  uint64_t *ret_runtime);
/* The address of PyCode_Type, from the code of a running frame; 0: no frame runs now. */
uint64_t pyscan_code_type(struct remote *r, const struct pyrt *rt);
