#include "sense/native/lines.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

#include "base/buf.h"
#include "base/dynlib.h"

#define NESTING_MAX 64 /* levels of nested scopes */

/* The libdw functions in use, under their own types. libelf's are found through libdw, which depends on it. */
struct libdw {
	void *library;
	__typeof__(elf_version) *elf_version;
	__typeof__(elf_begin) *elf_begin;
	__typeof__(elf_end) *elf_end;
	__typeof__(dwarf_begin_elf) *begin_elf;
	__typeof__(dwarf_end) *end;
	__typeof__(dwarf_addrdie) *addrdie;
	__typeof__(dwarf_nextcu) *nextcu;
	__typeof__(dwarf_offdie) *offdie;
	__typeof__(dwarf_haspc) *haspc;
	__typeof__(dwarf_getsrc_die) *getsrc_die;
	__typeof__(dwarf_linesrc) *linesrc;
	__typeof__(dwarf_lineno) *lineno;
	__typeof__(dwarf_attr) *attr;
	__typeof__(dwarf_formstring) *formstring;
	__typeof__(dwarf_formudata) *formudata;
	__typeof__(dwarf_child) *child;
	__typeof__(dwarf_siblingof) *siblingof;
	__typeof__(dwarf_tag) *tag;
	__typeof__(dwarf_getsrcfiles) *getsrcfiles;
	__typeof__(dwarf_filesrc) *filesrc;
};

struct lines {
	const struct libdw *api;
	int fd;
	Elf *elf;
	Dwarf *dwarf;
};

static struct libdw *libdw_free(struct libdw *d)
{
	if (d && d->library)
		dlclose(d->library);
	free(d);
	return NULL;
}

struct libdw *libdw_load(void)
{
	static const char *const names[] = {"libdw.so.1"};
	struct libdw *d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	const struct dynlib_symbol symbols[] = {
		{"elf_version", &d->elf_version},
		{"elf_begin", &d->elf_begin},
		{"elf_end", &d->elf_end},
		{"dwarf_begin_elf", &d->begin_elf},
		{"dwarf_end", &d->end},
		{"dwarf_addrdie", &d->addrdie},
		{"dwarf_nextcu", &d->nextcu},
		{"dwarf_offdie", &d->offdie},
		{"dwarf_haspc", &d->haspc},
		{"dwarf_getsrc_die", &d->getsrc_die},
		{"dwarf_linesrc", &d->linesrc},
		{"dwarf_lineno", &d->lineno},
		{"dwarf_attr", &d->attr},
		{"dwarf_formstring", &d->formstring},
		{"dwarf_formudata", &d->formudata},
		{"dwarf_child", &d->child},
		{"dwarf_tag", &d->tag},
		{"dwarf_siblingof", &d->siblingof},
		{"dwarf_filesrc", &d->filesrc},
		{"dwarf_getsrcfiles", &d->getsrcfiles},
	};
	/* The library stays loaded: it and its dependencies have thread-local data, which makes unloading unsafe. */
	d->library = dynlib_load(names, ARRAY_SIZE(names), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, symbols,
				 ARRAY_SIZE(symbols));
	return d->library && d->elf_version(EV_CURRENT) != EV_NONE ? d : libdw_free(d);
}

static struct lines *lines_free(struct lines *l)
{
	if (!l)
		return NULL;
	if (l->dwarf)
		l->api->end(l->dwarf);
	if (l->elf)
		l->api->elf_end(l->elf);
	closep(&l->fd);
	free(l);
	return NULL;
}

struct lines *lines_open(const struct libdw *d, int fd)
{
	struct lines *l = calloc(1, sizeof(*l));
	if (!l) {
		closep(&fd);
		return NULL;
	}
	*l = (struct lines){.api = d, .fd = fd};
	/* Not ELF_C_READ_MMAP: a mapped file that is truncated meanwhile would kill vigil with SIGBUS. */
	l->elf = d->elf_begin(fd, ELF_C_READ, NULL);
	if (l->elf)
		l->dwarf = d->begin_elf(l->elf, DWARF_C_READ, NULL);
	return l->dwarf ? l : lines_free(l);
}

/* Finds the compilation unit of an address: by .debug_aranges, which clang does not write, else by asking each unit. */
static bool unit_at(struct lines *l, uint64_t vaddr, Dwarf_Die *ret)
{
	const struct libdw *d = l->api;
	if (d->addrdie(l->dwarf, vaddr, ret))
		return true;
	Dwarf_Off at = 0, next;
	size_t header;
	while (d->nextcu(l->dwarf, at, &next, &header, NULL, NULL, NULL) == 0) {
		if (next <= at)
			return false;
		if (d->offdie(l->dwarf, at + header, ret) && d->haspc(ret, vaddr) == 1)
			return true;
		at = next;
	}
	return false;
}

