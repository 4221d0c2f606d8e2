/* The inside of sense/native: shared by its files only. */
#pragma once

#include "sense/native/cython.h"
#include "sense/native/lineserver.h"
#include "sense/native/names.h"
#include "sense/native/perfmap.h"
#include "sense/native/unwind.h"

/* ehframe.c: one file's call frame information, compiled. Addresses are the file's own (before the bias). */
struct ehtable;
/*
 * Loads .eh_frame whole, if it has at most max_bytes; rows are compiled when they are asked for. ELF_NONE: the file has
 * no usable information.
 */
int must_check ehtable_load(const struct elf *e, uint64_t max_bytes, struct ehtable **ret);
uint64_t ehtable_bytes(const struct ehtable *t);
struct ehtable *ehtable_free(struct ehtable *t);

/* symtab.c: one file's functions, sorted. debug: the file's separate debug file, or NULL. */
struct symtab;
/* At most so many functions, of 16 bytes each, and 64 while they are loaded; with more there are none. */
int must_check symtab_load(const struct elf *e, const struct elf *debug, size_t most, struct symtab **ret);
size_t symtab_rows(const struct symtab *t);
struct symtab *symtab_free(struct symtab *t);
/* The function at vaddr; *ret_name is borrowed and mangled, as in the file. False: none. */
bool symtab_find(const struct symtab *t, uint64_t vaddr, const char **ret_name, uint64_t *ret_start);

/* evalpart.c: parts of CPython's evaluation loop that lie apart from it and have no name. */
struct evalparts {
	struct {
		uint64_t start, end; /* the file's own addresses */
	} part[8];
	size_t n;
};
/* e must be open; t may be NULL. */
void evalparts_find(const struct elf *e, const struct symtab *t, struct evalparts *ret);

/* symbol.c: whether a file is CPython's, and whether one of its functions is (part of) the evaluation loop. */
bool native_defines_python(const struct elf *e);
bool native_is_eval_loop(const char *name);

/* native.c: a mapped file, kept by build id and size, else by device, inode and size. */
struct native_file {
	struct elf elf; /* fd is closed after loading (-1); later reads open the file again */
	char module[64]; /* base name */
	bool tried_eh, tried_symbols;
	bool is_python; /* defines _PyRuntime; known with the symbols */
	struct ehtable *eh; /* NULL: none */
	struct symtab *symbols; /* NULL: none */
	uint32_t lines, lines_of; /* its number in the server of this number; 0: none */
	const char *cython_path; /* the C file that was read last; NULL: none */
	struct cython_source cython;
	struct evalparts eval;
	uint64_t hash, dev, inode; /* of the key */
	struct native_file *next; /* in the same bucket */
};

#define NATIVE_BUCKETS 1024
struct natives {
	struct native_file *bucket[NATIVE_BUCKETS];
	struct native_file *open; /* the file read last: its descriptor stays open, because it is often read again */
	struct names *names;
	struct lineserver *lines; /* of one user at a time; NULL: none yet */
	uint32_t lines_number; /* of the server, counted up with each */
	struct natives_limits limits;
	size_t n_symbols; /* of the tables that were loaded */
	uint64_t eh_bytes; /* of the tables that were loaded */
};

/*
 * For all files that one reader knows. Those of a framework have some 60 MiB together; whoever has libraries beyond
 * that is shown without the frames in them.
 */
#define NATIVE_EH_BYTES (128 * MIB)

struct native_row {
	struct native_file *file;
	uint64_t bias;
	bool tried, lost; /* lost: it could not be opened a second time */
};

struct native {
	struct natives *files; /* borrowed */
	const struct world *world; /* borrowed */
	struct remote *remote; /* borrowed */
	struct maps maps;
	struct native_row *rows; /* one for each of maps */
	uint64_t mono_next_ns; /* the maps are not read again before this time */
	struct perfmap perfmap;
};

struct native_spot {
	struct native_file *file; /* NULL: anonymous memory, or a [vdso] that could not be read */
	uint64_t vaddr; /* the address as the file counts */
	const struct map_row *row; /* NULL: not mapped */
};
/*
 * Finds the mapping and file of an address; reads the mappings again when the address is in none (at most once a call).
 * The row lives until the next call, the file as long as the natives. Only executable mappings are opened.
 */
void native_spot_at(struct native *p, uint64_t addr, struct native_spot *ret);
/* Loads the information when first asked; NULL: there is none. */
struct ehtable *native_eh(struct native *p, const struct native_spot *s);
/* Opens the file again if its descriptor was closed, as the process sees it; false: it is not reachable any more. */
bool native_file_open(struct native *p, const struct native_spot *s);
struct remote *native_remote(struct native *p);
