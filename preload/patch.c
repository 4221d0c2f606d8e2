/*
 * Redirects calls of files that are loaded already to our functions, when the library came late: it is in no file's
 * search order then, and names have been resolved. A call to another file goes through a word in the caller's own
 * tables (System V ABI 5.2); only those words are changed.
 *
 * A word is changed only if it holds the function that we forward to, or has not been resolved yet: a file that uses
 * another allocator keeps it. Pages that the loader made read-only (RELRO) are made so again. Files that are loaded
 * later are found at the next sample. Undone by patch_undo(): words then hold the real functions, which is what
 * resolving would give.
 *
 * The list of files is the debugger's (_r_debug), which can be walked without the loader's lock, which must not be
 * waited for in here. It is not walked while the loader says that it is being changed, nor while a file is being
 * closed.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "preload/heapattach.h"
#include "preload/inside.h"

#if defined(__x86_64__)
#define TYPE_JUMP R_X86_64_JUMP_SLOT
#define TYPE_GLOBAL R_X86_64_GLOB_DAT
#define TYPE_WORD R_X86_64_64
#elif defined(__aarch64__)
#define TYPE_JUMP R_AARCH64_JUMP_SLOT
#define TYPE_GLOBAL R_AARCH64_GLOB_DAT
#define TYPE_WORD R_AARCH64_ABS64
#endif

#define FILES_MAX 4096
#define NAMES_MAX 24
/* Rows between two reads of the clock. */
#define ROWS_AT_ONCE 256
/* Longest time that a sample spends on new files; the next one goes on. */
#define SAMPLED_NS 200000u

static const char *const names[] = {
	"malloc",
	"calloc",
	"realloc",
	"reallocarray",
	"free",
	"cfree",
	"posix_memalign",
	"aligned_alloc",
	"memalign",
	"valloc",
	"pvalloc",
	"free_sized",
	"free_aligned_sized",
	"mmap",
	"mmap64",
	"munmap",
	"mremap",
	"dlclose",
	"_exit",
	"_Exit",
};

static struct {
	uintptr_t ours, real;
} function[NAMES_MAX];
static uint32_t is_on;
static uint32_t at_work; /* one thread at a time; the others skip this */
static uintptr_t done[FILES_MAX]; /* files that are finished, by the address of their tables */
static uint32_t n_done;
static uint32_t closing;
/* Where time was up in the middle of a file: the file, and how many of its rows are finished. */
static uintptr_t rest_of;
static size_t rest_from;

extern const char __ehdr_start HIDDEN;
extern const char _end HIDDEN;

struct file {
	uintptr_t base;
	const ElfW(Phdr) * phdr;
	size_t n_phdr;
	const ElfW(Sym) * symbols;
	const char *strings;
	uint64_t strings_bytes;
	const ElfW(Rela) * rela, *jump;
	size_t n_rela, n_jump, n_relative; /* n_relative: the first rows of n_rela, which have no symbol */
};

struct counts {
	uint32_t files, patched, left;
	uint64_t until_ns; /* 0: no limit */
	bool more; /* time was up */
};

static bool patch_is_own(uintptr_t a)
{
	return a >= (uintptr_t)&__ehdr_start && a < (uintptr_t)&_end;
}

/* A pointer of the dynamic section: glibc has added the base already if the section is writable. */
static uintptr_t pointer_of(uintptr_t base, uint64_t value)
{
	return value < base ? base + value : value;
}

static bool is_mapped(uintptr_t a)
{
	unsigned char there;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	return mincore((void *)(a & ~(page - 1)), 1, &there) == 0;
}

static bool headers_find(const struct link_map *m, bool first, struct file *f)
{
	if (first) { /* the program itself: its base may be 0 */
		f->phdr = (const void *)getauxval(AT_PHDR);
		f->n_phdr = getauxval(AT_PHNUM);
		return f->phdr != NULL;
	}
	const ElfW(Ehdr) *e = (const void *)m->l_addr;
	if (m->l_addr == 0 || !is_mapped(m->l_addr) || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 ||
	    e->e_phentsize != sizeof(ElfW(Phdr)))
		return false;
	f->phdr = (const void *)(m->l_addr + e->e_phoff);
	f->n_phdr = e->e_phnum;
	return true;
}

