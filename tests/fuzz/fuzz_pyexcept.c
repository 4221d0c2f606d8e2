#include <assert.h>

#include "sense/python/pyexcept.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span table = {(const char *)data, size};
	for (uint32_t at = 0; at < 256; at++) {
		struct pyexcept e, again;
		if (!pyexcept_find(table, at, &e))
			continue;
		assert(e.target % 2 == 0 && e.depth < UINT32_MAX / 4);
		/* Both bytes of an instruction have the same handler. */
		assert(pyexcept_find(table, at ^ 1, &again) && again.target == e.target && again.depth == e.depth);
	}
	return 0;
}
