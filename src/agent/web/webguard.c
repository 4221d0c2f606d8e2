#include "agent/web/webguard.h"

#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/text.h"

static bool port_is_plain(const char *p)
{
	uint64_t port;
	return *p == '\0' || (*p == ':' && strlen(p) <= 6 && span_u64(span_of(p + 1), &port) == 0 && port <= 65535);
}

/* The name in a Host header or an authority "name:port", without the port; false: it is none. */
static bool host_name_of(const char *host, char *dst, size_t cap)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
	size_t len;
	if (host[0] == '[') {
		len = 1 + strspn(host + 1, "0123456789abcdefABCDEF:.");
		if (host[len] != ']')
			return false;
		len++;
	} else {
		len = strspn(host, letters);
	}
	if (len == 0 || len >= cap || !port_is_plain(host + len))
		return false;
	memcpy(dst, host, len);
	dst[len] = '\0';
	return true;
}

bool webguard_allow(struct webguard *g, const char *host)
{
	if (g->n_hosts == WEBGUARD_HOSTS || !host_name_of(host, g->host[g->n_hosts], sizeof(g->host[0])))
		return false;
	g->n_hosts++;
	return true;
}

static bool host_is_ours(const struct webguard *g, const char *host)
{
	static const char *const own[] = {"localhost", "127.0.0.1", "[::1]"};
	char name[128];
	if (!host || !host_name_of(host, name, sizeof(name)))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (strcasecmp(own[i], name) == 0)
			return true;
	for (size_t i = 0; i < g->n_hosts; i++)
		if (strcasecmp(g->host[i], name) == 0)
			return true;
	return false;
}

/* The scheme is not compared: something in front of the server may speak TLS for it. */
static bool origin_is_ours(const char *origin, const char *host)
{
	static const char *const schemes[] = {"http://", "https://"};
	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
		if (span_starts(span_of(origin), schemes[i]))
			return strcasecmp(origin + strlen(schemes[i]), host) == 0;
	return false;
}

static bool site_is_ours(const char *site)
{
	return !site || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0;
}

static bool refuse(struct webguard_refusal *ret, int status, const char *error, const char *text)
{
	*ret = (struct webguard_refusal){status, error, text};
	return false;
}

bool webguard_check(const struct webguard *g, const struct webguard_headers *h, bool data, bool reads,
		    struct webguard_refusal *ret)
{
	if (h->repeated)
		return refuse(ret, 400, "bad_request", "a header that may come once came more than once");
	if (!host_is_ours(g, h->host))
		return refuse(ret, 421, "host",
			      "the Host of the request is not one that this server answers to; open it as localhost, "
			      "or name the host with --allow-host");
	if (h->origin && !origin_is_ours(h->origin, h->host) && (data || !reads))
		return refuse(ret, 403, "forbidden",
			      "the request comes from a page of another origin; a proxy has to pass the browser's "
			      "Host on, and that host is named with --allow-host");
	if ((data || !reads) && !site_is_ours(h->fetch_site))
		return refuse(ret, 403, "forbidden", "the request comes from a page of another site");
	if (!reads && (!h->csrf || strcmp(h->csrf, "1") != 0))
		return refuse(ret, 403, "csrf", "requests that change something need the header 'X-Vigil-CSRF: 1'");
	return true;
}

/* ---- the head ---- */

/* RFC 9110, section 5.6.2. */
static bool is_token(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~";
	return *text && text[strspn(text, letters)] == '\0';
}

static bool value_is_plain(const char *p)
{
	for (; *p; p++)
		if (((unsigned char)*p < ' ' && *p != '\t') || *p == 127)
			return false;
	return true;
}

static bool length_is_number(const char *p)
{
	size_t n = strspn(p, "0123456789");
	return n > 0 && p[n + strspn(p + n, " \t")] == '\0';
}

void webguard_head_field(struct webguard_head *h, const char *name, const char *value)
{
	if (!value || !is_token(name) || !value_is_plain(value)) {
		h->broken = true;
		return;
	}
	h->n_hosts += strcasecmp(name, "host") == 0;
	if (strcasecmp(name, "content-length") == 0) {
		h->n_lengths++;
		h->broken |= !length_is_number(value);
	}
	if (strcasecmp(name, "transfer-encoding") == 0) {
		h->n_codings++;
		h->broken |= strcasecmp(value, "chunked") != 0;
	}
}

bool webguard_head_is_sound(const struct webguard_head *h, const char *method)
{
	return !h->broken && is_token(method) && h->n_lengths + h->n_codings <= 1 && h->n_hosts <= 1;
}
