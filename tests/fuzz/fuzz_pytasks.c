#include "pymemory.h"
#include "sense/asyncio/pytasks_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void tasks_check(const struct pytasks *t)
{
	assert(t->n <= PYTASKS_MAX && t->n_links <= PYTASKS_LINKS);
	for (size_t i = 0; i < t->n; i++) {
		const struct pytask *x = &t->task[i];
		assert(x->n <= PYTASK_FRAMES && x->place <= x->n && x->fd >= -1);
		assert(strlen(x->name) < sizeof(x->name) && strlen(x->on) < sizeof(x->on));
		assert(x->n == 0 || x->frame);
		for (size_t k = 0; k < x->n; k++)
			assert(x->frame[k].known);
	}
	for (size_t i = 0; i < t->n_links; i++)
		assert(t->link[i].waiter < t->n && t->link[i].awaited < t->n);
}

/* Tasks at addresses that the input names, whatever leads to them. */
static void tasks_at(const struct pyrt *rt, struct remote *r, struct pycodes *codes, const uint64_t *addr, size_t n,
		     const struct pytasks_layout *layout)
{
	struct pytasks all = {.n = 0};
	struct pytasks_reader x = {.rt = rt, .codes = codes, .out = &all, .layout = *layout};
	if (pyobjs_init(rt, r, &x.objs)) {
		x.objs.reads_left = 20000;
		(void)!pytasks_fill(&x, addr, n);
		tasks_check(&all);
	}
	pytasks_done(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pymemory in = {.data = data, .size = size};
	struct pyrt rt = {};
	uint64_t words[PYTASKS_DEBUG_WORDS] = {0};
	struct pytasks_layout layout = {.size = 168, .state = 104, .waiter = 120, .coro = 128, .name = 136};
	if (size < PYMEMORY_HEAD)
		return 0;
	in.endless = data[1] & 1;
	if (!pymemory_layout(&in, &rt))
		return 0;
	struct remote r = {.pid = 1, .mem_fd = -1, .proc_fd = -1, .ops = &pymemory_ops, .ctx = &in};
	cleanup(pycodes_freep) struct pycodes *codes = pycodes_new(&rt, &r);
	const uint64_t addr[] = {u64_at(data + 2), u64_at(data + 10), u64_at(data + 18)};
	memcpy(words, data + 2, MIN(size - 2, sizeof(words)));
	if (pytasks_layout_parse(words, &layout))
		assert(layout.size <= 512 && layout.state + 4 <= layout.size && layout.coro + 8 <= layout.size &&
		       layout.name + 8 <= layout.size && layout.waiter + 8 <= layout.size);
	if (codes)
		tasks_at(&rt, &r, codes, addr, ARRAY_SIZE(addr), &layout);
	const struct pyframe frame = {.addr = addr[0], .code = addr[1], .known = &(struct pycode){}};
	static char file[] = "/usr/lib/python3/asyncio/base_events.py", name[] = "run_forever";
	const struct pycode known = {.name = name, .file = file};
	struct pyframe in_loop = frame;
	struct pytasks_loop loop;
	in_loop.known = &known;
	(void)!pytasks_loop_of(&rt, &r, &in_loop, 1, &loop);
	/* The sets of all tasks, up to 3.13. */
	const struct pythread thread = {.interp = addr[2], .tstate = addr[0], .tid = 7};
	struct pytasks all = {.n = 0};
	if (codes && rt.minor < 14 && pytasks_read(NULL, &rt, &r, codes, &thread, 1, &all) == 0)
		tasks_check(&all);
	pytasks_done(&all);
	return 0;
}
