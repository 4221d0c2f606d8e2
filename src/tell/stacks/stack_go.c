#include "tell/stacks/stack_go.h"

#include <inttypes.h>

#include "tell/stacks/stack_show_parts.h"
#include "tell/text/textout.h"

#define IDS_SHOWN 8

/* "Goroutine 1 (chan receive)", "3 goroutines 7, 9, 12 (waits)" */
static void group_head(const struct dump_goroutines *g, const struct stack_show *how, FILE *to)
{
	(void)fprintf(to, "  %s", stack_shade(how, "\033[36m"));
	if (g->n == 1)
		(void)fputs("Goroutine", to);
	else
		(void)fprintf(to, "%" PRIu64 " goroutines", g->n);
	(void)fputs(stack_shade(how, "\033[0m"), to);
	for (size_t i = 0; i < g->n_ids && i < IDS_SHOWN; i++)
		(void)fprintf(to, "%s %" PRIu64, i ? "," : "", g->ids[i]);
	if (g->n > IDS_SHOWN)
		(void)fprintf(to, " and %" PRIu64 " more", g->n - IDS_SHOWN);
	(void)fputs(": ", to);
	textout_put(to, g->wait[0] ? g->wait : g->state);
	(void)fputc('\n', to);
}

void stack_go_text(const struct dump_process *p, const struct stack_show *how, FILE *to)
{
	uint64_t hidden = 0;
	for (size_t i = 0; i < p->n_goroutines; i++) {
		const struct dump_goroutines *g = &p->goroutines[i];
		if (g->runtime && !how->all_threads) {
			hidden += g->n;
			continue;
		}
		group_head(g, how, to);
		for (size_t k = 0; k < g->n_frames; k++)
			stack_frame_text(&g->frames[k], how, to);
		if (g->cut)
			(void)fputs("      … (the outermost callers are not shown)\n", to);
	}
	if (hidden)
		(void)fprintf(to, "  %" PRIu64 " more %s of Go's own (--threads all shows %s)\n", hidden,
			      hidden == 1 ? "goroutine is one" : "goroutines are", hidden == 1 ? "it" : "them");
	if (p->n_unread)
		(void)fprintf(to, "  there are %" PRIu64 " more goroutines than are read\n", p->n_unread);
}

static struct js *group_json(const struct dump_goroutines *g)
{
	struct js *j = js_object(), *ids = js_array(), *frames = js_array();
	js_put_u64(j, "count", g->n);
	for (size_t i = 0; i < g->n_ids; i++)
		js_add_i64(ids, (int64_t)g->ids[i]);
	js_put(j, "ids", ids);
	js_put_text(j, "state", g->state);
	js_put_text_if(j, "waiting_on", g->wait);
	if (g->runtime)
		js_put_bool(j, "runtime", true);
	if (g->cut)
		js_put_bool(j, "cut", true);
	for (size_t i = 0; i < g->n_frames; i++)
		js_add(frames, stack_frame_json(&g->frames[i]));
	js_put(j, "frames", frames);
	return j;
}

struct js *stack_go_json(const struct dump_process *p)
{
	struct js *a = js_array();
	for (size_t i = 0; i < p->n_goroutines; i++)
		js_add(a, group_json(&p->goroutines[i]));
	return a;
}
