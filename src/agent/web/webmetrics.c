#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "agent/host/world_open.h"
#include "agent/metrics/metricsgather.h"
#include "agent/web/web.h"
#include "agent/web/webchild.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "sense/fdpass.h"
#include "tell/metrics/metrics.h"

/*
 * Gathering metrics takes tens of milliseconds of processor time, in which the server's loop could serve nobody. So a
 * process of its own does it, forked at the first scrape: it stays, because what it has read of series files makes the
 * next scrape cheap. It is asked for one form at a time; those who ask for the same meanwhile share the answer.
 */

#define WAITING_MOST 64
#define LIMIT_NS (30 * NS_PER_S)
#define EVERY_NS (15 * NS_PER_S)
#define ROUND_NS (60 * NS_PER_S)
#define SAY_AGAIN_NS (10 * 60 * NS_PER_S) /* that nothing is sent, for another reason */

/* With the text as a descriptor where the status is 200. */
struct webmetrics_reply {
	int32_t status;
	char error[16];
	char said[512];
};

struct webmetrics {
	pid_t pid; /* 0: there is no helper */
	int fd; /* to it; -1 */
	bool busy;
	enum metrics_form form; /* that it was asked for last */
	uint64_t until_ns; /* busy: it is ended then */
	struct httpd_call *waiting[METRICS_OPENMETRICS + 1][WAITING_MOST];
	size_t n[METRICS_OPENMETRICS + 1];
};

/* ---- the helper ---- */

static int helper_fail(struct webmetrics_reply *r, const char *error, const char *text)
{
	r->status = 503;
	TEXT_COPY(r->error, error);
	TEXT_COPY(r->said, text);
	return -1;
}

/* A descriptor with the text, or -1 with an error. */
static int metrics_make(struct web *w, struct metrics_memory *m, enum metrics_form form, struct webmetrics_reply *r)
{
	const struct metrics_want want = {.processes = false};
	struct metrics_facts facts = {.n_jobs = 0};
	struct fault f = {.text = ""};
	cleanup(freep) char *text = NULL;
	size_t len = 0;
	struct store *s = web_store(w);
	if (!s && w->store_error)
		return helper_fail(r, "store", w->store_text);
	if (metrics_gather(m, s, &w->world, &want, &facts, &f) < 0)
		return helper_fail(r, "io", f.text);
	int e = metrics_text(&facts, form, &text, &len);
	metrics_facts_done(&facts);
	cleanup(closep) int fd = e < 0 ? -1 : memfd_create("metrics", MFD_CLOEXEC);
	if (fd < 0 || file_write_all(fd, text, len) < 0)
		return helper_fail(r, "io", "out of memory");
	r->status = 200;
	return take_fd(&fd);
}

/* Nothing of the server's is used here but its settings: it has other descriptors now. */
static _Noreturn void helper_main(struct web *w, int fd, pid_t parent)
{
	struct fault f = {.text = ""};
	const int keep = 3;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NAME, "vigil-metrics");
	(void)setsid(); /* the kernel's groups by session: else what else runs in this one takes its turn first */
	if (getppid() != parent || dup3(fd, keep, O_CLOEXEC) < 0)
		_exit(1);
	(void)syscall(SYS_close_range, (unsigned)keep + 1, ~0u, 0u);
	struct metrics_memory *m = metrics_memory_new();
	if (!m || world_open(NULL, &w->world, &f) < 0)
		_exit(1);
	for (;;) {
		struct webmetrics_reply reply = {.status = 0};
		char form;
		if (recv(keep, &form, 1, 0) != 1)
			_exit(0);
		cleanup(closep) int text_fd = metrics_make(w, m, (enum metrics_form)form, &reply);
		if (fdpass_send(keep, &reply, sizeof(reply), text_fd) < 0)
			_exit(1);
		/* The first answer takes longest. */
		(void)setpriority(PRIO_PROCESS, 0, MAX(getpriority(PRIO_PROCESS, 0), 5));
	}
}

