#include "sense/python/pyrt.h"

#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/path.h"
#include "sense/native/elffile.h"
#include "sense/python/pyscan.h"

/* In the order in which files are tried. */
enum rank { RANK_LIBPYTHON, RANK_EXECUTABLE, RANK_OTHER, RANK_NONE };

/* A process with more mapped files than FILES_MAX is not searched further. */
#define CHAIN_MAX 1024 /* interpreters */
#define FILES_MAX 8192
/* Private result: there is no runtime at this address; the next candidate is tried. */
#define NOT_HERE 100

struct search {
	const struct world *world;
	struct remote *remote;
	const struct maps *maps;
	char exe[PATH_MAX];
	int best; /* 0: found */
	struct fault fault; /* of best */
	struct pyrt found;
};

/* One file of the process, opened. */
struct place {
	const struct map_row *row;
	struct elf elf;
	enum rank rank;
};

static enum rank file_rank(const struct search *s, const struct map_row *row)
{
	const char *name = path_name(row->path);
	if (row->path[0] != '/' || !row->inode)
		return RANK_NONE;
	if (strncmp(name, "libpython", 9) == 0)
		return RANK_LIBPYTHON;
	if (strcmp(row->path, s->exe) == 0)
		return RANK_EXECUTABLE;
	return row->flags & MAP_EXEC ? RANK_OTHER : RANK_NONE;
}

/* Keeps the better answer: found, then not yet, unknown, denied, none. */
static void answer(struct search *s, int code, const struct fault *f)
{
	static const int order[] = {PYRT_NONE, WORLD_DENIED, PYRT_UNKNOWN, PYRT_NOT_YET, 0};
	size_t now = 0, before = 0;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		now = order[i] == code ? i : now;
		before = order[i] == s->best ? i : before;
	}
	if (now < before || (now == before && s->fault.text[0]))
		return; /* of two equal answers the first stays: better candidates are tried first */
	s->best = code;
	s->fault = *f;
}

/* "libpython3.11.so.1.0", "python3.13t", "python2.7": the number after "python", and the letters of the build. */
static bool name_version(const char *path, unsigned *ret_major, unsigned *ret_minor, const char **ret_abi)
{
	const char *p = strstr(path_name(path), "python");
	if (!p || p[6] < '0' || p[6] > '9' || p[7] != '.' || p[8] < '0' || p[8] > '9')
		return false;
	*ret_major = (unsigned)(p[6] - '0');
	*ret_minor = (unsigned)(p[8] - '0');
	p += 9;
	if (*p >= '0' && *p <= '9')
		*ret_minor = *ret_minor * 10 + (unsigned)(*p++ - '0');
	*ret_abi = p;
	return true;
}

static bool debug_by_name(const char *abi)
{
	return strncmp(abi, "-dbg", 4) == 0 || abi[strcspn(abi, "d.-")] == 'd';
}

static void version_text(struct pyrt *rt, bool patch_known)
{
	unsigned level = rt->version >> 4 & 0xf, serial = rt->version & 0xf;
	char pre[8] = "";
	if (level != 0xf && patch_known)
		TEXT_FORMAT(pre, "%s%u", level == 0xa ? "a" : level == 0xb ? "b" : "rc", serial);
	if (patch_known)
		TEXT_FORMAT(rt->version_text, "3.%u.%u%s%s", rt->minor, rt->version >> 8 & 0xff, pre,
			    rt->free_threaded ? " free-threaded" : "");
	else
		TEXT_FORMAT(rt->version_text, "3.%u", rt->minor);
}

/* The version of a Python without a self-description. *ret_patch: true if more than the minor version is known. */
static int version_find(struct search *s, struct place *at, uint64_t bias, uint32_t *ret, bool *ret_patch,
			struct fault *f)
{
	struct elf_symbol symbol;
	unsigned major = 3, minor = 0;
	const char *abi = "";
	uint32_t version = 0;
	if (elf_find_export(&at->elf, "Py_Version", &symbol) == 0 &&
	    remote_read(s->remote, bias + symbol.value, &version, sizeof(version)) == 0 && version >> 24 == 3) {
		*ret = version;
		*ret_patch = true;
		return 0;
	}
	bool named = name_version(at->row->path, &major, &minor, &abi);
	if (!named) {
		minor = pyscan_minor(s->maps);
		named = minor != 0;
	}
	if (named && (major != 3 || minor < 8))
		return fault_set(f, PYRT_UNKNOWN, "Python %u.%u is older than 3.8, the oldest that can be read", major,
				 minor);
	*ret_patch = pyscan_version(s->remote, s->maps, at->row, named ? minor : 0, &version);
	if (!*ret_patch && !named)
		return fault_set(f, PYRT_UNKNOWN, "a Python in %.200s whose version does not show", at->row->path);
	*ret = *ret_patch ? version : UINT32_C(3) << 24 | minor << 16 | 0xf0;
	return 0;
}

