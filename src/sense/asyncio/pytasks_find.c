/* Where the tasks are. */
#include <string.h>

#include "sense/native/elffile.h"
#include "sense/python/pynames.h"
#include "sense/asyncio/pytasks_parts.h"

#define TASK_BYTES_MAX 512
#define SET_ROWS_MAX 65536 /* slots of the weak set's table */
#define SET_ROWS_AT_ONCE 256
#define INTERP_BYTES_MAX (4 * MIB)
#define THREAD_STATE_MAX (64 * KIB)

/* Modules/_asynciomodule.c: FutureObj_HEAD and TaskObj, by minor version from 3.8 on. */
static const struct pytasks_layout layouts[] = {
	{.size = 144, .state = 72, .waiter = 104, .coro = 112, .name = 120},
	{.size = 184, .state = 80, .waiter = 144, .coro = 152, .name = 160},
	{.size = 192, .state = 88, .waiter = 152, .coro = 160, .name = 168},
	{.size = 176, .state = 88, .waiter = 128, .coro = 136, .name = 144},
	{.size = 176, .state = 88, .waiter = 128, .coro = 136, .name = 144},
	{.size = 144, .state = 96, .waiter = 112, .coro = 120, .name = 128},
};

struct found {
	uint64_t *addr; /* owned */
	size_t n;
	bool cut;
};

static void found_add(struct found *f, uint64_t addr)
{
	if (f->n < PYTASKS_MAX)
		f->addr[f->n++] = addr;
	else
		f->cut = true;
}

/* ---- 3.14 and later ---- */

/*
 * struct _Py_AsyncioModuleDebugOffsets: of a task its size, name, awaited_by, is_task, awaited_by_is_set, coro, node;
 * size and list of an interpreter's state; size, running loop, running task and list of a thread's. The state of a task
 * is the int before is_task, what it waits for the pointer before coro.
 */
bool pytasks_layout_parse(const uint64_t w[static PYTASKS_DEBUG_WORDS], struct pytasks_layout *ret)
{
	bool small = w[0] >= 64 && w[0] <= TASK_BYTES_MAX && w[8] < INTERP_BYTES_MAX && w[12] < THREAD_STATE_MAX;
	for (int i = 1; i <= 6; i++)
		small = small && w[i] >= 16 && w[i] < w[0];
	if (!small || w[1] % 8 || w[5] % 8 || w[6] % 8 || w[8] % 8 || w[12] % 8 || w[3] < 20 || w[5] < 24 ||
	    w[1] + 8 > w[0] || w[5] + 8 > w[0])
		return false;
	*ret = (struct pytasks_layout){
		.size = (uint32_t)w[0],
		.state = (uint32_t)w[3] - 4,
		.waiter = (uint32_t)w[5] - 8,
		.coro = (uint32_t)w[5],
		.name = (uint32_t)w[1],
		.node = (uint32_t)w[6],
		.interp_head = (uint32_t)w[8],
		.thread_head = (uint32_t)w[12],
	};
	return true;
}

/* A file that may have _asyncio in it: the module, or the file of the interpreter. */
static bool may_have_it(const struct pytasks_reader *x, const struct map_row *row)
{
	const char *slash = strrchr(row->path, '/'), *base = slash ? slash + 1 : row->path;
	return row->inode && (strncmp(base, "_asyncio.", 9) == 0 || strcmp(row->path, x->rt->file) == 0);
}

static int section_find(struct pytasks_reader *x, const struct maps *m, const struct map_row *row, bool *ret)
{
	cleanup(elf_done) struct elf elf = {.fd = -1};
	uint64_t bias = 0, words[PYTASKS_DEBUG_WORDS];
	int e = elf_open_map(x->w, x->objs.remote->pid, row, &elf);
	if (e)
		return e < 0 ? e : 0;
	const Elf64_Shdr *s = elf_section(&elf, ".AsyncioDebug");
	if (s && s->sh_size >= sizeof(words) && elf_bias(&elf, m, row, &bias) == 0 &&
	    pyobj_get(&x->objs, bias + s->sh_addr, words, sizeof(words)) == 0)
		*ret = pytasks_layout_parse(words, &x->layout);
	return 0;
}

