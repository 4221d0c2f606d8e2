/* "vigil.waits/1", docs/formats/waits.md. */
#include "base/buf.h"
#include "base/json.h"
#include "base/mask/mask.h"
#include "tell/stacks/waits_parts.h"

static struct js *fact_json(const struct waits_view *v, const struct waitfact *f)
{
	struct js *j = js_object(), *holders = js_array();
	js_put_text(j, "kind", waitfact_kind_name(f->kind));
	if (f->id)
		js_put_u64(j, "id", f->id);
	if (f->peer_id)
		js_put_u64(j, "peer_id", f->peer_id);
	if (f->to_write)
		js_put_bool(j, "to_write", true);
	js_put_bool(j, "complete", f->complete);
	if (f->owner)
		js_put_bool(j, "owner", true);
	if (f->owner_gone)
		js_put_bool(j, "owner_gone", true);
	if (f->left > 0)
		js_put_i64(j, "left", f->left);
	js_put_text_if(j, "text", f->text);
	for (uint32_t i = 0; i < f->n_holders; i++) {
		const struct waitfact_holder *h = &v->now->holder[f->first_holder + i];
		struct js *one = js_object();
		js_put_i64(one, "pid", h->pid);
		if (h->tid)
			js_put_i64(one, "tid", h->tid);
		js_add(holders, one);
	}
	js_put(j, "holders", holders);
	return j;
}

static struct js *waits_to_json(const struct waitgraph *g, const struct waits_arrow *a)
{
	const struct waitgraph_node *to = &g->node[a->edge->to];
	struct js *j = js_object();
	if (to->process)
		js_put_i64(j, "pid", to->process->pid);
	if (to->who && to->who->rank != NO_RANK)
		js_put_i64(j, "rank", to->who->rank);
	if (to->thread && a->n == 1)
		js_put_i64(j, "tid", to->thread->tid);
	if (a->n > 1)
		js_put_u64(j, "any_of", a->n);
	if (!to->process && to->fact)
		js_put_text_if(j, "text", to->fact->text);
	else if (!to->thread && to->process)
		js_put_text_if(j, "name", to->process->name);
	return j;
}

struct js *waits_arrow_json(const struct waitgraph *g, const struct waits_arrow *a)
{
	const struct waitgraph_edge *e = a->edge;
	struct js *j = js_object();
	js_put(j, "to", waits_to_json(g, a));
	js_put_text(j, "kind", waits_arrow_kind(e));
	if (e->fact && e->fact->id)
		js_put_u64(j, "id", e->fact->id);
	js_put_text(j, "quality", waitgraph_quality_name(e->quality));
	bool habit = e->hint && e->hint->kind == WAITHINT_USUAL;
	js_put_text(j, "source", habit ? "history" : e->fact ? "kernel" : "hint");
	if (e->fact)
		js_put_bool(j, "complete", e->fact->complete);
	js_put_text_if(j, "text", e->hint ? e->hint->text : e->fact ? e->fact->text : "");
	return j;
}

static struct js *hint_json(const struct waithint *h)
{
	static const char *const kinds[] = {
		[WAITHINT_OWNER] = "owner",	[WAITHINT_NOBODY] = "nobody", [WAITHINT_RANK] = "rank",
		[WAITHINT_FACT] = "connection", [WAITHINT_TEXT] = "text",     [WAITHINT_USUAL] = "usual",
		[WAITHINT_KEY] = "key",		[WAITHINT_CALL] = "call",     [WAITHINT_IDLE] = "idle",
		[WAITHINT_HANDLER] = "handler", [WAITHINT_WITHIN] = "within", [WAITHINT_RETRY] = "retry",
		[WAITHINT_TASK] = "task",	[WAITHINT_HAND] = "hand",     [WAITHINT_RESULT] = "result",
		[WAITHINT_SLEEPS] = "sleeps",	[WAITHINT_STREAM] = "stream",   [WAITHINT_CLOSED] = "closed",
		[WAITHINT_MEETS] = "meets",
	};
	struct js *j = js_object();
	js_put_text(j, "kind", (size_t)h->kind < ARRAY_SIZE(kinds) ? kinds[h->kind] : "text");
	js_put_bool(j, "proof", h->proof);
	js_put_text_if(j, "text", h->text);
	js_put_text_if(j, "owner_text", h->owner_text);
	if (h->limit_ns || h->left_ns)
		js_put_u64(j, "limit_ms", MAX(h->limit_ns, h->left_ns) / NS_PER_MS);
	return j;
}

static struct js *usual_json(const struct waithint *h)
{
	struct js *j = js_object();
	if (h->owner_tid) {
		js_put_i64(j, "pid", h->owner_pid);
		js_put_i64(j, "tid", h->owner_tid);
	}
	js_put_text(j, "text", h->text);
	return j;
}

