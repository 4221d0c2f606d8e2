/* Any bytes as a pickle: refused with a sentence, or read; what is given can be walked, whatever it refers to. */
#include <assert.h>
#include <stdint.h>

#include "sense/format/pickle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct walk {
	struct span bytes;
	size_t left; /* values still to be looked at: shared ones come again and again */
};

static void look(struct walk *w, const struct pickle_value *v, unsigned depth)
{
	struct span text = SPAN("");
	int64_t n = 0;
	if (!v || depth == 0 || w->left == 0)
		return;
	w->left--;
	assert(pickle_i64(v, &n) + pickle_text(v, &text) < 2);
	unsigned sum = 0;
	for (size_t i = 0; i < text.len; i++)
		sum += (unsigned char)text.p[i];
	assert(sum <= text.len * 255);
	ignore(pickle_get(v, "name"), "any value");
	assert((pickle_class(v).len > 0) == (v->kind == PICKLE_OPAQUE));
	for (size_t i = 0; i < pickle_len(v); i++) {
		look(w, pickle_key_at(v, i), depth - 1);
		look(w, pickle_at(v, i), depth - 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(pickle_freep) struct pickle *p = NULL;
	struct fault f = {.text = ""};
	const struct span bytes = {(const char *)data, size};
	const struct pickle_limits limits = {.memory_bytes = 4 * MIB};
	int r = pickle_parse(bytes, &limits, &p, &f);
	assert(r == 0 || r == -ENOMEM || f.text[0]);
	assert((r == PICKLE_FOREIGN || r < 0) == (p == NULL));
	if (!p)
		return 0;
	struct walk w = {bytes, 10000};
	look(&w, pickle_root(p), 200);
	return 0;
}
