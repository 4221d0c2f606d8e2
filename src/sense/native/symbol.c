#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/path.h"
#include "sense/native/debugfile.h"
#include "sense/native/ehframe.h"
#include "sense/native/native_parts.h"
#include "sense/proc/procfile.h"

static const char loop_name[] = "_PyEval_EvalFrameDefault";

/* Larger than any CPython's symbol table: not searched for CPython's names. */
#define PYTHON_TABLE_MAX (2 * MIB)

bool native_defines_python(const struct elf *e)
{
	struct elf_symbol found;
	const Elf64_Shdr *full = elf_section(e, ".symtab");
	if (full && full->sh_size > PYTHON_TABLE_MAX)
		return false;
	return elf_find_symbol(e, "_PyRuntime", &found) == 0 || elf_find_symbol(e, loop_name, &found) == 0;
}

static void symbols_load(struct native *p, const struct native_spot *s)
{
	struct native_file *f = s->file;
	struct elf debug = {.fd = -1};
	f->tried_symbols = true;
	/* A file with its full symbol table needs no debug file. */
	bool stripped = !elf_section(&f->elf, ".symtab");
	const struct rootfile_view seen = {.pid = p->remote->pid};
	bool has_debug = stripped && s->row->path[0] == '/' &&
			 debugfile_open(p->world, &seen, &f->elf, s->row->path, &debug) == 0;
	if (symtab_load(&f->elf, has_debug ? &debug : NULL, p->files->limits.symbols - p->files->n_symbols,
			&f->symbols) != 0)
		f->symbols = NULL;
	else
		p->files->n_symbols += symtab_rows(f->symbols);
	elf_done(&debug);
	f->is_python = native_defines_python(&f->elf);
	if (f->is_python)
		evalparts_find(&f->elf, f->symbols, &f->eval);
}

/* The loop, its parts under other names (.cold, .constprop.0), and the loop of 3.14 as a chain of tail calls. */
bool native_is_eval_loop(const char *name)
{
	size_t len = sizeof(loop_name) - 1;
	if (strncmp(name, "_TAIL_CALL_", 11) == 0)
		return true;
	return strncmp(name, loop_name, len) == 0 && (name[len] == '\0' || name[len] == '.' || name[len] == '@');
}

static bool in_eval_part(const struct native_file *f, uint64_t vaddr, uint64_t *ret_start)
{
	for (size_t i = 0; i < f->eval.n; i++)
		if (vaddr >= f->eval.part[i].start && vaddr < f->eval.part[i].end) {
			*ret_start = f->eval.part[i].start;
			return true;
		}
	return false;
}

static bool file_symbol(struct native *p, const struct native_spot *s, struct native_symbol *ret)
{
	struct native_file *f = s->file;
	const char *name;
	uint64_t start;
	ret->module = f->module;
	if (!f->tried_symbols && native_file_open(p, s))
		symbols_load(p, s);
	if (f->symbols && symtab_find(f->symbols, s->vaddr, &name, &start)) {
		ret->kind = f->is_python && native_is_eval_loop(name) ? NATIVE_EVAL_LOOP : NATIVE_FUNCTION;
		ret->name = names_of_function(p->files->names, name, f->module);
	} else if (in_eval_part(f, s->vaddr, &start)) {
		ret->kind = NATIVE_EVAL_LOOP;
		ret->name = "_PyEval_EvalFrameDefault.cold";
	} else {
		return false;
	}
	ret->offset = s->vaddr - start;
	return true;
}

static bool jit_symbol(struct native *p, uint64_t addr, struct native_symbol *ret)
{
	const char *name;
	uint64_t start;
	/*
	 * Appended lines name new code, and code that replaced other code, so the map is read again when it has grown.
	 */
	ignore(perfmap_refresh(&p->perfmap, p->world, p->remote->pid), "without a map there are no such names");
	if (!perfmap_find(&p->perfmap, addr, &name, &start))
		return false;
	ret->kind = strncmp(name, "py::", 4) == 0 ? NATIVE_TRAMPOLINE : NATIVE_JIT;
	ret->name = names_keep(p->files->names, name);
	ret->offset = addr - start;
	return true;
}

static const char *row_module(struct native *p, const struct map_row *row)
{
	return row && row->path[0] ? names_keep(p->files->names, path_name(row->path)) : "";
}

/* Start of the nameless function, so that all addresses in it count as one. */
static bool nameless_start(struct native *p, const struct native_spot *s, uint64_t *ret)
{
	struct ehtable *t = native_eh(p, s);
	const struct eh_row *row;
	if (!t || ehtable_row(t, s->vaddr, &row) != 0 || row->start > s->vaddr)
		return false;
	*ret = row->start;
	return true;
}

