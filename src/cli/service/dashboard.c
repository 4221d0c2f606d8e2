#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "act/inherit.h"
#include "agent/incident/unstored.h"
#include "agent/web/webserver.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/foreign_path.h"
#include "base/heap.h"
#include "base/json.h"
#include "base/log.h"
#include "base/private.h"
#include "cli/options/commands.h"
#include "cli/options/state.h"
#include "cli/service/dashboard_ask.h"

struct dashboard_options {
	const char *listen;
	uint32_t port;
	struct option_list allow_host;
	const char *tls_cert, *tls_key;
	uint32_t until;
	const char *otlp, *otlp_token;
	bool open, json, insecure;
	const char *state;
};

static const struct option options[] = {
	{.name = "listen",
	 .type = OPTION_TEXT,
	 .arg = "ADDR:PORT|unix:PATH",
	 .help = "where to listen; not given: 127.0.0.1, port 9877 or the next that is free",
	 .offset = offsetof(struct dashboard_options, listen)},
	{.name = "port",
	 .type = OPTION_U32,
	 .arg = "N",
	 .help = "listen on this port of 127.0.0.1 and on no other; if a server of yours has it, print a new address "
		 "of that one",
	 .offset = offsetof(struct dashboard_options, port)},
	{.name = "allow-host",
	 .type = OPTION_LIST,
	 .arg = "NAME,…",
	 .most = WEB_HOSTS - 1,
	 .help = "further names that a browser may open the page by, as of a proxy in front of it",
	 .offset = offsetof(struct dashboard_options, allow_host)},
	{.name = "tls-cert",
	 .type = OPTION_TEXT,
	 .arg = "FILE",
	 .help = "certificate, PEM; needed to listen where other machines reach it",
	 .offset = offsetof(struct dashboard_options, tls_cert)},
	{.name = "tls-key",
	 .type = OPTION_TEXT,
	 .arg = "FILE",
	 .help = "its key, PEM",
	 .offset = offsetof(struct dashboard_options, tls_key)},
	{.name = "otlp",
	 .type = OPTION_TEXT,
	 .arg = "URL",
	 .help = "send metrics and events every 15s to a receiver of OTLP/HTTP, as in http://127.0.0.1:4318",
	 .offset = offsetof(struct dashboard_options, otlp)},
	{.name = "otlp-token",
	 .type = OPTION_TEXT,
	 .arg = "FILE",
	 .help = "with --otlp: a file with the token that the receiver asks for (Authorization: Bearer)",
	 .offset = offsetof(struct dashboard_options, otlp_token)},
	{.name = "insecure",
	 .type = OPTION_FLAG,
	 .help = "with --otlp: http:// also to other machines",
	 .offset = offsetof(struct dashboard_options, insecure)},
	{.name = "until",
	 .type = OPTION_U32,
	 .arg = "PID",
	 .help = "end when this process has ended; stderr is left alone once the address is printed",
	 .offset = offsetof(struct dashboard_options, until)},
	{.name = "open",
	 .type = OPTION_FLAG,
	 .help = "open the page in the browser (xdg-open), by a file that only you may read",
	 .offset = offsetof(struct dashboard_options, open)},
	{.name = "json",
	 .type = OPTION_FLAG,
	 .help = "print where it listens as JSON",
	 .offset = offsetof(struct dashboard_options, json)},
	OPTION_STATE(dashboard_options),
	OPTION_END,
};

struct dashboard {
	const struct dashboard_options *options;
	char state[256];
	char opening[300]; /* a page that leads to the address; empty: none */
};

static int open_store(void *ctx, struct store **ret, bool *ret_lent, struct fault *f)
{
	const struct dashboard *d = ctx;
	char note[256];
	int r = store_open(d->state, STORE_READ, ret, note, f);
	if (r == 0 || r == STORE_NONE)
		state_lend(d->options->state, ret);
	*ret_lent = *ret && (r == STORE_NONE || (geteuid() != 0 && !d->options->state));
	return *ret ? 0 : r;
}

