#include "tell/stacks/calls_show.h"

#include <string.h>

#include "model/incident/incident.h" /* NO_RANK */

static uint64_t calls_json_read_u64(const struct js *o, const char *key)
{
	return (uint64_t)MAX(js_get_i64(o, key, 0), INT64_C(0));
}

static struct pstats_number number_read(const struct js *o, bool sampled)
{
	return (struct pstats_number){
		.n_primitive = calls_json_read_u64(o, sampled ? "own_samples" : "n_primitive_calls"),
		.n_calls = calls_json_read_u64(o, sampled ? "samples" : "n_calls"),
		.own_s = js_get_double(o, "own_s", 0),
		.cumulative_s = js_get_double(o, "cumulative_s", 0)};
}

static int calls_json_read_name(struct calls *c, const struct js *o, uint32_t *ret)
{
	int64_t line = js_get_i64(o, "line", 0);
	int32_t fits = line >= 0 && line <= INT32_MAX ? (int32_t)line : 0;
	return calls_function(c, js_get_text(o, "file", "~"), fits, js_get_text(o, "name", "?"), ret);
}

static uint32_t parts_read(const struct js *o)
{
	return (uint32_t)MIN(calls_json_read_u64(o, "parts"), (uint64_t)UINT32_MAX);
}

/* After the one part that the numbers were read as has ended. */
static int spread_read(struct calls *c, const struct js *o)
{
	const struct js *s = js_get(o, "spread");
	uint32_t f;
	int64_t rank = js_get_i64(s, "max_rank", NO_RANK);
	const struct call_spread told = {.min_s = js_get_double(s, "min_s", 0),
					 .mean_s = js_get_double(s, "mean_s", 0),
					 .max_s = js_get_double(s, "max_s", 0),
					 .stddev_s = js_get_double(s, "stddev_s", 0),
					 .max_rank = rank >= 0 && rank <= INT32_MAX ? (int32_t)rank : NO_RANK};
	int r = s ? calls_json_read_name(c, o, &f) : 0;
	if (s && r == 0)
		calls_told_spread(c, f, parts_read(s), &told);
	return r;
}

static int function_read(struct calls *c, const struct js *o, bool sampled)
{
	const struct js *callers = js_get(o, "callers");
	const struct pstats_number n = number_read(o, sampled);
	uint32_t f;
	int r = calls_json_read_name(c, o, &f);
	if (r < 0)
		return r;
	calls_count(c, f, &n);
	for (size_t i = 0; r == 0 && i < js_len(callers); i++) {
		const struct pstats_number e = number_read(js_at(callers, i), sampled);
		struct call_edge edge = {.n_calls = e.n_calls,
					 .n_primitive = e.n_primitive,
					 .own_s = e.own_s,
					 .cumulative_s = e.cumulative_s};
		r = calls_json_read_name(c, js_at(callers, i), &edge.caller);
		r = r < 0 ? r : calls_edge(c, f, &edge);
	}
	return r;
}

int calls_json_read(const char *text, size_t len, struct calls **ret, struct fault *f)
{
	cleanup(js_freep) struct js *j = NULL;
	cleanup(calls_freep) struct calls *c = calls_new();
	if (!c)
		return -ENOMEM;
	int r = js_parse(text, len, &j, f);
	if (r < 0)
		return r;
	const char *schema = js_get_text(j, "schema", "");
	if (strcmp(schema, "vigil.calls/1") != 0)
		return fault_set(f, -EBADMSG, "its schema is '%.60s', expected 'vigil.calls/1'", schema);
	bool sampled = js_get_bool(j, "sampled", false);
	const struct js *functions = js_get(j, "functions");
	if (sampled)
		calls_set_sampled(c);
	for (size_t i = 0; r == 0 && i < js_len(functions); i++)
		r = function_read(c, js_at(functions, i), sampled);
	if (r < 0)
		return r;
	calls_part_end(c, NO_RANK);
	calls_told_parts(c, parts_read(j));
	for (size_t i = 0; r == 0 && i < js_len(functions); i++)
		r = spread_read(c, js_at(functions, i));
	if (r < 0)
		return r;
	*ret = take(&c);
	return 0;
}
