#include "agent/jobs/profilenote.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/text.h"

const char *profilenote_kind_name(enum profilenote_kind k)
{
	static const char *const names[PROFILENOTE_KIND_MAX] = {"cpu", "growth"};
	return names[k];
}

static void key_make(enum profilenote_kind k, char dst[static 32])
{
	(void)text_format(dst, 32, "profile_%s_ns", profilenote_kind_name(k));
}

void profilenote_read(struct store *s, const char *job, enum profilenote_kind k, struct profilenote *ret)
{
	char key[32], text[64];
	struct span n, took, rest;
	struct profilenote found = {.n = 0};
	key_make(k, key);
	*ret = found;
	if (store_get_note(s, job, key, text, sizeof(text)) != 0)
		return;
	rest = span_of(text);
	if (span_word(&rest, &n) && span_word(&rest, &took) && span_u64(n, &found.n) == 0 &&
	    span_u64(took, &found.took_ns) == 0)
		*ret = found;
}

int profilenote_add(struct store *s, const char *job, enum profilenote_kind k, uint64_t took_ns)
{
	char key[32], text[64];
	struct profilenote p;
	key_make(k, key);
	int r = store_begin(s); /* two commands that end at once are both counted */
	if (r < 0)
		return r;
	profilenote_read(s, job, k, &p);
	TEXT_FORMAT(text, "%" PRIu64 " %" PRIu64, p.n + 1, add_cap(p.took_ns, took_ns));
	r = store_put_note(s, job, key, text);
	int e = store_commit(s);
	return r < 0 ? r : e;
}

void profilenote_keep(const char *state_dir, const char *job, enum profilenote_kind k, uint64_t took_ns)
{
	cleanup(store_closep) struct store *store = NULL;
	char note[256] = "";
	struct fault f = {.text = ""};
	if (store_open(state_dir, STORE_HASTE, &store, note, &f) == 0)
		ignore(profilenote_add(store, job, k, took_ns), "the profile itself is what counts");
}
