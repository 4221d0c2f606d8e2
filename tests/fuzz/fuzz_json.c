/* JSON from files that others may have written: what parses can be printed and read again, and some of it alone. */
#include <stdio.h>
#include <string.h>

#include "base/jsonpart.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *member_text(const struct js *j, const char *key)
{
	cleanup(js_freep) struct js *alone = js_array();
	if (js_get(j, key))
		js_add(alone, js_copy(js_get(j, key)));
	return js_text(alone, 0);
}

/* Each member that is asked for is as in the whole. */
static void part_compare(const char *text, size_t len, const struct js *all)
{
	static const struct jsonpart parts[] = {{"id", 0}, {"time_unix_ms", 0}, {"hang", 0}, {"evidence", 2}};
	cleanup(js_freep) struct js *some = NULL;
	int r = jsonpart_parse(text, len, parts, ARRAY_SIZE(parts), &some);
	size_t begin = 0;
	while (begin < len && strchr(" \t\r\n", text[begin]))
		begin++;
	if (all && begin < len && text[begin] == '{' && r != 0)
		abort();
	for (size_t i = 0; all && r == 0 && i < ARRAY_SIZE(parts); i++) {
		const char *key = parts[i].key;
		if (parts[i].most > 0 && js_len(js_get(some, key)) > parts[i].most)
			abort();
		if (js_len(js_get(all, key)) > parts[i].most && parts[i].most > 0)
			continue; /* cut */
		cleanup(freep) char *one = member_text(all, key), *other = member_text(some, key);
		if (one && other && strcmp(one, other) != 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(js_freep) struct js *j = NULL, *again = NULL;
	struct fault f = {0};
	int r = js_parse((const char *)data, size, &j, &f);
	part_compare((const char *)data, size, r == 0 ? j : NULL);
	if (r != 0)
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
