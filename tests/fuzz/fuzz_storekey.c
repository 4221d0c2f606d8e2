#include <assert.h>
#include <string.h>

#include "sense/framework/storekey.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Where the input lies in the memory of the process; beside it there is PyTorch's code alone. */
#define BASE 0x10000u
#define MOST 0x10000u

struct input {
	const uint8_t *data;
	size_t size;
};

static ssize_t input_readv(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from,
			   size_t n_from)
{
	const struct input *in = r->ctx;
	ssize_t total = 0;
	assert(n_into == n_from);
	for (size_t i = 0; i < n_from; i++) {
		uint64_t addr = (uint64_t)(uintptr_t)from[i].iov_base;
		if (addr < BASE || addr - BASE >= in->size)
			return total > 0 ? total : -EFAULT;
		size_t n = MIN(from[i].iov_len, in->size - (size_t)(addr - BASE));
		memcpy(into[i].iov_base, in->data + (addr - BASE), n);
		total += (ssize_t)n;
		if (n < from[i].iov_len)
			return total;
	}
	return total;
}

/* The input is the stack from its first byte on, and all that its pointers lead to. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct remote_ops ops = {.readv = input_readv};
	struct input in = {.data = data, .size = MIN(size, (size_t)MOST) / 8 * 8};
	struct map_row rows[] = {
		{.start = BASE, .end = BASE + in.size, .flags = MAP_READ | MAP_WRITE, .path = "[stack]"},
		{.start = BASE + MOST,
		 .end = BASE + 2 * MOST,
		 .flags = MAP_READ | MAP_EXEC,
		 .path = "/t/libtorch_cpu.so"},
	};
	const struct maps m = {.rows = rows, .n = ARRAY_SIZE(rows)};
	struct remote r = {.pid = 1, .mem_fd = -1, .proc_fd = -1, .ops = &ops, .ctx = &in};
	struct storekey key;
	int e = storekey_read(&m, &r, BASE, &key);
	assert(e == 0 || e == STOREKEY_NONE);
	if (e)
		return 0;
	assert(key.n > 0 && key.given[0] && strlen(key.given) <= strlen(key.key));
	for (const char *c = key.key; *c; c++)
		assert(*c >= 0x20 && *c <= 0x7e);
	return 0;
}
