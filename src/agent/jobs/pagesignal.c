#include "agent/jobs/pagesignal.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/text.h"

#define KEY "page_signal"

static void pagesignal_key(const struct signal_sent *sent, char dst[static 80])
{
	(void)text_format(dst, 80, KEY " %d %" PRIu64 " %d", (int)sent->target, sent->target_start_ticks, sent->signal);
}

int pagesignal_put(struct store *s, const char *job, const struct signal_sent *sent)
{
	char key[80], text[120];
	pagesignal_key(sent, key);
	TEXT_FORMAT(text, "%" PRId64 " %d %u %s", sent->time_unix_ms, (int)sent->sender, (unsigned)sent->sender_uid,
		    sent->page_role);
	return store_put_note(s, job, key, text);
}

int pagesignal_drop(struct store *s, const char *job, const struct signal_sent *sent)
{
	char key[80];
	pagesignal_key(sent, key);
	return store_drop_note(s, job, key);
}

/* The next word, a number from 1 up to the largest; 0: it is none. */
static uint64_t pagesignal_number(struct span *rest, uint64_t most)
{
	struct span word;
	uint64_t v;
	return span_word(rest, &word) && span_u64(word, &v) == 0 && v <= most ? v : 0;
}

struct taking {
	struct signal_sent *dst;
	size_t n, cap;
};

static int note_take(void *ctx, const char *key, const char *value)
{
	struct taking *t = ctx;
	struct span head = {0}, role = {0}, name = span_of(key), text = span_of(value);
	if (t->n == t->cap || !span_word(&name, &head) || !span_eq(head, KEY))
		return 0;
	struct signal_sent s = {.sender_comm = "vigil"};
	s.target = (pid_t)pagesignal_number(&name, INT32_MAX);
	s.target_start_ticks = pagesignal_number(&name, UINT64_MAX);
	s.signal = (int)pagesignal_number(&name, 64);
	s.time_unix_ms = (int64_t)pagesignal_number(&text, INT64_MAX);
	s.sender = (pid_t)pagesignal_number(&text, INT32_MAX);
	s.sender_uid = (uid_t)pagesignal_number(&text, UINT32_MAX);
	if (!s.target || !s.signal || !s.time_unix_ms || !s.sender || !span_word(&text, &role))
		return 0;
	span_copy(role, s.page_role, sizeof(s.page_role));
	t->dst[t->n++] = s;
	return 0;
}

size_t pagesignal_read(struct store *s, const char *job, struct signal_sent *dst, size_t cap)
{
	struct taking t = {.dst = dst, .cap = cap};
	if (s)
		ignore(store_each_note(s, job, note_take, &t), "then they are strangers' signals");
	return t.n;
}
