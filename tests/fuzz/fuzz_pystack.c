/*
 * Python stacks out of any memory at all: the input is what the process has
 * mapped, over and over, in 64 KiB, with the address of that memory added to
 * every other word so that pointers lead somewhere.
 */
#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "sense/python/pystack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE UINT64_C(0x100000)
#define SPACE (64 * KIB)

static uint8_t memory[SPACE];

static ssize_t fuzz_readv(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from,
			  size_t n_from)
{
	size_t done = 0, room = n_into == 1 ? into->iov_len : 0;
	(void)r;
	for (size_t i = 0; i < n_from; i++) {
		uint64_t at = (uint64_t)(uintptr_t)from[i].iov_base - BASE;
		if (at >= SPACE)
			break;
		size_t len = MIN(from[i].iov_len, (size_t)(SPACE - at));
		assert(done + len <= room);
		memcpy((char *)into->iov_base + done, memory + at, len);
		done += len;
		if (len < from[i].iov_len)
			break;
	}
	return done ? (ssize_t)done : -EFAULT;
}

static const struct remote_ops fuzz_ops = {.readv = fuzz_readv};

static void memory_fill(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < SPACE; i += 8) {
		uint64_t word = 0;
		for (size_t k = 0; k < 8; k++)
			word |= (uint64_t)data[(i + k) % size] << (8 * k);
		if (i / 8 % 2 || word < SPACE)
			word = BASE + (word % SPACE & ~UINT64_C(7));
		memcpy(memory + i, &word, sizeof(word));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t minors[] = {8, 9, 10, 11, 12};
	if (size < 2)
		return 0;
	struct world world = {.proc_fd = -1, .recorded = true, .mono_ns = clock_mono_ns};
	struct pyrt rt = {.minor = minors[data[0] % ARRAY_SIZE(minors)], .runtime = BASE};
	struct remote remote;
	const struct pythread *threads;
	size_t n;
	if (!pyoffsets_of(rt.minor, &rt.off))
		return 0;
	memory_fill(data + 1, size - 1);
	remote_open(&world, 1, &remote);
	remote.ops = &fuzz_ops;
	struct pycodes *codes = pycodes_new(&rt, &remote);
	struct pystacks *stacks = pystacks_new(&world, &rt, &remote, codes);
	if (codes && stacks && pystacks_threads(stacks, &threads, &n) == 0) {
		for (size_t i = 0; i < MIN(n, 8); i++) {
			struct pystack k;
			if (pystacks_read(stacks, &threads[i], data[0] & 0x80, &k))
				continue;
			for (size_t f = 0; f < k.n; f++)
				assert(k.frames[f].known && k.frames[f].code == k.frames[f].known->addr);
		}
	}
	pystacks_free(stacks);
	pycodes_free(codes);
	remote_done(&remote);
	return 0;
}
