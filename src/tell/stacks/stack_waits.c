#include "tell/stacks/stack_waits.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mask/mask.h"
#include "model/jobs/role.h"
#include "tell/stacks/waits_parts.h"

#define TARGETS_SHOWN 3

static const struct waitgraph_node *node_told(const struct waitgraph *g, pid_t pid, pid_t tid)
{
	const struct waitgraph_node *n = g ? waitgraph_thread(g, pid, tid) : NULL;
	bool silent = !n || n->end == WAITEND_RUNS || n->end == WAITEND_CLOCK || n->end == WAITEND_UNKNOWN;
	return silent ? NULL : n;
}

/* "rank 2 (process 812)", "thread 1234", "one of 12 threads of rank 2" */
static void target_add(const struct waitgraph *g, uint32_t from, const struct waits_arrow *a, struct buf *b)
{
	const struct waitgraph_node *to = &g->node[a->edge->to];
	bool own = to->process && to->process == g->node[from].process;
	char who[240];
	if (own) {
		buf_printf(b, "%s %d", to->main ? "the main thread" : "thread", (int)to->thread->tid);
		return;
	}
	waits_who(g, a->edge->to, WAITGRAPH_NONE, who, sizeof(who));
	if (a->n > 1)
		buf_printf(b, "one of %u threads of ", (unsigned)a->n);
	buf_add(b, who);
	if (to->who && to->who->main && to->who->rank != NO_RANK)
		buf_printf(b, " (process %d)", (int)to->process->pid);
}

/* True for an arrow that only says that some other thread of the same process is meant. */
static bool says_little(const struct waitgraph *g, uint32_t from, const struct waits_arrow *a)
{
	const struct waitgraph_node *to = &g->node[a->edge->to];
	return a->n > 1 && to->process && to->process == g->node[from].process;
}

/* Returns how many were added. */
static size_t targets_add(const struct waitgraph *g, uint32_t from, struct buf *b)
{
	struct waits_arrow a;
	size_t n = 0;
	for (uint32_t at = 0; waits_arrow_next(g, &g->node[from], &at, &a);) {
		if (says_little(g, from, &a))
			continue;
		if (n < TARGETS_SHOWN) {
			buf_add(b, n ? ", " : a.edge->quality == WAITGRAPH_POSSIBLE ? "may wait for " : "waits for ");
			target_add(g, from, &a, b);
		}
		n++;
	}
	if (n > TARGETS_SHOWN)
		buf_printf(b, " and %zu more", n - TARGETS_SHOWN);
	return n;
}

void stack_waits_line(const struct waitgraph *g, pid_t pid, pid_t tid, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	const struct waitgraph_node *n = node_told(g, pid, tid);
	char what[600];
	buf_reset(&b);
	if (!n)
		return;
	waits_what(n, what, sizeof(what));
	if (targets_add(g, (uint32_t)(n - g->node), &b) > 0) {
		buf_printf(&b, "%s%s", what[0] ? ": " : "", what);
		if (n->hint && strncmp(n->hint->owner_text, "with ", 5) == 0)
			buf_printf(&b, ", held by %s", n->hint->owner_text);
	} else if (n->end == WAITEND_NOBODY || n->end == WAITEND_GONE) {
		buf_add(&b, what);
	}
}

struct js *stack_waits_json(const struct waitgraph *g, pid_t pid, pid_t tid)
{
	const struct waitgraph_node *n = node_told(g, pid, tid);
	char what[600];
	struct waits_arrow a;
	if (!n)
		return NULL;
	struct js *j = js_object(), *to = js_array();
	waits_what(n, what, sizeof(what));
	js_put_text_if(j, "text", what);
	if (n->end != WAITEND_NONE)
		js_put_text(j, "end", waits_end_name(n->end));
	if (n->timed)
		js_put_bool(j, "timed", true);
	if (n->hint)
		js_put_text_if(j, "owner_text", n->hint->owner_text);
	for (uint32_t at = 0; waits_arrow_next(g, n, &at, &a);)
		js_add(to, waits_arrow_json(g, &a));
	js_put(j, "to", to);
	js_change_texts(j, mask_text);
	return j;
}

const char *stack_waits_in(const struct waitgraph *g, pid_t pid, pid_t tid, const char *text)
{
	static const char lock[] = "futex: lock, condition variable or semaphore";
	const struct waitgraph_node *n = node_told(g, pid, tid);
	struct waits_arrow a;
	if (!n || strncmp(text, lock, strlen(lock)) != 0)
		return text;
	for (uint32_t at = 0; waits_arrow_next(g, n, &at, &a);)
		if (!says_little(g, (uint32_t)(n - g->node), &a))
			return lock;
	return text;
}
