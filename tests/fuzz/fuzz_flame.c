/* Any bytes as a recording: refused, or written in every form without a control character where there may be none. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "model/stacks/stackset_parts.h"
#include "tell/stacks/flame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void written(const struct stackset *a, const struct stackset *b, enum flame_format format)
{
	cleanup(freep) char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	if (!to)
		return;
	int r = b ? flame_diff_write(a, b, format, to) : flame_write(a, format, to);
	fclose(to);
	assert(r == 0 || r == -ENOMEM);
	if (format != FLAME_PPROF) {
		assert(!memchr(text, '\033', len));
		assert(!memchr(text, '\0', len));
	}
	/* one end of a script in a picture, two in a page: no name can make another */
	size_t ends = 0;
	for (const char *p = text; (format == FLAME_SVG || format == FLAME_HTML) && (p = strstr(p, "</script")); p++)
		ends++;
	assert(ends == (format == FLAME_SVG ? 1 : format == FLAME_HTML ? 2 : 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(stackset_freep) struct stackset *s = NULL, *view = NULL;
	struct fault f = {0};
	bool only_idle;
	if (size > 65536 || flame_read((const char *)data, size, &s, &f) < 0) {
		assert(!s);
		return 0;
	}
	for (enum flame_format format = FLAME_SVG; format <= FLAME_JSON; format++)
		written(s, NULL, format);
	for (enum stack_lanes lanes = LANES_ALL; lanes <= LANES_THREAD; lanes++) {
		const struct stack_want want = {.lanes = lanes, .gil = lanes == LANES_RANK};
		assert(stackset_view(s, &want, &view, &only_idle) == 0);
		written(view, s, FLAME_SVG);
		view = stackset_free(view);
	}
	written(s, s, FLAME_HTML);
	return 0;
}
