/* What decides about a request of the page's server, without a server: url, routes, headers, tokens, profiles. */
#include "testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "agent/web/webauth.h"
#include "agent/web/webguard.h"
#include "agent/web/weblisten.h"
#include "agent/web/webprofile_want.h"
#include "agent/web/webroute.h"
#include "base/buf.h"

static struct fault f;

static int parse(const char *target, struct weburl *u)
{
	f.text[0] = '\0';
	return weburl_parse(target, u, &f);
}

/* ---- url ---- */

static void a_target_is_taken_apart_and_decoded(void **state)
{
	(void)state;
	struct weburl u;
	assert_int_equal(parse("/api/v1/jobs/a%2Db?limit=5&x=%C3%A4+b&flag", &u), 0);
	assert_int_equal(u.n_segments, 4);
	assert_string_equal(u.segment[3], "a-b");
	assert_string_equal(weburl_get(&u, "x"), "\xc3\xa4 b");
	assert_string_equal(weburl_get(&u, "flag"), "");
	assert_null(weburl_get(&u, "y"));
	assert_int_equal(parse("/", &u), 0);
	assert_int_equal(u.n_segments, 0);
}

static void what_is_no_plain_target_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"",
					  "api",
					  "http://x/",
					  "*",
					  "/a#b",
					  "//",
					  "/a//b",
					  "/a/",
					  "/.",
					  "/a/../b",
					  "/%2e%2e/x",
					  "/a%2fb",
					  "/a%5cb",
					  "/a%00b",
					  "/%0a",
					  "/%",
					  "/%4",
					  "/%zz",
					  "/%ff",
					  "/\xff",
					  "/a?x=%00",
					  "/a?x=%c3",
					  "/a?x=1&x=2",
					  "/a?%78=1&x=2",
					  "/1/2/3/4/5/6/7/8/9"};
	struct weburl u;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (parse(bad[i], &u) == 0)
			fail_msg("'%s' was taken", bad[i]);
		assert_true(f.text[0] != '\0');
	}
	char longest[WEBURL_MOST_BYTES + 2];
	memset(longest, 'a', sizeof(longest));
	longest[0] = '/';
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(parse(longest, &u), -EINVAL);
}

static void parameters_are_checked_against_their_range(void **state)
{
	(void)state;
	static const char *const choices[] = {"asc", "desc", NULL};
	struct weburl u;
	uint64_t v;
	bool flag;
	size_t at;
	assert_int_equal(parse("/a?n=5&big=99999999999999999999&minus=-1&f=1&g=yes&o=desc&p=up", &u), 0);
	assert_int_equal(weburl_u64(&u, "n", 1, 1, 5, &v, &f), 0);
	assert_int_equal(v, 5);
	assert_int_equal(weburl_u64(&u, "none", 7, 1, 5, &v, &f), 0);
	assert_int_equal(v, 7);
	assert_int_equal(weburl_u64(&u, "n", 1, 1, 4, &v, &f), -EINVAL);
	assert_int_equal(weburl_u64(&u, "big", 1, 0, UINT64_MAX, &v, &f), -EINVAL);
	assert_int_equal(weburl_u64(&u, "minus", 1, 0, 9, &v, &f), -EINVAL);
	assert_int_equal(weburl_flag(&u, "f", &flag, &f), 0);
	assert_true(flag);
	assert_int_equal(weburl_flag(&u, "g", &flag, &f), -EINVAL);
	assert_int_equal(weburl_choice(&u, "o", choices, 0, &at, &f), 0);
	assert_int_equal(at, 1);
	assert_int_equal(weburl_choice(&u, "p", choices, 0, &at, &f), -EINVAL);
	assert_string_equal(f.text, "p=up: one of asc, desc is expected");
}

/* ---- routes ---- */

static int route(const char *method, const char *target, struct webroute *r, char allow[static 32])
{
	static struct weburl u; /* ids point into it */
	assert_int_equal(parse(target, &u), 0);
	return webroute_find(web_method_of(method), &u, r, allow);
}

