/* Any bytes as an error file of torchrun. */
#include <assert.h>
#include <stdint.h>

#include "sense/framework/elastic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elastic_error e = {.message = ""};
	struct fault f = {.text = ""};
	int r = elastic_parse((struct span){(const char *)data, size}, &e, &f);
	assert(r == 0 || r == -ENOMEM || (r == ELASTIC_FOREIGN && f.text[0]));
	assert(r != 0 || !e.has_time || e.time_unix_s > 0);
	return 0;
}