static int layout_find(struct pytasks_reader *x, bool *ret)
{
	cleanup(maps_done) struct maps m = {.n = 0};
	const struct map_row *last = NULL;
	*ret = false;
	if (x->rt->minor < 14) {
		x->layout = layouts[x->rt->minor - 8];
		*ret = true;
		return 0;
	}
	int e = maps_read(x->w, x->objs.remote->pid, &m);
	for (size_t i = 0; i < m.n && e == 0 && !*ret; i++) {
		const struct map_row *row = &m.rows[i];
		if (!may_have_it(x, row) || (last && last->inode == row->inode && last->dev == row->dev))
			continue;
		last = row;
		e = section_find(x, &m, row, ret);
	}
	return e;
}

static int list_walk(struct pytasks_reader *x, uint64_t head, struct found *f)
{
	uint64_t node = 0;
	int e = pyobj_u64(&x->objs, head, &node);
	while (e == 0 && node != head && node > 4096 && !f->cut) {
		found_add(f, node - x->layout.node);
		e = pyobj_u64(&x->objs, node, &node);
	}
	return e == REMOTE_FAULT ? 0 : e;
}

static int lists_walk(struct pytasks_reader *x, const struct pythread *threads, size_t n, struct found *f)
{
	int e = 0;
	uint64_t interp = 0;
	for (size_t i = 0; i < n && e == 0; i++) {
		e = list_walk(x, threads[i].tstate + x->layout.thread_head, f);
		if (e == 0 && threads[i].interp != interp) { /* tasks of threads that have ended */
			interp = threads[i].interp;
			e = list_walk(x, interp + x->layout.interp_head, f);
		}
	}
	return e;
}

/* ---- up to 3.13 ---- */

/* Include/cpython/setobject.h: rows of an object and its hash. Those of a weak set are weak references. */
static int set_walk(struct pytasks_reader *x, uint64_t set, struct found *f)
{
	const struct pyoffsets *o = &x->rt->off;
	uint64_t mask = 0, table = 0, rows[SET_ROWS_AT_ONCE][2];
	int e = pyobj_u64(&x->objs, set + o->set.mask, &mask);
	if (e == 0)
		e = pyobj_u64(&x->objs, set + o->set.table, &table);
	if (e || mask >= SET_ROWS_MAX)
		return e;
	for (uint64_t at = 0; at <= mask && e == 0 && !f->cut; at += SET_ROWS_AT_ONCE) {
		size_t n = (size_t)MIN(mask + 1 - at, (uint64_t)SET_ROWS_AT_ONCE);
		e = pyobj_get(&x->objs, table + at * sizeof(*rows), rows, n * sizeof(*rows));
		for (size_t i = 0; i < n && e == 0; i++) {
			uint64_t task = 0;
			if (rows[i][0] && pyobj_is(&x->objs, rows[i][0], PYOBJ_WEAKREF) &&
			    pyobj_u64(&x->objs, rows[i][0] + 16, &task) == 0)
				found_add(f, task);
		}
	}
	return e;
}

static int weak_set_walk(struct pytasks_reader *x, const struct pythread *threads, size_t n, struct found *f)
{
	const char *name = x->rt->minor <= 11 ? "_all_tasks" : "_scheduled_tasks";
	uint64_t interp = threads[0].interp, set = 0, data = 0;
	for (size_t i = 0; i < n; i++)
		if (threads[i].interp_id == 0)
			interp = threads[i].interp;
	int e = pynames_global(x->rt, x->objs.remote, interp, "asyncio.tasks", name, &set);
	if (e == 0 && set)
		e = pyobj_attr(&x->objs, set, "data", &data);
	if (e == 0 && data)
		e = set_walk(x, data, f);
	return e == REMOTE_FAULT ? 0 : e;
}

int pytasks_find(struct pytasks_reader *x, const struct pythread *threads, size_t n_threads, uint64_t **ret,
		 size_t *ret_n)
{
	bool known = false;
	*ret = NULL;
	*ret_n = 0;
	struct found f = {.addr = calloc(PYTASKS_MAX, sizeof(*f.addr))};
	cleanup(freep) uint64_t *owned = f.addr;
	if (!f.addr)
		return -ENOMEM;
	int e = n_threads ? layout_find(x, &known) : 0;
	if (e || !known)
		return e == REMOTE_FAULT ? 0 : e;
	e = x->rt->minor >= 14 ? lists_walk(x, threads, n_threads, &f) : weak_set_walk(x, threads, n_threads, &f);
	if (e)
		return e;
	x->out->cut = f.cut;
	*ret_n = f.n;
	*ret = take(&owned);
	return 0;
}
