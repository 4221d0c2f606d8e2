#include "agent/web/webask.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "agent/web/webchild.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"

#define ASKS 16
#define RUNNING_MOST 4
#define WAITING_MOST 64
#define LIST_MOST (16 * MIB) /* of what a command prints a line each */

struct ask {
	struct web *web;
	char key[240], type[64], attachment[160], list_head[200];
	bool running, finds;
	int out_fd; /* -1: none */
	uint64_t done_ns, keep_ns;
	int status; /* HTTP; 200: the answer is in out_fd */
	char said[500];
	struct httpd_call *waiting[WAITING_MOST];
	size_t n;
};

struct webasks {
	struct ask of[ASKS];
};

static struct webasks *asks_get(struct web *w)
{
	if (w->asks)
		return w->asks;
	w->asks = calloc(1, sizeof(*w->asks));
	for (size_t i = 0; w->asks && i < ASKS; i++)
		w->asks->of[i].out_fd = -1;
	return w->asks;
}

static void ask_answer(const struct ask *a, struct httpd_call *call)
{
	char disposition[240];
	struct stat st;
	if (a->status != 200)
		return web_fail_later(call, a->status, a->status == 404 ? "absent" : "failed", a->said);
	int fd = dup(a->out_fd);
	struct httpd_answer answer = {.status = 200,
				      .type = a->type,
				      .fd = fd,
				      .len = fd >= 0 && fstat(fd, &st) == 0 ? (size_t)st.st_size : 0,
				      .header = {{"Cache-Control", "no-store"}},
				      .n_headers = 1};
	if (fd < 0)
		return web_fail_later(call, 503, "busy", "too many files are open; ask again");
	if (a->attachment[0]) {
		TEXT_FORMAT(disposition, "attachment; filename=\"%s\"", a->attachment);
		answer.header[answer.n_headers++] = (struct httpd_header){"Content-Disposition", disposition};
	}
	httpd_reply(call, &answer);
}

/* Makes one object of the lines that the command has printed. A negative errno. */
static int list_make(struct ask *a)
{
	cleanup(freep) char *text = NULL;
	size_t len = 0;
	int r = lseek(a->out_fd, 0, SEEK_SET) < 0 ? -errno : file_slurp_fd(a->out_fd, LIST_MOST, &text, &len);
	cleanup(closep) int fd = memfd_create("list", MFD_CLOEXEC);
	if (r < 0 || fd < 0)
		return r < 0 ? r : -errno;
	while (len > 0 && text[len - 1] == '\n')
		len--;
	for (size_t i = 0; i < len; i++)
		text[i] = text[i] == '\n' ? ',' : text[i];
	r = file_write_all(fd, a->list_head, strlen(a->list_head));
	if (r == 0)
		r = file_write_all(fd, text, len);
	if (r == 0)
		r = file_write_all(fd, "]}", 2);
	if (r == 0) {
		closep(&a->out_fd);
		a->out_fd = take_fd(&fd);
	}
	return r;
}

static void ask_done(void *ctx, int wait_status, const char *said)
{
	struct ask *a = ctx;
	struct stat st;
	int exit_status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
	bool some = fstat(a->out_fd, &st) == 0 && (st.st_size > 0 || a->list_head[0]);
	a->running = false;
	a->done_ns = clock_mono_ns();
	a->status = some && (exit_status == 0 || (a->finds && exit_status == 1)) ? 200
		    : exit_status == 4						 ? 404
		    : exit_status == 3						 ? 403
										 : 503;
	TEXT_COPY(a->said, said[0] ? said : "it took too long, or ended without an answer");
	if (a->status == 200 && a->list_head[0] && list_make(a) < 0)
		a->status = 503;
	for (size_t i = 0; i < a->n; i++)
		ask_answer(a, a->waiting[i]);
	a->n = 0;
}

