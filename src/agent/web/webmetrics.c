#include "agent/metrics/metricsgather.h"
#include "agent/web/web.h"
#include "tell/metrics/metrics.h"

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
