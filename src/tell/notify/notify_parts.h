/* Shared by the files of tell/notify only. */
#pragma once

#include "tell/notify/notify.h"

struct notify_job {
	const struct channel *channel;
	const struct notify_secrets *secrets;
	const struct notice *notice;
	int64_t now_unix_ms;
	struct notify_request *request;
	struct fault *f;
};

/* "[critical] train-abcd: …", one line. */
void notify_headline(const struct notice *n, struct buf *b);
/* The message below the headline: place, count, cause, evidence, advice, where to see more. */
void notify_body_text(const struct notice *n, struct buf *b);
/* Replaces characters that a server would take for markup: each character of `from` by its text in `to`. */
void notify_escape(const char *src, const char *from, const char *const *to, char *dst, size_t cap);
/* Sets the request's body to this object, and frees the object. */
int must_check notify_body_json(struct notify_job *j, struct js *body);
void notify_header(struct notify_request *r, const char *fmt, ...) printf_like(2, 3);
int must_check notify_need_secret(const struct notify_job *j);
const char *notify_colour(const struct notice *n); /* "#rrggbb" */

int must_check notify_webhook(struct notify_job *j);
int must_check notify_slack(struct notify_job *j);
int must_check notify_feishu(struct notify_job *j);
int must_check notify_dingtalk(struct notify_job *j);
int must_check notify_wecom(struct notify_job *j);
int must_check notify_teams(struct notify_job *j);
int must_check notify_pagerduty(struct notify_job *j);
int must_check notify_mail(struct notify_job *j);
int must_check notify_alertmanager(struct notify_job *j);
