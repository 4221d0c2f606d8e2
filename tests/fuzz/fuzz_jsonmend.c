/* JSON that was cut or is wrong: what comes out is longer by added commas and closing brackets only. */
#include <assert.h>
#include <string.h>

#include "sense/format/jsonmend.h"

/* Deepest nesting (jsonmend.h). */
#define DEPTH 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jsonmend once = {.text = NULL}, twice = {.text = NULL};
	if (jsonmend_text((struct span){(const char *)data, size}, &once) != 0)
		return 0;
	assert(once.text[once.len] == '\0' && once.len <= size + once.n_commas + DEPTH);
	if (jsonmend_text((struct span){once.text, once.len}, &twice) == 0)
		assert(twice.len <= once.len + twice.n_commas + DEPTH);
	jsonmend_done(&twice);
	jsonmend_done(&once);
	return 0;
}