static bool ask_start(struct ask *a, struct web *w, const struct webask *want)
{
	struct webchild *child;
	closep(&a->out_fd);
	*a = (struct ask){.web = w, .out_fd = memfd_create("answer", MFD_CLOEXEC), .finds = want->finds};
	TEXT_COPY(a->key, want->key);
	TEXT_COPY(a->type, want->type);
	TEXT_COPY(a->attachment, want->attachment ? want->attachment : "");
	TEXT_COPY(a->list_head, want->list_head ? want->list_head : "");
	a->keep_ns = want->keep_ns;
	const struct webchild_want how = {
		.argv = want->argv, .out_fd = a->out_fd, .limit_ns = want->limit_ns, .done = ask_done, .ctx = a};
	a->running = a->out_fd >= 0 && webchild_start(w, &how, &child) == 0;
	if (!a->running)
		a->key[0] = '\0';
	return a->running;
}

/* The same question, or a place for it; NULL: too much is asked at once. */
static struct ask *ask_find(struct webasks *all, const char *key, bool *ret_same)
{
	struct ask *place = NULL;
	size_t running = 0;
	uint64_t now_ns = clock_mono_ns();
	for (size_t i = 0; i < ASKS; i++) {
		struct ask *a = &all->of[i];
		*ret_same = strcmp(a->key, key) == 0 && (a->running || now_ns - a->done_ns <= a->keep_ns);
		if (*ret_same)
			return a;
		running += a->running;
		if (!a->running && (!place || a->done_ns < place->done_ns))
			place = a;
	}
	return running < RUNNING_MOST ? place : NULL;
}

void webask(const struct webcall *c, const struct webask *want)
{
	struct webasks *all = asks_get(c->web);
	bool same = false;
	struct ask *a = all ? ask_find(all, want->key, &same) : NULL;
	if (a && same && !a->running)
		return ask_answer(a, c->request->call);
	if (!a || (same && a->n == WAITING_MOST) || (!same && !ask_start(a, c->web, want)))
		return web_fail(c, 429, "busy", "the server looks into %d things already; ask again in a moment",
				RUNNING_MOST);
	a->waiting[a->n++] = c->request->call;
	httpd_defer(c->request->call);
}

void webask_gone(struct web *w, struct httpd_call *call)
{
	for (size_t i = 0; w->asks && i < ASKS; i++) {
		struct ask *a = &w->asks->of[i];
		for (size_t k = 0; k < a->n; k++)
			if (a->waiting[k] == call)
				a->waiting[k--] = a->waiting[--a->n];
	}
}

void webask_free(struct web *w)
{
	for (size_t i = 0; w->asks && i < ASKS; i++)
		closep(&w->asks->of[i].out_fd);
	free(w->asks);
	w->asks = NULL;
}

/* ---- handlers ---- */

#define JSON "application/json"

void web_doctor(const struct webcall *c)
{
	static const char *const argv[] = {"doctor", "--json", NULL};
	webask(c, &(struct webask){.key = "doctor",
				   .argv = argv,
				   .type = JSON,
				   .limit_ns = 60 * NS_PER_S,
				   .keep_ns = 30 * NS_PER_S,
				   .finds = true});
}

void web_node(const struct webcall *c)
{
	static const char *const argv[] = {"mem", "--json", "--devices", NULL};
	webask(c,
	       &(struct webask){
		       .key = "node", .argv = argv, .type = JSON, .limit_ns = 60 * NS_PER_S, .keep_ns = 2 * NS_PER_S});
}

/* A command about the job of the path: "waits --json JOB". */
static void job_ask(const struct webcall *c, const char *command, const char *const *more, bool runs)
{
	struct job j;
	char key[200];
	const char *argv[8] = {command};
	size_t n = 1;
	if (!web_job(c, &j))
		return;
	if (runs && !job_is_open(&j))
		return web_fail(c, 409, "ended", "job %s has ended; that can be seen while it runs", j.id);
	for (size_t i = 0; more[i] && n < 6; i++)
		argv[n++] = more[i];
	argv[n++] = j.id;
	TEXT_FORMAT(key, "%s %s", command, j.id);
	webask(c, &(struct webask){
			  .key = key, .argv = argv, .type = JSON, .limit_ns = 60 * NS_PER_S, .keep_ns = 2 * NS_PER_S});
}

