/*
 * Alertmanager's API v2. An alert is its labels, so only what stays the same
 * while it lasts is in them; everything else is an annotation. endsAt is
 * the time after the channel's hold, or now when the alert is over.
 */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "tell/notify/notify_parts.h"

static void put_labels(const struct channel *c, const struct notice *n, struct js *labels)
{
	char name[64] = "Vigil";
	struct buf b = {.text = name, .len = strlen(name), .cap = sizeof(name)};
	bool up = true;
	for (const char *p = n->kind; *p; p++) { /* "memory_kill" is the alert VigilMemoryKill */
		char ch = up && *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
		up = *p == '_';
		if (!up)
			buf_add_n(&b, &ch, 1);
	}
	js_put_text(labels, "alertname", name);
	js_put_text(labels, "service", "vigil");
	js_put_text(labels, "kind", n->kind);
	js_put_text_if(labels, "job_id", n->job);
	js_put_text_if(labels, "node", n->node);
	for (size_t i = 0; i < c->labels.n; i++) {
		const char *value = strchr(c->labels.item[i], '=');
		char key[64];
		if (!value)
			continue;
		TEXT_FORMAT(key, "%.*s", (int)MIN((size_t)(value - c->labels.item[i]), sizeof(key) - 1),
			    c->labels.item[i]);
		js_put_text_if(labels, key, value + 1);
	}
}

static void put_annotations(const struct notice *n, struct js *to)
{
	char head[600], text[6000];
	struct buf h = BUF_ON(head), t = BUF_ON(text);
	buf_reset(&h);
	buf_reset(&t);
	notify_headline(n, &h);
	notify_body_text(n, &t);
	js_put_text(to, "summary", head);
	js_put_text(to, "description", text);
	js_put_text(to, "severity", notice_severity_name(n->severity));
	js_put_text_if(to, "incident", n->id);
	js_put_text_if(to, "cause", n->cause);
	js_put_text_if(to, "command", n->command);
}

int notify_alertmanager(struct notify_job *j)
{
	const struct notice *n = j->notice;
	/* the address may be the server's or the whole path */
	struct buf url = {.text = j->request->url, .len = strlen(j->request->url), .cap = sizeof(j->request->url)};
	if (!strstr(url.text, "/api/v2/alerts")) {
		while (url.len > 0 && url.text[url.len - 1] == '/')
			url.text[--url.len] = '\0';
		buf_add(&url, "/api/v2/alerts");
	}
	if (j->secrets->secret[0])
		notify_header(j->request, "Authorization: Bearer %s", j->secrets->secret);
	char ends[32], starts[32];
	int64_t hold_ms = n->resolved ? 0 : n->test ? 60000 : (int64_t)j->channel->hold_ms;
	struct js *body = js_array(), *alert = js_object(), *labels = js_object(), *annotations = js_object();
	put_labels(j->channel, n, labels);
	put_annotations(n, annotations);
	js_put(alert, "labels", labels);
	js_put(alert, "annotations", annotations);
	if (!n->resolved) /* without it the server keeps the time that it knows */
		js_put_text(alert, "startsAt", time_format_utc(MIN(n->time_unix_ms, j->now_unix_ms), starts));
	js_put_text(alert, "endsAt", time_format_utc(j->now_unix_ms + hold_ms, ends));
	js_put_text_if(alert, "generatorURL", n->link);
	js_add(body, alert);
	return notify_body_json(j, body);
}
