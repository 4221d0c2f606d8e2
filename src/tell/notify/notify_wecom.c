/* WeCom robots: Markdown of at most 4096 bytes; "<" begins its tags and mentions. */
#include <string.h>

#include "tell/notify/notify_parts.h"

#define CONTENT_MAX 4096

int notify_wecom(struct notify_job *j)
{
	static const char *const to[] = {"&lt;"};
	char text[7000], calls[CHANNEL_LIST * 404] = "", safe[CONTENT_MAX + 1];
	struct buf t = BUF_ON(text), c = BUF_ON(calls), s = BUF_ON(safe);
	buf_reset(&t);
	notify_headline(j->notice, &t);
	buf_add(&t, "\n");
	notify_body_text(j->notice, &t);
	for (size_t i = 0; i < j->channel->mention.n && c.len < CONTENT_MAX / 2; i++)
		buf_printf(&c, "<@%s>", j->channel->mention.item[i]);
	notify_escape(text, "<", to, safe, CONTENT_MAX - strlen(calls));
	s.len = strlen(safe);
	buf_add(&s, calls);
	struct js *body = js_object(), *markdown = js_object();
	js_put_text(body, "msgtype", "markdown");
	js_put_text(markdown, "content", safe);
	js_put(body, "markdown", markdown);
	return notify_body_json(j, body);
}
