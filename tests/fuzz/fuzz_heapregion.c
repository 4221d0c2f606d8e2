/* Any bytes as a heap profile: refused with a sentence, or every row that is given lies within the bytes. */
#include <assert.h>
#include <string.h>

#include "sense/heap/heapregion.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(const struct span *s, const uint8_t *image, size_t size)
{
	const uint8_t *p = (const uint8_t *)s->p;
	assert(s->len == 0 || (p >= image && p + s->len <= image + size));
}

static void walk(const struct heapregion *r, const uint8_t *image, size_t size)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < r->n_stacks; i++) {
		const struct heapregion_stack *s = &r->stacks[i];
		assert(s->n_native <= HEAP_FRAMES_MAX && s->n_python <= HEAP_FRAMES_MAX && s->domain < HEAP_DOMAINS);
		for (size_t k = 0; k < s->n_native; k++)
			sum += heapregion_module(r, s->native[k], s->module_epoch) != NULL;
		for (size_t k = 0; k < s->n_python; k++)
			sum += HEAP_PYTHON_CODE(s->python[k]) < r->n_codes;
		assert(s->live.variance >= 0 && s->live.bytes <= r->all_live.bytes);
	}
	for (size_t i = 0; i < r->n_live; i++)
		assert(r->live[i].stack < r->n_stacks && r->live[i].weight >= r->live[i].size);
	for (size_t i = 0; i < r->n_codes; i++) {
		inside(&r->codes[i].name, image, size);
		inside(&r->codes[i].file, image, size);
		inside(&r->codes[i].lines, image, size);
	}
	for (size_t i = 0; i < r->n_modules; i++)
		inside(&r->modules[i].path, image, size);
	assert(sum != UINT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct heapregion r;
	struct fault f = {.text = ""};
	/* aligned, and of exactly this size */
	cleanup(freep) uint8_t *image = malloc(size ? size : 1);
	if (!image)
		return 0;
	memcpy(image, data, size);
	int e = heapregion_parse(image, size, NULL, 0, &r, &f);
	if (e) {
		assert(e < 0 || f.text[0]);
		return 0;
	}
	walk(&r, image, size);
	heapregion_done(&r);
	return 0;
}
