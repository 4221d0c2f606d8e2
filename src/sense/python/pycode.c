#include "sense/python/pycode.h"

#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

#define NAME_MAX_CHARS 1000
#define FILE_MAX_CHARS 4096
#define TABLE_MAX (4 * MIB)
#define CODE_BYTES_MAX (64 * MIB)
/* Far more than a program has: limits our memory for a target that creates code without end. */
#define ENTRIES_MAX (1U << 20)
#define BYTES_MAX (512 * MIB)
/* Size of the fixed part of a code object: 3.15 without the GIL has 240. */
#define HEAD_MAX 512
/* Include/cpython/code.h: set for functions only. */
#define CO_OPTIMIZED 1U

/*
 * Counted in pycodes_recheck() calls: the age from which cached code is trusted, and how long a replacement makes young
 * code suspect.
 */
#define SETTLED_EPOCHS 8
#define CHURN_EPOCHS 32

struct slot {
	uint64_t addr; /* 0: free */
	uint64_t epoch, born_epoch;
	struct pycode *code;
	bool reused; /* the slot held other code before */
};

struct pycodes {
	const struct pyrt *rt;
	struct remote *remote;
	struct slot *slots;
	size_t n_used, mask; /* slots: mask + 1, a power of two */
	struct pycode **all; /* owned, by id */
	size_t n_all, cap_all, bytes;
	uint64_t epoch, churn_until; /* churn_until: epoch until which young code is suspect */
};

struct pycodes *pycodes_new(const struct pyrt *rt, struct remote *r)
{
	struct pycodes *c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	*c = (struct pycodes){.rt = rt, .remote = r, .mask = 1023};
	c->slots = calloc(c->mask + 1, sizeof(*c->slots));
	return c->slots ? c : pycodes_free(c);
}

static struct pycode *code_free(struct pycode *code)
{
	if (code) {
		free(code->name);
		free(code->file);
		free(code->lines);
		free(code);
	}
	return NULL;
}

static void code_freep(struct pycode **code)
{
	*code = code_free(*code);
}

struct pycodes *pycodes_free(struct pycodes *c)
{
	if (c) {
		for (size_t i = 0; i < c->n_all; i++)
			code_free(c->all[i]);
		free(c->all);
		free(c->slots);
		free(c);
	}
	return NULL;
}

/* The address's slot, or the free one where it belongs. */
static inline struct slot *slot_find(const struct pycodes *c, uint64_t addr)
{
	size_t i = hash_slot(addr, c->mask);
	while (c->slots[i].addr && c->slots[i].addr != addr)
		i = (i + 1) & c->mask;
	return &c->slots[i];
}

/*
 * Programs that create functions at run time free them again, and new ones get their addresses. Once a slot was reused,
 * its entry is checked on each use, and for a while so are young entries in other slots.
 *
 * Bodies of modules and classes run once and are freed then, so they are always checked.
 */
static bool runs_once(const struct pycode *code)
{
	return !(code->flags & CO_OPTIMIZED);
}

const struct pycode *pycodes_peek(const struct pycodes *c, uint64_t addr)
{
	const struct slot *s = slot_find(c, addr);
	const bool young = s->born_epoch + SETTLED_EPOCHS > c->epoch && c->epoch < c->churn_until;
	return s->addr && s->epoch == c->epoch && !s->reused && !young && !runs_once(s->code) ? s->code : NULL;
}

const struct pycode *pycodes_still(const struct pycodes *c, uint64_t addr)
{
	const struct slot *s = slot_find(c, addr);
	return s->addr && s->epoch == c->epoch ? s->code : NULL;
}

void pycodes_recheck(struct pycodes *c)
{
	c->epoch++;
}

static uint64_t field_u64(const unsigned char *head, uint64_t offset)
{
	uint64_t v = 0;
	if (offset <= HEAD_MAX - sizeof(v))
		memcpy(&v, head + offset, sizeof(v));
	return v;
}

static int32_t field_i32(const unsigned char *head, uint64_t offset)
{
	int32_t v = 0;
	if (offset <= HEAD_MAX - sizeof(v))
		memcpy(&v, head + offset, sizeof(v));
	return v;
}

/* The fixed part of a code object: everything but the texts. */
struct head {
	uint64_t filename, name, table, code_bytes;
	struct pycode code; /* names and lines still empty */
};

