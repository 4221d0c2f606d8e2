#include <string.h>

#include "base/buf.h"
#include "tell/notify/notify.h"

/* The end of the year 9999: later dates cannot be written. */
#define LAST_TIME_MS INT64_C(253402300800000)
#define NOTICE_SCHEMA "vigil.notice/1"

static void put_texts(struct js *o, const char *key, const char *first, size_t size, size_t n)
{
	if (n == 0)
		return;
	struct js *a = js_array();
	for (size_t i = 0; i < n; i++)
		js_add_text(a, first + i * size);
	js_put(o, key, a);
}

struct js *notice_json(const struct notice *n)
{
	struct js *o = js_object();
	js_put_text(o, "schema", NOTICE_SCHEMA);
	js_put_text(o, "id", n->id);
	js_put_text(o, "key", n->key);
	js_put_text(o, "state", n->test ? "test" : n->resolved ? "resolved" : "firing");
	js_put_u64(o, "count", n->count);
	js_put_text(o, "kind", n->kind);
	js_put_text(o, "severity", notice_severity_name(n->severity));
	js_put_text_if(o, "job", n->job);
	js_put_text_if(o, "node", n->node);
	if (n->attempt > 0)
		js_put_u64(o, "attempt", n->attempt);
	js_put_i64(o, "time_unix_ms", n->time_unix_ms);
	js_put_text(o, "title", n->title);
	js_put_text_if(o, "text", n->text);
	if (n->n_ranks > 0) {
		struct js *ranks = js_array();
		for (size_t i = 0; i < n->n_ranks; i++)
			js_add_i64(ranks, n->ranks[i]);
		js_put(o, "ranks", ranks);
	}
	if (n->cause[0]) {
		struct js *cause = js_object();
		js_put_text(cause, "id", n->cause);
		js_put_text_if(cause, "confidence", n->confidence);
		js_put(o, "cause", cause);
	}
	put_texts(o, "advice", n->advice[0], sizeof(n->advice[0]), n->n_advice);
	put_texts(o, "evidence", n->evidence[0], sizeof(n->evidence[0]), n->n_evidence);
	js_put_text_if(o, "command", n->command);
	js_put_text_if(o, "link", n->link);
	return o;
}

/* The file is not trusted: any program that may write to the state directory may have written it. */
static void one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = ' ';
}

static void notice_json_get_text(const struct js *j, const char *key, char *dst, size_t cap)
{
	text_copy(dst, cap, js_get_text(j, key, ""));
	one_line(dst);
}
#define GET(field) notice_json_get_text(j, #field, ret->field, sizeof(ret->field))

static size_t get_texts(const struct js *a, char *first, size_t size, size_t most)
{
	size_t n = MIN(js_len(a), most);
	for (size_t i = 0; i < n; i++)
		one_line(text_copy(first + i * size, size, js_as_text(js_at(a, i), "")));
	return n;
}

int notice_from_json(const struct js *j, struct notice *ret)
{
	if (strcmp(js_get_text(j, "schema", ""), NOTICE_SCHEMA) != 0)
		return -EBADMSG;
	int64_t time_ms = js_get_i64(j, "time_unix_ms", 0);
	*ret = (struct notice){.time_unix_ms = time_ms > 0 && time_ms < LAST_TIME_MS ? time_ms : 0};
	int64_t count = js_get_i64(j, "count", 1), attempt = js_get_i64(j, "attempt", 0);
	ret->count = count > 0 && count < 1000000000 ? (uint32_t)count : 1;
	ret->attempt = attempt > 0 && attempt < 1000000000 ? (uint32_t)attempt : 0;
	const char *state = js_get_text(j, "state", "");
	ret->resolved = strcmp(state, "resolved") == 0;
	ret->test = strcmp(state, "test") == 0;
	GET(id);
	GET(key);
	GET(kind);
	GET(job);
	GET(node);
	GET(title);
	GET(command);
	GET(link);
	(void)text_copy(ret->text, sizeof(ret->text), js_get_text(j, "text", ""));
	if (!ret->id[0] || !ret->key[0] || !notice_severity_of(js_get_text(j, "severity", ""), &ret->severity))
		return -EBADMSG;
	const struct js *ranks = js_get(j, "ranks"), *cause = js_get(j, "cause");
	for (size_t i = 0; i < js_len(ranks) && ret->n_ranks < NOTICE_RANKS; i++)
		ret->ranks[ret->n_ranks++] = (int32_t)js_as_i64(js_at(ranks, i), NO_RANK);
	notice_json_get_text(cause, "id", ret->cause, sizeof(ret->cause));
	notice_json_get_text(cause, "confidence", ret->confidence, sizeof(ret->confidence));
	ret->n_advice = get_texts(js_get(j, "advice"), ret->advice[0], sizeof(ret->advice[0]), NOTICE_ADVICE);
	ret->n_evidence = get_texts(js_get(j, "evidence"), ret->evidence[0], sizeof(ret->evidence[0]), NOTICE_EVIDENCE);
	return 0;
}
