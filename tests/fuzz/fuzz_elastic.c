/* Any bytes as an error file of torchrun. */
#include <assert.h>
#include <stdint.h>

#include "sense/elastic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elastic_error e[2] = {{.message = ""}, {.message = ""}};
	struct fault f = {.text = ""};
	int r = elastic_parse((struct span){(const char *)data, size}, &e[1], &f);
	assert(r == 0 || r == -ENOMEM || (r == ELASTIC_FOREIGN && f.text[0]));
	assert(elastic_root(e, 2) == (r == 0 && e[1].has_time ? 1 : 0));
	return 0;
}
