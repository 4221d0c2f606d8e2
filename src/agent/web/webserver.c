#include "agent/web/webserver.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#include "agent/host/world_open.h"
#include "agent/jobs/livefollows.h"
#include "agent/web/web.h"
#include "agent/web/webask.h"
#include "agent/web/webchild.h"
#include "agent/web/weblisten.h"
#include "agent/web/webprofiles.h"
#include "agent/web/webstream.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/foreign_path.h"
#include "base/log.h"

#define PEM_MOST (256 * 1024)
/* Open pages are told of a job's end, and ask what they show then. */
#define LAST_NEWS_NS (3 * NS_PER_S)

/* ---- one request ---- */

typedef void handler_fn(const struct webcall *c);

static handler_fn *const handlers[] = {
	[ROUTE_STATIC] = web_page,
	[ROUTE_LOGIN] = web_login,
	[ROUTE_LOGIN_CODE] = web_login_code,
	[ROUTE_LOGOUT] = web_logout,
	[ROUTE_ME] = web_me,
	[ROUTE_JOBS] = web_jobs,
	[ROUTE_JOB] = web_job_show,
	[ROUTE_PROCESSES] = web_processes,
	[ROUTE_MEMORY] = web_memory,
	[ROUTE_SERIES] = web_series,
	[ROUTE_JOB_EVENTS] = web_events,
	[ROUTE_EVENTS] = web_events,
	[ROUTE_INCIDENTS] = web_incidents,
	[ROUTE_INCIDENT] = web_incident,
	[ROUTE_LOGS] = web_logs,
	[ROUTE_LOG] = web_log,
	[ROUTE_OPENAPI] = web_openapi,
	[ROUTE_RANKS] = web_ranks,
	[ROUTE_MOMENT] = web_moment,
	[ROUTE_SIGNAL] = web_signal,
	[ROUTE_PROFILES] = web_profiles,
	[ROUTE_PROFILE] = web_profile,
	[ROUTE_PROFILE_START] = web_profile_start,
	[ROUTE_PROFILE_DATA] = web_profile_data,
	[ROUTE_PROFILE_DROP] = web_profile_drop,
	[ROUTE_NODE] = web_node,
	[ROUTE_DOCTOR] = web_doctor,
	[ROUTE_TIMELINE] = web_timeline,
	[ROUTE_WAITS] = web_waits,
	[ROUTE_STACKS] = web_stacks,
	[ROUTE_RAY_TRACEBACK] = web_ray_traceback,
	[ROUTE_RAY_CPU] = web_ray_cpu,
	[ROUTE_RAY_MEMORY] = web_ray_memory,
	[ROUTE_STREAM] = web_stream,
	[ROUTE_METRICS] = web_metrics,
};

static const char *no_route_text(const struct weburl *u)
{
	if (u->n_segments > 0 && strcmp(u->segment[0], "task") == 0)
		return "Ray alone knows which process has a task's number; `vigil ps` and "
		       "/api/v1/jobs/JOB/processes name the workers of running tasks, and "
		       "/worker/traceback?pid= looks into one";
	return "there is no such route; /api/v1/openapi.json lists them";
}

static void route_refuse(const struct webcall *c, int status, const char *allow)
{
	cleanup(js_freep) struct js *o = NULL;
	if (status == 400)
		return web_fail(c, 400, "bad_request", "an id in the path holds what no id has");
	if (status == 404)
		return web_fail(c, 404, "absent", "%s", no_route_text(&c->url));
	o = web_error_json("method", "the route is there, and not with this method");
	char *text = js_text(o, 0);
	struct httpd_answer a = {.status = 405,
				 .type = "application/json",
				 .text = text,
				 .fd = -1,
				 .len = text ? strlen(text) : 0,
				 .header = {{"Allow", allow}, {"Cache-Control", "no-store"}},
				 .n_headers = 2};
	httpd_reply(c->request->call, &a);
}

