#include <assert.h>
#include <string.h>

#include "sense/wait/kernelstack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kernelstack s;
	kernelstack_parse((struct span){(const char *)data, size}, &s);
	assert(s.n <= KERNELSTACK_FRAMES);
	for (size_t i = 0; i < s.n; i++)
		assert(s.frame[i].name[0] && strlen(s.frame[i].name) < sizeof(s.frame[i].name) &&
		       strlen(s.frame[i].module) < sizeof(s.frame[i].module));
	return 0;
}
