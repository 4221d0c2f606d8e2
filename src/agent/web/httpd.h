/*
 * HTTP for the page's server: requests come as one struct with their whole body, answers are given at once, later, or
 * as a stream. The only user of libmicrohttpd, which is loaded when a server starts. It has no thread: its owner polls
 * httpd_fd() and calls httpd_run().
 *
 * What is bounded here: connections, in all and of one address; the bytes of headers (about 16 KiB) and of a body
 * (HTTPD_BODY_MAX); the time that a connection may take for a request, and between two. A peer of a unix socket must be
 * this user or root. Every answer carries the headers that keep a browser from doing more with it than showing it.
 *
 * What a request holds is borrowed until the answer is given.
 */
#pragma once

#include "agent/web/webguard.h"
#include "base/fault.h"

#define HTTPD_BODY_MAX (64 * 1024)

struct httpd;
struct httpd_call; /* one request until its answer is sent */

struct httpd_request {
	const char *method;
	const char *target; /* as it came */
	struct webguard_headers guard;
	/* NULL: not sent */
	const char *authorization, *cookie, *last_event_id, *if_none_match, *accept, *accept_encoding;
	const char *body; /* ends with a NUL that body_len does not count */
	size_t body_len;
	bool too_large; /* the body was longer than HTTPD_BODY_MAX and is not here */
	bool stranger; /* the peer of the unix socket is another user */
	struct httpd_call *call;
};

struct httpd_header {
	const char *name, *value;
};

struct httpd_answer {
	int status;
	const char *type; /* NULL: there is no body */
	const char *policy; /* directives that Content-Security-Policy has besides those that all answers have; NULL */
	char *text; /* malloc'ed, given away; NULL: see bytes and fd */
	const void *bytes; /* static data; NULL: see fd */
	int fd; /* given away, with text and bytes NULL: the body is its first len bytes; else it must be -1 */
	size_t len;
	struct httpd_header header[6];
	size_t n_headers;
};

/* A stream: what read gives is sent as it comes. All functions get ctx. */
struct httpd_stream {
	/* At most cap bytes; 0: nothing for now, until httpd_wake; negative: the stream ends. */
	ssize_t (*read)(void *ctx, char *dst, size_t cap);
	void (*gone)(void *ctx); /* the client is gone, or the server stops: ctx is used no more */
	void *ctx;
};

struct httpd_want {
	int listen_fd; /* given away */
	bool is_unix;
	bool is_loopback;
	const char *cert, *key; /* PEM texts; NULL: no TLS */
	/* A request is whole: exactly one of httpd_reply, httpd_stream_begin and httpd_defer must be called. */
	void (*request)(void *ctx, const struct httpd_request *r);
	void (*gone)(void *ctx, struct httpd_call *call); /* of a deferred call: it is no more */
	void *ctx;
};

int must_check httpd_start(const struct httpd_want *want, struct httpd **ret, struct fault *f);
/* Ends all streams and answers what was deferred with 503. */
struct httpd *httpd_stop(struct httpd *h);
int httpd_fd(const struct httpd *h);
/* Does what can be done without waiting. */
void httpd_run(struct httpd *h);
/* Call httpd_run after at most so long, in any case. */
int httpd_timeout_ms(const struct httpd *h);

/* A large JSON text is packed by gzip where the client takes that. */
void httpd_reply(struct httpd_call *call, const struct httpd_answer *a);
/* By a header Accept-Encoding; NULL: there is none. */
bool httpd_takes_gzip(const char *accept_encoding);
/* The answer comes later, by httpd_reply. */
void httpd_defer(struct httpd_call *call);
void httpd_stream_begin(struct httpd_call *call, const struct httpd_stream *s);
/* The stream has something to send again. */
void httpd_wake(struct httpd_call *call);
