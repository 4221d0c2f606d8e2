#include "tell/notify/http.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/dynlib.h"
#include "base/foreign_path.h"
#include "base/text.h"

#define ANSWER_MAX (64 * 1024)
/* Lines of a head, of what stands behind a body in chunks, and of a mail server: libcurl keeps them all. */
#define HEAD_MAX (64 * 1024)
/* libcurl's own limit of time comes first, and says more. */
#define LATE_NS (200 * NS_PER_MS)

/* The few functions used, under their own types. */
struct api {
	__typeof__(curl_global_init) *global_init;
	__typeof__(curl_easy_init) *init;
	__typeof__(curl_easy_cleanup) *finish;
	__typeof__(curl_easy_setopt) *set;
	__typeof__(curl_easy_perform) *perform;
	__typeof__(curl_easy_getinfo) *info;
	__typeof__(curl_easy_strerror) *strerror;
	__typeof__(curl_slist_append) *append;
	__typeof__(curl_slist_free_all) *drop_list;
};

static bool http_api_load(struct api *a)
{
	static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
	const struct dynlib_symbol wanted[] = {
		{"curl_global_init", &a->global_init},	{"curl_easy_init", &a->init},
		{"curl_easy_cleanup", &a->finish},	{"curl_easy_setopt", &a->set},
		{"curl_easy_perform", &a->perform},	{"curl_easy_getinfo", &a->info},
		{"curl_easy_strerror", &a->strerror},	{"curl_slist_append", &a->append},
		{"curl_slist_free_all", &a->drop_list},
	};
	foreign_environ_clean();
	return dynlib_load(names, ARRAY_SIZE(names), RTLD_NOW | RTLD_LOCAL, wanted, ARRAY_SIZE(wanted)) &&
	       a->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

struct exchange {
	struct notify_answer *answer;
	const struct notify_request *request;
	size_t sent, received, head;
	uint64_t end_ns;
	bool headed; /* the answer's head has come whole */
};

static size_t take_body(char *data, size_t size, size_t n, void *ctx)
{
	struct exchange *x = ctx;
	struct notify_answer *a = x->answer;
	size_t len = size * n, room = sizeof(a->body) - 1 - a->body_len;
	memcpy(a->body + a->body_len, data, MIN(len, room));
	a->body_len += MIN(len, room);
	a->body[a->body_len] = '\0';
	x->received += len;
	return x->received > ANSWER_MAX ? 0 : len; /* 0 ends the transfer */
}

static size_t take_header(char *data, size_t size, size_t n, void *ctx)
{
	static const char name[] = "retry-after:";
	struct exchange *x = ctx;
	size_t len = size * n;
	uint64_t seconds;
	x->head += len;
	if (x->head > HEAD_MAX)
		return 0;
	x->headed |= len == 2 && data[0] == '\r';
	if (len > sizeof(name) && strncasecmp(data, name, sizeof(name) - 1) == 0) {
		struct span value = span_trim((struct span){data + sizeof(name) - 1, len - sizeof(name) + 1});
		if (span_u64(value, &seconds) == 0) /* a date is rare and ignored: vigil's own back-off applies */
			x->answer->retry_after_ms = (int64_t)MIN(seconds, UINT64_C(86400)) * 1000;
	}
	return len;
}

/* Ends what libcurl's limit does not: the answer to QUIT, for which it waits two minutes. */
static int look_at_clock(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct exchange *x = ctx;
	(void)a, (void)b, (void)c, (void)d;
	return clock_mono_ns() > x->end_ns;
}

static size_t give_mail(char *to, size_t size, size_t n, void *ctx)
{
	struct exchange *x = ctx;
	size_t len = MIN(size * n, x->request->body_len - x->sent);
	memcpy(to, x->request->body + x->sent, len);
	x->sent += len;
	return len;
}

static void set_common(const struct api *a, CURL *h, const struct channel *c, struct exchange *x)
{
	(void)a->set(h, CURLOPT_URL, x->request->url);
	(void)a->set(h, CURLOPT_NOSIGNAL, 1L);
	(void)a->set(h, CURLOPT_TIMEOUT_MS, (long)c->timeout_ms);
	(void)a->set(h, CURLOPT_CONNECTTIMEOUT_MS, (long)c->timeout_ms);
	(void)a->set(h, CURLOPT_NOPROGRESS, 0L);
	(void)a->set(h, CURLOPT_XFERINFOFUNCTION, look_at_clock);
	(void)a->set(h, CURLOPT_XFERINFODATA, x);
	(void)a->set(h, CURLOPT_FORBID_REUSE, 1L); /* a connection that is kept is closed later, without a limit */
	(void)a->set(h, CURLOPT_FOLLOWLOCATION, 0L);
	(void)a->set(h, CURLOPT_SSL_VERIFYPEER, c->tls_verify ? 1L : 0L);
	(void)a->set(h, CURLOPT_SSL_VERIFYHOST, c->tls_verify ? 2L : 0L);
	(void)a->set(h, CURLOPT_USERAGENT, "vigil/" VIGIL_VERSION);
	(void)a->set(h, CURLOPT_WRITEFUNCTION, take_body);
	(void)a->set(h, CURLOPT_WRITEDATA, x);
	(void)a->set(h, CURLOPT_HEADERFUNCTION, take_header);
	(void)a->set(h, CURLOPT_HEADERDATA, x);
	if (c->ca_file[0])
		(void)a->set(h, CURLOPT_CAINFO, c->ca_file);
}

static struct curl_slist *set_mail(const struct api *a, CURL *h, const struct channel *c,
				   const struct notify_secrets *s, struct exchange *x)
{
	static const long tls[] = {CURLUSESSL_ALL, CURLUSESSL_TRY, CURLUSESSL_NONE};
	struct curl_slist *to = NULL;
	char from[140];
	TEXT_FORMAT(from, "<%s>", c->from[0] ? c->from : "vigil@localhost");
	for (size_t i = 0; i < c->to.n; i++) {
		char address[404];
		TEXT_FORMAT(address, "<%s>", c->to.item[i]);
		struct curl_slist *more = a->append(to, address);
		to = more ? more : to;
	}
	(void)a->set(h, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
	(void)a->set(h, CURLOPT_USE_SSL, tls[c->starttls]);
	(void)a->set(h, CURLOPT_MAIL_FROM, from);
	(void)a->set(h, CURLOPT_MAIL_RCPT, to);
	(void)a->set(h, CURLOPT_UPLOAD, 1L);
	(void)a->set(h, CURLOPT_READFUNCTION, give_mail);
	(void)a->set(h, CURLOPT_READDATA, x);
	(void)a->set(h, CURLOPT_INFILESIZE_LARGE, (curl_off_t)x->request->body_len);
	if (c->user[0]) {
		(void)a->set(h, CURLOPT_USERNAME, c->user);
		(void)a->set(h, CURLOPT_PASSWORD, s->password);
	}
	return to;
}

static struct curl_slist *set_post(const struct api *a, CURL *h, const struct channel *c,
				   const struct notify_secrets *s, struct exchange *x)
{
	struct curl_slist *list = a->append(NULL, "Expect:"); /* no waiting for "100 continue" */
	for (size_t i = 0; i < x->request->n_headers; i++) {
		struct curl_slist *more = a->append(list, x->request->header[i]);
		list = more ? more : list;
	}
	(void)a->set(h, CURLOPT_PROTOCOLS_STR, "http,https");
	(void)a->set(h, CURLOPT_HTTPHEADER, list);
	(void)a->set(h, CURLOPT_POST, 1L);
	(void)a->set(h, CURLOPT_POSTFIELDS, x->request->body);
	(void)a->set(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)x->request->body_len);
	if (c->user[0] && s->password[0]) {
		(void)a->set(h, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		(void)a->set(h, CURLOPT_USERNAME, c->user);
		(void)a->set(h, CURLOPT_PASSWORD, s->password);
	}
	return list;
}

static void judge_result(const struct api *a, CURL *h, CURLcode code, const char *detail, const struct exchange *x)
{
	struct notify_answer *answer = x->answer;
	long status = 0;
	(void)a->info(h, CURLINFO_RESPONSE_CODE, &status);
	answer->status = (int)status;
	/* the body, or what came behind it, was cut; the status had come before */
	bool cut = code == CURLE_WRITE_ERROR && (x->received > ANSWER_MAX || (x->headed && x->head > HEAD_MAX));
	bool broken = code == CURLE_OK && !x->headed && !x->request->mail;
	if (broken)
		TEXT_COPY(answer->error, "the answer broke off");
	if (code == CURLE_OK || (cut && status > 0))
		return;
	struct span words = span_trim(span_of(detail[0] ? detail : a->strerror(code)));
	span_copy(words, answer->error, sizeof(answer->error));
	if (code == CURLE_WRITE_ERROR && x->head > HEAD_MAX)
		TEXT_COPY(answer->error, "the server says more than 64 KiB before it answers");
	if (code == CURLE_USE_SSL_FAILED)
		TEXT_COPY(answer->error, "the mail server offers no encryption (STARTTLS); to send without it, say "
					 "'starttls: never' (or "
					 "'try') in the channel");
	answer->config_error = code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_URL_MALFORMAT;
}

void http_send(const struct channel *c, const struct notify_secrets *s, const struct notify_request *r,
	       struct notify_answer *ret)
{
	static struct api api;
	static bool loaded, tried;
	*ret = (struct notify_answer){.status = 0};
	if (!tried)
		loaded = http_api_load(&api);
	tried = true;
	if (!loaded) {
		TEXT_COPY(ret->error,
			  "libcurl.so.4 cannot be loaded; install Debian's libcurl4, then 'vigil notify flush'");
		return;
	}
	CURL *h = api.init();
	if (!h) {
		TEXT_COPY(ret->error, "no memory to send a message");
		return;
	}
	char detail[CURL_ERROR_SIZE] = "";
	struct exchange x = {
		.answer = ret, .request = r, .end_ns = clock_mono_ns() + c->timeout_ms * NS_PER_MS + LATE_NS};
	set_common(&api, h, c, &x);
	(void)api.set(h, CURLOPT_ERRORBUFFER, detail);
	struct curl_slist *list = r->mail ? set_mail(&api, h, c, s, &x) : set_post(&api, h, c, s, &x);
	judge_result(&api, h, api.perform(h), detail, &x);
	api.finish(h);
	api.drop_list(list);
}
