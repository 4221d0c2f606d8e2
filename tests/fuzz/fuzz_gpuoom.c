/* Any bytes as PyTorch's out-of-memory message: what is valid is a number that fits, and sums do not wrap. */
#include <assert.h>
#include <string.h>

#include "sense/gpu/gpuoom.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gpuoom g;
	if (!gpuoom_parse((struct span){(const char *)data, size}, &g))
		return 0;
	assert(g.kind[0] && memchr(g.kind, 0, sizeof(g.kind)));
	assert(g.tried.valid || g.total.valid);
	assert(g.n_other <= GPUOOM_OTHERS);
	assert(!g.has_device || g.device <= 4096);
	assert(!g.reserved.valid || !g.allocated.valid || g.reserved.bytes < UINT64_MAX / 2);
	return 0;
}