static bool role_check(struct webcall *c)
{
	c->role = webauth_request(&c->web->auth, c->request->authorization, c->request->cookie, clock_unix_ms() / 1000);
	if (c->role >= c->route.role)
		return true;
	if (c->role == WEB_NOBODY)
		web_fail(c, 401, "no_token", "log in first: %s", c->web->other);
	else
		web_fail(c, 403, "role", "that takes the token of the role %s; yours is of %s",
			 web_role_name(c->route.role), web_role_name(c->role));
	return false;
}

static void on_request(void *ctx, const struct httpd_request *r)
{
	struct webcall c = {.web = ctx, .request = r};
	struct fault f = {.text = ""};
	struct webguard_refusal refusal;
	char allow[32];
	bool reads = web_method_of(r->method) == METHOD_GET;
	int parsed = weburl_parse(r->target, &c.url, &f);
	/* what is no url is data, so that nothing is less strict for it */
	bool data = parsed < 0 || webroute_is_data(&c.url);
	if (r->stranger)
		return web_fail(&c, 403, "forbidden", "this socket is for the user that the server runs as");
	if (!webguard_check(&c.web->guard, &r->guard, data, reads, &refusal))
		return web_fail(&c, refusal.status, refusal.error, "%s", refusal.text);
	if (r->too_large)
		return web_fail(&c, 413, "too_large", "a body of at most %d bytes is taken", HTTPD_BODY_MAX);
	if (parsed < 0)
		return web_fault(&c, &f);
	int status = webroute_find(web_method_of(r->method), &c.url, &c.route, allow);
	/* whoever has no token does not learn which routes there are */
	if (status != 0 && data &&
	    webauth_request(&c.web->auth, r->authorization, r->cookie, clock_unix_ms() / 1000) == WEB_NOBODY)
		status = 0, c.route = (struct webroute){.route = ROUTE_ME, .role = WEB_VIEWER};
	if (status != 0)
		return route_refuse(&c, status, allow);
	if (!role_check(&c))
		return;
	handler_fn *handler = (size_t)c.route.route < ARRAY_SIZE(handlers) ? handlers[c.route.route] : NULL;
	if (!handler)
		return route_refuse(&c, 404, allow);
	handler(&c);
}

static void on_gone(void *ctx, struct httpd_call *call)
{
	webask_gone(ctx, call);
	web_metrics_gone(ctx, call);
}

/* ---- start ---- */

static int pem_read(const char *path, char **ret, struct fault *f)
{
	size_t len = 0;
	int r = foreign_path_slurp(path, PEM_MOST, ret, &len);
	return r != 0 ? fault_set(f, r < 0 ? r : -EINVAL, "cannot read %s: %s", path, foreign_path_why(r)) : 0;
}

static int web_listen(struct web *w, struct weblisten *l, struct fault *f)
{
	const struct web_want *want = w->want;
	cleanup(freep) char *cert = NULL;
	cleanup(freep) char *key = NULL;
	if (!want->tls_cert != !want->tls_key)
		return fault_set(f, -EINVAL, "--tls-cert and --tls-key belong together; give both");
	int r = weblisten_open(want->listen, want->port, w->world.proc_fd, l, f);
	if (r == 0 && !l->is_loopback && !want->tls_cert)
		r = fault_set(
			f, -EINVAL,
			"--listen %s can be reached from other machines, and without TLS the token could be read on "
			"the way: give --tls-cert and --tls-key, or listen on 127.0.0.1 and forward it (ssh -L)",
			want->listen);
	if (r == 0 && want->tls_cert)
		r = pem_read(want->tls_cert, &cert, f);
	if (r == 0 && want->tls_key)
		r = pem_read(want->tls_key, &key, f);
	if (r < 0)
		return r;
	const struct httpd_want h = {.listen_fd = take_fd(&l->fd),
				     .is_unix = l->is_unix,
				     .is_loopback = l->is_loopback,
				     .cert = cert,
				     .key = key,
				     .request = on_request,
				     .gone = on_gone,
				     .ctx = w};
	return httpd_start(&h, &w->httpd, f);
}