/* 3.8 to 3.12: a fixed table, for release builds. */
static int layout_fixed(struct search *s, struct place *at, uint64_t bias, struct pyrt *rt, struct fault *f)
{
	struct elf_symbol symbol;
	unsigned major, minor;
	const char *abi;
	bool patch = false;
	int r = version_find(s, at, bias, &rt->version, &patch, f);
	if (r)
		return r;
	rt->minor = (uint8_t)(rt->version >> 16 & 0xff);
	rt->instr_in_units = rt->minor == 10;
	version_text(rt, patch);
	if ((name_version(at->row->path, &major, &minor, &abi) && debug_by_name(abi)) ||
	    elf_find_export(&at->elf, "_Py_NegativeRefcount", &symbol) == 0)
		return fault_set(f, PYRT_UNKNOWN, "a debug build of Python %s, whose layout is not known",
				 rt->version_text);
	if ((rt->version >> 4 & 0xf) < 0xc)
		return fault_set(f, PYRT_UNKNOWN, "Python %s is a preview, whose layout is not known",
				 rt->version_text);
	if (!pyoffsets_of(rt->minor, &rt->off))
		return fault_set(f, PYRT_UNKNOWN,
				 rt->minor < 8 ? "Python %s is older than 3.8, the oldest that can be read"
					       : "Python %s does not describe itself",
				 rt->version_text);
	return 0;
}

static int layout_find(struct search *s, struct place *at, uint64_t bias, struct pyrt *rt, struct fault *f)
{
	unsigned char head[PYOFFSETS_BYTES] = {};
	struct iovec into = {head, sizeof(head)};
	struct iovec from = {(void *)(uintptr_t)rt->runtime, sizeof(head)}; // NOLINT(performance-no-int-to-ptr): theirs
	size_t n = 0;
	int r = remote_readv(s->remote, &into, 1, &from, 1, &n);
	if (r)
		return r;
	if (n < 8)
		return NOT_HERE;
	if (memcmp(head, "xdebugpy", 8) != 0)
		return layout_fixed(s, at, bias, rt, f);
	r = pyoffsets_parse(head, n, &rt->version, &rt->free_threaded, &rt->off, f);
	if (r)
		return r;
	rt->minor = (uint8_t)(rt->version >> 16 & 0xff);
	version_text(rt, true);
	return 0;
}

/*
 * Finds the first interpreter in the chain that has a thread: an idle one may have none (3.13+). *ret_thread 0: there
 * is none. REMOTE_FAULT, also for a chain that does not end.
 */
static int chain_thread(struct remote *r, const struct pyrt *rt, uint64_t *ret_interp, uint64_t *ret_thread)
{
	const struct pyoffsets *o = &rt->off;
	*ret_thread = 0;
	int e = remote_u64(r, rt->runtime + o->runtime.interpreters_head, ret_interp);
	for (int n = 0; e == 0 && *ret_interp && n < CHAIN_MAX; n++) {
		e = remote_u64(r, *ret_interp + o->interp.threads_head, ret_thread);
		if (e || *ret_thread)
			return e;
		e = remote_u64(r, *ret_interp + o->interp.next, ret_interp);
	}
	return e || *ret_interp == 0 ? e : REMOTE_FAULT;
}

/* The thread must lead back to its interpreter. Threads come and go, so it is tried three times. */
static int chain_check(struct remote *r, const struct pyrt *rt)
{
	for (int tries = 0; tries < 3; tries++) {
		uint64_t interp = 0, thread = 0, back = 0;
		int e = chain_thread(r, rt, &interp, &thread);
		if (e == 0 && !thread)
			return PYRT_NOT_YET;
		if (e == 0)
			e = remote_u64(r, thread + rt->off.thread.interp, &back);
		if (e && e != REMOTE_FAULT)
			return e;
		if (e == 0 && back == interp)
			return 0;
	}
	return NOT_HERE;
}

