/* A request of the page's server: its target, its headers, its body. Lines: target, Host, Origin, cookies, the body. */
#include <stdio.h>
#include <string.h>

#include "agent/web/webauth.h"
#include "agent/web/webguard.h"
#include "agent/web/weblisten.h"
#include "agent/web/webprofile_want.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void body_try(const char *body)
{
	struct fault f = {0};
	struct webprofile_want want;
	struct webprofile_args args;
	char job[130];
	if (webprofile_parse(body, strlen(body), &want, job, &f) < 0) {
		if (!f.text[0])
			abort();
		return;
	}
	webprofile_args(&want, job, &args);
	for (size_t i = 0; args.argv[i]; i++)
		if (i == WEBPROFILE_ARGS - 1 || !args.argv[i][0])
			abort();
}

static void target_try(const char *target)
{
	static struct weburl u;
	struct webroute route;
	struct fault f = {0};
	char allow[32];
	if (weburl_parse(target, &u, &f) < 0) {
		if (!f.text[0])
			abort();
		return;
	}
	for (size_t i = 0; i < u.n_segments; i++)
		if (!u.segment[i][0] || strchr(u.segment[i], '/') || strcmp(u.segment[i], "..") == 0)
			abort();
	for (int m = METHOD_GET; m <= METHOD_OTHER; m++) {
		int r = webroute_find((enum web_method)m, &u, &route, allow);
		/* data is never open to those without a token, but for the two ways to get and lose one */
		if (r == 0 && route.role == WEB_NOBODY && webroute_is_data(&u) && route.route != ROUTE_LOGIN &&
		    route.route != ROUTE_LOGOUT)
			abort();
		if (r == 0 && m != METHOD_GET && route.route == ROUTE_STATIC)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[8192], name[64], *line[5] = {NULL};
	struct webauth a;
	struct webguard g = {.n_hosts = 0};
	struct webguard_refusal why;
	struct fault f = {0};
	unsigned port;
	ignore(webauth_parse((const char *)data, size, &a), "any bytes");
	size = MIN(size, sizeof(text) - 1);
	memcpy(text, data, size);
	text[size] = '\0';
	char *p = text;
	for (size_t i = 0; i < ARRAY_SIZE(line); i++) {
		line[i] = p;
		p += i + 1 < ARRAY_SIZE(line) ? strcspn(p, "\n") : strlen(p);
		if (*p)
			*p++ = '\0';
	}
	target_try(line[0]);
	const struct webguard_headers h = {.host = line[1], .origin = line[2], .csrf = "1"};
	(void)webguard_check(&g, &h, true, false, &why);
	ignore(weblisten_parse(line[1], name, sizeof(name), &port, &f), "any bytes");
	if (webauth_make(&a) == 0) {
		webauth_name(&a, 9877);
		if (webauth_request(&a, line[3], line[3], 1000) != WEB_NOBODY)
			abort(); /* nobody guesses 256 bits */
	}
	body_try(line[4]);
	return 0;
}
