/* Metrics that the server sends to a receiver: by a child a round, so that it waits for no network. */
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#include "agent/web/web.h"
#include "agent/web/webchild.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/buf.h"

#define EVERY_NS (15 * NS_PER_S)
#define ROUND_NS (60 * NS_PER_S)

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
