/*
 * Go's table of functions and lines (.gopclntab), which every program of Go has, stripped or not: for an address in the
 * code its function, file and line, and how far the caller's return address is above the stack pointer. Follows
 * runtime.pcHeader, runtime._func and debug/gosym of Go 1.18 and later (magics 0xfffffff0 and 0xfffffff1).
 *
 * Pure. The bytes are foreign: each number is checked against the table's size, and loops end with it. Texts are
 * borrowed from the table, not terminated by us, and may hold anything; who shows them makes them printable.
 */
#pragma once

#include "base/text.h"

enum { GOPCLN_NONE = 11 /* the table says nothing of it */ };

struct gopcln {
	struct span bytes; /* borrowed */
	uint64_t text; /* address in the process that offsets of code count from */
	uint64_t n_funcs;
	uint64_t names, cus, files, pcs, funcs; /* offsets of the parts in bytes */
	uint32_t func_bytes; /* of _func without what follows it */
};

struct gofunc {
	uint64_t entry; /* address in the process */
	uint32_t at; /* of its _func, from `funcs` */
};

/* Tables by which an address has a number; the first three have their offsets in _func, the others follow it. */
enum gopcln_table { GOPCLN_SP, GOPCLN_FILE, GOPCLN_LINE, GOPCLN_INLINE };

/* text: 0: the table's own header has it. GOPCLN_NONE: no such table, or one that contradicts itself. */
int must_check gopcln_open(struct span bytes, uint64_t text, struct gopcln *ret);
/* The function that has the instruction at pc. */
int must_check gopcln_find(const struct gopcln *t, uint64_t pc, struct gofunc *ret);
int must_check gopcln_value(const struct gopcln *t, const struct gofunc *f, enum gopcln_table which, uint64_t pc,
			    int32_t *ret);
struct span gopcln_name(const struct gopcln *t, const struct gofunc *f);
/* A name by its offset, as in the tree of inlined calls. An empty span: there is none. */
struct span gopcln_name_at(const struct gopcln *t, uint32_t at);
/* file: as gopcln_value told for GOPCLN_FILE. */
struct span gopcln_file(const struct gopcln *t, const struct gofunc *f, int32_t file);
/* The offset of the function's tree of inlined calls from moduledata.gofunc. GOPCLN_NONE: nothing was inlined. */
int must_check gopcln_inline_tree(const struct gopcln *t, const struct gofunc *f, uint32_t *ret);
