/* Local variables and values of a process whose memory is the input. */
#include "pymemory.h"
#include "sense/python/pyvalue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void value_check(const struct pyrt *rt, struct remote *r, uint64_t addr)
{
	struct pyvalues v;
	char text[4096];
	struct buf to = {.text = text, .cap = sizeof(text)};
	buf_reset(&to);
	pyvalues_init(rt, r, &v);
	(void)!pyvalue_write(&v, addr, &to);
	assert(memchr(text, '\0', sizeof(text)));
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
	uint64_t frame = u64_at(data + 2), code = u64_at(data + 10), type = u64_at(data + 18);
	struct pylocals l = {.items = NULL};
	if (pylocals_read(&rt, &r, frame, code, &l) == 0) {
		for (size_t i = 0; i < l.n; i++)
			assert(l.items[i].name && l.items[i].value);
		pylocals_done(&l);
	}
	value_check(&rt, &r, frame);
	value_check(&rt, &r, code);
	value_check(&rt, &r, type);
	return 0;
}
