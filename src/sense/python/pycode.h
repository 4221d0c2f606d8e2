/*
 * Code objects: which function is it, and which line is an instruction on.
 * Read once for each code object and kept, because names and line tables do
 * not change while the object lives. An address may be used again after a
 * code object was freed: an entry is checked against (filename, name, first
 * line, size) when its check is due, and replaced when it differs.
 * For code that runs once, as modules' does, it always is.
 *
 * Line tables: Objects/lnotab_notes.txt (3.8 to 3.10), Objects/locations.md
 * (InternalDocs/code_objects.md, 3.11 and later).
 */
#pragma once

#include "sense/python/pyrt.h"

enum {
	PYCODE_GARBAGE = 25, /* it does not look like a code object (any longer) */
};

struct pycode_line {
	uint32_t start; /* first byte of the bytecode that this row is for */
	int32_t line;   /* 0: no line */
};

struct pycode {
	uint64_t addr;
	uint64_t filename_addr, name_addr;
	uint64_t code_start;        /* address of the bytecode; 0: <= 3.10, where instructions are offsets */
	uint32_t code_bytes;        /* its length; 0: not known */
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
 * The code object at addr: from the cache, else read. *ret is borrowed for the
 * cache's life: entries that were replaced are kept, so a sample taken
 * earlier still has its name. PYCODE_GARBAGE, REMOTE_FAULT, WORLD_GONE;
 * -ENOMEM also when the process has made a million of them, or 512 MiB.
 */
int must_check pycodes_get(struct pycodes *c, uint64_t addr, const struct pycode **ret);
/* Only if it is cached and not due to be checked; never reads. NULL. The sampler's fast path: one hash probe. */
const struct pycode *pycodes_peek(const struct pycodes *c, uint64_t addr);
/* The same of code that has been running since it was got: then also of the body of a module or class. */
const struct pycode *pycodes_still(const struct pycodes *c, uint64_t addr);
/* From now on each entry is checked again when it is asked for next (after a while, a fork, a generation change). */
void pycodes_recheck(struct pycodes *c);
/*
 * The line of an instruction as a frame holds it (`instr` of struct pyframe):
 * an address in 3.11 and later, an f_lasti before. 0: none.
 */
int32_t pycode_line(const struct pyrt *rt, const struct pycode *code, uint64_t instr);

/* Line tables by themselves, for tests and the fuzzer. *ret is malloc'ed, sorted by start. -ENOMEM. */
int must_check pylines_parse(uint8_t minor, struct span table, int32_t first_line, struct pycode_line **ret,
			     size_t *ret_n);
/* A str object as UTF-8, control characters as they are; longer than max characters: cut. malloc'ed. */
int must_check pystr_read(const struct pyrt *rt, struct remote *r, uint64_t addr, size_t max, char **ret);
