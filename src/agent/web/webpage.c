#include <string.h>

#include "agent/web/web.h"
#include "agent/web/webassets.h"
#include "agent/host/host.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/gzip.h"
#include "base/log.h"
#include "base/text.h"

#define REFUSED_MOST 30
#define REFUSED_NS (60 * NS_PER_S)

/*
 * speedscope puts its rules into an empty style element (the sum is of the empty text, so no other goes), and undoes
 * the names of C++ by WebAssembly, which this does not open for texts of JavaScript. Decision 53.
 */
#define SPEEDSCOPE_POLICY \
	"script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"

/* ---- who is there ---- */

static void login_refuse(const struct webcall *c, bool by_code)
{
	struct web *w = c->web;
	uint64_t now_ns = clock_mono_ns();
	if (now_ns - w->refused_since_ns > REFUSED_NS) {
		w->refused_since_ns = now_ns;
		w->refused = 0;
	}
	if (++w->refused == REFUSED_MOST)
		log_warning("the page: %u wrong tokens or codes within a minute", REFUSED_MOST);
	if (w->refused >= REFUSED_MOST)
		web_fail(c, 429, "busy", "too many wrong tokens; try again in a minute (a right one always goes)");
	else if (by_code)
		web_fail(c, 401, "no_token", "this address was used already, or its server has ended: %s", w->other);
	else
		web_fail(c, 401, "no_token", "that is no token of this server: %s", w->other);
}

void web_login(const struct webcall *c)
{
	const struct httpd_request *r = c->request;
	cleanup(js_freep) struct js *o = NULL;
	char session[112], cookie[240];
	bool parsed = js_parse(r->body, r->body_len, &o, NULL) == 0;
	const char *code = parsed ? js_get_text(o, "code", NULL) : NULL;
	const char *token = parsed ? js_get_text(o, "token", NULL) : NULL;
	if (!code == !token)
		return web_fail(c, 400, "bad_request", "the body must be {\"code\": \"...\"} or {\"token\": \"...\"}");
	enum web_role role = code ? webcodes_take(&c->web->codes, code) : webauth_token(&c->web->auth, token);
	if (role == WEB_NOBODY)
		return login_refuse(c, code != NULL);
	webauth_session(&c->web->auth, role, clock_unix_ms() / 1000, session);
	TEXT_FORMAT(cookie, "%s=%s; HttpOnly; SameSite=Strict; Path=/; Max-Age=%lld%s", c->web->auth.cookie, session,
		    (long long)WEBAUTH_SESSION_S, c->web->want->tls_cert ? "; Secure" : "");
	struct httpd_answer a = {.status = 204,
				 .fd = -1,
				 .header = {{"Set-Cookie", cookie}, {"Cache-Control", "no-store"}},
				 .n_headers = 2};
	httpd_reply(r->call, &a);
}

/*
 * By the token only: a session would go on for ever if it could begin new ones. A header that holds no token, as one of
 * a proxy's, does not stand for it.
 */
void web_login_code(const struct webcall *c)
{
	char code[DIGEST_HEX_CAP];
	if (webauth_request(&c->web->auth, c->request->authorization, NULL, 0) != c->role)
		return web_fail(c, 403, "forbidden",
				"a code is given for the token itself (Authorization: Bearer), not for a session");
	if (webcodes_make(&c->web->codes, c->role, code) < 0)
		return web_fail(c, 503, "io", "there are no random bytes for a code");
	struct js *o = js_object();
	js_put_text(o, "schema", "vigil.login_code/1");
	js_put_text(o, "role", web_role_name(c->role));
	js_put_text(o, "code", code);
	js_put_text(o, c->web->address.is_unix ? "socket" : "address", c->web->address.plain);
	web_json(c, 200, o);
}

void web_logout(const struct webcall *c)
{
	char cookie[120];
	TEXT_FORMAT(cookie, "%s=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0", c->web->auth.cookie);
	struct httpd_answer a = {.status = 204, .fd = -1, .header = {{"Set-Cookie", cookie}}, .n_headers = 1};
	httpd_reply(c->request->call, &a);
}

void web_me(const struct webcall *c)
{
	struct js *o = js_object();
	char node[80], user[48];
	host_name(node, sizeof(node));
	js_put_text(o, "schema", "vigil.me/1");
	js_put_text(o, "role", web_role_name(c->role));
	host_user(user, sizeof(user));
	js_put_text(o, "user", user);
	js_put_text(o, "version", VIGIL_VERSION);
	js_put_text(o, "node", node);
	js_put_i64(o, "now_unix_ms", clock_unix_ms());
	web_json(c, 200, o);
}

/* ---- files ---- */

/* "a/b.js" of the url's segments; "index.html" for the root. */
static void path_of(const struct weburl *u, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	for (size_t i = 0; i < u->n_segments; i++)
		buf_printf(&b, "%s%s", i ? "/" : "", u->segment[i]);
	if (u->n_segments == 0)
		buf_add(&b, "index.html");
}

static const struct webasset *asset_find(const char *path)
{
	for (size_t i = 0; i < webassets_n; i++)
		if (strcmp(webassets[i].path, path) == 0)
			return &webassets[i];
	return NULL;
}

static void asset_send(const struct webcall *c, const struct webasset *a)
{
	const char *tags = c->request->if_none_match, *takes = c->request->accept_encoding;
	bool gzip = httpd_takes_gzip(takes);
	struct httpd_answer answer = {
		.status = 200,
		.type = a->mime,
		.policy = span_starts(span_of(a->path), "speedscope/") ? SPEEDSCOPE_POLICY : NULL,
		.bytes = a->gz,
		.fd = -1,
		.len = a->gz_len,
		.header = {{"Cache-Control", a->hashed ? "public, max-age=31536000, immutable" : "no-store"},
			   {"ETag", a->etag},
			   {"Vary", "Accept-Encoding"},
			   {"Content-Encoding", "gzip"}},
		.n_headers = gzip ? 4 : 3};
	if (tags && strstr(tags, a->etag)) {
		answer.status = 304;
		answer.bytes = NULL;
		answer.type = NULL;
		answer.n_headers = 3;
	} else if (!gzip) {
		answer.bytes = NULL;
		answer.text = gunzip(a->gz, a->gz_len, a->len);
		answer.len = a->len;
		if (!answer.text)
			return web_fail(c, 500, "memory", "no memory for the file");
	}
	httpd_reply(c->request->call, &answer);
}

void web_page(const struct webcall *c)
{
	char path[300];
	path_of(&c->url, path, sizeof(path));
	const struct webasset *a = asset_find(path);
	if (!a)
		return web_fail(c, 404, "absent", "the page has no such file");
	asset_send(c, a);
}

void web_openapi(const struct webcall *c)
{
	const struct webasset *a = asset_find("openapi.json");
	if (!a)
		return web_fail(c, 404, "absent", "this vigil was built without the description of its API");
	asset_send(c, a);
}
