#include "tell/metrics/metrics.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tell/metrics/metricset.h"

#define TEXT_FIRST_BYTES (64 * KIB)
#define TEXT_MOST_BYTES (256 * MIB)

const char *metrics_hang_name(enum metrics_hang h)
{
	static const char *const names[] = {
		[METRICS_WELL] = "well", [METRICS_SUSPECTED] = "suspected", [METRICS_STANDSTILL] = "standstill",
		[METRICS_HUNG] = "hung", [METRICS_STRAGGLER] = "straggler", [METRICS_SLOWDOWN] = "slowdown",
	};
	return names[h];
}

const char *metrics_content_type(enum metrics_form form)
{
	static const char *const types[] = {
		[METRICS_PROMETHEUS] = "text/plain; version=0.0.4; charset=utf-8",
		[METRICS_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
		[METRICS_OTLP_JSON] = "application/json",
	};
	return types[form];
}

enum metrics_form metrics_accept(const char *accept)
{
	return accept && strcasestr(accept, "application/openmetrics-text") ? METRICS_OPENMETRICS : METRICS_PROMETHEUS;
}

char *metrics_name(const char *text, char *dst, size_t cap)
{
	size_t n = 0;
	for (const char *p = text; *p && n + 1 < cap; p++)
		dst[n++] = isalnum((unsigned char)*p) || strchr("_.:@+-", *p) ? *p : '_';
	dst[n] = '\0';
	return n > 0 ? dst : text_copy(dst, cap, "unnamed");
}

const char *metrics_state_name(int state)
{
	return state == METRICS_STOPPED ? "stopped" : job_state_name((enum job_state)state);
}

void metrics_facts_done(struct metrics_facts *f)
{
	for (size_t i = 0; i < f->n_jobs; i++)
		free(f->job[i].rank);
	free(f->job);
	free(f->count);
	free(f->process);
	free(f->gpus);
	*f = (struct metrics_facts){.n_jobs = 0};
}

static int otlp_write(const struct metricset *s, const struct metrics_facts *f, struct buf *ret)
{
	cleanup(js_freep) struct js *all = metrics_otlp(s, f);
	cleanup(freep) char *text = js_text(all, 0);
	if (!text)
		return -ENOMEM;
	buf_add(ret, text);
	buf_add(ret, "\n");
	return 0;
}

int metrics_write(const struct metrics_facts *facts, enum metrics_form form, struct buf *ret)
{
	struct metricset *s = calloc(1, sizeof(*s));
	int r = 0;
	buf_reset(ret);
	if (!s)
		return -ENOMEM;
	metrics_of_jobs(s, facts);
	metrics_of_counts(s, facts);
	metrics_of_node(s, facts);
	metrics_of_gpus(s, facts);
	if (s->failed)
		r = -ENOMEM;
	else if (form == METRICS_OTLP_JSON)
		r = otlp_write(s, facts, ret);
	else
		metrics_print(s, form == METRICS_OPENMETRICS, ret);
	metricset_done(s);
	free(s);
	return r == 0 && ret->cut ? -ENOBUFS : r;
}

int metrics_text(const struct metrics_facts *facts, enum metrics_form form, char **ret, size_t *ret_len)
{
	for (size_t cap = TEXT_FIRST_BYTES; cap <= TEXT_MOST_BYTES; cap *= 4) {
		cleanup(freep) char *text = malloc(cap);
		struct buf b = {.text = text, .cap = cap};
		if (!text)
			return -ENOMEM;
		int r = metrics_write(facts, form, &b);
		if (r == -ENOBUFS)
			continue;
		if (r < 0)
			return r;
		*ret = take(&text);
		*ret_len = b.len;
		return 0;
	}
	return -EFBIG;
}
