/*
 * A notification channel as configured: the destination of notices and their rate. Plain data; read from the section
 * "notify:" of vigil.yaml (cli/config/config_notify.c, docs/formats/notify.md). It never holds secrets, only the names
 * of the files with them.
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
	bool by_default; /* used if --notify names no channel */
	bool resolved; /* also report the end of a problem */
	bool tls_verify;
	enum channel_starttls starttls;
	enum notice_severity least;
	bool only_some; /* only the kinds of incidents in `only` */
	bool only[INCIDENT_KIND_MAX]; /* INCIDENT_NONE: memory_warning */
	bool only_loss; /* only_some: and notices of a broken loss */
	char url[512];
	char url_file[256], secret_file[256], password_file[256], ca_file[256];
	char user[128], from[128];
	char link[256]; /* pattern; see notice_link */
	struct channel_list to, mention, labels, argv;
	uint64_t timeout_ms, group_ms, repeat_ms;
	uint64_t hold_ms; /* Alertmanager: lifetime of an alert that is not resolved */
	double per_minute;
};

struct channels {
	struct channel item[CHANNELS_MAX];
	size_t n;
};

const char *channel_kind_name(enum channel_kind k);
/* CHANNEL_KIND_MAX if there is none of that name. */
enum channel_kind channel_kind_of(const char *name);
/* Sets the defaults of a kind. */
void channel_init(struct channel *c, enum channel_kind kind);
const struct channel *channels_find(const struct channels *all, const char *name);
/* True for letters, digits, '-' and '_', not '-' first, at most 31: names become parts of file names. */
bool channel_name_is_fine(const char *name);
/* True if the channel is to receive the notice. */
bool channel_wants(const struct channel *c, const struct notice *n);
/* The time after which a lasting problem is reported again; for Alertmanager, before the alert would expire. */
uint64_t channel_repeat_ms(const struct channel *c);
/* An address without the parts that may be secret: "https://host/…". */
char *channel_url_mask(const char *url, char *dst, size_t cap);