/*
 * Compares the size of a code object with the one that its type states: it differs for another version or kind of
 * build.
 */
static bool code_fits(struct remote *r, const struct pyrt *rt)
{
	uint64_t basic = 0;
	if (!rt->code_type || remote_u64(r, rt->code_type + rt->off.type.basicsize, &basic) != 0 || basic == 0)
		return true; /* a type that is not initialised yet has no size */
	return basic == (rt->minor >= 11 ? rt->off.code.bytecode : rt->off.code.size);
}

/*
 * Tries one possible address of _PyRuntime. guessed: it was found by its content, which is weak evidence, since words
 * of any large program can look alike; then a frame with a code object is required, too.
 */
static int runtime_try(struct search *s, struct place *at, uint64_t bias, uint64_t addr, bool guessed)
{
	struct pyrt rt = {.runtime = addr};
	struct elf_symbol symbol;
	struct fault f = {};
	TEXT_COPY(rt.file, at->row->path);
	int r = layout_find(s, at, bias, &rt, &f);
	if (r == 0) {
		if (elf_find_export(&at->elf, "PyCode_Type", &symbol) == 0)
			rt.code_type = bias + symbol.value;
		r = chain_check(s->remote, &rt);
		if (r == 0 && !rt.code_type)
			rt.code_type = pyscan_code_type(s->remote, &rt);
		if (r == 0 && !rt.code_type && guessed)
			return 0;
	}
	if (r == 0 && !code_fits(s->remote, &rt))
		r = fault_set(&f, PYRT_UNKNOWN, "Python %s in %.200s is built in a way that is not known",
			      rt.version_text, at->row->path);
	if (r < 0 || r == WORLD_GONE)
		return r;
	if (r == 0)
		s->found = rt;
	if (r == PYRT_NOT_YET)
		fault_set(&f, r, "Python %s in %.200s has not started its interpreter, or has ended it",
			  rt.version_text, at->row->path);
	if (r == WORLD_DENIED)
		fault_set(&f, r, "the memory of process %d may not be read by this user", s->remote->pid);
	if (r == NOT_HERE)
		r = fault_set(&f, PYRT_NONE, "_PyRuntime of %.200s holds no interpreter", at->row->path);
	answer(s, r, &f);
	return 0;
}

/*
 * A file can be mapped more than once (dlopen of the executable): each copy has its own runtime, and one of them is in
 * use.
 */
static int copies_try(struct search *s, struct place *at, uint64_t value)
{
	uint64_t last = 0, bias = 0;
	bool any = false;
	for (size_t i = 0; i < s->maps->n && s->best != 0; i++) {
		const struct map_row *row = &s->maps->rows[i];
		if (row->inode != at->row->inode || row->dev != at->row->dev ||
		    elf_bias(&at->elf, s->maps, row, &bias) != 0 || (any && bias == last))
			continue;
		any = true;
		last = bias;
		int r = runtime_try(s, at, bias, bias + value, false);
		if (r)
			return r;
	}
	return 0;
}

/* Names Pythons that are not CPython, and CPythons without _PyRuntime, by their file names. */
static void named_answer(struct search *s, const struct place *at)
{
	const char *name = path_name(at->row->path), *abi = "";
	unsigned major = 0, minor = 0;
	struct fault f = {};
	if (strstr(name, "pypy"))
		answer(s, fault_set(&f, PYRT_UNKNOWN, "%.200s is PyPy, not CPython", at->row->path), &f);
	else if (strstr(name, "graalpy") || strncmp(name, "libpythonvm", 11) == 0)
		answer(s, fault_set(&f, PYRT_UNKNOWN, "%.200s is GraalPy, not CPython", at->row->path), &f);
	else if (name_version(at->row->path, &major, &minor, &abi) && (major < 3 || minor < 8))
		answer(s,
		       fault_set(&f, PYRT_UNKNOWN, "Python %u.%u is older than 3.8, the oldest that can be read", major,
				 minor),
		       &f);
}

/* True for files whose memory should be searched although no symbol gives the address. */
static bool should_scan(const struct search *s, const struct place *at)
{
	return at->rank == RANK_LIBPYTHON ||
	       (at->rank == RANK_EXECUTABLE && (strstr(at->row->path, "python") || pyscan_minor(s->maps)));
}

