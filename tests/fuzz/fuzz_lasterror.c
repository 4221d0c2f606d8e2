/* The end of any output. */
#include <assert.h>
#include <string.h>

#include "sense/facts.h"
#include "sense/lasterror.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lasterror e;
	if (lasterror_find((struct span){(const char *)data, size}, 3, &e) == 0) {
		assert(memchr(e.text, 0, sizeof(e.text)));
		assert(e.rank != NO_RANK);
	}
	return 0;
}
