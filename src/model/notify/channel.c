#include "model/notify/channel.h"

#include <string.h>

#include "base/buf.h"

static const char *const kind_names[CHANNEL_KIND_MAX] = {
	[CHANNEL_WEBHOOK] = "webhook",	   [CHANNEL_SLACK] = "slack", [CHANNEL_FEISHU] = "feishu",
	[CHANNEL_DINGTALK] = "dingtalk",   [CHANNEL_WECOM] = "wecom", [CHANNEL_TEAMS] = "teams",
	[CHANNEL_PAGERDUTY] = "pagerduty", [CHANNEL_EMAIL] = "email", [CHANNEL_ALERTMANAGER] = "alertmanager",
	[CHANNEL_EXEC] = "exec",
};

const char *channel_kind_name(enum channel_kind k)
{
	return k < CHANNEL_KIND_MAX ? kind_names[k] : "unknown";
}

enum channel_kind channel_kind_of(const char *name)
{
	enum channel_kind k = 0;
	while (k < CHANNEL_KIND_MAX && strcmp(kind_names[k], name) != 0)
		k++;
	return k;
}

void channel_init(struct channel *c, enum channel_kind kind)
{
	*c = (struct channel){.kind = kind,
			      .by_default = true,
			      .resolved = true,
			      .tls_verify = true,
			      .timeout_ms = 10000,
			      .group_ms = 30000,
			      .repeat_ms = 4 * 3600 * 1000,
			      .hold_ms = 3600 * 1000,
			      .per_minute = 15};
	if (kind == CHANNEL_PAGERDUTY)
		TEXT_COPY(c->url, "https://events.pagerduty.com/v2/enqueue");
}

const struct channel *channels_find(const struct channels *all, const char *name)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->item[i].name, name) == 0)
			return &all->item[i];
	return NULL;
}

bool channel_name_is_fine(const char *name)
{
	size_t len = strlen(name);
	return len > 0 && len < sizeof(((struct channel *)NULL)->name) && name[0] != '-' &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == len;
}

bool channel_wants(const struct channel *c, const struct notice *n)
{
	enum incident_kind k = incident_kind_of(n->kind);
	if (n->resolved)
		return c->resolved && (!c->only_some || c->only[k]);
	bool chosen = strcmp(n->kind, NOTICE_LOSS) == 0 ? c->only_loss : c->only[k];
	return n->severity >= c->least && (!c->only_some || chosen);
}

uint64_t channel_repeat_ms(const struct channel *c)
{
	return c->kind == CHANNEL_ALERTMANAGER ? MIN(c->repeat_ms, c->hold_ms / 2) : c->repeat_ms;
}

char *channel_url_mask(const char *url, char *dst, size_t cap)
{
	const char *scheme_end = strstr(url, "://");
	const char *host = scheme_end ? scheme_end + 3 : url;
	size_t len = strcspn(host, "/?#");
	const char *rest = host + len;
	/* skip "user:password@" */
	for (const char *at = memchr(host, '@', len); at; at = memchr(host, '@', len)) {
		len -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	bool more = rest[0] && rest[1];
	(void)text_format(dst, cap, "%.*s%.*s%s", scheme_end ? (int)(scheme_end + 3 - url) : 0, url, (int)len, host,
			  more ? "/…" : rest);
	return dst;
}
