#include "cli/service/dashboard_ask.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "agent/host/world_open.h"
#include "agent/web/weblisten.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"

#define WAIT_S 3

struct reply {
	char text[8192];
	size_t len;
	int status; /* 0: it is no HTTP */
	const char *body; /* in text */
};

/* A connection to a port of the loopback on which only this user listens; -EACCES: others do. */
static int connect_own(int proc_fd, unsigned port)
{
	const struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct timeval wait = {.tv_sec = WAIT_S};
	cleanup(closep) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) < 0 ||
	    connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
		return -errno;
	return weblisten_is_own(proc_fd, port) ? take_fd(&fd) : -EACCES;
}

static void reply_parse(struct reply *a)
{
	uint64_t status = 0;
	struct span rest = {a->text, a->len}, word;
	if (span_starts(rest, "HTTP/1.") && span_word(&rest, &word) && span_word(&rest, &word) &&
	    span_u64(word, &status) == 0 && status < 1000)
		a->status = (int)status;
	const char *head_end = strstr(a->text, "\r\n\r\n");
	a->body = head_end ? head_end + strlen("\r\n\r\n") : "";
}

/* One request. Its answer ends where the server closes. */
static int exchange(int proc_fd, unsigned port, const char *request, struct reply *ret)
{
	cleanup(closep) int fd = connect_own(proc_fd, port);
	if (fd < 0)
		return fd;
	size_t len = strlen(request);
	if (send(fd, request, len, MSG_NOSIGNAL) != (ssize_t)len)
		return -EIO;
	*ret = (struct reply){.status = 0};
	uint64_t end_ns = clock_mono_ns() + WAIT_S * NS_PER_S;
	while (ret->len < sizeof(ret->text) - 1 && clock_mono_ns() < end_ns) {
		ssize_t n = recv(fd, ret->text + ret->len, sizeof(ret->text) - 1 - ret->len, 0);
		if (n <= 0)
			break;
		ret->len += (size_t)n;
	}
	reply_parse(ret);
	return 0;
}

/* True if vigil answers there: without a token it says so in its own form. */
static bool is_vigil(int proc_fd, unsigned port, struct reply *a)
{
	cleanup(js_freep) struct js *o = NULL;
	static const char request[] = "GET /api/v1/me HTTP/1.0\r\nHost: localhost\r\n\r\n";
	return exchange(proc_fd, port, request, a) == 0 && a->status == 401 &&
	       js_parse(a->body, strlen(a->body), &o, NULL) == 0 &&
	       strcmp(js_get_text(o, "schema", ""), "vigil.error/1") == 0;
}

static int code_ask(int proc_fd, unsigned port, const char *token, struct reply *a, struct fault *f)
{
	char request[400];
	TEXT_FORMAT(request,
		    "POST /api/v1/login/code HTTP/1.0\r\nHost: localhost\r\n"
		    "X-Vigil-CSRF: 1\r\nContent-Length: 0\r\nAuthorization: Bearer %s\r\n\r\n",
		    token);
	int r = exchange(proc_fd, port, request, a);
	explicit_bzero(request, sizeof(request));
	if (r < 0)
		return fault_set(f, r, "the page's server at port %u cannot be asked: %s", port, strerror(-r));
	if (a->status == 401)
		return fault_set(f, -EACCES,
				 "a page's server of yours has port %u, with the tokens of another state directory; "
				 "name that one with --state",
				 port);
	if (a->status != 200)
		return fault_set(f, -EIO, "the page's server at port %u gives no new address (status %d)", port,
				 a->status);
	return 0;
}

static int address_read(const struct reply *a, unsigned port, struct web_address *ret, struct fault *f)
{
	cleanup(js_freep) struct js *o = NULL;
	bool parsed = js_parse(a->body, strlen(a->body), &o, NULL) == 0;
	const char *code = parsed ? js_get_text(o, "code", "") : "", *at = parsed ? js_get_text(o, "address", "") : "";
	if (strlen(code) != sizeof(ret->code) - 1 || !at[0])
		return fault_set(f, -EIO, "the page's server at port %u gives an answer that is no address", port);
	TEXT_COPY(ret->code, code);
	TEXT_COPY(ret->plain, at);
	TEXT_FORMAT(ret->url, "%s#code=%s", ret->plain, ret->code);
	TEXT_FORMAT(ret->note, "a server of yours has port %u already; this is a new address of it", port);
	return 0;
}

static int ask(int proc_fd, const char *state_dir, unsigned port, struct webauth *auth, struct web_address *ret,
	       struct fault *f)
{
	struct reply a;
	if (!is_vigil(proc_fd, port, &a))
		return DASHBOARD_NOT_OURS;
	struct fault why = {.text = ""};
	int r = webauth_open(state_dir, auth, &why);
	if (r < 0)
		return fault_set(f, r, "%s", why.text);
	r = code_ask(proc_fd, port, auth->token[WEB_ADMIN], &a, f);
	if (r < 0)
		return r;
	ret->token = auth->token[WEB_ADMIN];
	ret->tokens_kept = auth->kept;
	return address_read(&a, port, ret, f);
}

int dashboard_ask(const char *state_dir, unsigned port, struct webauth *auth, struct web_address *ret, struct fault *f)
{
	cleanup(world_close) struct world w = {.proc_fd = -1};
	int r = world_open(NULL, &w, f);
	return r < 0 ? r : ask(w.proc_fd, state_dir, port, auth, ret, f);
}
