/* PagerDuty's Events API v2: trigger and resolve, one incident for each key. A summary has at most 1024 bytes. */
#include "base/units.h"
#include "tell/notify/notify_parts.h"

static struct js *payload(const struct notice *n)
{
	char head[600], when[32];
	struct buf h = BUF_ON(head);
	buf_reset(&h);
	notify_headline(n, &h);
	struct js *p = js_object();
	js_put_text(p, "summary", head);
	js_put_text(p, "source", n->node[0] ? n->node : "vigil");
	js_put_text(p, "severity", notice_severity_name(n->severity));
	js_put_text(p, "timestamp", time_format_utc(n->time_unix_ms, when));
	js_put_text_if(p, "component", n->job);
	js_put_text_if(p, "class", n->kind);
	js_put(p, "custom_details", notice_json(n));
	return p;
}

int notify_pagerduty(struct notify_job *j)
{
	const struct notice *n = j->notice;
	int r = notify_need_secret(j);
	if (r < 0)
		return r;
	struct js *body = js_object();
	js_put_text(body, "routing_key", j->secrets->secret);
	js_put_text(body, "event_action", n->resolved ? "resolve" : "trigger");
	js_put_text(body, "dedup_key", n->key);
	if (!n->resolved) {
		js_put(body, "payload", payload(n));
		js_put_text(body, "client", "vigil");
	}
	if (n->link[0] && !n->resolved) {
		struct js *links = js_array(), *one = js_object();
		js_put_text(one, "href", n->link);
		js_put_text(one, "text", "The report");
		js_add(links, one);
		js_put(body, "links", links);
	}
	return notify_body_json(j, body);
}
