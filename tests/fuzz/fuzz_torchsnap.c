/* Any bytes as a PyTorch memory snapshot: refused, or shown as a table and as JSON. */
#include <assert.h>
#include <stdio.h>

#include "agent/heap/torchsnap.h"
#include "tell/heap/heap_show.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(const struct heapset *h, enum heapset_what what)
{
	const struct heap_show_want want = {.part = {.what = what, .lines = true}, .title = "any"};
	cleanup(freep) char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	if (!to)
		return;
	const struct textout paper = {.to = to};
	assert(heap_table(h, &want, &paper) == 0);
	assert(heap_json_write(h, &want, to) == 0);
	(void)fclose(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(pickle_freep) struct pickle *p = NULL;
	cleanup(heapset_freep) struct heapset *h = NULL;
	const struct pickle_limits limits = {.memory_bytes = 16 * MIB};
	char remarks[4][300];
	size_t n = 0;
	struct fault f = {.text = ""};
	int r = pickle_parse((struct span){(const char *)data, size}, &limits, &p, &f);
	if (r < 0 || r == PICKLE_FOREIGN)
		return 0;
	r = torchsnap_parse(p, &h, remarks, 4, &n, &f);
	assert(n <= 4 && (r == 0 || r == -ENOMEM || f.text[0]));
	for (int what = 0; r == 0 && what < HEAPSET_WHAT_MAX; what++)
		show(h, (enum heapset_what)what);
	return 0;
}
