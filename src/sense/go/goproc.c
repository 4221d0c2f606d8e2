#include "sense/go/goproc.h"

#include <string.h>

#include "base/buf.h"
#include "sense/native/elffile.h"
#include "sense/proc/maps.h"

#define TABLE_MAX (128 * MIB)
#define BUILDINFO_MAX (64 * KIB)
/* Variables of a program that are searched; a larger program's lists are not found. */
#define VARIABLES_MAX (32 * MIB)
#define CHUNK_WORDS 8192
#define MODULE_WORDS 42
#define GOROUTINES_SANE (UINT64_C(1) << 24)
#define STACK_SANE (UINT64_C(1) << 31)

void goproc_done(struct goproc *p)
{
	free(p->table);
	*p = (struct goproc){.table = NULL};
}

int goproc_words(struct goproc *p, uint64_t from, uint64_t *into, size_t n)
{
	const size_t part = 512; /* a page */
	int r = remote_read(p->remote, from, into, n * sizeof(*into));
	if (r != REMOTE_FAULT)
		return r;
	for (size_t i = 0; i < n; i += part) {
		size_t len = MIN(part, n - i) * sizeof(*into);
		r = remote_read(p->remote, from + i * sizeof(*into), into + i, len);
		if (r == REMOTE_FAULT)
			memset(into + i, 0, len);
		else if (r)
			return r;
	}
	return 0;
}

/* ---- the file ---- */

static const struct map_row *exe_row(const struct maps *m)
{
	/* The main program is mapped first, where the kernel puts nothing below it. */
	for (size_t i = 0; i < m->n; i++)
		if (m->rows[i].inode)
			return &m->rows[i];
	return NULL;
}

static int version_read(const struct elf *e, struct goproc *p)
{
	cleanup(freep) void *bytes = NULL;
	const Elf64_Shdr *s = elf_section(e, ".go.buildinfo");
	size_t len = 0;
	if (!s)
		return GO_NONE;
	int r = elf_section_load(e, s, BUILDINFO_MAX, &bytes, &len);
	if (r)
		return r < 0 ? r : GO_NONE;
	r = goversion_parse((struct span){bytes, len}, p->version);
	if (r)
		return r;
#if defined(__x86_64__)
	return golayout_of(p->version, &p->at);
#else
	return GO_UNKNOWN;
#endif
}

/* The table of functions; *ret_addr: where it is in the process. */
static int table_read(const struct elf *e, uint64_t bias, struct goproc *p, uint64_t *ret_addr)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab"};
	const Elf64_Shdr *s = NULL;
	size_t len = 0;
	for (size_t i = 0; i < ARRAY_SIZE(names) && !s; i++)
		s = elf_section(e, names[i]);
	if (!s)
		return GO_UNKNOWN;
	int r = elf_section_load(e, s, TABLE_MAX, &p->table, &len);
	if (r)
		return r < 0 ? r : GO_UNKNOWN;
	*ret_addr = bias + s->sh_addr;
	/* The code's address is known once the module is found. */
	return gopcln_open((struct span){p->table, len}, 1, &p->pcln) ? GO_UNKNOWN : 0;
}

/* ---- the variables ---- */

/* Looks at all aligned words of a range, in chunks that overlap by `more` words. */
struct scan {
	struct goproc *p;
	uint64_t want;
	int (*look)(struct scan *s, uint64_t addr, const uint64_t *word); /* GO_NONE: go on */
};

#define SCAN_MORE 8

static int scan_range(struct scan *s, uint64_t from, uint64_t to)
{
	static uint64_t words[CHUNK_WORDS + SCAN_MORE]; /* large; readers take turns */
	from = (from + 7) & ~UINT64_C(7);
	if (to <= from || to - from > VARIABLES_MAX)
		return GO_NONE;
	for (uint64_t at = from; at < to; at += CHUNK_WORDS * 8) {
		size_t n = (size_t)MIN((to - at) / 8, (uint64_t)CHUNK_WORDS + SCAN_MORE);
		int r = goproc_words(s->p, at, words, n);
		if (r)
			return r;
		memset(words + n, 0, (ARRAY_SIZE(words) - n) * sizeof(words[0]));
		for (size_t i = 0; i < n && i < CHUNK_WORDS; i++) {
			r = s->look(s, at + i * 8, words + i);
			if (r != GO_NONE)
				return r;
		}
	}
	return GO_NONE;
}

/* runtime.moduledata: the table, six slices, findfunctab, minpc, maxpc, text, etext and the ranges of variables. */
static int module_look(struct scan *s, uint64_t addr, const uint64_t *word)
{
	struct goproc *p = s->p;
	uint64_t m[MODULE_WORDS];
	if (word[0] != s->want)
		return GO_NONE;
	int r = remote_read(p->remote, addr, m, sizeof(m));
	if (r)
		return r == REMOTE_FAULT ? GO_NONE : r;
	/* The first slice is the names of functions. */
	if (m[1] != s->want + p->pcln.names || m[22] >= m[23] || m[20] < m[22] || m[21] > m[23] + 8)
		return GO_NONE;
	p->pcln.text = m[22];
	p->noptrdata = m[24];
	p->data = m[26];
	p->edata = m[27];
	p->bss = m[28];
	p->ebss = m[29];
	p->enoptrbss = m[31];
	p->gofunc = m[p->at.gofunc / 8];
	return p->noptrdata <= p->data && p->data <= p->edata && p->edata <= p->bss && p->bss <= p->ebss &&
			       p->ebss <= p->enoptrbss
		       ? 0
		       : GO_NONE;
}

