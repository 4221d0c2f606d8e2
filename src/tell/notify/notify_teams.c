/* Teams, by a workflow "when a webhook request is received": an Adaptive Card. The older connectors are being ended. */
#include "tell/notify/notify_parts.h"

static void block(struct js *to, const char *text, const char *weight, const char *colour)
{
	struct js *b = js_object();
	js_put_text(b, "type", "TextBlock");
	js_put_text(b, "text", text);
	js_put_bool(b, "wrap", true);
	js_put_text_if(b, "weight", weight);
	js_put_text_if(b, "color", colour);
	js_add(to, b);
}

static const char *card_colour(const struct notice *n)
{
	if (n->resolved)
		return "Good";
	return n->severity >= NOTICE_ERROR ? "Attention" : n->severity == NOTICE_WARNING ? "Warning" : "Accent";
}

int notify_teams(struct notify_job *j)
{
	/* text blocks know a little Markdown */
	static const char *const to[] = {"\n\n", "\\[", "\\]", "\\*", "\\_"};
	char head[600], text[6000], safe[12000];
	struct buf h = BUF_ON(head), t = BUF_ON(text);
	buf_reset(&h);
	buf_reset(&t);
	notify_headline(j->notice, &h);
	notify_body_text(j->notice, &t);
	struct js *body = js_object(), *attachments = js_array(), *one = js_object(), *card = js_object();
	struct js *blocks = js_array(), *width = js_object();
	notify_escape(head, "\n[]*_", to, safe, sizeof(safe));
	block(blocks, safe, "Bolder", card_colour(j->notice));
	notify_escape(text, "\n[]*_", to, safe, sizeof(safe));
	block(blocks, safe, "", "");
	js_put_text(card, "$schema", "http://adaptivecards.io/schemas/adaptive-card.json");
	js_put_text(card, "type", "AdaptiveCard");
	js_put_text(card, "version", "1.4");
	js_put(card, "body", blocks);
	if (j->notice->link[0]) {
		struct js *actions = js_array(), *open = js_object();
		js_put_text(open, "type", "Action.OpenUrl");
		js_put_text(open, "title", "Open");
		js_put_text(open, "url", j->notice->link);
		js_add(actions, open);
		js_put(card, "actions", actions);
	}
	js_put_text(width, "width", "Full");
	js_put(card, "msteams", width);
	js_put_text(one, "contentType", "application/vnd.microsoft.card.adaptive");
	js_put(one, "content", card);
	js_add(attachments, one);
	js_put_text(body, "type", "message");
	js_put(body, "attachments", attachments);
	return notify_body_json(j, body);
}
