/* Names in a folder of heap profiles: any user may have put them there. */
#include <assert.h>
#include <string.h>

#include "agent/heap/heapfolder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span name = {(const char *)data, size};
	struct heapfile f = {.pid = -7};
	if (size && (memchr(data, '\0', size) || memchr(data, '/', size)))
		return 0; /* no name of a file */
	if (heapfile_parse(name, &f) < 0) {
		assert(f.pid == -7);
		return 0;
	}
	/* Control characters are shown as "?": such a file is not found again, and not opened. */
	assert(f.pid > 0 && strlen(f.name) == size);
	assert(size < HEAPFOLDER_NAME);
	return 0;
}