static int module_find(struct goproc *p, const struct elf *e, uint64_t bias, uint64_t table)
{
	struct scan s = {.p = p, .want = table, .look = module_look};
	for (size_t i = 0; i < e->n_phdr; i++) {
		const Elf64_Phdr *h = &e->phdr[i];
		if (h->p_type != PT_LOAD || !(h->p_flags & PF_W))
			continue;
		int r = scan_range(&s, bias + h->p_vaddr, bias + h->p_vaddr + h->p_filesz);
		if (r != GO_NONE)
			return r;
	}
	return GO_UNKNOWN;
}

/* A slice of g, the first of which is goroutine 1. */
static int allgs_look(struct scan *s, uint64_t addr, const uint64_t *word)
{
	struct goproc *p = s->p;
	unsigned char g[GO_G_BYTES];
	uint64_t first, stack[2], self, id;
	if (word[0] == 0 || word[0] % 8 || word[1] == 0 || word[1] > word[2] || word[2] > GOROUTINES_SANE ||
	    !goproc_try(p))
		return GO_NONE;
	int r = remote_u64(p->remote, word[0], &first);
	if (r == 0 && (first == 0 || first % 8))
		return GO_NONE;
	if (r == 0)
		r = remote_read(p->remote, first, g, sizeof(g));
	if (r)
		return r == REMOTE_FAULT ? GO_NONE : r;
	memcpy(stack, g + GO_G_STACK, sizeof(stack));
	memcpy(&self, g + GO_G_SELF, sizeof(self));
	memcpy(&id, g + p->at.goid, sizeof(id));
	if (id != 1 || self != first || stack[0] >= stack[1] || stack[1] - stack[0] > STACK_SANE)
		return GO_NONE;
	p->allgs = addr;
	return 0;
}

/* An array of texts, the first of which is empty. */
static int reasons_look(struct scan *s, uint64_t addr, const uint64_t *word)
{
	static const char first[] = "GC assist marking", second[] = "IO wait";
	uint64_t text[GO_REASONS][2];
	char read[sizeof(first)];
	struct goproc *p = s->p;
	if (word[1] != 0 || word[3] != sizeof(first) - 1 || word[5] != sizeof(second) - 1)
		return GO_NONE;
	if (remote_read(p->remote, word[2], read, sizeof(first) - 1) != 0 ||
	    memcmp(read, first, sizeof(first) - 1) != 0 ||
	    remote_read(p->remote, word[4], read, sizeof(second) - 1) != 0 ||
	    memcmp(read, second, sizeof(second) - 1) != 0)
		return GO_NONE;
	int r = goproc_words(p, addr, &text[0][0], sizeof(text) / 8);
	if (r)
		return r;
	for (size_t i = 1; i < GO_REASONS; i++) {
		char one[GO_REASON_MAX];
		if (text[i][1] == 0 || text[i][1] >= sizeof(one) ||
		    remote_read(p->remote, text[i][0], one, text[i][1]) != 0)
			break;
		span_copy((struct span){one, text[i][1]}, p->reason[i], sizeof(p->reason[i]));
	}
	return 0;
}

static int lists_find(struct goproc *p)
{
	struct scan goroutines = {.p = p, .look = allgs_look}, reasons = {.p = p, .look = reasons_look};
	int r = scan_range(&goroutines, p->bss, p->ebss);
	if (r)
		return r;
	r = scan_range(&reasons, p->data, p->edata);
	return r == GO_NONE ? scan_range(&reasons, p->noptrdata, p->data) : r;
}

int goproc_open(const struct world *w, struct remote *remote, struct goproc *ret)
{
	cleanup(maps_done) struct maps m = {.n = 0};
	cleanup(elf_done) struct elf e = {.fd = -1};
	cleanup(goproc_done) struct goproc p = {.w = w, .remote = remote};
	uint64_t bias = 0, table = 0;
	int r = maps_read(w, remote->pid, &m);
	const struct map_row *row = r == 0 ? exe_row(&m) : NULL;
	if (r || !row)
		return r ? r : GO_NONE;
	r = elf_open_map(w, remote->pid, row, &e);
	if (r)
		return r < 0 || r == WORLD_GONE || r == WORLD_DENIED ? r : GO_NONE;
	r = version_read(&e, &p);
	TEXT_COPY(ret->version, p.version);
	if (r)
		return r;
	r = elf_bias(&e, &m, row, &bias);
	if (r == 0)
		r = table_read(&e, bias, &p, &table);
	if (r == 0)
		r = module_find(&p, &e, bias, table);
	if (r == 0)
		r = lists_find(&p);
	if (r)
		return r < 0 || r == WORLD_GONE || r == WORLD_DENIED || r == GO_NONE ? r : GO_UNKNOWN;
	*ret = p;
	p = (struct goproc){.table = NULL};
	return 0;
}
