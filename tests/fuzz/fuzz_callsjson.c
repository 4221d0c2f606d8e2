/* Call counts that were written as JSON: refused, or written in each other form, and as JSON that is read again. */
#include <stdio.h>
#include <string.h>

#include "tell/stacks/calls_show.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void written(const struct calls *c, int (*write)(const struct calls *, const struct calls_want *, FILE *))
{
	const struct calls_want want = {.sort = CALLS_NCALLS, .title = "t"};
	cleanup(freep) char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	if (!to)
		return;
	ignore(write(c, &want, to), "only that it survives");
	fclose(to);
}

static int pstats(const struct calls *c, const struct calls_want *want, FILE *to)
{
	(void)want;
	return calls_pstats(c, to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(calls_freep) struct calls *c = NULL, *again = NULL;
	const struct calls_want want = {.sort = CALLS_TOTTIME};
	struct fault f = {.text = ""};
	if (calls_json_read((const char *)data, size, &c, &f) != 0)
		return 0;
	written(c, calls_table);
	written(c, calls_html);
	written(c, pstats);
	cleanup(js_freep) struct js *j = calls_json(c, &want);
	cleanup(freep) char *text = j ? js_text(j, 0) : NULL;
	if (text && calls_json_read(text, strlen(text), &again, &f) == -EBADMSG)
		abort();
	return 0;
}