static int helper_start(struct web *w, struct webmetrics *m)
{
	int pair[2];
	pid_t parent = getpid();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	/* SQLite shares what a process has open of one file: a child without those descriptors cannot open it. */
	web_store_close(w);
	pid_t pid = fork();
	if (pid == 0) {
		if (pair[1] == 3) /* dup3(2) wants two numbers */
			pair[1] = dup(pair[1]);
		helper_main(w, pair[1], parent);
	}
	closep(&pair[1]);
	if (pid < 0) {
		closep(&pair[0]);
		return -EAGAIN;
	}
	m->pid = pid;
	m->fd = pair[0];
	return 0;
}

static void helper_end(struct webmetrics *m)
{
	if (m->pid <= 0)
		return;
	(void)kill(m->pid, SIGKILL);
	(void)waitpid(m->pid, NULL, 0);
	closep(&m->fd);
	m->pid = 0;
	m->busy = false;
}

/* ---- the server ---- */

static struct webmetrics *webmetrics_get(struct web *w)
{
	if (!w->metrics && (w->metrics = calloc(1, sizeof(*w->metrics))))
		w->metrics->fd = -1;
	return w->metrics;
}

/* Ask for the form that somebody waits for. False: there is no helper, and there can be none. */
static bool helper_ask(struct web *w, struct webmetrics *m, enum metrics_form form)
{
	char byte = (char)form;
	if (m->pid == 0 && helper_start(w, m) < 0)
		return false;
	if (send(m->fd, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1) {
		helper_end(m);
		return false;
	}
	m->busy = true;
	m->form = form;
	m->until_ns = clock_mono_ns() + LIMIT_NS;
	return true;
}

static void metrics_answer(struct httpd_call *call, enum metrics_form form, int text_fd)
{
	struct stat st;
	int fd = dup(text_fd);
	struct httpd_answer a = {.status = 200,
				 .type = metrics_content_type(form),
				 .fd = fd,
				 .len = fd >= 0 && fstat(fd, &st) == 0 ? (size_t)st.st_size : 0,
				 .header = {{"Cache-Control", "no-store"}},
				 .n_headers = 1};
	if (fd < 0)
		return web_fail_later(call, 503, "busy", "too many files are open; ask again");
	httpd_reply(call, &a);
}

static void waiting_answer(struct webmetrics *m, const struct webmetrics_reply *r, int text_fd)
{
	size_t n = m->n[m->form];
	m->n[m->form] = 0;
	m->busy = false;
	for (size_t i = 0; i < n; i++) {
		struct httpd_call *call = m->waiting[m->form][i];
		if (r->status == 200 && text_fd >= 0)
			metrics_answer(call, m->form, text_fd);
		else
			web_fail_later(call, 503, r->error, r->said);
	}
}

static void waiting_fail(struct webmetrics *m)
{
	const struct webmetrics_reply r = {
		.status = 503, .error = "failed", .said = "the metrics took too long, or could not be made; ask again"};
	helper_end(m);
	for (int form = METRICS_PROMETHEUS; form <= METRICS_OPENMETRICS; form++) {
		m->form = (enum metrics_form)form;
		waiting_answer(m, &r, -1);
	}
}

static void next_ask(struct web *w, struct webmetrics *m)
{
	for (int form = METRICS_PROMETHEUS; !m->busy && form <= METRICS_OPENMETRICS; form++)
		if (m->n[form] > 0 && !helper_ask(w, m, (enum metrics_form)form))
			return waiting_fail(m);
}

void web_metrics(const struct webcall *c)
{
	struct webmetrics *m = webmetrics_get(c->web);
	enum metrics_form form = metrics_accept(c->request->accept);
	if (!m || form > METRICS_OPENMETRICS || m->n[form] == WAITING_MOST)
		return web_fail(c, 429, "busy", "%d ask for the metrics already; ask again in a moment", WAITING_MOST);
	m->waiting[form][m->n[form]++] = c->request->call;
	httpd_defer(c->request->call); /* the loop's next turn asks */
}

void web_metrics_gone(struct web *w, struct httpd_call *call)
{
	for (int form = METRICS_PROMETHEUS; w->metrics && form <= METRICS_OPENMETRICS; form++)
		for (size_t i = 0; i < w->metrics->n[form]; i++)
			if (w->metrics->waiting[form][i] == call)
				w->metrics->waiting[form][i--] = w->metrics->waiting[form][--w->metrics->n[form]];
}

int web_metrics_fd(const struct web *w)
{
	return w->metrics ? w->metrics->fd : -1;
}

int web_metrics_turn(struct web *w)
{
	struct webmetrics *m = w->metrics;
	struct webmetrics_reply r;
	int text_fd = -1;
	struct pollfd p = {.fd = m ? m->fd : -1, .events = POLLIN};
	if (!m)
		return -1;
	if (m->pid > 0 && poll(&p, 1, 0) > 0) {
		if (fdpass_receive(m->fd, &r, sizeof(r), &text_fd) < 0 || !m->busy)
			waiting_fail(m);
		else
			waiting_answer(m, &r, text_fd);
		closep(&text_fd);
	}
	next_ask(w, m);
	if (m->busy && clock_mono_ns() >= m->until_ns)
		waiting_fail(m);
	return m->busy ? (int)(sub_floor(m->until_ns, clock_mono_ns()) / NS_PER_MS) + 1 : -1;
}

void web_metrics_free(struct web *w)
{
	if (w->metrics)
		helper_end(w->metrics);
	free(w->metrics);
	w->metrics = NULL;
}

/* ---- sent to a receiver: by a child a round, so that the server waits for no network ---- */

static void otlp_done(void *ctx, int wait_status, const char *said)
{
	struct web *w = ctx;
	bool fine = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
	const char *trouble = fine ? "" : said[0] ? said : "the round took too long, or ended without a word";
	w->otlp.running = false;
	uint64_t now_ns = clock_mono_ns();
	/* one cause is told in several ways: whoever hangs up does so before, amid or after what is sent */
	bool soon = !fine && w->otlp.said[0] && now_ns - w->otlp.said_ns < SAY_AGAIN_NS;
	if (soon || strcmp(trouble, w->otlp.said) == 0)
		return;
	w->otlp.said_ns = now_ns;
	if (fine)
		log_info("metrics are sent to %s again", w->want->otlp);
	else
		log_warning("metrics are not sent: %s", trouble);
	TEXT_COPY(w->otlp.said, trouble);
}

static void otlp_start(struct web *w)
{
	const struct web_want *want = w->want;
	struct webchild *child;
	const char *argv[8] = {"metrics", "--otlp", want->otlp};
	size_t n = 3;
	if (want->otlp_token) {
		argv[n++] = "--otlp-token";
		argv[n++] = want->otlp_token;
	}
	if (want->otlp_insecure)
		argv[n++] = "--insecure";
	cleanup(closep) int out_fd = file_null();
	const struct webchild_want how = {
		.argv = argv, .out_fd = out_fd, .limit_ns = ROUND_NS, .background = true, .done = otlp_done, .ctx = w};
	/* too many children: the next round is soon enough */
	w->otlp.running = out_fd >= 0 && webchild_start(w, &how, &child) == 0;
}

int web_otlp_turn(struct web *w)
{
	uint64_t now_ns = clock_mono_ns();
	if (!w->want->otlp || w->otlp.running)
		return -1;
	if (now_ns >= w->otlp.next_ns) {
		w->otlp.next_ns = now_ns + EVERY_NS;
		otlp_start(w);
	}
	return (int)((w->otlp.next_ns - now_ns) / NS_PER_MS) + 1;
}
