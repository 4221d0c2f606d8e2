/* The end of any output. */
#include <assert.h>
#include <string.h>

#include "sense/death/facts.h"
#include "sense/framework/lasterror.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lasterror e;
	if (lasterror_find((struct span){(const char *)data, size}, 3, NULL, &e) == 0) {
		assert(memchr(e.text, 0, sizeof(e.text)));
		assert(e.rank != NO_RANK);
	}
	static char scratch[1 << 20];
	struct lasterror each[8];
	bool named;
	size_t n = size <= sizeof(scratch) ? lasterror_each((struct span){(const char *)data, size}, NO_RANK, NULL,
							    scratch, each, 8, &named)
					   : 0;
	assert(n <= 8);
	for (size_t i = 0; i < n; i++)
		assert(memchr(each[i].text, 0, sizeof(each[i].text)));
	return 0;
}