static void a_route_has_one_method_and_one_role(void **state)
{
	(void)state;
	struct webroute r;
	char allow[32];
	assert_int_equal(route("GET", "/api/v1/jobs/x/logs/0-1-out", &r, allow), 0);
	assert_int_equal(r.route, ROUTE_LOG);
	assert_string_equal(r.id, "x");
	assert_string_equal(r.id2, "0-1-out");
	assert_int_equal(r.role, WEB_VIEWER);
	assert_int_equal(route("HEAD", "/api/v1/me", &r, allow), 0);
	assert_int_equal(route("POST", "/api/v1/profiles", &r, allow), 0);
	assert_int_equal(r.role, WEB_OPERATOR);
	assert_int_equal(route("POST", "/api/v1/jobs/x/signal", &r, allow), 0);
	assert_int_equal(r.role, WEB_ADMIN);
	assert_int_equal(route("POST", "/api/v1/login/code", &r, allow), 0);
	assert_int_equal(r.role, WEB_VIEWER);
	assert_int_equal(route("GET", "/worker/traceback?pid=1", &r, allow), 0);
	assert_int_equal(r.role, WEB_OPERATOR);
	assert_int_equal(route("GET", "/assets/app.js", &r, allow), 0);
	assert_int_equal(r.route, ROUTE_STATIC);
}

static void what_no_row_names_is_closed(void **state)
{
	(void)state;
	static const char *const methods[] = {"PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT",
					      "get", "FOO",   "DELETE",	 "POST"};
	struct webroute r;
	char allow[32];
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		assert_int_equal(route(methods[i], "/api/v1/jobs", &r, allow), 405);
		assert_string_equal(allow, "GET, HEAD");
		assert_int_equal(route(methods[i], "/index.html", &r, allow), 405);
	}
	assert_int_equal(route("GET", "/api/v1/login", &r, allow), 405);
	assert_int_equal(route("PUT", "/api/v1/profiles/x", &r, allow), 405);
	assert_string_equal(allow, "GET, HEAD, DELETE");
	assert_int_equal(route("GET", "/api/v1", &r, allow), 404);
	assert_int_equal(route("GET", "/api/v2/jobs", &r, allow), 404);
	assert_int_equal(route("GET", "/metrics/x", &r, allow), 404);
	assert_int_equal(route("GET", "/api/v1/jobs/a%20b", &r, allow), 400);
	assert_int_equal(route("GET", "/api/v1/jobs/x/logs/a%25b", &r, allow), 400);
}

/* ---- headers ---- */

static int refused(const struct webguard_headers *h, bool data, bool reads)
{
	struct webguard g = {.n_hosts = 0};
	struct webguard_refusal why = {0};
	assert_true(webguard_allow(&g, "gpu7.example.org"));
	bool passes = webguard_check(&g, h, data, reads, &why);
	if (!passes && strstr(why.text, "another origin")) /* as a proxy's that has rewritten the Host */
		assert_non_null(strstr(why.text, "--allow-host"));
	return passes ? 0 : why.status;
}

static void only_own_names_are_answered_to(void **state)
{
	(void)state;
	static const char *const good[] = {"localhost",	 "LOCALHOST:9877", "127.0.0.1:8080",
					   "[::1]:9877", "[::1]",	   "gpu7.example.org:443"};
	static const char *const bad[] = {"",	       "evil.com",	  "127.0.0.1.evil.com", "localhost.evil.com",
					  "127.0.0.2", "localhost:99999", "localhost:x",	"localhost:80:80",
					  "[::1",      "[::2]:9877",	  "localhost ",		"a@localhost"};
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(refused(&(struct webguard_headers){.host = good[i]}, true, true), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(refused(&(struct webguard_headers){.host = bad[i]}, false, true), 421);
	assert_int_equal(refused(&(struct webguard_headers){.host = NULL}, false, true), 421);
	assert_int_equal(refused(&(struct webguard_headers){.host = "localhost", .repeated = true}, false, true), 400);
}

static void what_changes_something_must_come_from_the_page(void **state)
{
	(void)state;
	struct webguard_headers h = {
		.host = "localhost:9877", .origin = "http://localhost:9877", .fetch_site = "same-origin"};
	assert_int_equal(refused(&h, true, false), 403);
	h.csrf = "1";
	assert_int_equal(refused(&h, true, false), 0);
	h.origin = "https://localhost:9877";
	assert_int_equal(refused(&h, true, false), 0);
	static const char *const bad[] = {"null",
					  "http://evil.com",
					  "http://localhost:1",
					  "http://localhost:9877.evil.com",
					  "localhost:9877",
					  "ftp://localhost:9877",
					  ""};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		h.origin = bad[i];
		assert_int_equal(refused(&h, true, false), 403);
		assert_int_equal(refused(&h, true, true), 403);
	}
	h.origin = NULL;
	h.fetch_site = "same-site";
	assert_int_equal(refused(&h, true, false), 403);
	assert_int_equal(refused(&h, true, true), 403);
	h.fetch_site = "cross-site";
	assert_int_equal(refused(&h, true, true), 403);
	assert_int_equal(refused(&h, false, true), 0); /* a link to the page itself */
}