static int hosts_allow(struct web *w, const struct weblisten *l, struct fault *f)
{
	bool any_address = strcmp(l->host, "0.0.0.0") == 0 || strcmp(l->host, "[::]") == 0;
	if (l->host[0] && !any_address)
		(void)webguard_allow(&w->guard, l->host);
	for (size_t i = 0; i < WEB_HOSTS && w->want->allow_host[i]; i++)
		if (!webguard_allow(&w->guard, w->want->allow_host[i]))
			return fault_set(f, -EINVAL,
					 "--allow-host %s: the name of a host is expected, as in gpu7.example.org",
					 w->want->allow_host[i]);
	return 0;
}

static int tokens_open(struct web *w, struct web_address *a, struct fault *f)
{
	struct fault why = {.text = ""};
	int r = webauth_open(w->want->state_dir, &w->auth, &why);
	if (r == -EPERM || r == -EBADMSG) /* the file is there, and wrong: a person has to look */
		return fault_set(f, r, "%s", why.text);
	if (r < 0)
		r = webauth_make(&w->auth);
	a->tokens_kept = w->auth.kept;
	if (!w->auth.kept)
		TEXT_FORMAT(a->note, "%.300s; the token is good until this server ends", why.text);
	return r < 0 ? fault_set(f, r, "cannot make tokens: %s", strerror(-r)) : 0;
}

/* `vigil dashboard --port` asks at 127.0.0.1, without TLS, and with the tokens of the file. */
static void other_address(struct web *w, const struct weblisten *l)
{
	bool at_loopback = strcmp(l->host, "127.0.0.1") == 0 || strcmp(l->host, "localhost") == 0;
	if (!w->auth.kept)
		TEXT_COPY(w->other, "the server has to be started anew for a new address");
	else if (at_loopback && !w->want->tls_cert)
		TEXT_FORMAT(w->other, "'vigil dashboard --port %u' prints a new address", l->port);
	else
		TEXT_COPY(w->other, "a token of the file " WEBAUTH_FILE " in the server's state directory opens it");
}

static int address_make(struct web *w, const struct weblisten *l, struct web_address *a, struct fault *f)
{
	const char *scheme = w->want->tls_cert ? "https" : "http";
	int r = webcodes_make(&w->codes, WEB_ADMIN, a->code);
	if (r < 0)
		return fault_set(f, r, "cannot make the code of the address: %s", strerror(-r));
	a->is_unix = l->is_unix;
	a->token = w->auth.token[WEB_ADMIN];
	a->pid = getpid();
	struct buf note = {.text = a->note, .len = strlen(a->note), .cap = sizeof(a->note)};
	if (l->note[0])
		buf_printf(&note, "%s%s", note.len ? "; " : "", l->note);
	if (l->is_unix) {
		TEXT_COPY(a->plain, l->path);
		TEXT_FORMAT(a->url, "unix:%s", l->path);
	} else {
		TEXT_FORMAT(a->plain, "%s://%s:%u/", scheme, l->host, l->port);
		TEXT_FORMAT(a->url, "%s#code=%s", a->plain, a->code);
	}
	other_address(w, l);
	return 0;
}

/* ---- the loop ---- */

struct loop {
	int signal_fd, until_fd;
	uint64_t end_ns; /* whom it serves for has ended; 0: not yet */
};

static int loop_open(const struct web_want *want, struct loop *ret, struct fault *f)
{
	sigset_t set;
	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	ret->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	ret->until_fd = want->until > 0 ? (int)syscall(SYS_pidfd_open, want->until, 0) : -1;
	if (want->until > 0 && ret->until_fd < 0)
		return fault_set(f, -ESRCH, "process %d, which the page was to be served for, has ended",
				 (int)want->until);
	return ret->signal_fd < 0 ? fault_set(f, -errno, "cannot wait for signals: %s", strerror(errno)) : 0;
}

