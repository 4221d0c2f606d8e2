#include "tell/text/textids.h"

#include "base/hash.h"

/* Open addressing over addresses; all[] gives them back in order. */
struct textids {
	struct {
		const char *text;
		uint32_t id;
	} * slots;
	size_t cap, n;
	const char **all;
};

struct textids *textids_new(void)
{
	struct textids *t = calloc(1, sizeof(*t));
	uint32_t id;
	bool is_new;
	if (!t || textids_of(t, "", &id, &is_new) < 0)
		return textids_free(t);
	return t;
}

struct textids *textids_free(struct textids *t)
{
	if (t) {
		free(t->slots);
		free(t->all);
	}
	free(t);
	return NULL;
}

static size_t text_slot(const struct textids *t, const char *text)
{
	size_t at = hash_slot((uintptr_t)text, t->cap - 1);
	while (t->slots[at].text && t->slots[at].text != text)
		at = (at + 1) & (t->cap - 1);
	return at;
}

static int textids_grow(struct textids *t)
{
	size_t cap = t->cap ? t->cap * 2 : 256;
	const char **all = reallocarray(t->all, cap, sizeof(*all));
	if (!all)
		return -ENOMEM;
	t->all = all;
	void *slots = calloc(cap, sizeof(*t->slots));
	if (!slots)
		return -ENOMEM;
	free(t->slots);
	t->slots = slots;
	t->cap = cap;
	for (size_t i = 0; i < t->n; i++) {
		size_t at = text_slot(t, t->all[i]);
		t->slots[at].text = t->all[i];
		t->slots[at].id = (uint32_t)i;
	}
	return 0;
}

int textids_of(struct textids *t, const char *text, uint32_t *ret, bool *ret_new)
{
	*ret_new = false;
	if (!*text && t->n > 0) {
		*ret = 0;
		return 0;
	}
	if (t->n * 2 >= t->cap && textids_grow(t) < 0)
		return -ENOMEM;
	size_t at = text_slot(t, text);
	if (!t->slots[at].text) {
		t->slots[at].text = text;
		t->slots[at].id = (uint32_t)t->n;
		t->all[t->n++] = text;
		*ret_new = true;
	}
	*ret = t->slots[at].id;
	return 0;
}

const char *const *textids_all(const struct textids *t, size_t *ret_n)
{
	*ret_n = t->n;
	return t->all;
}
