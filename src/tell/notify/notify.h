/*
 * A notice made into what one channel's server wants to get, and the server's
 * answer read. Pure: no network, no files, the time as an argument. Each kind
 * of channel is one row of a table and one small file (tell/notify/notify_<kind>.c).
 * What goes over the wire is described in docs/formats/notify.md.
 */
#pragma once

#include "base/base.h"
#include "base/buf.h"
#include "base/json.h"
#include "model/notify/channel.h"
#include "model/notify/notice.h"

#define NOTIFY_HEADERS 6

/* Secrets as read from the channel's files. */
struct notify_secrets {
	char url[1024]; /* the address, from the file or the configuration */
	char secret[512]; /* key of the signature, routing key, bearer token; "" */
	char password[256];
};

struct notify_request {
	char url[2048];
	char header[NOTIFY_HEADERS][640]; /* "Name: value" */
	size_t n_headers;
	char *body; /* owned */
	size_t body_len;
	bool mail; /* body is a message for the channel's `to` */
};

struct notify_answer {
	int status; /* of HTTP or SMTP; 0: there was no answer */
	char body[4096]; /* its beginning */
	size_t body_len;
	int64_t retry_after_ms; /* 0: not said */
	char error[240]; /* reason for no answer; "" */
	bool config_error; /* true: sending fails until the configuration changes */
};

enum notify_outcome {
	NOTIFY_ARRIVED,
	NOTIFY_TRY_AGAIN,
	NOTIFY_REFUSED, /* final: the same message would be refused again */
};

void notify_request_done(struct notify_request *r);

/* Builds the request for all kinds but exec, which gets notice_json on its standard input. -EINVAL with a fault. */
int must_check notify_build(const struct channel *c, const struct notify_secrets *s, const struct notice *n,
			    int64_t now_unix_ms, struct notify_request *ret, struct fault *f);
/* Decides whether the message arrived. why: a sentence for people, without secrets. */
enum notify_outcome notify_outcome(const struct channel *c, const struct notify_answer *a, char *why, size_t cap);

/* True if one message of this kind may list several keys. */
bool notify_can_digest(enum channel_kind k);

/* "vigil.notice/1"; owned by the caller. */
struct js *notice_json(const struct notice *n);
/* -EBADMSG unless it is one. */
int must_check notice_from_json(const struct js *j, struct notice *ret);