/* ---- tokens ---- */

static void a_token_proves_its_role_and_nothing_else_does(void **state)
{
	(void)state;
	struct webauth a;
	char session[112], cookies[300], bearer[100];
	assert_int_equal(webauth_make(&a), 0);
	webauth_name(&a, 9877);
	assert_int_equal(webauth_token(&a, a.token[WEB_OPERATOR]), WEB_OPERATOR);
	assert_int_equal(webauth_token(&a, ""), WEB_NOBODY);
	TEXT_FORMAT(bearer, "%sx", a.token[WEB_ADMIN]);
	assert_int_equal(webauth_token(&a, bearer), WEB_NOBODY);
	TEXT_FORMAT(bearer, "Bearer %s", a.token[WEB_ADMIN]);
	assert_int_equal(webauth_request(&a, bearer, NULL, 1000), WEB_ADMIN);
	bearer[12] = bearer[12] == 'a' ? 'b' : 'a';
	assert_int_equal(webauth_request(&a, bearer, NULL, 1000), WEB_NOBODY);

	webauth_session(&a, WEB_VIEWER, 1000, session);
	TEXT_FORMAT(cookies, "x=y; vigil_session_9877=%s; z=1", session);
	assert_int_equal(webauth_request(&a, NULL, cookies, 1001), WEB_VIEWER);
	assert_int_equal(webauth_request(&a, NULL, cookies, 1000 + WEBAUTH_SESSION_S), WEB_NOBODY);
	/* made while the clock was wrong by months, it does not hold for months once the clock is set right */
	webauth_session(&a, WEB_VIEWER, 1000 + 300 * INT64_C(86400), session);
	TEXT_FORMAT(cookies, "vigil_session_9877=%s", session);
	assert_int_equal(webauth_request(&a, NULL, cookies, 1001), WEB_NOBODY);
	/* by an hour: a clock that is set a little must end no session */
	webauth_session(&a, WEB_VIEWER, 1000 + 3600, session);
	TEXT_FORMAT(cookies, "vigil_session_9877=%s", session);
	assert_int_equal(webauth_request(&a, NULL, cookies, 1001), WEB_VIEWER);
	session[0] = '3'; /* another role with the same signature */
	TEXT_FORMAT(cookies, "vigil_session_9877=%s", session);
	assert_int_equal(webauth_request(&a, NULL, cookies, 1001), WEB_NOBODY);
	session[0] = '1';
	TEXT_FORMAT(cookies, "vigil_session_9878=%s; vigil_session_9877=; vigil_session_9877", session);
	assert_int_equal(webauth_request(&a, NULL, cookies, 1001), WEB_NOBODY);
	webauth_name(&a, 9878); /* of another server's port it is worth nothing */
	assert_int_equal(webauth_request(&a, NULL, cookies, 1001), WEB_NOBODY);
}

static void a_code_opens_once_and_is_no_token(void **state)
{
	(void)state;
	static struct webauth a;
	static struct webcodes c;
	char code[DIGEST_HEX_CAP], other[DIGEST_HEX_CAP], longer[80];
	assert_int_equal(webauth_make(&a), 0);
	assert_int_equal(webcodes_take(&c, ""), WEB_NOBODY);
	assert_int_equal(webcodes_make(&c, WEB_ADMIN, code), 0);
	assert_int_equal(webcodes_make(&c, WEB_VIEWER, other), 0);
	assert_int_equal(strlen(code), 2 * DIGEST_BYTES);
	assert_string_not_equal(code, other);
	assert_int_equal(webauth_token(&a, code), WEB_NOBODY);
	assert_int_equal(webcodes_take(&c, a.token[WEB_ADMIN]), WEB_NOBODY);
	TEXT_FORMAT(longer, "%s0", code);
	assert_int_equal(webcodes_take(&c, longer), WEB_NOBODY);
	longer[2 * DIGEST_BYTES - 1] = '\0';
	assert_int_equal(webcodes_take(&c, longer), WEB_NOBODY);
	assert_int_equal(webcodes_take(&c, code), WEB_ADMIN); /* what was wrong before has cost it nothing */
	assert_int_equal(webcodes_take(&c, code), WEB_NOBODY);
	assert_int_equal(webcodes_take(&c, other), WEB_VIEWER);
	assert_int_equal(webcodes_take(&c, ""), WEB_NOBODY);
}