static int head_read(const struct pyrt *rt, struct remote *r, uint64_t addr, struct head *ret)
{
	const struct pyoffsets *o = &rt->off;
	unsigned char raw[HEAD_MAX] = {};
	/* The fixed part is followed by bytecode in 3.11 and later, and may be the end of the mapping. */
	size_t len = (size_t)(rt->minor >= 11 ? o->code.bytecode : o->code.size);
	if (len > sizeof(raw) || !addr || addr & 7)
		return PYCODE_GARBAGE;
	int e = remote_read(r, addr, raw, len);
	if (e)
		return e;
	if (rt->code_type && field_u64(raw, o->object.type) != rt->code_type)
		return PYCODE_GARBAGE;
	struct head h = {
		.filename = field_u64(raw, o->code.filename),
		.name = field_u64(raw, o->code.qualname != PYOFF_NONE ? o->code.qualname : o->code.name),
		.table = field_u64(raw, o->code.linetable),
		.code_bytes = field_u64(raw, o->code.code_bytes),
	};
	int32_t args = field_i32(raw, o->code.argcount);
	if (!h.filename || !h.name || !h.table || args < 0)
		return PYCODE_GARBAGE;
	h.code = (struct pycode){
		.addr = addr,
		.filename_addr = h.filename,
		.name_addr = h.name,
		.first_line = field_i32(raw, o->code.firstlineno),
		.flags = (uint32_t)field_i32(raw, o->code.flags),
	};
	if (rt->minor >= 11) {
		uint64_t units = field_u64(raw, o->tuple.size); /* ob_size, as in every object of variable size */
		if (units == 0 || units > CODE_BYTES_MAX / 2)
			return PYCODE_GARBAGE;
		h.code.code_start = addr + o->code.bytecode;
		h.code.code_bytes = (uint32_t)(units * 2);
	}
	*ret = h;
	return 0;
}

static bool head_same(const struct pycode *a, const struct pycode *b)
{
	return a->filename_addr == b->filename_addr && a->name_addr == b->name_addr && a->first_line == b->first_line &&
	       a->code_bytes == b->code_bytes && a->flags == b->flags;
}

struct text_check {
	uint64_t addr;
	const char *known;
	uint64_t length;
	char tail[64];
};

static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x80)
			return false;
	return true;
}

/*
 * Compares texts in one read, for the usual case: ASCII, with the characters right behind the header. Only the ends are
 * compared, because numbers that distinguish names stand there.
 */
static bool texts_quickly_same(const struct pyrt *rt, struct remote *r, struct text_check *t, size_t n)
{
	struct iovec into[4], from[4];
	size_t bytes = 0, got = 0;
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(t[i].known), tail = MIN(len, sizeof(t[i].tail));
		uint64_t at = t[i].addr + rt->off.str.ascii + len - tail;
		if (!is_ascii(t[i].known))
			return false;
		into[2 * i] = (struct iovec){&t[i].length, sizeof(t[i].length)};
		into[2 * i + 1] = (struct iovec){t[i].tail, tail};
		// NOLINTBEGIN(performance-no-int-to-ptr): theirs
		from[2 * i] = (struct iovec){(void *)(uintptr_t)(t[i].addr + rt->off.str.length), sizeof(t[i].length)};
		from[2 * i + 1] = (struct iovec){(void *)(uintptr_t)at, tail};
		// NOLINTEND(performance-no-int-to-ptr)
		bytes += sizeof(t[i].length) + tail;
	}
	if (remote_readv(r, into, 2 * n, from, 2 * n, &got) != 0 || got != bytes)
		return false;
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(t[i].known), tail = MIN(len, sizeof(t[i].tail));
		if (t[i].length != len || memcmp(t[i].tail, t[i].known + len - tail, tail) != 0)
			return false;
	}
	return true;
}

/* Texts are freed with their code and their memory is reused too, so equal addresses prove little. */
static bool texts_same(const struct pyrt *rt, struct remote *r, const struct pycode *code)
{
	struct text_check both[] = {{.addr = code->filename_addr, .known = code->file},
				    {.addr = code->name_addr, .known = code->name}};
	if (texts_quickly_same(rt, r, both, ARRAY_SIZE(both)))
		return true;
	cleanup(freep) char *file = NULL;
	cleanup(freep) char *name = NULL;
	return pystr_read(rt, r, code->filename_addr, FILE_MAX_CHARS, &file) == 0 && strcmp(file, code->file) == 0 &&
	       pystr_read(rt, r, code->name_addr, NAME_MAX_CHARS, &name) == 0 && strcmp(name, code->name) == 0;
}

/* Reads a bytes object; only its size when ret is NULL. */
static int bytes_read(const struct pyrt *rt, struct remote *r, uint64_t addr, uint64_t max, char **ret, size_t *ret_len)
{
	uint64_t len = 0;
	int e = remote_u64(r, addr + rt->off.bytes.size, &len);
	if (e)
		return e;
	if (len > max)
		return PYCODE_GARBAGE;
	if (ret) {
		cleanup(freep) char *bytes = malloc(len + 1);
		if (!bytes)
			return -ENOMEM;
		e = len ? remote_read(r, addr + rt->off.bytes.value, bytes, len) : 0;
		if (e)
			return e;
		*ret = take(&bytes);
	}
	*ret_len = len;
	return 0;
}

