#include "tell/stacks/calls_show.h"

#include <string.h>

#include "model/incident/incident.h" /* NO_RANK */

static void numbers(struct js *j, bool sampled, uint64_t n_calls, uint64_t n_primitive, double own_s,
		    double cumulative_s)
{
	js_put_u64(j, sampled ? "samples" : "n_calls", n_calls);
	js_put_u64(j, sampled ? "own_samples" : "n_primitive_calls", n_primitive);
	js_put_double(j, "own_s", own_s);
	js_put_double(j, "cumulative_s", cumulative_s);
}

static void name(struct js *j, const struct call_function *f)
{
	js_put_text(j, "file", f->file);
	js_put_i64(j, "line", f->line);
	js_put_text(j, "name", f->name);
}

static struct js *callers(const struct calls *c, const struct call_function *f)
{
	struct js *all = js_array();
	for (size_t i = 0; i < f->n_edges; i++) {
		const struct call_edge *e = &f->edges[i];
		struct js *j = js_object();
		name(j, calls_get(c, e->caller));
		numbers(j, calls_sampled(c), e->n_calls, e->n_primitive, e->own_s, e->cumulative_s);
		js_add(all, j);
	}
	return all;
}

static struct js *spread(const struct calls *c, const struct call_function *f)
{
	const struct call_spread s = calls_spread(c, f);
	struct js *j = js_object();
	js_put_u64(j, "parts", f->n_parts);
	js_put_double(j, "min_s", s.min_s);
	js_put_double(j, "mean_s", s.mean_s);
	js_put_double(j, "max_s", s.max_s);
	js_put_double(j, "stddev_s", s.stddev_s);
	if (s.max_rank != NO_RANK)
		js_put_i64(j, "max_rank", s.max_rank);
	return j;
}

static struct js *function(const struct calls *c, const struct call_function *f)
{
	struct js *j = js_object();
	name(j, f);
	numbers(j, calls_sampled(c), f->n_calls, f->n_primitive, f->own_s, f->cumulative_s);
	if (calls_parts(c) > 1)
		js_put(j, "spread", spread(c, f));
	js_put(j, "callers", callers(c, f));
	return j;
}

static struct js *source(const struct call_source *s)
{
	struct js *j = js_object();
	if (s->has_profile)
		js_put_text(j, "path", s->path);
	if (s->rank != NO_RANK)
		js_put_i64(j, "rank", s->rank);
	if (s->pid)
		js_put_i64(j, "pid", s->pid);
	js_put_text_if(j, "role", s->role);
	js_put_text_if(j, "process", s->process);
	js_put_text_if(j, "python", s->python);
	js_put_text_if(j, "command", s->command);
	if (s->started_unix_ms)
		js_put_i64(j, "started_unix_ms", s->started_unix_ms);
	if (s->has_note) {
		js_put_bool(j, "complete", s->complete);
		js_put_bool(j, "threads_mixed", s->threads_mixed);
	}
	js_put_text_if(j, "aside", s->aside);
	js_put_text_if(j, "fault", s->fault);
	return j;
}

struct js *calls_json(const struct calls *c, const struct calls_want *want)
{
	cleanup(freep) uint32_t *order = NULL;
	if (calls_sorted(c, want->sort, &order) < 0)
		return NULL;
	const struct calls_sum sum = calls_total(c);
	struct js *j = js_object(), *functions = js_array(), *sources = js_array();
	js_put_text(j, "schema", "vigil.calls/1");
	js_put_text_if(j, "subject", want->title);
	js_put_bool(j, "sampled", calls_sampled(c));
	js_put_u64(j, calls_sampled(c) ? "samples" : "n_calls", calls_sampled(c) ? sum.n_primitive : sum.n_calls);
	if (!calls_sampled(c))
		js_put_u64(j, "n_primitive_calls", sum.n_primitive);
	js_put_double(j, "own_s", sum.own_s);
	js_put_u64(j, "parts", calls_parts(c));
	for (size_t i = 0; want->sources && i < want->sources->n; i++)
		js_add(sources, source(&want->sources->items[i]));
	js_put(j, "processes", sources);
	size_t shown = 0, all = 0;
	for (size_t i = 0; i < calls_len(c); i++) {
		const struct call_function *f = calls_get(c, order[i]);
		if (!call_function_is_counted(f))
			continue;
		all++;
		if (want->limit && shown >= want->limit)
			continue;
		js_add(functions, function(c, f));
		shown++;
	}
	js_put_u64(j, "n_functions", all);
	js_put(j, "functions", functions);
	return j;
}