static void the_first_code_of_a_role_stays_and_of_the_others_the_newest(void **state)
{
	(void)state;
	static struct webcodes c;
	static char code[2 * WEBAUTH_CODES][DIGEST_HEX_CAP];
	char viewers[DIGEST_HEX_CAP];
	assert_int_equal(webcodes_make(&c, WEB_VIEWER, viewers), 0);
	for (size_t i = 0; i < ARRAY_SIZE(code); i++)
		assert_int_equal(webcodes_make(&c, WEB_ADMIN, code[i]), 0);
	const size_t kept_from = ARRAY_SIZE(code) - (WEBAUTH_CODES - 1);
	for (size_t i = 0; i < ARRAY_SIZE(code); i++)
		assert_int_equal(webcodes_take(&c, code[i]), i == 0 || i >= kept_from ? WEB_ADMIN : WEB_NOBODY);
	assert_int_equal(webcodes_take(&c, viewers), WEB_VIEWER);
}

static void a_file_of_tokens_must_hold_three_whole_ones(void **state)
{
	(void)state;
	struct webauth a, made;
	char text[400];
	assert_int_equal(webauth_make(&made), 0);
	TEXT_FORMAT(text, "vigil.tokens/1\nviewer %s\noperator %s\nadmin %s\n", made.token[1], made.token[2],
		    made.token[3]);
	assert_int_equal(webauth_parse(text, strlen(text), &a), 0);
	assert_string_equal(a.token[WEB_ADMIN], made.token[WEB_ADMIN]);
	for (size_t len = 0; len < strlen(text) - 1; len++)
		assert_int_equal(webauth_parse(text, len, &a), -EINVAL);
	TEXT_FORMAT(text, "vigil.tokens/1\nviewer %s\noperator %s\nadmin %063d\n", made.token[1], made.token[2], 0);
	assert_int_equal(webauth_parse(text, strlen(text), &a), -EINVAL);
}

/* A row of /proc/net/tcp: a socket that listens on 127.0.0.1. */
static void listener_put(FILE *to, unsigned port, unsigned uid)
{
	(void)fprintf(to, "   0: 0100007F:%04X 00000000:0000 0A 00000000:00000000 00:00000000 00000000 %5u 0 1 1\n",
		      port, uid);
}

/* Another user may listen on so many ports that the table is longer than what is read of it at once. */
static void a_port_is_ones_own_where_the_whole_table_says_so(void **state)
{
	(void)state;
	char dir[] = "/tmp/vigil-listen-XXXXXX", net[64], table[80];
	assert_non_null(mkdtemp(dir));
	(void)snprintf(net, sizeof(net), "%s/net", dir);
	(void)snprintf(table, sizeof(table), "%s/tcp", net);
	assert_int_equal(mkdir(net, 0700), 0);
	for (int strange = 0; strange <= 1; strange++) {
		FILE *to = fopen(table, "we");
		assert_non_null(to);
		listener_put(to, 9877, geteuid());
		for (unsigned i = 0; i < 2000; i++)
			listener_put(to, 20000 + i, geteuid() + 1);
		listener_put(to, 9877, geteuid() + (unsigned)strange);
		assert_int_equal(fclose(to), 0);
		int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_int_equal(weblisten_is_own(fd, 9877), !strange);
		assert_false(weblisten_is_own(fd, 9878));
		close(fd);
	}
	unlink(table);
	rmdir(net);
	rmdir(dir);
}

/* ---- where to listen ---- */