static int lines_read(const struct pyrt *rt, struct remote *r, const struct head *h, struct pycode *code)
{
	cleanup(freep) char *table = NULL;
	size_t len = 0;
	int e = bytes_read(rt, r, h->table, TABLE_MAX, &table, &len);
	if (e)
		return e;
	e = pylines_parse(rt->minor, (struct span){table, len}, code->first_line, &code->lines, &code->n_lines);
	if (e || rt->minor >= 11)
		return e;
	e = bytes_read(rt, r, h->code_bytes, CODE_BYTES_MAX, NULL, &len);
	if (e == 0)
		code->code_bytes = (uint32_t)len;
	return e;
}

static int code_read(const struct pyrt *rt, struct remote *r, const struct head *h, struct pycode **ret)
{
	cleanup(code_freep) struct pycode *code = malloc(sizeof(*code));
	struct head again;
	if (!code)
		return -ENOMEM;
	*code = h->code;
	int e = pystr_read(rt, r, h->name, NAME_MAX_CHARS, &code->name);
	if (e == 0)
		e = pystr_read(rt, r, h->filename, FILE_MAX_CHARS, &code->file);
	if (e == 0)
		e = lines_read(rt, r, h, code);
	/* The head is read once more: the object must not have changed meanwhile. */
	if (e == 0)
		e = head_read(rt, r, h->code.addr, &again);
	if (e)
		return e;
	if (!head_same(&again.code, &h->code))
		return PYCODE_GARBAGE;
	*ret = take(&code);
	return 0;
}

static int pycode_table_grow(struct pycodes *c)
{
	size_t mask = c->mask * 2 + 1;
	struct slot *old = c->slots, *more = calloc(mask + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	size_t n = c->mask + 1;
	c->slots = more;
	c->mask = mask;
	for (size_t i = 0; i < n; i++)
		if (old[i].addr)
			*slot_find(c, old[i].addr) = old[i];
	free(old);
	return 0;
}

static size_t code_weight(const struct pycode *code)
{
	return sizeof(*code) + strlen(code->name) + strlen(code->file) + code->n_lines * sizeof(*code->lines);
}

/* Takes code when it returns 0. */
static int code_keep(struct pycodes *c, struct pycode *code)
{
	size_t weight = code_weight(code);
	if (c->n_all >= ENTRIES_MAX || weight > BYTES_MAX - c->bytes)
		return -ENOMEM;
	if (vec_room(&c->all, &c->cap_all, c->n_all + 1) < 0)
		return -ENOMEM;
	if (c->n_used * 2 > c->mask) {
		int r = pycode_table_grow(c);
		if (r)
			return r;
	}
	struct slot *s = slot_find(c, code->addr);
	c->n_used += s->addr == 0;
	const bool reused = s->addr != 0;
	if (reused && c->epoch >= c->churn_until)
		c->epoch++; /* where one was freed, others were too */
	if (reused)
		c->churn_until = c->epoch + CHURN_EPOCHS;
	*s = (struct slot){
		.addr = code->addr, .epoch = c->epoch, .born_epoch = c->epoch, .code = code, .reused = reused};
	code->id = (uint32_t)c->n_all;
	c->all[c->n_all++] = code;
	c->bytes += weight;
	return 0;
}

int pycodes_get(struct pycodes *c, uint64_t addr, const struct pycode **ret)
{
	const struct pycode *known = pycodes_peek(c, addr);
	cleanup(code_freep) struct pycode *code = NULL;
	struct head h;
	if (known && addr) {
		*ret = known;
		return 0;
	}
	int e = head_read(c->rt, c->remote, addr, &h);
	if (e)
		return e;
	struct slot *s = slot_find(c, addr);
	if (s->addr) {
		if (c->rt->minor < 11)
			h.code.code_bytes = s->code->code_bytes; /* the head of these versions does not have it */
		if (head_same(s->code, &h.code) && texts_same(c->rt, c->remote, s->code)) {
			s->epoch = c->epoch;
			*ret = s->code;
			return 0;
		}
		if (c->rt->minor < 11)
			h.code.code_bytes = 0;
	}
	e = code_read(c->rt, c->remote, &h, &code);
	if (e)
		return e;
	e = code_keep(c, code);
	if (e)
		return e;
	*ret = take(&code);
	return 0;
}

int32_t pycode_line(const struct pyrt *rt, const struct pycode *code, uint64_t instr)
{
	uint64_t at;
	if (rt->minor >= 11) {
		if (instr < code->code_start)
			return instr + 2 == code->code_start ? MAX(code->first_line, 0) : 0; /* about to begin */
		at = instr - code->code_start;
	} else {
		int32_t lasti = (int32_t)instr;
		if (lasti < 0)
			return MAX(code->first_line, 0);
		at = (uint64_t)lasti * (rt->instr_in_units ? 2 : 1);
	}
	if (code->n_lines == 0 || (code->code_bytes && at >= code->code_bytes))
		return 0;
	size_t lo = 0, hi = code->n_lines; /* finds the last row that begins at or before it */
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;
		if (code->lines[mid].start <= at)
			lo = mid;
		else
			hi = mid;
	}
	return code->lines[lo].start <= at ? code->lines[lo].line : 0;
}
