/*
 * Feishu and Lark bots: text. The signature's key is "seconds\nsecret" and its
 * message is empty. Names of users are tags, so "<" is written as a wide one.
 */
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "tell/notify/notify_parts.h"

static void notify_feishu_sign(const char *secret, int64_t seconds, struct js *body)
{
	char key[600], text[BASE64_CAP(DIGEST_BYTES)];
	uint8_t digest[DIGEST_BYTES];
	TEXT_FORMAT(key, "%lld\n%s", (long long)seconds, secret);
	digest_hmac(key, strlen(key), "", 0, digest);
	char stamp[24];
	TEXT_FORMAT(stamp, "%lld", (long long)seconds);
	js_put_text(body, "timestamp", stamp);
	js_put_text(body, "sign", base64_of(digest, sizeof(digest), text));
}

int notify_feishu(struct notify_job *j)
{
	static const char *const to[] = {"\xef\xbc\x9c"}; /* U+FF1C */
	char text[7000], safe[18000];
	struct buf t = BUF_ON(text), s = BUF_ON(safe);
	buf_reset(&t);
	notify_headline(j->notice, &t);
	buf_add(&t, "\n");
	notify_body_text(j->notice, &t);
	notify_escape(text, "<", to, safe, 9000);
	s.len = strlen(safe);
	for (size_t i = 0; i < j->channel->mention.n; i++)
		buf_printf(&s, "<at user_id=\"%s\"></at>", j->channel->mention.item[i]);
	struct js *body = js_object(), *content = js_object();
	if (j->secrets->secret[0])
		notify_feishu_sign(j->secrets->secret, j->now_unix_ms / 1000, body);
	js_put_text(body, "msg_type", "text");
	js_put_text(content, "text", safe);
	js_put(body, "content", content);
	return notify_body_json(j, body);
}