void native_symbol(struct native *p, uint64_t pc, bool exact, struct native_symbol *ret)
{
	uint64_t back = exact || pc == 0 ? 0 : 1;
	struct native_spot s;
	char text[24];
	*ret = (struct native_symbol){.kind = NATIVE_UNKNOWN, .module = "", .file = ""};
	native_spot_at(p, pc - back, &s);
	if (!s.file)
		ret->module = row_module(p, s.row);
	if (s.file ? file_symbol(p, &s, ret) : s.row && jit_symbol(p, pc - back, ret)) {
		ret->offset += back;
		return;
	}
	uint64_t shown = (s.file ? s.vaddr : pc - back) + back, start;
	if (s.file && nameless_start(p, &s, &start)) {
		ret->offset = shown - start;
		shown = start;
	}
	TEXT_FORMAT(text, "0x%llx", (unsigned long long)shown);
	ret->name = names_keep(p->files->names, text);
}

/* The process that reads lines for the user of this process; NULL: it cannot be had. */
static struct lineserver *lines_server(struct native *p)
{
	struct natives *n = p->files;
	struct foreign_user user;
	if (procfile_user(p->world, p->remote->pid, &user) != 0)
		return NULL;
	if (n->lines && lineserver_uid(n->lines) != user.uid)
		n->lines = lineserver_free(n->lines);
	if (!n->lines) {
		n->lines = lineserver_new(p->world, &user, &n->limits.lines);
		n->lines_number++;
	}
	return n->lines;
}

static void lines_load(struct native *p, const struct native_spot *s, struct lineserver *server)
{
	struct native_file *f = s->file;
	struct elf debug = {.fd = -1};
	f->lines_of = p->files->lines_number;
	f->lines = 0;
	if (elf_section(&f->elf, ".debug_line") || elf_section(&f->elf, ".zdebug_line")) {
		f->lines = lineserver_add(server, f->elf.fd);
		return;
	}
	const struct rootfile_view seen = {.pid = p->remote->pid};
	if (s->row->path[0] == '/' && debugfile_open(p->world, &seen, &f->elf, s->row->path, &debug) == 0)
		f->lines = lineserver_add(server, debug.fd);
	elf_done(&debug);
}

/* The C file of a function that Cython made, read for its comments; NULL: there is none. */
static const struct cython_source *cython_source(struct native *p, const struct native_spot *s, const char *c_path)
{
	struct native_file *f = s->file;
	struct stat st;
	if (f->cython_path && strcmp(f->cython_path, c_path) == 0)
		return &f->cython;
	if (!native_file_open(p, s) || fstat(f->elf.fd, &st) < 0)
		return NULL;
	cython_done(&f->cython);
	f->cython_path = names_keep(p->files->names, c_path);
	ignore(cython_read(p->world, p->remote->pid, c_path, st.st_mtime, &f->cython), "no comments then");
	return &f->cython;
}

/*
 * Replaces a place in C that Cython made by the one in the .pyx, if the C file is there. A wrapper only unpacks
 * arguments; the function itself is inlined into it.
 */
static void cython_place(struct native *p, const struct native_spot *s, struct native_symbol *ret)
{
	const char *name, *dot = strrchr(ret->file, '.');
	char c_path[4096], file[4096];
	const struct cython_source *c;
	uint64_t start;
	uint32_t line;
	bool is_c = dot && (strcmp(dot, ".c") == 0 || strcmp(dot, ".cpp") == 0);
	if (!is_c || !s->file->symbols || !symtab_find(s->file->symbols, s->vaddr, &name, &start) ||
	    strncmp(name, "__pyx_", 6) != 0 || !(c = cython_source(p, s, ret->file)))
		return;
	bool found = strstr(name, "__pyx_pw_") &&
		     lineserver_find(p->files->lines, s->file->lines, s->vaddr, true, c_path, sizeof(c_path), &line) &&
		     strcmp(c_path, ret->file) == 0 && cython_line(c, c_path, line, file, sizeof(file), &ret->line);
	if (!found && !cython_line(c, ret->file, ret->line, file, sizeof(file), &ret->line))
		return;
	ret->file = names_keep(p->files->names, file);
}

void native_line(struct native *p, uint64_t pc, bool exact, struct native_symbol *ret)
{
	struct native_spot s;
	char file[4096];
	uint32_t line;
	struct natives *n = p->files;
	uint64_t back = exact || pc == 0 ? 0 : 1;
	native_symbol(p, pc, exact, ret);
	native_spot_at(p, pc - back, &s);
	struct lineserver *server = s.file ? lines_server(p) : NULL;
	if (!server)
		return;
	if (s.file->lines_of != n->lines_number && native_file_open(p, &s))
		lines_load(p, &s, server);
	if (s.file->lines_of != n->lines_number ||
	    !lineserver_find(server, s.file->lines, s.vaddr, false, file, sizeof(file), &line))
		return;
	ret->file = names_keep(n->names, file);
	ret->line = line;
	cython_place(p, &s, ret);
}

void native_prepare(struct native *p, uint64_t file_bytes, uint64_t end_ns)
{
	for (size_t i = 0; i < p->maps.n && p->world->mono_ns() < end_ns; i++) {
		struct native_spot s;
		struct native_symbol first;
		const uint64_t start = p->maps.rows[i].start;
		if (!(p->maps.rows[i].flags & MAP_EXEC))
			continue;
		native_spot_at(p, start, &s);
		if (!s.file || s.file->elf.size > file_bytes)
			continue;
		ignore(native_eh(p, &s) != NULL, "what has no tables is walked without");
		native_symbol(p, start, true, &first);
	}
}
