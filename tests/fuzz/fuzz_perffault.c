#include <assert.h>

#include "sense/native/perffault.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct perffault_sample sample;
	enum perffault_record kind = PERFFAULT_OTHER;
	uint64_t lost = 0;
	if (perffault_parse(data, size, &sample, &kind, &lost) == 0 && kind == PERFFAULT_SAMPLE)
		assert(sample.stack.n_bytes <= sizeof(sample.stack.bytes));
	return 0;
}
