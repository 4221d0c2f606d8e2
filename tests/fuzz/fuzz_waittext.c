/* What a thread waits for, told from the arguments of its call and from its memory, both of its own choosing. */
#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "sense/wait/threadwait_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
	const uint8_t *p;
	size_t n;
};

/* Memory is the input, again and again, except in the last part of each 64 KiB. */
static ssize_t any_readv(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from,
			 size_t n_from)
{
	const struct bytes *b = r->ctx;
	size_t done = 0;
	assert(n_into == n_from || n_into == 1);
	for (size_t i = 0; i < n_from; i++)
		for (size_t k = 0; k < from[i].iov_len; k++, done++) {
			uint64_t addr = (uint64_t)(uintptr_t)from[i].iov_base + k;
			if (addr % (64 * KIB) >= 60 * KIB || b->n == 0)
				return done ? (ssize_t)done : -EFAULT;
			uint8_t *to = n_into == 1 ? (uint8_t *)into->iov_base + done : (uint8_t *)into[i].iov_base + k;
			*to = b->p[addr % b->n];
		}
	return (ssize_t)done;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct remote_ops ops = {.readv = any_readv};
	const struct world w = {.proc_fd = -1,
				.sys_fd = -1,
				.cgroup_fd = -1,
				.shm_fd = -1,
				.recorded = true,
				.mono_ns = clock_mono_ns,
				.unix_ms = clock_unix_ms};
	struct threadwait t = {.fd = -1, .has_syscall = true, .state = 'S'};
	if (size < 4 + sizeof(t.arg))
		return 0;
	struct bytes memory = {data + 4, size - 4};
	struct remote r = {.pid = 1, .mem_fd = -1, .proc_fd = -1, .ops = &ops, .ctx = &memory};
	t.nr = (int64_t)(data[0] | (data[1] & 1) << 8);
	t.state = "SDRT"[data[2] % 4];
	memcpy(t.arg, data + 4, sizeof(t.arg));
	t.kind = wait_kind_decide(&w, 1, &t, &t.fd);
	wait_describe(&w, 1, 1, data[3] & 1 ? &r : NULL, &t);
	assert(memchr(t.text, '\0', sizeof(t.text)) && memchr(t.target, '\0', sizeof(t.target)));
	return 0;
}
