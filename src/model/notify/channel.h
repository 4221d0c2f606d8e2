/*
 * A notification channel as it is configured: where notices go and how often.
 * Plain data; read from the section "notify:" of vigil.yaml (cli/config_notify.c,
 * docs/formats/notify.md). Secrets are never in here, only the files they are in.
 */
#pragma once

#include "base/base.h"
#include "model/notify/notice.h"

enum channel_kind {
	CHANNEL_WEBHOOK,
	CHANNEL_SLACK,
	CHANNEL_FEISHU,
	CHANNEL_DINGTALK,
	CHANNEL_WECOM,
	CHANNEL_TEAMS,
	CHANNEL_PAGERDUTY,
	CHANNEL_EMAIL,
	CHANNEL_ALERTMANAGER,
	CHANNEL_EXEC,
	CHANNEL_KIND_MAX,
};

enum channel_starttls { CHANNEL_STARTTLS_REQUIRED, CHANNEL_STARTTLS_TRY, CHANNEL_STARTTLS_NEVER };

#define CHANNELS_MAX 16
#define CHANNEL_LIST 16

struct channel_list {
	char item[CHANNEL_LIST][400];
	size_t n;
};

struct channel {
	char name[32];
	enum channel_kind kind;
	bool by_default; /* used where --notify does not choose */
	bool resolved; /* tell when it is over, too */
	bool tls_verify;
	enum channel_starttls starttls;
	enum notice_severity least;
	bool only_some; /* of the kinds of incidents: those in `only` */
	bool only[INCIDENT_KIND_MAX];
	char url[512];
	char url_file[256], secret_file[256], password_file[256], ca_file[256];
	char user[128], from[128];
	char link[256]; /* pattern; see notice_link */
	struct channel_list to, mention, labels, argv;
	uint64_t timeout_ms, group_ms, repeat_ms;
	uint64_t hold_ms; /* Alertmanager: how long an alert stands if nobody says it is over */
	double per_minute;
};

struct channels {
	struct channel item[CHANNELS_MAX];
	size_t n;
};

const char *channel_kind_name(enum channel_kind k);
/* CHANNEL_KIND_MAX if there is none of that name. */
enum channel_kind channel_kind_of(const char *name);
/* With the defaults of its kind. */
void channel_init(struct channel *c, enum channel_kind kind);
const struct channel *channels_find(const struct channels *all, const char *name);
/* Letters, digits, '-' and '_', at most 31: names become parts of file names. */
bool channel_name_is_fine(const char *name);
/* Does this channel want to hear of it? */
bool channel_wants(const struct channel *c, const struct notice *n);
/* After this long what lasts is told again: before an alert of Alertmanager's would end by itself. */
uint64_t channel_repeat_ms(const struct channel *c);
/* An address without what may be a secret: "https://host/…". */
char *channel_url_mask(const char *url, char *dst, size_t cap);
