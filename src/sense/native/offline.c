#include "sense/native/offline.h"

#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/path.h"
#include "sense/native/debugfile.h"
#include "sense/native/native_parts.h"

/* A process maps some hundreds of files; a job with many kinds of processes some thousands. */
#define FILES_MAX 8192
/* Functions of all files, of 16 bytes each: a file can be named many times, by its links. */
#define SYMBOLS_MOST ((size_t)8 * 1024 * 1024)
#define BUCKETS 1024

struct offline_file {
	struct offline_file *next;
	char *path; /* owned */
	uint64_t inode;
	uid_t uid; /* with whose rights it was read */
	bool there, is_python;
	const char *module; /* kept in names */
	Elf64_Phdr *load; /* owned: PT_LOAD segments */
	size_t n_load;
	struct symtab *symbols; /* NULL: none */
	struct evalparts eval;
};

struct offline {
	const struct world *world;
	struct names *names;
	struct offline_file *bucket[BUCKETS];
	size_t n_files, n_missing, n_symbols;
	const char *first_missing;
};

struct offline *offline_new(const struct world *w)
{
	struct offline *o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->world = w;
	o->first_missing = "";
	o->names = names_new();
	return o->names ? o : offline_free(o);
}

static void file_free(struct offline_file *f)
{
	symtab_free(f->symbols);
	free(f->load);
	free(f->path);
	free(f);
}

struct offline *offline_free(struct offline *o)
{
	if (!o)
		return NULL;
	for (size_t i = 0; i < BUCKETS; i++)
		while (o->bucket[i]) {
			struct offline_file *next = o->bucket[i]->next;
			file_free(o->bucket[i]);
			o->bucket[i] = next;
		}
	o->names = names_free(o->names);
	free(o);
	return NULL;
}

size_t offline_missing(const struct offline *o)
{
	return o->n_missing;
}

const char *offline_missing_first(const struct offline *o)
{
	return o->first_missing;
}

static bool is_the_one(int fd, const struct offline_place *p)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return false;
	int64_t changed = (int64_t)st.st_ctim.tv_sec * (int64_t)NS_PER_S + st.st_ctim.tv_nsec;
	return st.st_ino == p->inode || changed < p->since_unix_ns;
}

static int open_there(const struct offline *o, const struct rootfile_view *view, const struct offline_place *p,
		      struct elf *ret)
{
	const unsigned roots[] = {0, ROOTFILE_OURS};
	for (size_t i = view->pid ? 0 : 1; i < ARRAY_SIZE(roots); i++) {
		int fd = -1;
		if (rootfile_open_as(o->world, view, p->path, ROOTFILE_LINKS | roots[i], &fd) != 0)
			continue;
		if (!is_the_one(fd, p)) {
			closep(&fd);
			continue;
		}
		return elf_open_fd(fd, ret);
	}
	return WORLD_ABSENT;
}

static void segments_copy(struct offline_file *f, const struct elf *e)
{
	f->load = calloc(e->n_phdr + 1, sizeof(*f->load));
	for (size_t i = 0; f->load && i < e->n_phdr; i++)
		if (e->phdr[i].p_type == PT_LOAD)
			f->load[f->n_load++] = e->phdr[i];
}

static void file_load(struct offline *o, const struct rootfile_view *view, const struct offline_place *p,
		      struct offline_file *f)
{
	struct elf e = {.fd = -1}, debug = {.fd = -1};
	if (open_there(o, view, p, &e) != 0)
		return;
	f->there = true;
	segments_copy(f, &e);
	bool stripped = !elf_section(&e, ".symtab");
	bool has_debug = stripped && debugfile_open(o->world, view, &e, p->path, &debug) == 0;
	if (symtab_load(&e, has_debug ? &debug : NULL, SYMBOLS_MOST - o->n_symbols, &f->symbols) != 0)
		f->symbols = NULL;
	else
		o->n_symbols += symtab_rows(f->symbols);
	elf_done(&debug);
	f->is_python = native_defines_python(&e);
	if (f->is_python)
		evalparts_find(&e, f->symbols, &f->eval);
	elf_done(&e);
}

static size_t bucket_of(const struct offline_place *p)
{
	return (size_t)(hash_bytes(HASH_START ^ p->inode, p->path, strlen(p->path)) % BUCKETS);
}

static struct offline_file *offline_file_of(struct offline *o, const struct rootfile_view *view,
					    const struct offline_place *p)
{
	const uid_t uid = view->as ? view->as->uid : geteuid();
	size_t at = bucket_of(p);
	for (struct offline_file *f = o->bucket[at]; f; f = f->next)
		if (f->inode == p->inode && f->uid == uid && strcmp(f->path, p->path) == 0)
			return f;
	if (o->n_files == FILES_MAX)
		return NULL;
	struct offline_file *f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->inode = p->inode;
	f->uid = uid;
	f->path = strdup(p->path);
	f->module = names_keep(o->names, path_name(p->path));
	if (!f->path) {
		file_free(f);
		return NULL;
	}
	file_load(o, view, p, f);
	if (!f->there && o->n_missing++ == 0)
		o->first_missing = names_keep(o->names, p->path);
	f->next = o->bucket[at];
	o->bucket[at] = f;
	o->n_files++;
	return f;
}

static bool vaddr_of(const struct offline_file *f, uint64_t offset, uint64_t *ret)
{
	for (size_t i = 0; i < f->n_load; i++) {
		const Elf64_Phdr *ph = &f->load[i];
		if (offset >= ph->p_offset && offset - ph->p_offset < ph->p_filesz) {
			*ret = offset - ph->p_offset + ph->p_vaddr;
			return true;
		}
	}
	return false;
}

static bool named(struct offline *o, const struct offline_file *f, uint64_t vaddr, struct native_symbol *ret)
{
	const char *name;
	uint64_t start;
	if (f->symbols && symtab_find(f->symbols, vaddr, &name, &start)) {
		ret->kind = f->is_python && native_is_eval_loop(name) ? NATIVE_EVAL_LOOP : NATIVE_FUNCTION;
		ret->name = names_of_function(o->names, name, f->module);
		ret->offset = vaddr - start;
		return true;
	}
	for (size_t i = 0; i < f->eval.n; i++)
		if (vaddr >= f->eval.part[i].start && vaddr < f->eval.part[i].end) {
			ret->kind = NATIVE_EVAL_LOOP;
			ret->name = "_PyEval_EvalFrameDefault.cold";
			ret->offset = vaddr - f->eval.part[i].start;
			return true;
		}
	return false;
}

void offline_symbol(struct offline *o, const struct rootfile_view *view, const struct offline_place *place,
		    struct native_symbol *ret)
{
	char text[24];
	*ret = (struct native_symbol){.kind = NATIVE_UNKNOWN, .module = "", .file = ""};
	uint64_t shown = place->offset;
	struct offline_file *f = place->path[0] == '/' ? offline_file_of(o, view, place) : NULL;
	if (f) {
		uint64_t vaddr;
		ret->module = f->module;
		if (f->there && vaddr_of(f, place->offset, &vaddr)) {
			if (named(o, f, vaddr, ret))
				return;
			shown = vaddr;
		}
	} else if (place->path[0]) {
		ret->module = names_keep(o->names, place->path);
	}
	TEXT_FORMAT(text, "0x%llx", (unsigned long long)shown);
	ret->name = names_keep(o->names, text);
}
