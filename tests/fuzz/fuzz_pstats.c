/* Any bytes as a .prof file: refused with a sentence, or merged, written in every form, and read back the same. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sense/format/pstats.h"
#include "tell/stacks/calls_show.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct calls *read_bytes(const char *bytes, size_t len)
{
	struct calls *c = calls_new();
	struct fault f = {.text = ""};
	if (!c)
		return NULL;
	const struct pstats_sink sink = calls_sink(c);
	int r = pstats_parse((struct span){bytes, len}, &sink, &f);
	if (r != 0) {
		assert(r == -ENOMEM || f.text[0]);
		return calls_free(c);
	}
	calls_part_end(c, 3);
	return c;
}

static void show(const struct calls *c)
{
	const struct calls_want want = {.ranks = true, .title = "any", .limit = 50};
	cleanup(freep) char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	if (!to)
		return;
	assert(calls_table(c, &want, to) == 0 && calls_html(c, &want, to) == 0);
	fclose(to);
	assert(!memchr(text, '\033', len));
	cleanup(js_freep) struct js *j = calls_json(c, &want);
	assert(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(calls_freep) struct calls *c = read_bytes((const char *)data, size);
	if (!c)
		return 0;
	show(c);
	cleanup(freep) char *written = NULL;
	size_t len;
	FILE *to = open_memstream(&written, &len);
	if (!to || calls_pstats(c, to) != 0 || fclose(to) != 0)
		return 0;
	cleanup(calls_freep) struct calls *again = read_bytes(written, len);
	assert(again);
	const struct calls_sum one = calls_total(c), two = calls_total(again);
	assert(one.n_calls == two.n_calls || one.n_calls > INT64_MAX);
	return 0;
}
