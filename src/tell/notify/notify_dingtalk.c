/*
 * DingTalk robots: Markdown. With a secret the address gets the time in
 * milliseconds and the signature of "milliseconds\nsecret", percent-encoded.
 * A robot that sends more than 20 messages a minute is muted for ten.
 */
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "tell/notify/notify_parts.h"

static void notify_dingtalk_sign(struct notify_job *j)
{
	char message[600], text[BASE64_CAP(DIGEST_BYTES)], encoded[3 * sizeof(text)];
	static const char *const to[] = {"%2B", "%2F", "%3D"};
	uint8_t digest[DIGEST_BYTES];
	TEXT_FORMAT(message, "%lld\n%s", (long long)j->now_unix_ms, j->secrets->secret);
	digest_hmac(j->secrets->secret, strlen(j->secrets->secret), message, strlen(message), digest);
	notify_escape(base64_of(digest, sizeof(digest), text), "+/=", to, encoded, sizeof(encoded));
	struct buf url = {.text = j->request->url, .len = strlen(j->request->url), .cap = sizeof(j->request->url)};
	buf_printf(&url, "%ctimestamp=%lld&sign=%s", strchr(url.text, '?') ? '&' : '?', (long long)j->now_unix_ms,
		   encoded);
}

static void mentions(const struct channel *c, struct js *body, struct buf *text)
{
	struct js *at = js_object(), *mobiles = js_array();
	bool all = false;
	for (size_t i = 0; i < c->mention.n; i++) {
		all |= strcmp(c->mention.item[i], "all") == 0;
		if (strcmp(c->mention.item[i], "all") != 0) {
			js_add_text(mobiles, c->mention.item[i]);
			buf_printf(text, " @%s", c->mention.item[i]); /* a mention must be in the text, too */
		}
	}
	js_put(at, "atMobiles", mobiles);
	js_put_bool(at, "isAtAll", all);
	js_put(body, "at", at);
}

int notify_dingtalk(struct notify_job *j)
{
	/* Markdown: a single newline is ignored, brackets make links */
	static const char *const to[] = {"\n\n", "\\[", "\\]", "\\*", "\\_", "\\#", "&lt;"};
	char head[600], text[6500], safe[21000], title[1300];
	struct buf h = BUF_ON(head), t = BUF_ON(text), s = BUF_ON(safe);
	buf_reset(&h);
	buf_reset(&t);
	notify_headline(j->notice, &h);
	notify_headline(j->notice, &t);
	buf_add(&t, "\n");
	notify_body_text(j->notice, &t);
	notify_escape(text, "\n[]*_#<", to, safe, 14000);
	s.len = strlen(safe);
	notify_escape(head, "[]*_#<", to + 1, title, sizeof(title));
	if (j->secrets->secret[0])
		notify_dingtalk_sign(j);
	struct js *body = js_object(), *markdown = js_object();
	js_put_text(body, "msgtype", "markdown");
	js_put_text(markdown, "title", title);
	mentions(j->channel, body, &s);
	js_put_text(markdown, "text", safe);
	js_put(body, "markdown", markdown);
	return notify_body_json(j, body);
}