static struct js *waits_thread_json(const struct waits_view *v, const struct waitgraph_node *n)
{
	const struct waitfact_thread *t = n->thread;
	struct js *j = js_object(), *waits = js_array(), *arrows = js_array();
	struct waits_arrow a;
	char what[600];
	waits_what(n, what, sizeof(what));
	js_put_i64(j, "tid", t->tid);
	if (t->goroutine)
		js_put_u64(j, "goroutine", t->goroutine);
	js_put_bool(j, "main", n->main);
	js_put_text(j, "does", waits_does(n));
	if (n->end != WAITEND_RUNS)
		js_put_text_if(j, "waiting_on", what);
	if (n->end != WAITEND_NONE)
		js_put_text(j, "end", waits_end_name(n->end));
	js_put_bool(j, "readable", t->readable);
	js_put_bool(j, "timed", n->timed);
	if (t->limit_ns)
		js_put_u64(j, "limit_ms", t->limit_ns / NS_PER_MS);
	js_put_bool(j, "dead", n->dead);
	if (t->nr >= 0)
		js_put_text_if(j, "syscall", syscall_name(t->nr));
	for (uint32_t i = 0; n->end != WAITEND_RUNS && i < t->n; i++)
		js_add(waits, fact_json(v, &v->now->fact[t->first + i]));
	js_put(j, "waits", waits);
	if (n->hint)
		js_put(j, "hint", hint_json(n->hint));
	if (n->usual)
		js_put(j, "usual", usual_json(n->usual));
	for (uint32_t at = 0; waits_arrow_next(v->graph, n, &at, &a);)
		js_add(arrows, waits_arrow_json(v->graph, &a));
	js_put(j, "arrows", arrows);
	return j;
}

/* A process of the job with its threads, which stand one after the other. Returns the node after the last one. */
static uint32_t waits_process_json(const struct waits_view *v, uint32_t first, struct js *to)
{
	const struct waitgraph *g = v->graph;
	const struct waitfact_process *p = g->node[first].process;
	const struct waitgraph_who *who = g->node[first].who;
	struct js *j = js_object(), *threads = js_array();
	char state[2] = {p->state, '\0'};
	uint32_t i = first;
	js_put_i64(j, "pid", p->pid);
	js_put_i64(j, "ppid", p->ppid);
	if (who && who->rank != NO_RANK)
		js_put_i64(j, "rank", who->rank);
	js_put_text_if(j, "role", who ? who->role : "");
	js_put_bool(j, "main", who && who->main);
	js_put_bool(j, "launcher", who && who->launcher);
	js_put_text_if(j, "name", p->name);
	js_put_text_if(j, "state", state);
	js_put_bool(j, "readable", p->readable);
	for (; i < g->n_nodes && g->node[i].thread && g->node[i].process == p; i++)
		js_add(threads, waits_thread_json(v, &g->node[i]));
	js_put(j, "threads", threads);
	js_add(to, j);
	return i;
}

static struct js *end_json(const struct waits_view *v, const struct waitgraph_sink *s)
{
	const struct waitgraph_node *n = &v->graph->node[s->node];
	struct js *j = js_object(), *ranks = js_array();
	char way[2048], who[240];
	waitgraph_way_text(v->graph, s, way, sizeof(way));
	waits_who(v->graph, s->node, WAITGRAPH_NONE, who, sizeof(who));
	js_put_text(j, "kind", waits_end_name(s->end));
	js_put_text(j, "text", waitgraph_end_text(s->end));
	js_put_text(j, "who", who);
	if (n->process)
		js_put_i64(j, "pid", n->process->pid);
	if (n->thread)
		js_put_i64(j, "tid", n->thread->tid);
	for (size_t i = 0; i < s->n_ranks; i++)
		js_add_i64(ranks, s->rank[i]);
	js_put(j, "ranks", ranks);
	js_put_u64(j, "threads", s->outside ? 0 : s->n_nodes);
	js_put_u64(j, "followers", s->n_followers);
	js_put_text(j, "quality", waitgraph_quality_name(s->quality));
	js_put_bool(j, "dead", s->dead);
	js_put_bool(j, "closed", s->closed);
	js_put_bool(j, "outside", s->outside);
	js_put_text_if(j, "way", way);
	return j;
}

/* Ends of side threads that nobody waits for are of no use: each idle thread of a pool is one. */
static bool is_of_use(const struct waitgraph_sink *s)
{
	return s->n_followers > 0 || s->of_main || s->dead;
}

struct js *waits_json(const struct waits_view *v)
{
	const struct waitgraph *g = v->graph;
	struct js *j = js_object(), *processes = js_array(), *ends = js_array();
	js_put_text(j, "schema", "vigil.waits/1");
	js_put_i64(j, "captured_unix_ms", v->captured_unix_ms);
	js_put_u64(j, "looks", g->one_look ? 1 : 2);
	if (!g->one_look)
		js_put_u64(j, "apart_ms", v->apart_ns / NS_PER_MS);
	js_put_u64(j, "took_us", v->took_ns / NS_PER_US);
	js_put_u64(j, "mains", g->n_mains);
	js_put_u64(j, "dead_threads", g->n_dead);
	js_put_bool(j, "complete", v->n_denied == 0 && !v->cut && !v->now->cut && !v->now->out_of_time);
	if (v->hints_late)
		js_put_bool(j, "hints_late", true);
	if (v->n_denied)
		js_put_u64(j, "denied", v->n_denied);
	if (v->now->unreadable)
		js_put_u64(j, "unreadable", v->now->unreadable);
	for (size_t i = 0; i < g->n_sinks; i++)
		if (is_of_use(&g->sink[i]))
			js_add(ends, end_json(v, &g->sink[i]));
	js_put(j, "ends", ends);
	for (uint32_t i = 0; i < g->n_nodes;)
		i = g->node[i].thread ? waits_process_json(v, i, processes) : i + 1;
	js_put(j, "processes", processes);
	js_change_texts(j, mask_text); /* names of files, tasks and threads are the program's */
	return j;
}
