/* Which process a line of the kernel's log is about. */
#include <assert.h>

#include "agent/hangbook.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	assert(hangbook_subject((struct span){(const char *)data, size}) >= 0);
	return 0;
}