static bool lines_number(const struct libdw *d, Dwarf_Die *die, unsigned name, uint64_t *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;
	if (!d->attr(die, name, &attr) || d->formudata(&attr, &v) != 0)
		return false;
	*ret = v;
	return true;
}

enum nesting { NEST_NOT, NEST_CODE, NEST_NAMES };

static enum nesting nesting_of(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return NEST_CODE;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_enumeration_type:
		return NEST_NAMES; /* functions of Rust and D lie in namespaces, C++'s do not */
	default:
		return NEST_NOT;
	}
}

/*
 * Finds the outermost function inlined at the address, below a part of a unit. dwarf_getscopes(3) does not descend into
 * namespaces. True: the enclosing function is found; *ret_inlined says whether *ret is one inlined into it.
 */
static bool outermost_inlined(const struct libdw *d, Dwarf_Die *in, uint64_t vaddr, unsigned depth, Dwarf_Die *ret,
			      bool *ret_inlined)
{
	Dwarf_Die child;
	if (depth > NESTING_MAX || d->child(in, &child) != 0)
		return false;
	do {
		int tag = d->tag(&child);
		enum nesting kind = nesting_of(tag);
		if (kind == NEST_NAMES && outermost_inlined(d, &child, vaddr, depth + 1, ret, ret_inlined))
			return true;
		if (kind != NEST_CODE || d->haspc(&child, vaddr) != 1)
			continue;
		*ret_inlined = tag == DW_TAG_inlined_subroutine;
		if (*ret_inlined)
			*ret = child;
		else if (!outermost_inlined(d, &child, vaddr, depth + 1, ret, ret_inlined))
			*ret_inlined = false;
		return true;
	} while (d->siblingof(&child, &child) == 0);
	return false;
}

/*
 * The address may be in functions that were inlined into the one that has the symbol. The line in the symbol's own
 * function is then the call of the outermost inlined function; the line table would give a line of the innermost, often
 * in a header.
 */
static const char *own_line(const struct libdw *d, Dwarf_Die *unit, Dwarf_Die *in, uint64_t vaddr, int *ret_line)
{
	Dwarf_Die inlined;
	Dwarf_Files *files;
	size_t n_files;
	uint64_t line, file;
	bool is_inlined = false;
	if (!outermost_inlined(d, in, vaddr, 0, &inlined, &is_inlined) || !is_inlined ||
	    !lines_number(d, &inlined, DW_AT_call_line, &line) || !lines_number(d, &inlined, DW_AT_call_file, &file) ||
	    line == 0 || line > INT32_MAX || d->getsrcfiles(unit, &files, &n_files) != 0 || file >= n_files)
		return NULL;
	*ret_line = (int)line;
	return d->filesrc(files, (size_t)file, NULL, NULL);
}

static bool lines_find_below(struct lines *l, uint64_t vaddr, bool inlined, char *file, size_t cap, uint32_t *ret_line)
{
	const struct libdw *d = l->api;
	Dwarf_Die unit, first;
	Dwarf_Attribute attr;
	bool is_inlined = false;
	int line = 0;
	if (!unit_at(l, vaddr, &unit))
		return false;
	Dwarf_Line *row = d->getsrc_die(&unit, vaddr);
	const char *path = row ? d->linesrc(row, NULL, NULL) : NULL;
	if (!path || d->lineno(row, &line) != 0 || line <= 0)
		return false;
	if (inlined && (!outermost_inlined(d, &unit, vaddr, 0, &first, &is_inlined) || !is_inlined))
		return false;
	const char *own = own_line(d, &unit, inlined ? &first : &unit, vaddr, &line);
	path = own ? own : path;
	const char *folder = path[0] == '/' ? NULL : d->formstring(d->attr(&unit, DW_AT_comp_dir, &attr));
	text_format(file, cap, "%s%s%s", folder ? folder : "", folder ? "/" : "", path);
	*ret_line = (uint32_t)line;
	return true;
}

bool lines_find(struct lines *l, uint64_t vaddr, char *file, size_t cap, uint32_t *ret_line)
{
	return lines_find_below(l, vaddr, false, file, cap, ret_line);
}

bool lines_find_inlined(struct lines *l, uint64_t vaddr, char *file, size_t cap, uint32_t *ret_line)
{
	return lines_find_below(l, vaddr, true, file, cap, ret_line);
}