static void an_address_is_taken_apart(void **state)
{
	(void)state;
	char host[64];
	unsigned port;
	assert_int_equal(weblisten_parse("127.0.0.1:80", host, sizeof(host), &port, &f), 0);
	assert_string_equal(host, "127.0.0.1");
	assert_int_equal(port, 80);
	assert_int_equal(weblisten_parse("[::1]:9877", host, sizeof(host), &port, &f), 0);
	assert_string_equal(host, "::1");
	static const char *const bad[] = {"", "x", ":80", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:x"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(weblisten_parse(bad[i], host, sizeof(host), &port, &f), -EINVAL);
}

/* ---- profiles ---- */

static void a_profile_becomes_arguments_of_vigil(void **state)
{
	(void)state;
	static const char body[] = "{\"kind\":\"flame\",\"job\":\"a-1\",\"rank\":3,\"seconds\":600,\"native\":true}";
	static const char *const expected[] = {"flame", "-d", "600s", "-r",	"100", "--native", "-f",
					       "json",	"-o", "-",    "--rank", "3",   "a-1"};
	struct webprofile_want w;
	struct webprofile_args a;
	char job[130];
	assert_int_equal(webprofile_parse(body, sizeof(body) - 1, &w, job, &f), 0);
	webprofile_args(&w, job, &a);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		assert_string_equal(a.argv[i], expected[i]);
	assert_null(a.argv[ARRAY_SIZE(expected)]);
}

static void a_profile_with_anything_else_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"",
					  "[]",
					  "{}",
					  "{\"kind\":\"flame\"}",
					  "{\"kind\":\"rm\",\"job\":\"a\"}",
					  "{\"kind\":\"flame\",\"job\":\"-o\"}",
					  "{\"kind\":\"flame\",\"job\":\"../a\"}",
					  "{\"kind\":\"flame\",\"job\":\"a\",\"seconds\":601}",
					  "{\"kind\":\"flame\",\"job\":\"a\",\"seconds\":\"5\"}",
					  "{\"kind\":\"flame\",\"job\":\"a\",\"rate\":0}",
					  "{\"kind\":\"flame\",\"job\":\"a\",\"rank\":-1}",
					  "{\"kind\":\"flame\",\"job\":\"a\",\"rank\":1,\"pid\":2}",
					  "{\"kind\":\"flame\",\"job\":\"a\",\"output\":\"/x\"}",
					  "{\"kind\":\"flame\",\"job\":\"a\",\"what\":\"live\"}",
					  "{\"kind\":\"heap\",\"job\":\"a\",\"what\":\"all\"}"};
	struct webprofile_want w;
	char job[130];
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (webprofile_parse(bad[i], strlen(bad[i]), &w, job, &f) == 0)
			fail_msg("%s was taken", bad[i]);
}

/* ---- the head of a request ---- */

static bool is_sound(const char *name, const char *value, const char *name2)
{
	struct webguard_head h = {.broken = false};
	webguard_head_field(&h, name, value);
	webguard_head_field(&h, name2, "4");
	return webguard_head_is_sound(&h, "POST");
}

static void a_field_is_a_token_and_plain_text_and_a_body_has_one_length(void **state)
{
	(void)state;
	assert_true(is_sound("X-a", "\t b \xe9", "Content-Length"));
	assert_true(is_sound("Content-Length", "4 ", "X"));
	assert_true(is_sound("Transfer-Encoding", "Chunked", "X"));
	const char *const broken[][3] = {
		{"Host ", "a", "X"},
		{"", "a", "X"},
		{"X\xe9", "a", "X"},
		{"X", "a\rb", "X"},
		{"X", "\x7f", "X"},
		{"X", NULL, "X"},
		{"Host", "a", "host"},
		{"Content-Length", "+4", "X"},
		{"Content-Length", "", "X"},
		{"Content-Length", "4, 4", "X"},
		{"Content-Length", "4", "content-length"},
		{"Transfer-Encoding", "xchunked", "X"},
		{"Transfer-Encoding", "chunked", "Content-Length"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++)
		assert_false(is_sound(broken[i][0], broken[i][1], broken[i][2]));
	const struct webguard_head none = {.broken = false};
	assert_false(webguard_head_is_sound(&none, "G(T"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_is_ones_own_where_the_whole_table_says_so),
		cmocka_unit_test(a_target_is_taken_apart_and_decoded),
		cmocka_unit_test(what_is_no_plain_target_is_refused),
		cmocka_unit_test(parameters_are_checked_against_their_range),
		cmocka_unit_test(a_route_has_one_method_and_one_role),
		cmocka_unit_test(what_no_row_names_is_closed),
		cmocka_unit_test(only_own_names_are_answered_to),
		cmocka_unit_test(what_changes_something_must_come_from_the_page),
		cmocka_unit_test(a_token_proves_its_role_and_nothing_else_does),
		cmocka_unit_test(a_code_opens_once_and_is_no_token),
		cmocka_unit_test(the_first_code_of_a_role_stays_and_of_the_others_the_newest),
		cmocka_unit_test(a_file_of_tokens_must_hold_three_whole_ones),
		cmocka_unit_test(an_address_is_taken_apart),
		cmocka_unit_test(a_profile_becomes_arguments_of_vigil),
		cmocka_unit_test(a_profile_with_anything_else_is_refused),
		cmocka_unit_test(a_field_is_a_token_and_plain_text_and_a_body_has_one_length),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