static void loop_done(struct loop *l)
{
	closep(&l->signal_fd);
	closep(&l->until_fd);
}

static int sooner(int a_ms, int b_ms)
{
	return a_ms < 0 ? b_ms : b_ms < 0 ? a_ms : MIN(a_ms, b_ms);
}

/* False: nobody looks at the page. */
static bool last_news_begin(struct web *w, struct loop *l)
{
	closep(&l->until_fd);
	l->end_ns = clock_mono_ns() + LAST_NEWS_NS;
	return webstream_look_now(w);
}

static int loop_run(struct web *w, struct loop *l)
{
	while (!w->stop) {
		struct pollfd p[4 + WEBCHILDREN_MOST] = {
			{.fd = httpd_fd(w->httpd), .events = POLLIN},
			{.fd = l->signal_fd, .events = POLLIN},
			{.fd = l->until_fd, .events = POLLIN},
		};
		int children_ms = webchild_turn(w), streams_ms = webstream_turn(w), metrics_ms = web_metrics_turn(w);
		int wait_ms = sooner(sooner(children_ms, streams_ms), sooner(metrics_ms, httpd_timeout_ms(w->httpd)));
		wait_ms = sooner(wait_ms, sooner(web_otlp_turn(w), web_act_turn(w)));
		if (l->end_ns > 0)
			wait_ms = sooner(wait_ms, (int)(sub_floor(l->end_ns, clock_mono_ns()) / NS_PER_MS) + 1);
		p[3] = (struct pollfd){.fd = web_metrics_fd(w), .events = POLLIN};
		size_t n = 4 + webchild_fds(w, p + 4);
		if (poll(p, n, wait_ms) < 0 && errno != EINTR)
			return -errno;
		httpd_run(w->httpd);
		w->stop = p[1].revents || (p[2].revents && !last_news_begin(w, l)) ||
			  (l->end_ns > 0 && clock_mono_ns() >= l->end_ns);
	}
	return 0;
}

static int web_serve(struct web *w, struct weblisten *l, struct loop *loop, struct fault *f)
{
	int r = tokens_open(w, &w->address, f);
	if (r == 0)
		r = web_listen(w, l, f);
	if (r == 0)
		r = hosts_allow(w, l, f);
	if (r < 0)
		return r;
	webauth_name(&w->auth, l->port);
	r = address_make(w, l, &w->address, f);
	if (r < 0)
		return r;
	w->want->listens(w->want->ctx, &w->address);
	r = loop_run(w, loop);
	return r < 0 ? fault_set(f, r, "the server cannot go on: %s", strerror(-r)) : 0;
}

int webserver_run(const struct web_want *want, struct fault *f)
{
	static struct web w; /* large */
	cleanup(loop_done) struct loop loop = {.signal_fd = -1, .until_fd = -1};
	cleanup(weblisten_done) struct weblisten l = {.fd = -1};
	w = (struct web){.want = want};
	(void)prctl(PR_SET_DUMPABLE, 0); /* tokens of another user's browser are in this memory */
	(void)prctl(PR_SET_NAME, "vigil"); /* started by its descriptor it would be called exe */
	int r = world_open(NULL, &w.world, f);
	if (r == 0)
		r = loop_open(want, &loop, f);
	if (r == 0)
		r = web_serve(&w, &l, &loop, f);
	webchild_free(&w);
	web_metrics_free(&w);
	w.httpd = httpd_stop(w.httpd);
	webask_free(&w);
	webprofiles_free(&w);
	web_act_free(&w);
	web_store_close(&w);
	web_healths_free(&w);
	w.lives = livefollows_free(w.lives);
	webstream_free(&w);
	return r;
}
