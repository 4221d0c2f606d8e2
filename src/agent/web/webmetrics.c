#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#include "agent/metrics/metricsgather.h"
#include "agent/web/web.h"
#include "agent/web/webchild.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "tell/metrics/metrics.h"

#define EVERY_NS (15 * NS_PER_S)
#define ROUND_NS (60 * NS_PER_S)

static bool facts_gather(const struct webcall *c, struct metrics_facts *ret)
{
	const struct metrics_want want = {.processes = false};
	struct fault f = {.text = ""};
	struct web *w = c->web;
	struct store *s = web_store(w);
	if (!s && w->store_error) {
		(void)web_store_or_fail(c);
		return false;
	}
	if (!w->metrics)
		w->metrics = metrics_memory_new();
	int r = w->metrics ? metrics_gather(w->metrics, s, &w->world, &want, ret, &f)
			   : fault_set(&f, -ENOMEM, "out of memory");
	if (r < 0)
		web_fail(c, 503, "io", "%s", f.text);
	return r >= 0;
}

void web_metrics(const struct webcall *c)
{
	struct metrics_facts facts = {.n_jobs = 0};
	enum metrics_form form = metrics_accept(c->request->accept);
	char *text = NULL;
	size_t len = 0;
	if (!facts_gather(c, &facts))
		return;
	int r = metrics_text(&facts, form, &text, &len);
	metrics_facts_done(&facts);
	if (r < 0)
		return web_fail(c, 503, "io", "out of memory");
	struct httpd_answer a = {.status = 200,
				 .type = metrics_content_type(form),
				 .text = text,
				 .fd = -1,
				 .len = len,
				 .header = {{"Cache-Control", "no-store"}},
				 .n_headers = 1};
	httpd_reply(c->request->call, &a);
}

/* ---- sent to a receiver: by a child a round, so that the server waits for no network ---- */

static void otlp_done(void *ctx, int wait_status, const char *said)
{
	struct web *w = ctx;
	bool fine = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
	const char *trouble = fine ? "" : said[0] ? said : "the round took too long, or ended without a word";
	w->otlp.running = false;
	if (strcmp(trouble, w->otlp.said) == 0)
		return;
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
	cleanup(closep) int out_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	const struct webchild_want how = {
		.argv = argv, .out_fd = out_fd, .limit_ns = ROUND_NS, .done = otlp_done, .ctx = w};
	/* too many children: the next round is soon enough */
	w->otlp.running = out_fd >= 0 && webchild_start(w, &how, &child) == 0;
}

int webmetrics_turn(struct web *w)
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
