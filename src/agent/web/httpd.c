#include "agent/web/httpd.h"

#include <dlfcn.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/socket.h>

#include "agent/web/webguard.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/dynlib.h"
#include "base/foreign_path.h"
#include "base/gzip.h"
#include "base/text.h"

#define CONNECTIONS_MOST 1200
#define CONNECTIONS_OF_ADDRESS 200
/* A request with its body must be here in this time, and a connection without one is closed after it. */
#define REQUEST_NS (20 * NS_PER_S)
/* Of an answer, no byte could be sent for so long. */
#define STALLED_S 30
#define HEADERS_BYTES (16 * 1024)
/* A JSON text of such a size is packed: a smaller one is one packet anyhow, a larger one would hold up the others. */
#define PACK_LEAST (4 * 1024)
#define PACK_MOST (1024 * 1024)

/* The few functions used, under their own types. */
struct api {
	__typeof__(MHD_start_daemon) *start;
	__typeof__(MHD_stop_daemon) *stop;
	__typeof__(MHD_run) *run;
	__typeof__(MHD_get_timeout) *timeout;
	__typeof__(MHD_get_daemon_info) *daemon_info;
	__typeof__(MHD_get_connection_info) *connection_info;
	__typeof__(MHD_get_connection_values) *values;
	__typeof__(MHD_suspend_connection) *suspend;
	__typeof__(MHD_resume_connection) *resume;
	__typeof__(MHD_queue_response) *queue;
	__typeof__(MHD_create_response_from_buffer) *of_buffer;
	__typeof__(MHD_create_response_from_callback) *of_callback;
	__typeof__(MHD_create_response_from_fd64) *of_fd;
	__typeof__(MHD_add_response_header) *header;
	__typeof__(MHD_destroy_response) *destroy;
};

static struct api mhd;

static bool httpd_api_load(void)
{
	static const char *const names[] = {"libmicrohttpd.so.12"};
	const struct dynlib_symbol wanted[] = {
		{"MHD_start_daemon", &mhd.start},
		{"MHD_stop_daemon", &mhd.stop},
		{"MHD_run", &mhd.run},
		{"MHD_get_timeout", &mhd.timeout},
		{"MHD_get_daemon_info", &mhd.daemon_info},
		{"MHD_get_connection_info", &mhd.connection_info},
		{"MHD_get_connection_values", &mhd.values},
		{"MHD_suspend_connection", &mhd.suspend},
		{"MHD_resume_connection", &mhd.resume},
		{"MHD_queue_response", &mhd.queue},
		{"MHD_create_response_from_buffer", &mhd.of_buffer},
		{"MHD_create_response_from_callback", &mhd.of_callback},
		{"MHD_create_response_from_fd64", &mhd.of_fd},
		{"MHD_add_response_header", &mhd.header},
		{"MHD_destroy_response", &mhd.destroy},
	};
	foreign_environ_clean();
	return dynlib_load(names, ARRAY_SIZE(names), RTLD_NOW | RTLD_LOCAL, wanted, ARRAY_SIZE(wanted)) != NULL;
}

struct peer {
	struct httpd *of;
	struct peer *before, *after;
	int fd;
	uint64_t since_ns; /* it was accepted, or the last answer was sent */
	bool busy; /* its request is whole, and it waits for us */
	bool stranger;
};

struct httpd {
	struct httpd_want want;
	struct MHD_Daemon *daemon;
	struct peer peers; /* head of the ring */
	struct httpd_call *waiting; /* those that are suspended, a list */
	size_t n_peers;
	uint64_t swept_ns;
	bool stopping;
	bool resumed; /* a connection goes on in the next run, and libmicrohttpd does not ask for one */
};

struct httpd_call {
	struct httpd *of;
	struct MHD_Connection *connection;
	struct peer *peer;
	struct httpd_call *before, *after; /* of the waiting */
	char *target;
	char *body;
	size_t body_len;
	bool begun, too_large, asked, suspended, deferred;
	bool takes_gzip;
	struct MHD_Response *response; /* made, not queued yet */
	int status;
	struct httpd_stream stream;
	bool streams; /* its stream has not been told yet that it is over */
	bool completed; /* only its stream's response is left, and frees it */
};

/* ---- connections ---- */

