/*
 * What a Python without symbols, or whose file cannot be opened any longer,
 * still gives away in its memory. Slower than asking symbols, therefore asked
 * last, and bounded: the data of one file, 8 MiB at most.
 */
#pragma once

#include "sense/python/pyrt.h"

/*
 * The text of sys.version ("3.10.13 (main, ...") in the data of a file, as
 * PY_VERSION_HEX. row: any mapping of the file. minor: which one it must be;
 * 0: any from 8 to 12. false: it is not there.
 */
bool pyscan_version(struct remote *r, const struct maps *m, const struct map_row *row, unsigned minor,
		    uint32_t *ret_version);
/* The minor version that the folders and modules it has mapped are for ("lib/python3.9/", ".cpython-39-"); 0: none. */
unsigned pyscan_minor(const struct maps *m);
/* Where a self-description begins (3.13+), which is where _PyRuntime does. */
bool pyscan_cookie(struct remote *r, const struct maps *m, const struct map_row *row, uint64_t *ret_runtime);
/* 3.8 to 3.12: where two words in a row lead to interpreters whose threads lead back. */
bool pyscan_chain(struct remote *r, const struct maps *m, const struct map_row *row, const struct pyoffsets *o,
		  uint64_t *ret_runtime);
/* PyCode_Type, by what a frame of the first thread runs; 0: none of them runs anything now. */
uint64_t pyscan_code_type(struct remote *r, const struct pyrt *rt);