/*
 * xdg-open goes by many variables (BROWSER, XDG_DATA_HOME and others) and starts programs by PATH; of root's only those
 * are left that it takes to reach a screen.
 */
static void browser_environment(void)
{
	static const char *const kept[] = {"DISPLAY",	      "XAUTHORITY", "WAYLAND_DISPLAY",
					   "XDG_RUNTIME_DIR", "TERM",	    "LANG"};
	static char text[ARRAY_SIZE(kept) + 2][PATH_MAX];
	static char *list[ARRAY_SIZE(kept) + 3];
	const char *home = foreign_environ_home();
	char path[PATH_MAX - sizeof("PATH=")];
	size_t n = 0;
	if (geteuid() != 0)
		return;
	foreign_environ_path(path, sizeof(path));
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		const char *value = getenv(kept[i]);
		if (value && text_format(text[n], PATH_MAX, "%s=%s", kept[i], value) < PATH_MAX)
			list[n] = text[n], n++;
	}
	TEXT_FORMAT(text[n], "PATH=%s", path);
	list[n] = text[n], n++;
	if (home && text_format(text[n], PATH_MAX, "HOME=%s", home) < PATH_MAX)
		list[n] = text[n];
	environ = list;
}

/*
 * The browser gets the name of a file that leads to the address: everybody may read the arguments of a program, and the
 * address lets in who opens it first. xdg-open may print and stay; it is none of ours from then on.
 */
static void browser_open(struct dashboard *d, const char *url)
{
	char page[512], program[PATH_MAX];
	if (!foreign_environ_find("xdg-open", program)) {
		log_warning("the browser is not opened: PATH has no xdg-open%s; open the address above",
			    geteuid() == 0 ? " in which no user has a say" : "");
		return;
	}
	TEXT_FORMAT(d->opening, "%s/open.html", d->state);
	const int len = text_format(page, sizeof(page),
				    "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=%s\">\n", url);
	const int r = file_replace(d->opening, page, (size_t)len, 0600);
	if (r < 0) {
		log_warning("the browser is not opened: %s cannot be written: %s; open the address above", d->opening,
			    strerror(-r));
		d->opening[0] = '\0';
		return;
	}
	pid_t pid = fork();
	if (pid != 0)
		return;
	sigset_t none;
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	inherit_undo();
	private_umask_undo();
	heap_huge_pages_undo();
	(void)freopen("/dev/null", "r+", stdin);
	browser_environment();
	execlp(program, "xdg-open", d->opening, (char *)NULL);
	_exit(127);
}

static void listens(void *ctx, const struct web_address *a)
{
	struct dashboard *d = ctx;
	if (d->options->json) {
		cleanup(js_freep) struct js *o = js_object();
		js_put_text(o, "schema", "vigil.dashboard/1");
		js_put_text(o, "url", a->url);
		js_put_text(o, a->is_unix ? "socket" : "address", a->plain);
		js_put_text(o, "token", a->token);
		js_put_bool(o, "token_kept", a->tokens_kept);
		js_put_text_if(o, "note", a->note);
		if (a->pid > 0)
			js_put_i64(o, "pid", a->pid);
		ignore(js_write(o, stdout, 0), "main looks at stdout in the end");
		(void)fflush(stdout);
	} else {
		if (a->note[0])
			log_info("%s", a->note);
		if (a->is_unix)
			log_info("the page is at the socket %s; forward it (ssh -L) and open it once with #code=%s",
				 a->plain, a->code);
		else
			log_info("the page is at %s", a->url);
	}
	if (d->options->open && !a->is_unix)
		browser_open(d, a->url);
	cleanup(closep) int null = d->options->until > 0 ? file_null() : -1;
	if (null >= 0) /* whoever reads the job's stderr to its end must not wait for us */
		(void)dup2(null, STDERR_FILENO);
}