static void peer_check(struct peer *p)
{
	struct ucred who;
	socklen_t len = sizeof(who);
	p->stranger =
		getsockopt(p->fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0 || (who.uid != geteuid() && who.uid != 0);
}

static void connection_note(void *ctx, struct MHD_Connection *c, void **socket_ctx,
			    enum MHD_ConnectionNotificationCode what)
{
	struct httpd *h = ctx;
	struct peer *p = *socket_ctx;
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *fd = mhd.connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
		p = calloc(1, sizeof(*p));
		*socket_ctx = p;
		if (!p)
			return;
		*p = (struct peer){.of = h, .fd = fd ? fd->connect_fd : -1, .since_ns = clock_mono_ns()};
		p->stranger = h->want.is_unix;
		if (h->want.is_unix && p->fd >= 0)
			peer_check(p);
		p->after = h->peers.after;
		p->before = &h->peers;
		p->after->before = p->before->after = p;
		h->n_peers++;
	} else if (p) {
		p->before->after = p->after;
		p->after->before = p->before;
		h->n_peers--;
		free(p);
		*socket_ctx = NULL;
	}
}

/* Whoever takes too long for a request is cut off; libmicrohttpd looks only at the last byte that came. */
static void peers_sweep(struct httpd *h)
{
	uint64_t now_ns = clock_mono_ns();
	if (now_ns - h->swept_ns < NS_PER_S)
		return;
	h->swept_ns = now_ns;
	for (struct peer *p = h->peers.after; p != &h->peers; p = p->after)
		if (!p->busy && now_ns - p->since_ns > REQUEST_NS && p->fd >= 0)
			(void)shutdown(p->fd, SHUT_RDWR);
}

/* ---- requests ---- */

struct headers {
	struct httpd_request *r;
	bool repeated;
};

static enum MHD_Result header_take(void *ctx, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct headers *all = ctx;
	struct httpd_request *r = all->r;
	const struct {
		const char *name, **to;
	} known[] = {
		{"host", &r->guard.host},
		{"origin", &r->guard.origin},
		{"sec-fetch-site", &r->guard.fetch_site},
		{"x-vigil-csrf", &r->guard.csrf},
		{"authorization", &r->authorization},
		{"cookie", &r->cookie},
		{"last-event-id", &r->last_event_id},
		{"if-none-match", &r->if_none_match},
		{"accept", &r->accept},
		{"accept-encoding", &r->accept_encoding},
	};
	(void)kind;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcasecmp(known[i].name, key) != 0)
			continue;
		all->repeated |= *known[i].to && i < 6; /* lists of the others may be split over lines */
		*known[i].to = value ? value : "";
	}
	return MHD_YES;
}

static enum MHD_Result call_queue(struct httpd_call *c)
{
	struct MHD_Response *response = take(&c->response);
	enum MHD_Result r = mhd.queue(c->connection, (unsigned)c->status, response);
	mhd.destroy(response);
	return r;
}

static enum MHD_Result call_ask(struct httpd_call *c, const char *method)
{
	struct httpd_request r = {.method = method,
				  .target = c->target,
				  .body = c->body ? c->body : "",
				  .body_len = c->body_len,
				  .too_large = c->too_large,
				  .stranger = !c->peer || c->peer->stranger,
				  .call = c};
	struct headers all = {.r = &r};
	(void)mhd.values(c->connection, MHD_HEADER_KIND, header_take, &all);
	r.guard.repeated = all.repeated;
	c->takes_gzip = httpd_takes_gzip(r.accept_encoding);
	c->asked = true;
	if (c->peer)
		c->peer->busy = true;
	c->of->want.request(c->of->want.ctx, &r);
	if (c->response)
		return call_queue(c);
	return c->suspended ? MHD_YES : MHD_NO;
}

static void body_take(struct httpd_call *c, const char *data, size_t len)
{
	if (c->body_len + len > HTTPD_BODY_MAX) {
		c->too_large = true;
		c->body_len = 0;
	}
	if (c->too_large || (!c->body && !(c->body = malloc(HTTPD_BODY_MAX + 1)))) {
		c->too_large = true;
		return;
	}
	memcpy(c->body + c->body_len, data, len);
	c->body_len += len;
	c->body[c->body_len] = '\0';
}

