/* JSON from files that others may have written: what parses can be printed and read again. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(js_freep) struct js *j = NULL, *again = NULL;
	struct fault f = {0};
	if (js_parse((const char *)data, size, &j, &f) != 0)
		return 0;
	cleanup(freep) char *text = js_text(j, 0);
	if (text && js_parse(text, strlen(text), &again, &f) != 0)
		abort();
	ignore(js_get_text(j, "id", ""), "only that it survives");
	ignore(js_get_i64(j, "time_unix_ms", 0), "only that it survives");
	for (size_t i = 0; i < js_len(j) && i < 16; i++)
		ignore(js_as_text(js_at(j, i), ""), "only that it survives");
	return 0;
}
