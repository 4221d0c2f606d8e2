/*
 * Code objects: the function that one is, and the line of an instruction. Each code object is read once and kept,
 * because names and line tables do not change while the object lives. An address may be reused after a code object was
 * freed: an entry is checked against (filename, name, first line, size) when its check is due, and replaced when it
 * differs. The code of modules and classes runs once, so its check is always due.
 *
 * Line tables: Objects/lnotab_notes.txt (3.8 to 3.10), Objects/locations.md (InternalDocs/code_objects.md, 3.11 and
 * later).
 */
#pragma once

#include "sense/python/pyrt.h"

enum {
	PYCODE_GARBAGE = 25, /* it is no code object (any longer) */
};

struct pycode_line {
	uint32_t start; /* first byte of the bytecode that this row covers */
	int32_t line;   /* 0: no line */
};

struct pycode {
	uint64_t addr;
	uint64_t filename_addr, name_addr;
	uint64_t code_start;        /* address of the bytecode; 0: <= 3.10, where instructions are offsets */
	uint32_t code_bytes;        /* its length; 0: unknown */
	int32_t first_line;
	uint32_t flags;             /* CO_* */
	uint32_t id;                /* counts from 0; never given to another function in this cache */
	char *name;                 /* co_qualname where there is one, else co_name; UTF-8 */
	char *file;                 /* co_filename */
	struct pycode_line *lines;  /* sorted by start */
	size_t n_lines;
};

struct pycodes; /* the cache of one process */

struct pycodes *pycodes_new(const struct pyrt *rt, struct remote *r);
struct pycodes *pycodes_free(struct pycodes *c);
static inline void pycodes_freep(struct pycodes **c)
{
	*c = pycodes_free(*c);
}
/*
 * Returns the code object at addr, from the cache or read now. *ret is borrowed for the cache's life: replaced entries
 * are kept, so an earlier sample keeps its names. PYCODE_GARBAGE, REMOTE_FAULT, WORLD_GONE; -ENOMEM also when the
 * process has created a million code objects, or 512 MiB of them.
 */
int must_check pycodes_get(struct pycodes *c, uint64_t addr, const struct pycode **ret);
/* The cached entry, if its check is not due; else NULL. Never reads. The sampler's fast path: one hash probe. */
const struct pycode *pycodes_peek(const struct pycodes *c, uint64_t addr);
/* The same for code that has been running since it was read; then also for the body of a module or class. */
const struct pycode *pycodes_still(const struct pycodes *c, uint64_t addr);
/* Makes the check of each entry due (after some time, a fork, a generation change). */
void pycodes_recheck(struct pycodes *c);
/*
 * The line of an instruction as a frame holds it (`instr` of struct pyframe): an address in 3.11 and later, an f_lasti
 * before. 0: none.
 */
int32_t pycode_line(const struct pyrt *rt, const struct pycode *code, uint64_t instr);

/* Parses a line table. *ret is malloc'ed, sorted by start. -ENOMEM. Pure. */
int must_check pylines_parse(uint8_t minor, struct span table, int32_t first_line, struct pycode_line **ret,
			     size_t *ret_n);
/* Reads a str object as UTF-8, control characters unchanged, at most max characters. malloc'ed. */
int must_check pystr_read(const struct pyrt *rt, struct remote *r, uint64_t addr, size_t max, char **ret);