/* Curves thinned, or of a part of the time: what a picture needs. Without a parameter all there is, for a file. */
void web_timeline(const struct webcall *c)
{
	struct fault f = {.text = ""};
	struct job j;
	uint64_t from, to, points;
	char key[200], text[3][24];
	int r = weburl_u64(&c->url, "from", 0, 1, INT64_MAX, &from, &f);
	if (r == 0)
		r = weburl_u64(&c->url, "to", 0, 1, INT64_MAX, &to, &f);
	if (r == 0)
		r = weburl_u64(&c->url, "points", 0, 2, 2000, &points, &f);
	if (r == 0 && to != 0 && to < from)
		r = fault_set(&f, -EINVAL, "to is before from");
	if (r < 0)
		return web_fault(c, &f);
	if (!web_job(c, &j))
		return;
	const char *argv[12] = {"timeline", "-o", "-"};
	const struct {
		const char *option;
		uint64_t v;
	} given[] = {{"--from", from}, {"--to", to}, {"--points", points}};
	size_t n = 3;
	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		if (given[i].v == 0)
			continue;
		TEXT_FORMAT(text[i], "%llu", (unsigned long long)given[i].v);
		argv[n++] = given[i].option;
		argv[n++] = text[i];
	}
	argv[n] = j.id;
	TEXT_FORMAT(key, "timeline %s %llu %llu %llu", j.id, (unsigned long long)from, (unsigned long long)to,
		    (unsigned long long)points);
	webask(c, &(struct webask){
			  .key = key, .argv = argv, .type = JSON, .limit_ns = 60 * NS_PER_S, .keep_ns = 2 * NS_PER_S});
}

/* What runs of the job, its workers too, and the main processes that ended. */
void web_processes_now(const struct webcall *c, const struct job *j)
{
	char key[200], head[200];
	const char *const argv[] = {"ps", "--json", "--all", j->id, NULL};
	TEXT_FORMAT(key, "ps %s", j->id);
	TEXT_FORMAT(head, "{\"schema\": \"vigil.processes/1\", \"job\": \"%s\", \"processes\": [", j->id);
	webask(c, &(struct webask){.key = key,
				   .argv = argv,
				   .type = JSON,
				   .limit_ns = 60 * NS_PER_S,
				   .keep_ns = 1 * NS_PER_S,
				   .list_head = head});
}

void web_waits(const struct webcall *c)
{
	job_ask(c, "waits", (const char *const[]){"--json", NULL}, true);
}

void web_stacks(const struct webcall *c)
{
	job_ask(c, "stack", (const char *const[]){"--json", NULL}, true);
}

/* ---- Ray's routes: the same parameters, asked of vigil ---- */

struct ray {
	uint64_t pid, duration;
	bool native;
};

static bool ray_parse(const struct webcall *c, uint64_t duration, struct ray *r)
{
	struct fault f = {.text = ""};
	int e = weburl_u64(&c->url, "pid", 0, 1, INT32_MAX, &r->pid, &f);
	if (e == 0 && r->pid == 0)
		e = fault_set(&f, -EINVAL, "pid: the number of a process is expected");
	if (e == 0)
		e = weburl_u64(&c->url, "duration", duration, 1, 600, &r->duration, &f);
	if (e == 0)
		e = weburl_flag(&c->url, "native", &r->native, &f);
	if (e < 0) {
		web_fault(c, &f);
		return false;
	}
	if (weburl_get(&c->url, "ip") || weburl_get(&c->url, "node_id")) {
		web_fail(c, 400, "bad_request",
			 "ip, node_id: this server looks into processes of its own machine only");
		return false;
	}
	return web_may_look(c, (pid_t)r->pid);
}

