/* A table of SMBIOS, as the firmware left it. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sense/speed/dimms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dimms d = {.devices = 0};
	char *copy = malloc(size ? size : 1); /* of exactly that size, for the sanitizer */
	assert(copy);
	memcpy(copy, data, size);
	if (dimms_parse((struct span){copy, size}, &d) == 0)
		assert(d.devices > 0 && d.channels > 0 && d.channels <= d.devices && d.limit_bytes > 0);
	free(copy);
	return 0;
}
