#include "pymemory.h"
#include "sense/python/pynames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct pyrt *rt, struct remote *r, uint64_t frame, uint64_t code)
{
	const struct pycode *known = NULL;
	cleanup(pycodes_freep) struct pycodes *codes = pycodes_new(rt, r);
	cleanup(pylocals_done) struct pylocals locals = {};
	cleanup(freep) char *text = NULL;
	if (!codes)
		return;
	for (int i = 0; i < 2; i++) {
		if (pycodes_get(codes, code, &known) == 0) {
			assert(known->name && known->file);
			assert(pycodes_peek(codes, code) == (known->flags & 1 ? known : NULL));
			assert(pycode_line(rt, known, known->code_start + 4) >= 0);
		}
		pycodes_recheck(codes);
	}
	if (pylocals_read(rt, r, frame, code, &locals) == 0)
		for (size_t i = 0; i < locals.n; i++)
			assert(strlen(locals.items[i].value) < 4096 && locals.items[i].name);
	cleanup(freep) struct pyname *names = NULL;
	size_t n = 0;
	if (pynames_read(rt, r, frame, &names, &n) == 0)
		for (size_t i = 0; i < n; i++)
			assert(names[i].thread_id && strlen(names[i].name) < sizeof(names[i].name));
	if (pystr_read(rt, r, frame, 100, &text) == 0)
		assert(strlen(text) <= 400);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pymemory in = {.data = data, .size = size};
	struct pyrt rt = {};
	if (size < PYMEMORY_HEAD)
		return 0;
	in.endless = data[1] & 1;
	if (!pymemory_layout(&in, &rt))
		return 0;
	struct remote r = {.pid = 1, .mem_fd = -1, .proc_fd = -1, .ops = &pymemory_ops, .ctx = &in};
	rt.code_type = u64_at(data + 18);
	look(&rt, &r, u64_at(data + 2), u64_at(data + 10));
	return 0;
}
