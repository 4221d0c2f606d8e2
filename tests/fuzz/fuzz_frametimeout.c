/* Environments and command lines of any process: a time-out of at most a day, or none. */
#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "sense/framework/frametimeout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t half = size / 2;
	uint64_t ns = frametimeout_find((struct span){(const char *)data, half},
					(struct span){(const char *)data + half, size - half});
	assert(ns <= UINT64_C(86400) * NS_PER_S);
	return 0;
}