/* Where a server of this user has the port, that one gives a new address; else the fault stays as it is. */
static int address_of_running(struct dashboard *d, int error, struct fault *f)
{
	static struct webauth auth;
	struct web_address a = {.url = ""};
	int r = dashboard_ask(d->state, d->options->port, &auth, &a, f);
	if (r != 0)
		return r < 0 ? r : error;
	listens(d, &a);
	d->opening[0] = '\0'; /* the browser may not have read it yet, and its code is good once */
	return 0;
}

static int dashboard_run(const void *opts, int argc, char **argv)
{
	const struct dashboard_options *o = opts;
	struct dashboard d = {.options = o};
	struct fault f = {.text = ""};
	if (argc > 0) {
		log_error("nothing is expected after the options, not '%s'; the page shows all jobs of the state "
			  "directory",
			  argv[0]);
		return EXIT_USAGE;
	}
	if (o->port > 65535 || (o->port > 0 && o->listen)) {
		log_error(o->listen ? "--port and --listen both say where to listen; give one of them"
				    : "--port: a number from 1 to 65535 is expected");
		return EXIT_USAGE;
	}
	if ((o->insecure || o->otlp_token) && !o->otlp) {
		log_error("%s says something about --otlp only; name the receiver with --otlp URL",
			  o->otlp_token ? "--otlp-token" : "--insecure");
		return EXIT_USAGE;
	}
	if (state_dir(o->state, d.state, sizeof(d.state), &f) < 0) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	state_warn(d.state);
	private_umask();
	ignore(private_state(d.state), "then the tokens are in memory, and the page says that there is no job");
	unstored_take_up(d.state, NULL);
	struct web_want want = {.state_dir = d.state,
				.state_given = o->state != NULL,
				.listen = o->listen,
				.port = o->port,
				.tls_cert = o->tls_cert,
				.tls_key = o->tls_key,
				.otlp = o->otlp,
				.otlp_token = o->otlp_token,
				.otlp_insecure = o->insecure,
				.until = (pid_t)o->until,
				.open_store = open_store,
				.listens = listens,
				.ctx = &d};
	for (size_t i = 0; i < o->allow_host.n && i < WEB_HOSTS - 1; i++)
		want.allow_host[i] = o->allow_host.item[i];
	int r = webserver_run(&want, &f);
	if (r == -EADDRINUSE && o->port > 0)
		r = address_of_running(&d, r, &f);
	if (d.opening[0])
		(void)unlink(d.opening);
	if (r < 0)
		log_error("%s", f.text);
	return r == -EINVAL ? EXIT_USAGE : r == -EACCES || r == -EPERM ? EXIT_DENIED : r < 0 ? EXIT_PROBLEM : 0;
}

const struct command command_dashboard = {
	.name = "dashboard",
	.usage = "vigil dashboard [--listen ADDR:PORT|unix:PATH] [--port N] [--open] [--json]",
	.summary = "serve a page that shows all of it live, for a browser",
	.about = "Serves the page and its JSON (docs/formats/api.md) until it is told to end (Ctrl-C), and prints the "
		 "address, which opens it in one browser: who opens it first sees what you see, and later it opens "
		 "nothing more. For another browser 'vigil dashboard --port N', with the port of the server that runs, "
		 "prints a new one. By itself it can be reached from this machine only; forward it with 'ssh -L "
		 "9877:127.0.0.1:9877 HOST'.\n\n"
		 "Tokens of three roles stand in the file web-tokens of the state directory, which only you may read: "
		 "viewer reads, operator also makes profiles, admin also sends signals to your jobs. The address is "
		 "an admin's. Remove the file and all of them, and all sessions, are void.\n\n"
		 "Where other machines reach it (--listen 0.0.0.0:9877), TLS is needed.",
	.examples = "vigil dashboard\n"
		    "vigil dashboard --port 8080 --open\n"
		    "vigil dashboard --listen unix:$XDG_RUNTIME_DIR/vigil.sock\n"
		    "vigil dashboard --listen 0.0.0.0:9877 --tls-cert host.pem --tls-key host.key --allow-host gpu7",
	.options = options,
	.options_size = sizeof(struct dashboard_options),
	.run = dashboard_run,
	.stays = true,
	.usage_status = EXIT_USAGE,
};