static int scan_try(struct search *s, struct place *at)
{
	struct pyrt rt = {};
	struct fault f = {};
	uint64_t addr = 0;
	bool patch = false;
	if (pyscan_cookie(s->remote, s->maps, at->row, &addr))
		return runtime_try(s, at, 0, addr, false);
	int r = version_find(s, at, 0, &rt.version, &patch, &f);
	if (r == 0 && pyoffsets_of((uint8_t)(rt.version >> 16 & 0xff), &rt.off) &&
	    pyscan_chain(s->remote, s->maps, at->row, &rt.off, &addr))
		return runtime_try(s, at, 0, addr, true);
	return 0;
}

static int place_try(struct search *s, struct place *at)
{
	struct elf_symbol symbol;
	int r = at->rank == RANK_OTHER ? elf_find_export(&at->elf, "_PyRuntime", &symbol)
				       : elf_find_symbol(&at->elf, "_PyRuntime", &symbol);
	if (r == 0)
		return copies_try(s, at, symbol.value);
	if (r < 0)
		return r;
	const Elf64_Shdr *section = elf_section(&at->elf, ".PyRuntime"); /* 3.10 and later */
	if (section)
		return copies_try(s, at, section->sh_addr);
	named_answer(s, at);
	return should_scan(s, at) && s->best != PYRT_UNKNOWN ? scan_try(s, at) : 0;
}

static int file_try(struct search *s, const struct map_row *row, enum rank rank)
{
	cleanup(elf_done) struct elf elf = {.fd = -1};
	int r = elf_open_map(s->world, s->remote->pid, row, &elf);
	if (r == WORLD_GONE || r < 0)
		return r;
	if (r == WORLD_DENIED) {
		struct fault f = {};
		answer(s, fault_set(&f, r, "%.200s of process %d may not be opened", row->path, s->remote->pid), &f);
	}
	unsigned major, minor;
	const char *abi;
	if (r == ELF_FOREIGN && name_version(row->path, &major, &minor, &abi)) {
		struct fault f = {};
		answer(s, fault_set(&f, PYRT_UNKNOWN, "%.200s is a Python for another kind of machine", row->path), &f);
	}
	if (r == ELF_FOREIGN)
		return 0;
	/* The memory of a file that was replaced on disk can still be searched. */
	struct place at = {.row = row, .elf = elf, .rank = rank};
	return place_try(s, &at);
}

static int rank_try(struct search *s, enum rank rank)
{
	const struct map_row *last = NULL;
	size_t files = 0;
	for (size_t i = 0; i < s->maps->n && s->best != 0 && files < FILES_MAX; i++) {
		const struct map_row *row = &s->maps->rows[i];
		if (file_rank(s, row) != rank || (last && last->inode == row->inode && last->dev == row->dev))
			continue;
		last = row;
		files++;
		int r = file_try(s, row, rank);
		if (r)
			return r;
	}
	return 0;
}

static void exe_read(struct search *s)
{
	char path[48];
	TEXT_FORMAT(path, "%d/exe", s->remote->pid);
	ssize_t n = readlinkat(s->world->proc_fd, path, s->exe, sizeof(s->exe) - 1);
	s->exe[MAX(n, 0)] = '\0';
	size_t len = strlen(s->exe);
	const char gone[] = " (deleted)";
	if (len > sizeof(gone) - 1 && strcmp(s->exe + len - (sizeof(gone) - 1), gone) == 0)
		s->exe[len - (sizeof(gone) - 1)] = '\0';
}

int pyrt_find(const struct world *w, struct remote *r, const struct maps *m, struct pyrt *ret, struct fault *f)
{
	struct search s = {.world = w, .remote = r, .maps = m, .best = PYRT_NONE};
	exe_read(&s);
	for (int rank = RANK_LIBPYTHON; rank < RANK_NONE && s.best != 0; rank++) {
		int e = rank_try(&s, (enum rank)rank);
		if (e)
			return fault_set(f, e, "process %d cannot be looked into: %s", r->pid,
					 e < 0 ? strerror(-e) : "it ended");
	}
	if (s.best == 0) {
		*ret = s.found;
		return 0;
	}
	if (s.best == PYRT_NONE && !s.fault.text[0])
		return fault_set(f, PYRT_NONE, "process %d has no CPython: none of its %zu mappings belongs to one",
				 r->pid, m->n);
	if (f)
		*f = s.fault;
	return s.best;
}