static enum MHD_Result head_field(void *ctx, enum MHD_ValueKind kind, const char *key, const char *value)
{
	(void)kind;
	webguard_head_field(ctx, key, value);
	return MHD_YES;
}

/* The answer stops the library from reading a body, and the connection ends with it. */
static enum MHD_Result call_refuse(struct httpd_call *c)
{
	static const char text[] = "{\"schema\":\"vigil.error/1\",\"error\":\"bad_request\",\"text\":\"the head of the "
				   "request can be read in two ways: names are tokens, and there is at most one Host "
				   "and one length\"}";
	const struct httpd_answer a = {.status = 400,
				       .type = "application/json",
				       .bytes = text,
				       .fd = -1,
				       .len = sizeof(text) - 1,
				       .header = {{"Connection", "close"}, {"Cache-Control", "no-store"}},
				       .n_headers = 2};
	c->asked = true;
	httpd_reply(c, &a);
	return c->response ? call_queue(c) : MHD_NO;
}

static enum MHD_Result call_begin(struct httpd_call *c, struct MHD_Connection *connection, const char *method)
{
	const union MHD_ConnectionInfo *peer = mhd.connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct webguard_head head = {.broken = false};
	c->begun = true;
	c->connection = connection;
	c->peer = peer ? peer->socket_context : NULL;
	(void)mhd.values(connection, MHD_HEADER_KIND, head_field, &head);
	return webguard_head_is_sound(&head, method) ? MHD_YES : call_refuse(c);
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url, const char *method,
				  const char *version, const char *data, size_t *len, void **call_ctx)
{
	struct httpd_call *c = *call_ctx;
	(void)ctx;
	(void)url;
	(void)version;
	if (!c)
		return MHD_NO;
	if (!c->begun)
		return call_begin(c, connection, method);
	if (c->response) /* it was deferred, and is answered now */
		return call_queue(c);
	if (*len > 0) {
		bool was_too_large = c->too_large;
		body_take(c, data, *len);
		*len = 0;
		return was_too_large && c->asked ? MHD_NO : MHD_YES;
	}
	return c->asked ? MHD_NO : call_ask(c, method);
}

static void *on_target(void *ctx, const char *target, struct MHD_Connection *connection)
{
	struct httpd_call *c = calloc(1, sizeof(*c));
	(void)connection;
	if (!c || !(c->target = strdup(target))) {
		free(c);
		return NULL;
	}
	c->of = ctx;
	return c;
}

static void call_suspend(struct httpd_call *c)
{
	c->suspended = true;
	c->before = NULL;
	c->after = c->of->waiting;
	if (c->after)
		c->after->before = c;
	c->of->waiting = c;
	mhd.suspend(c->connection);
}

/* libmicrohttpd goes on with it in its next run: asks for the answer, or for more of the stream. */
static void call_resume(struct httpd_call *c)
{
	if (!c->suspended)
		return;
	c->suspended = false;
	if (c->before)
		c->before->after = c->after;
	else
		c->of->waiting = c->after;
	if (c->after)
		c->after->before = c->before;
	c->of->resumed = true;
	mhd.resume(c->connection);
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **call_ctx,
			 enum MHD_RequestTerminationCode why)
{
	struct httpd_call *c = *call_ctx;
	(void)ctx;
	(void)connection;
	(void)why;
	if (!c)
		return;
	if (c->deferred)
		c->of->want.gone(c->of->want.ctx, c);
	if (c->peer) {
		c->peer->busy = false;
		c->peer->since_ns = clock_mono_ns();
	}
	if (c->response)
		mhd.destroy(c->response);
	free(c->target);
	free(c->body);
	*call_ctx = NULL;
	if (!c->streams) {
		free(c);
		return;
	}
	c->streams = false;
	c->completed = true;
	c->stream.gone(c->stream.ctx);
}

/* Nothing is decoded here: the target is taken apart by weburl, whole. */
static size_t no_unescape(void *ctx, struct MHD_Connection *c, char *text)
{
	(void)ctx;
	(void)c;
	return strlen(text);
}

/* ---- answers ---- */

