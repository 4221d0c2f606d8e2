#include "pymemory.h"
#include "sense/go/gonear.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A program made by Go whose variables, list of goroutines and heap are the input's memory. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const versions[] = {"go1.19", "go1.21", "go1.22", "go1.24", "go1.25", "go1.26"};
	struct pymemory in = {.data = data, .size = size};
	cleanup(goroutines_done) struct goroutines all = {.n = 0};
	cleanup(gonear_done) struct gonear near = {.n = 0};
	if (size < PYMEMORY_HEAD)
		return 0;
	in.endless = data[1] & 1;
	struct remote r = {.pid = 1, .mem_fd = -1, .proc_fd = -1, .ops = &pymemory_ops, .ctx = &in};
	struct goproc p = {.remote = &r, .allgs = u64_at(data + 2), .bss = u64_at(data + 10) & ~UINT64_C(7)};
	if (golayout_of(versions[data[0] % ARRAY_SIZE(versions)], &p.at) != 0)
		return 0;
	p.ebss = p.bss + 4096;
	p.data = p.edata = p.noptrdata = p.bss;
	p.enoptrbss = p.ebss;
	p.tries = 199000; /* of 200000: an input is to take no minute */
	int e = goroutines_read(&p, &all);
	assert(e <= 0 || e == GO_UNKNOWN || e == REMOTE_FAULT || e == WORLD_GONE || e == WORLD_DENIED);
	if (e)
		return 0;
	assert(all.n <= GOROUTINES_MAX);
	all.n = MIN(all.n, (size_t)16);
	e = gonear_find(&p, &all, &near);
	assert(e <= 0 || e == GO_UNKNOWN || e == REMOTE_FAULT || e == WORLD_GONE || e == WORLD_DENIED);
	for (size_t i = 0; i < near.n; i++)
		assert(near.link[i].by < all.n && near.link[i].to < all.n && near.link[i].steps > 0);
	return 0;
}
