/* Slack's incoming webhooks: one attachment, coloured by severity. "&", "<" and ">" are its markup. */
#include "tell/notify/notify_parts.h"

static void escaped(const char *src, char *dst, size_t cap)
{
	static const char *const to[] = {"&amp;", "&lt;", "&gt;"};
	notify_escape(src, "&<>", to, dst, cap);
}

int notify_slack(struct notify_job *j)
{
	char head[600], text[6000], safe[12000];
	struct buf h = BUF_ON(head), t = BUF_ON(text);
	buf_reset(&h);
	buf_reset(&t);
	notify_headline(j->notice, &h);
	notify_body_text(j->notice, &t);
	struct js *body = js_object(), *attachments = js_array(), *one = js_object();
	escaped(head, safe, sizeof(safe));
	js_put_text(one, "fallback", safe);
	if (j->channel->mention.n > 0) {
		char calls[CHANNEL_LIST * 404] = "";
		struct buf c = BUF_ON(calls);
		for (size_t i = 0; i < j->channel->mention.n; i++) {
			const char *who = j->channel->mention.item[i];
			bool everybody = strcmp(who, "here") == 0 || strcmp(who, "channel") == 0;
			buf_printf(&c, everybody ? "<!%s> " : "<@%s> ", who);
		}
		js_put_text(body, "text", calls);
	}
	js_put_text(one, "title", safe);
	js_put_text_if(one, "title_link", j->notice->link);
	js_put_text(one, "color", notify_colour(j->notice));
	escaped(text, safe, sizeof(safe));
	js_put_text(one, "text", safe);
	js_put_i64(one, "ts", j->notice->time_unix_ms / 1000);
	js_add(attachments, one);
	js_put(body, "attachments", attachments);
	return notify_body_json(j, body);
}
