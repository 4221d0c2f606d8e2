/* Words of /proc/PID/pagemap: no count is larger than the number of pages. */
#include <assert.h>
#include <string.h>

#include "sense/proc/pagemap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = size / sizeof(uint64_t);
	uint64_t *words = malloc(n * sizeof(*words) + 1);
	struct pagemap_range r = {.pages = n};
	assert(words);
	if (n)
		memcpy(words, data, n * sizeof(*words));
	pagemap_count(words, n, &r);
	assert(r.seen <= n && r.present <= n && r.swapped <= n && r.shared <= r.present && r.exclusive <= r.present);
	free(words);
	return 0;
}