static void answer_policy(struct MHD_Response *r, const char *more)
{
	char policy[400];
	TEXT_FORMAT(policy,
		    "default-src 'self'; frame-ancestors 'none'; object-src 'none'; base-uri 'none'; form-action 'none'"
		    "%s%s",
		    more ? "; " : "", more ? more : "");
	(void)mhd.header(r, "Content-Security-Policy", policy);
}

static void answer_headers(const struct httpd *h, struct MHD_Response *r, const char *type)
{
	static const struct httpd_header always[] = {
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"X-Frame-Options", "DENY"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		(void)mhd.header(r, always[i].name, always[i].value);
	if (h->want.cert)
		(void)mhd.header(r, "Strict-Transport-Security", "max-age=31536000");
	if (type)
		(void)mhd.header(r, "Content-Type", type);
}

static struct span behind(struct span s, size_t n)
{
	return (struct span){s.p + MIN(n, s.len), s.len - MIN(n, s.len)};
}

/* "gzip;q=0" refuses it; a "*" is not taken for it. */
bool httpd_takes_gzip(const char *accept_encoding)
{
	struct span rest = span_of(accept_encoding ? accept_encoding : "");
	while (rest.len > 0) {
		struct span one = span_before(rest, ","), name = span_trim(span_before(one, ";"));
		rest = behind(rest, one.len + 1);
		if (name.len != strlen("gzip") || strncasecmp(name.p, "gzip", name.len) != 0)
			continue;
		struct span q = span_trim(behind(one, span_before(one, "=").len + 1));
		return q.len == 0 || strspn(q.p, "0.") < q.len;
	}
	return false;
}

static bool may_pack(const struct httpd_answer *a)
{
	return a->text && a->type && strcmp(a->type, "application/json") == 0 && a->len >= PACK_LEAST &&
	       a->len <= PACK_MOST;
}

/* Packs the text where the client takes that. True: it is packed now. */
static bool text_pack(const struct httpd_call *c, struct httpd_answer *a)
{
	size_t len;
	char *packed = c->takes_gzip ? gzip_quick(a->text, a->len, &len) : NULL;
	if (!packed)
		return false;
	free(a->text);
	a->text = packed;
	a->len = len;
	return true;
}

static struct MHD_Response *response_of(const struct httpd_answer *a)
{
	if (a->text)
		return mhd.of_buffer(a->len, a->text, MHD_RESPMEM_MUST_FREE);
	if (a->bytes || a->fd < 0)
		return mhd.of_buffer(a->bytes ? a->len : 0, (void *)(uintptr_t)a->bytes, MHD_RESPMEM_PERSISTENT);
	return mhd.of_fd(a->len, a->fd);
}

void httpd_reply(struct httpd_call *c, const struct httpd_answer *given)
{
	struct httpd_answer answer = *given, *a = &answer;
	const bool packs = may_pack(a), packed = packs && text_pack(c, a);
	struct MHD_Response *r = response_of(a);
	c->deferred = false;
	if (!r) {
		free(a->text);
		if (!a->text && !a->bytes && a->fd >= 0)
			close(a->fd);
		r = mhd.of_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
	}
	if (!r)
		return call_resume(c);
	answer_headers(c->of, r, a->type);
	answer_policy(r, a->policy);
	for (size_t i = 0; i < a->n_headers; i++)
		(void)mhd.header(r, a->header[i].name, a->header[i].value);
	if (packs)
		(void)mhd.header(r, "Vary", "Accept-Encoding");
	if (packed)
		(void)mhd.header(r, "Content-Encoding", "gzip");
	c->response = r;
	c->status = a->status;
	call_resume(c);
}

void httpd_defer(struct httpd_call *c)
{
	c->deferred = true;
	call_suspend(c);
}

static ssize_t stream_read(void *ctx, uint64_t pos, char *dst, size_t cap)
{
	struct httpd_call *c = ctx;
	(void)pos;
	ssize_t n = c->of->stopping ? -1 : c->stream.read(c->stream.ctx, dst, cap);
	if (n < 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (n == 0)
		call_suspend(c);
	return n;
}

/* The response is no more, as a rule after its request has completed. */
static void stream_gone(void *ctx)
{
	struct httpd_call *c = ctx;
	if (c->completed) {
		free(c);
		return;
	}
	if (c->streams)
		c->stream.gone(c->stream.ctx);
	c->streams = false;
}

void httpd_stream_begin(struct httpd_call *c, const struct httpd_stream *s)
{
	struct MHD_Response *r = mhd.of_callback(MHD_SIZE_UNKNOWN, 4096, stream_read, c, stream_gone);
	c->stream = *s;
	c->streams = r != NULL;
	if (!r) {
		s->gone(s->ctx);
		return;
	}
	answer_headers(c->of, r, "text/event-stream");
	answer_policy(r, NULL);
	/* a proxy that compresses would hold events back until it has enough of them (RFC 9111) */
	(void)mhd.header(r, "Cache-Control", "no-store, no-transform");
	(void)mhd.header(r, "X-Accel-Buffering", "no");
	c->response = r;
	c->status = MHD_HTTP_OK;
}

void httpd_wake(struct httpd_call *c)
{
	call_resume(c);
}

/* ---- the server ---- */

static struct MHD_Daemon *daemon_start(struct httpd *h)
{
	const struct httpd_want *w = &h->want;
	const unsigned most = w->is_unix || w->is_loopback ? CONNECTIONS_MOST : CONNECTIONS_OF_ADDRESS;
	const struct MHD_OptionItem tls[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)w->cert},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)w->key},
		{MHD_OPTION_END, 0, NULL},
	};
	const unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (w->cert ? MHD_USE_TLS : 0);
	return mhd.start(flags, 0, NULL, NULL, on_request, h, MHD_OPTION_LISTEN_SOCKET, w->listen_fd,
			 MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MOST, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
			 most, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)STALLED_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
			 (size_t)HEADERS_BYTES, MHD_OPTION_URI_LOG_CALLBACK, on_target, h, MHD_OPTION_NOTIFY_COMPLETED,
			 on_completed, h, MHD_OPTION_NOTIFY_CONNECTION, connection_note, h,
			 MHD_OPTION_UNESCAPE_CALLBACK, no_unescape, NULL, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
			 MHD_OPTION_ARRAY, w->cert ? tls : &tls[2], MHD_OPTION_END);
}