static bool tables_find(const struct link_map *m, bool first, struct file *f)
{
	uint64_t jump_bytes = 0, rela_bytes = 0;
	*f = (struct file){.base = m->l_addr};
	if (!m->l_ld || !headers_find(m, first, f))
		return false;
	for (const ElfW(Dyn) *d = m->l_ld; d->d_tag != DT_NULL; d++) {
		uintptr_t at = pointer_of(m->l_addr, d->d_un.d_ptr);
		switch (d->d_tag) {
		case DT_SYMTAB:
			f->symbols = (const void *)at;
			break;
		case DT_STRTAB:
			f->strings = (const void *)at;
			break;
		case DT_STRSZ:
			f->strings_bytes = d->d_un.d_val;
			break;
		case DT_RELA:
			f->rela = (const void *)at;
			break;
		case DT_RELASZ:
			rela_bytes = d->d_un.d_val;
			break;
		case DT_RELACOUNT:
			f->n_relative = d->d_un.d_val;
			break;
		case DT_JMPREL:
			f->jump = (const void *)at;
			break;
		case DT_PLTRELSZ:
			jump_bytes = d->d_un.d_val;
			break;
		case DT_PLTREL:
			if (d->d_un.d_val != DT_RELA)
				return false;
			break;
		default:
			break;
		}
	}
	f->n_rela = f->rela ? rela_bytes / sizeof(ElfW(Rela)) : 0;
	f->n_jump = f->jump ? jump_bytes / sizeof(ElfW(Rela)) : 0;
	return f->symbols && f->strings;
}

static bool in_file(const struct file *f, uintptr_t a)
{
	for (size_t i = 0; i < f->n_phdr; i++)
		if (f->phdr[i].p_type == PT_LOAD && a - (f->base + f->phdr[i].p_vaddr) < f->phdr[i].p_memsz)
			return true;
	return false;
}

/* The pages that the loader made read-only after it had filled them. */
static bool relro_of(const struct file *f, uintptr_t *ret_from, uintptr_t *ret_to)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < f->n_phdr; i++) {
		if (f->phdr[i].p_type != PT_GNU_RELRO)
			continue;
		*ret_from = (f->base + f->phdr[i].p_vaddr) & ~(page - 1);
		*ret_to = (f->base + f->phdr[i].p_vaddr + f->phdr[i].p_memsz) & ~(page - 1);
		return *ret_to > *ret_from;
	}
	return false;
}

static int name_index(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (name[0] == names[i][0] && name[1] == names[i][1] && function[i].ours && strcmp(name, names[i]) == 0)
			return (int)i;
	return -1;
}

/* The word of a relocation of one of our functions; NULL: of none. *ret_index: which function. */
static uintptr_t *word_of(const struct file *f, const ElfW(Rela) * r, int *ret_index)
{
	uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info), symbol = (uint32_t)ELF64_R_SYM(r->r_info);
	if (symbol == 0 || (type != TYPE_JUMP && type != TYPE_GLOBAL && !(type == TYPE_WORD && r->r_addend == 0)))
		return NULL;
	const ElfW(Sym) *s = &f->symbols[symbol];
	if (s->st_name + 1u >= f->strings_bytes)
		return NULL;
	*ret_index = name_index(f->strings + s->st_name);
	uintptr_t at = f->base + r->r_offset;
	if (*ret_index < 0 || at % sizeof(uintptr_t) != 0 || !in_file(f, at))
		return NULL;
	return (uintptr_t *)at;
}

/* The new value of the word; its present value: leave it. */
static uintptr_t wanted(const struct file *f, uintptr_t now, int i, bool on)
{
	if (!on)
		return now == function[i].ours ? function[i].real : now;
	bool not_looked_up = in_file(f, now) && !patch_is_own(now);
	return now == function[i].real || not_looked_up ? function[i].ours : now;
}

struct pages {
	uintptr_t from, to; /* RELRO */
	bool has, open;
};

static bool write_word(struct pages *p, uintptr_t *word, uintptr_t value)
{
	bool inside = p->has && (uintptr_t)word >= p->from && (uintptr_t)word < p->to;
	if (inside && !p->open) {
		if (mprotect((void *)p->from, p->to - p->from, PROT_READ | PROT_WRITE) < 0)
			return false;
		p->open = true;
	}
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	return true;
}

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void row_patch(const struct file *f, const ElfW(Rela) * row, bool on, struct pages *p, struct counts *c)
{
	int which;
	uintptr_t *word = word_of(f, row, &which);
	if (!word)
		return;
	uintptr_t now = load_relaxed(word), then = wanted(f, now, which, on);
	if (now == then)
		c->left += on && now != function[which].ours;
	else if (write_word(p, word, then))
		c->patched++;
}

