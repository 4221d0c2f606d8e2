#include <assert.h>

#include "sense/python/pyrt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t version = 0;
	bool free_threaded = false;
	struct pyoffsets o;
	struct fault f = {};
	int r = pyoffsets_parse(data, size, &version, &free_threaded, &o, &f);
	if (r) {
		assert(r == PYRT_UNKNOWN && f.text[0]);
		return 0;
	}
	/* What is accepted must be usable: nobody may be sent beyond the structure. */
	assert(o.frame.code < o.frame.size && o.frame.instr < o.frame.size && o.frame.owner < o.frame.size);
	assert(o.code.linetable < o.code.size && o.thread.interp < o.thread.size);
	assert(o.str.compact > o.str.state && o.str.ascii > o.str.state);
	assert(version >> 24 == 3 && f.text[0] == '\0');
	return 0;
}