int httpd_start(const struct httpd_want *want, struct httpd **ret, struct fault *f)
{
	int listen_fd = want->listen_fd;
	struct httpd *h = calloc(1, sizeof(*h));
	if (!h || !httpd_api_load()) {
		bool no_memory = !h;
		free(h);
		close(listen_fd);
		return no_memory ? -ENOMEM
				 : fault_set(f, -ENOPKG,
					     "libmicrohttpd cannot be loaded (%s); install it: apt-get install "
					     "libmicrohttpd12",
					     dlerror());
	}
	h->want = *want;
	h->peers.before = h->peers.after = &h->peers;
	h->daemon = daemon_start(h);
	if (!h->daemon) {
		free(h);
		close(listen_fd);
		return fault_set(f, -EINVAL, "the server cannot start%s",
				 want->cert ? "; --tls-cert and --tls-key must be a certificate and its key, both PEM"
					    : "");
	}
	*ret = h;
	return 0;
}

struct httpd *httpd_stop(struct httpd *h)
{
	if (!h)
		return NULL;
	h->stopping = true;
	while (h->waiting) {
		struct httpd_call *c = h->waiting;
		if (c->deferred) {
			h->want.gone(h->want.ctx, c);
			httpd_reply(c, &(struct httpd_answer){.status = MHD_HTTP_SERVICE_UNAVAILABLE, .fd = -1});
		} else {
			call_resume(c);
		}
	}
	(void)mhd.run(h->daemon);
	mhd.stop(h->daemon);
	free(h);
	return NULL;
}

int httpd_fd(const struct httpd *h)
{
	const union MHD_DaemonInfo *i = mhd.daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	return i ? i->epoll_fd : -1;
}

void httpd_run(struct httpd *h)
{
	h->resumed = false;
	(void)mhd.run(h->daemon);
	peers_sweep(h);
}

int httpd_timeout_ms(const struct httpd *h)
{
	unsigned long long ms;
	if (h->resumed)
		return 0;
	return mhd.timeout(h->daemon, &ms) == MHD_YES ? (int)MIN(ms, 1000ULL) : h->n_peers > 0 ? 1000 : -1;
}
