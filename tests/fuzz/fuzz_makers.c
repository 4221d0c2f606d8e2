/* Any bytes in the place of the kernel's events: nothing is read beyond their end, and each name ends. */
#include <assert.h>
#include <string.h>

#include "sense/proc/makers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct makers_row row;
	size_t n = 0;
	for (struct span rest = {(const char *)data, size}; makers_next(&rest, &row); n++)
		assert(row.lost || (row.name[0] && strnlen(row.name, sizeof(row.name)) < sizeof(row.name)));
	assert(n <= size);
	return 0;
}