/*
 * Patches a file from a row on, counting the rows of both tables together; returns the row to go on with when time is
 * up.
 */
static size_t file_patch(const struct file *f, size_t from, bool on, struct counts *c)
{
	struct pages p = {.open = false};
	uint32_t before = c->patched;
	size_t skip = f->n_relative < f->n_rela ? f->n_relative : f->n_rela;
	size_t i = from, n = f->n_jump + f->n_rela - skip;
	p.has = relro_of(f, &p.from, &p.to);
	for (; i < n; i++) {
		if (i > from && i % ROWS_AT_ONCE == 0 && c->until_ns && now_ns() > c->until_ns)
			break;
		row_patch(f, i < f->n_jump ? &f->jump[i] : &f->rela[skip + i - f->n_jump], on, &p, c);
	}
	if (p.open)
		(void)mprotect((void *)p.from, p.to - p.from, PROT_READ);
	c->files += c->patched > before;
	c->more |= i < n;
	return i;
}

/* The loader has a malloc of its own until it takes the program's, which it finds by itself. */
static bool is_passed_over(const struct link_map *m)
{
	const char *slash = m->l_name ? strrchr(m->l_name, '/') : NULL;
	const char *file = slash ? slash + 1 : m->l_name ? m->l_name : "";
	return patch_is_own((uintptr_t)m->l_ld) || strncmp(file, "ld-linux", 8) == 0 ||
	       strncmp(file, "ld-2.", 5) == 0 || strncmp(file, "linux-vdso", 10) == 0 ||
	       strncmp(file, "linux-gate", 10) == 0;
}

static bool was_done(uintptr_t ld)
{
	for (uint32_t i = 0; i < n_done; i++)
		if (done[i] == ld)
			return true;
	return false;
}

static void patch_walk(bool on, bool all, struct counts *c)
{
	bool first = true, began = false;
	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next, first = false) {
		struct file f;
		uintptr_t ld = (uintptr_t)m->l_ld;
		if ((!all && was_done(ld)) || is_passed_over(m))
			continue;
		if (c->until_ns && began && now_ns() > c->until_ns) {
			c->more = true;
			break;
		}
		began = true; /* each call makes progress */
		if (tables_find(m, first, &f))
			rest_from = file_patch(&f, on && rest_of == ld ? rest_from : 0, on, c);
		rest_of = c->more ? ld : 0;
		if (c->more)
			break;
		if (on && n_done < FILES_MAX && !was_done(ld))
			done[n_done++] = ld;
	}
}

static bool work_begin(void)
{
	uint32_t none = 0;
	return _r_debug.r_state == RT_CONSISTENT && load_acquire(&closing) == 0 &&
	       __atomic_compare_exchange_n(&at_work, &none, 1u, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void work_end(void)
{
	store_release(&at_work, 0u);
}

void patch_sampled(void)
{
	struct counts c = {.until_ns = now_ns() + SAMPLED_NS};
	uint32_t n = 0;
	if (!load_acquire(&is_on) || !work_begin())
		return;
	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next)
		n++;
	static uint32_t seen;
	if (n != seen) {
		int e = errno;
		patch_walk(true, false, &c);
		errno = e;
	}
	seen = c.more ? 0 : n;
	work_end();
}

void patch_closing(bool begins)
{
	if (begins) {
		add_relaxed(&closing, 1u);
		return;
	}
	/*
	 * Another file may be loaded at the address of a closed one: all are patched again, which changes nothing in
	 * finished ones.
	 */
	n_done = 0;
	rest_of = 0;
	sub_relaxed(&closing, 1u);
}

/* Preloaded libraries stand before libc in the list, those loaded by dlopen behind it. */
bool patch_late(void)
{
	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
		const char *slash = m->l_name ? strrchr(m->l_name, '/') : NULL;
		if (patch_is_own((uintptr_t)m->l_ld))
			return false;
		if (slash && strncmp(slash, "/libc.so.6", 10) == 0)
			return true;
	}
	return false;
}

/*
 * A program that is not position-independent may give an entry of its own as "the address of malloc" (System V ABI,
 * "Function Addresses"): a jump through one of its words. The function is that word's value.
 */