void web_ray_traceback(const struct webcall *c)
{
	struct ray r;
	char pid[16], key[80];
	if (!ray_parse(c, 5, &r))
		return;
	TEXT_FORMAT(pid, "%llu", (unsigned long long)r.pid);
	TEXT_FORMAT(key, "traceback %s %d", pid, r.native);
	const char *argv[] = {"stack", pid, r.native ? "--native" : NULL, NULL};
	webask(c, &(struct webask){.key = key,
				   .argv = argv,
				   .type = "text/plain; charset=utf-8",
				   .limit_ns = 60 * NS_PER_S,
				   .keep_ns = 1 * NS_PER_S});
}

void web_ray_cpu(const struct webcall *c)
{
	static const char *const formats[] = {"flamegraph", "speedscope", "raw", NULL};
	static const char *const ours[] = {"svg", "speedscope", "folded"};
	static const char *const types[] = {"image/svg+xml", JSON, "text/plain; charset=utf-8"};
	struct fault f = {.text = ""};
	struct ray r;
	size_t format;
	char pid[16], seconds[16], key[120];
	if (weburl_choice(&c->url, "format", formats, 0, &format, &f) < 0)
		return web_fault(c, &f);
	if (!ray_parse(c, 5, &r))
		return;
	TEXT_FORMAT(pid, "%llu", (unsigned long long)r.pid);
	TEXT_FORMAT(seconds, "%llus", (unsigned long long)r.duration);
	TEXT_FORMAT(key, "cpu %s %s %s %d", pid, seconds, ours[format], r.native);
	const char *argv[] = {"flame", pid, "-d", seconds, "-f", ours[format], "-o", "-", r.native ? "--native" : NULL,
			      NULL};
	webask(c, &(struct webask){.key = key,
				   .argv = argv,
				   .type = types[format],
				   .limit_ns = (r.duration + 60) * NS_PER_S,
				   .keep_ns = 1 * NS_PER_S});
}

void web_ray_memory(const struct webcall *c)
{
	static const char *const formats[] = {"flamegraph", "table", NULL};
	static const char *const ours[] = {"html", "table"};
	struct fault f = {.text = ""};
	struct ray r;
	size_t format;
	bool leaks, allocators;
	char pid[16], seconds[16], key[120];
	if (weburl_choice(&c->url, "format", formats, 0, &format, &f) < 0 ||
	    weburl_flag(&c->url, "leaks", &leaks, &f) < 0 ||
	    weburl_flag(&c->url, "trace_python_allocators", &allocators, &f) < 0)
		return web_fault(c, &f);
	if (!ray_parse(c, 10, &r))
		return;
	TEXT_FORMAT(pid, "%llu", (unsigned long long)r.pid);
	TEXT_FORMAT(seconds, "%llus", (unsigned long long)r.duration);
	TEXT_FORMAT(key, "memory %s %s %s %d", pid, seconds, ours[format], leaks);
	/* what grows is seen in any process; leaks are told by a heap profile, which is made now if there is none */
	const char *leak[] = {"heap",  pid,  "--attach",    "-d", seconds, "-w",
			      "leaks", "-f", ours[format], "-o", "-",	  NULL};
	const char *growth[] = {"heap", pid, "-w", "growth", "-d", seconds, "-f", ours[format], "-o", "-", NULL};
	webask(c, &(struct webask){.key = key,
				   .argv = leaks ? leak : growth,
				   .type = format == 0 ? "text/html; charset=utf-8" : "text/plain; charset=utf-8",
				   .limit_ns = (r.duration + 60) * NS_PER_S,
				   .keep_ns = 1 * NS_PER_S,
				   .attachment = format == 0 ? "heap.html" : NULL});
}
