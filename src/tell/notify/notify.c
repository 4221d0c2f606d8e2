#include "tell/notify/notify.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tell/notify/notify_parts.h"

struct kind_row {
	int (*build)(struct notify_job *j);
	bool digest;
	const char *code; /* member of the body that is not 0 on a refusal with status 200; NULL: none */
	const char *words; /* member with the reason */
	int64_t busy[2]; /* codes that mean "too often" */
};

static const struct kind_row rows[CHANNEL_KIND_MAX] = {
	[CHANNEL_WEBHOOK] = {.build = notify_webhook, .digest = true},
	[CHANNEL_SLACK] = {.build = notify_slack, .digest = true},
	[CHANNEL_FEISHU] =
		{.build = notify_feishu, .digest = true, .code = "code", .words = "msg", .busy = {11232, 9499}},
	[CHANNEL_DINGTALK] = {.build = notify_dingtalk,
			      .digest = true,
			      .code = "errcode",
			      .words = "errmsg",
			      .busy = {130101, 410100}},
	[CHANNEL_WECOM] =
		{.build = notify_wecom, .digest = true, .code = "errcode", .words = "errmsg", .busy = {45009, -1}},
	[CHANNEL_TEAMS] = {.build = notify_teams, .digest = true},
	[CHANNEL_PAGERDUTY] = {.build = notify_pagerduty},
	[CHANNEL_EMAIL] = {.build = notify_mail, .digest = true},
	[CHANNEL_ALERTMANAGER] = {.build = notify_alertmanager},
	[CHANNEL_EXEC] = {.digest = true},
};

void notify_request_done(struct notify_request *r)
{
	free(r->body);
	r->body = NULL;
}

bool notify_can_digest(enum channel_kind k)
{
	return k < CHANNEL_KIND_MAX && rows[k].digest;
}

int notify_build(const struct channel *c, const struct notify_secrets *s, const struct notice *n, int64_t now_unix_ms,
		 struct notify_request *ret, struct fault *f)
{
	struct notify_request request = {.body = NULL};
	struct notify_job job = {
		.channel = c, .secrets = s, .notice = n, .now_unix_ms = now_unix_ms, .request = &request, .f = f};
	if (c->kind >= CHANNEL_KIND_MAX || !rows[c->kind].build)
		return fault_set(f, -EINVAL, "channel %s: messages of kind %s are not sent over the network", c->name,
				 channel_kind_name(c->kind));
	if (!s->url[0])
		return fault_set(f, -EINVAL, "channel %s: there is no address to send to", c->name);
	TEXT_COPY(request.url, s->url);
	int r = rows[c->kind].build(&job);
	if (r < 0)
		notify_request_done(&request);
	else
		*ret = request;
	return r;
}

/* Finds a refusal in the body of a service that always answers 200. */
static enum notify_outcome spoken_outcome(const struct kind_row *row, const struct notify_answer *a, char *why,
					  size_t cap)
{
	cleanup(js_freep) struct js *j = NULL;
	if (!row->code || js_parse(a->body, a->body_len, &j, NULL) < 0)
		return NOTIFY_ARRIVED;
	int64_t code = js_get_i64(j, row->code, 0);
	if (code == 0)
		return NOTIFY_ARRIVED;
	char words[200];
	span_copy(span_of(js_get_text(j, row->words, "")), words, sizeof(words));
	(void)text_format(why, cap, "the service refused it: %s %lld, %s", row->code, (long long)code, words);
	return code == row->busy[0] || code == row->busy[1] ? NOTIFY_TRY_AGAIN : NOTIFY_REFUSED;
}

enum notify_outcome notify_outcome(const struct channel *c, const struct notify_answer *a, char *why, size_t cap)
{
	const struct kind_row *row = &rows[MIN(c->kind, (enum channel_kind)(CHANNEL_KIND_MAX - 1))];
	char said[160];
	struct span first = span_trim(span_before((struct span){a->body, a->body_len}, "\n"));
	span_copy(first, said, sizeof(said));
	(void)text_format(why, cap, "%s", "");
	if (a->status == 0 || a->error[0]) {
		(void)text_format(why, cap, "%s", a->error[0] ? a->error : "there was no answer");
		if (a->config_error)
			return NOTIFY_REFUSED;
		/* SMTP: 4xx is temporary, 5xx is final */
		return c->kind == CHANNEL_EMAIL && a->status >= 500 ? NOTIFY_REFUSED : NOTIFY_TRY_AGAIN;
	}
	if (a->status >= 200 && a->status < 300)
		return spoken_outcome(row, a, why, cap);
	if (a->status >= 300 && a->status < 400) {
		(void)text_format(why, cap,
				  "the server answered %d, a redirect; vigil sends only to the address that is "
				  "configured: put the new one there",
				  a->status);
		return NOTIFY_REFUSED;
	}
	(void)text_format(why, cap, "the server answered %d%s%s", a->status, said[0] ? ": " : "", said);
	bool later = a->status == 408 || a->status == 425 || a->status == 429 || a->status >= 500;
	return later ? NOTIFY_TRY_AGAIN : NOTIFY_REFUSED;
}