static void *behind_entry(const struct file *f, const char *name)
{
	for (size_t i = 0; i < f->n_jump + f->n_rela; i++) {
		const ElfW(Rela) *r = i < f->n_jump ? &f->jump[i] : &f->rela[i - f->n_jump];
		const ElfW(Sym) *s = &f->symbols[ELF64_R_SYM(r->r_info)];
		uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);
		if ((type != TYPE_JUMP && type != TYPE_GLOBAL) || s->st_shndx != SHN_UNDEF ||
		    s->st_name >= f->strings_bytes || strcmp(f->strings + s->st_name, name) != 0)
			continue;
		uintptr_t now = *(const uintptr_t *)(f->base + r->r_offset);
		if (!in_file(f, now) && !patch_is_own(now))
			return (void *)now;
		return dlsym(RTLD_NEXT, name); /* not resolved yet: libc's */
	}
	return NULL;
}

void *patch_real(const char *name)
{
	struct file program;
	void *first = dlsym(RTLD_DEFAULT, name);
	if (!first || patch_is_own((uintptr_t)first))
		return dlsym(RTLD_NEXT, name);
	if (!_r_debug.r_map || !tables_find(_r_debug.r_map, true, &program) || !in_file(&program, (uintptr_t)first))
		return first;
	void *real = behind_entry(&program, name);
	return real ? real : first; /* it has a malloc of its own */
}

static void functions_find(void)
{
	Dl_info self;
	void *handle = dladdr(&__ehdr_start, &self) ? dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
	for (size_t i = 0; handle && i < sizeof(names) / sizeof(names[0]); i++) {
		uintptr_t ours = (uintptr_t)dlsym(handle, names[i]);
		uintptr_t real = (uintptr_t)patch_real(names[i]);
		if (patch_is_own(ours) && real && !patch_is_own(real)) {
			function[i].ours = ours;
			function[i].real = real;
		}
	}
	if (handle)
		(void)dlclose(handle);
}

extern struct heap_status vigil_heap_status;
EXPORTED int64_t vigil_heap_attach(void *arg, uint64_t bytes);
EXPORTED int64_t vigil_heap_detach(void *arg, uint64_t bytes);

/* Called repeatedly while it reports that there is more: one thread of the program is stopped during each call. */
static int64_t attach(struct heap_attach *a)
{
	static bool waits_for_region; /* the first half is done */
	struct counts c = {.until_ns = now_ns() + HEAP_ATTACH_BUDGET_NS};
	a->dir[sizeof(a->dir) - 1] = '\0';
	a->objects_patched = a->slots_patched = a->slots_left = a->more = a->took = a->on = 0;
	if (!waits_for_region) {
		waits_for_region = process_attach(a->dir, a->rate_bytes);
		a->more = waits_for_region && now_ns() > c.until_ns;
		if (a->more)
			return 0;
	}
	if (waits_for_region)
		a->took = process_attach_region(a->prepared);
	waits_for_region = false;
	a->why = vigil_heap_status.why;
	a->error = vigil_heap_status.error;
	if (a->why != HEAP_FINE)
		return -ENODEV;
	a->on = 1;
	if (patch_late()) {
		if (!load_acquire(&is_on))
			functions_find();
		if (!work_begin())
			return -EBUSY;
		/* Files not reached now are left to the next call or the next sample. */
		patch_walk(true, false, &c);
		store_release(&is_on, 1u);
		work_end();
	}
	a->objects_patched = c.files;
	a->slots_patched = c.patched;
	a->slots_left = c.left;
	a->more = c.more;
	return 0;
}

static int64_t detach(struct heap_attach *a)
{
	struct counts c = {.files = 0};
	if (load_acquire(&is_on)) {
		if (!work_begin())
			return -EBUSY;
		store_release(&is_on, 0u);
		patch_walk(false, true, &c);
		n_done = 0;
		rest_of = 0;
		work_end();
	}
	process_detach();
	a->objects_patched = c.files;
	a->slots_patched = c.patched;
	return 0;
}

/*
 * A call injected from outside has a return address without a caller, so its stack is not unwound and nothing in it is
 * sampled.
 */
static int64_t called_from_outside(int64_t (*what)(struct heap_attach *), struct heap_attach *a, uint64_t bytes)
{
	uintptr_t before = heap_thread.busy_at;
	if (bytes != sizeof(*a) || a->magic != HEAP_ATTACH_MAGIC)
		return -EINVAL;
	heap_thread.busy_at = UINTPTR_MAX;
	int64_t value = what(a);
	heap_thread.busy_at = before;
	return value;
}

int64_t vigil_heap_attach(void *arg, uint64_t bytes)
{
	return called_from_outside(attach, arg, bytes);
}

int64_t vigil_heap_detach(void *arg, uint64_t bytes)
{
	return called_from_outside(detach, arg, bytes);
}
