/*
 * Go's table of functions, and goroutines out of any memory at all. The input is the table; the process's memory is the
 * input, over and over, in 64 KiB, with every other word made a pointer into it.
 */
#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "sense/go/goroutine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE UINT64_C(0x100000)
#define SPACE (64 * KIB)

static uint8_t memory[SPACE];

static ssize_t fuzz_readv(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from,
			  size_t n_from)
{
	size_t done = 0;
	(void)r;
	assert(n_into == n_from);
	for (size_t i = 0; i < n_from; i++) {
		uint64_t at = (uint64_t)(uintptr_t)from[i].iov_base - BASE;
		if (at >= SPACE)
			break;
		size_t len = MIN(from[i].iov_len, (size_t)(SPACE - at));
		assert(len <= into[i].iov_len);
		memcpy(into[i].iov_base, memory + at, len);
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
		if (i / 8 % 2)
			word = BASE + (word % SPACE & ~UINT64_C(7));
		memcpy(memory + i, &word, sizeof(word));
	}
}

static void goroutines_ask(struct goproc *p)
{
	struct goroutines s;
	if (goroutines_read(p, &s) != 0)
		return;
	assert(s.n <= GOROUTINES_MAX && s.n_all >= s.n);
	for (size_t i = 0; i < MIN(s.n, (size_t)64); i++) {
		struct goroutine_frame f[GOROUTINE_FRAMES];
		size_t n = 0;
		bool cut = false;
		assert(s.item[i].n_on <= GOROUTINE_ON);
		if (goroutine_frames(p, &s.item[i], f, &n, &cut) == 0)
			assert(n <= GOROUTINE_FRAMES);
		(void)goroutine_start(p, &s.item[i]);
	}
	goroutines_done(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const versions[] = {"go1.19", "go1.21", "go1.22", "go1.23", "go1.25", "go1.26"};
	struct goproc p = {.allgs = BASE + 8, .gofunc = BASE};
	struct world world = {.proc_fd = -1, .recorded = true};
	struct remote remote;
	char version[GO_VERSION_MAX];
	if (size < 2)
		return 0;
	struct span rest = {(const char *)data + 1, size - 1};
	(void)!goversion_parse(rest, version);
	assert(golayout_of(versions[data[0] % ARRAY_SIZE(versions)], &p.at) == 0);
	memory_fill(data + 1, size - 1);
	remote_open(&world, 1, &remote);
	remote.ops = &fuzz_ops;
	p.remote = &remote;
	for (size_t i = 1; i < GO_REASONS; i++)
		TEXT_COPY(p.reason[i], i % 2 ? "select" : "IO wait");
	if (gopcln_open(rest, BASE, &p.pcln) == 0)
		goroutines_ask(&p);
	remote_done(&remote);
	return 0;
}
