/* The text forms: Prometheus' 0.0.4 and OpenMetrics 1.0. What differs between them is said at each place. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tell/metrics/metricset.h"

/* Labels of an exemplar may have this many characters, names and values together. */
#define EXEMPLAR_CHARACTERS 128

static void value_add(struct buf *b, double v)
{
	if (isnan(v))
		buf_add(b, "NaN");
	else if (isinf(v))
		buf_add(b, v > 0 ? "+Inf" : "-Inf");
	else if (fabs(v) < 9007199254740992.0 && trunc(v) == v)
		buf_printf(b, "%.0f", v);
	else {
		char text[32];
		TEXT_FORMAT(text, "%.15g", v);
		if (strtod(text, NULL) != v)
			TEXT_FORMAT(text, "%.17g", v);
		buf_add(b, text);
	}
}

/* quote: also '"', as in a label's value and in OpenMetrics' help. */
static void escaped_add(struct buf *b, const char *text, bool quote)
{
	for (const char *p = text; *p; p++) {
		if (*p == '\\')
			buf_add(b, "\\\\");
		else if (*p == '\n')
			buf_add(b, "\\n");
		else if (*p == '"' && quote)
			buf_add(b, "\\\"");
		else
			buf_add_n(b, p, 1);
	}
}

static void labels_add(struct buf *b, const struct metric_sample *m, const char *bound)
{
	if (m->n_labels == 0 && !bound)
		return;
	for (size_t i = 0; i < m->n_labels; i++) {
		buf_printf(b, "%s%s=\"", i ? "," : "{", m->label[i].name);
		escaped_add(b, m->label[i].value, true);
		buf_add(b, "\"");
	}
	if (bound)
		buf_printf(b, "%sle=\"%s\"", m->n_labels ? "," : "{", bound);
	buf_add(b, "}");
}

static void exemplar_add(struct buf *b, const struct metric_sample *m)
{
	static const char name[] = "incident_id";
	if (!m->incident || !m->incident[0] || sizeof(name) - 1 + strlen(m->incident) > EXEMPLAR_CHARACTERS)
		return;
	buf_printf(b, " # {%s=\"", name);
	escaped_add(b, m->incident, true);
	buf_add(b, "\"} 1");
	if (m->incident_unix_ms > 0)
		buf_printf(b, " %" PRId64 ".%03d", m->incident_unix_ms / 1000, (int)(m->incident_unix_ms % 1000));
}

static void sample_add(struct buf *b, const struct metric_family *f, const char *suffix, const struct metric_sample *m,
		       double value)
{
	buf_printf(b, "%s%s", f->name, suffix);
	labels_add(b, m, NULL);
	buf_add(b, " ");
	value_add(b, value);
}

static void histogram_add(struct buf *b, const struct metric_family *f, const struct metric_sample *m)
{
	const struct step_histogram *h = m->histogram;
	uint64_t sum = 0;
	for (size_t i = 0; i <= STEP_BUCKETS; i++) {
		char bound[32];
		double le = i < STEP_BUCKETS ? step_bounds_s[i] : INFINITY;
		struct buf text = BUF_ON(bound);
		buf_reset(&text);
		sum += h->bucket[i];
		if (i == STEP_BUCKETS)
			buf_add(&text, "+Inf");
		else /* OpenMetrics wants "1.0" for 1, and Prometheus reads both as one */
			buf_printf(&text, trunc(le) == le ? "%.1f" : "%g", le);
		buf_printf(b, "%s_bucket", f->name);
		labels_add(b, m, bound);
		buf_printf(b, " %" PRIu64 "\n", sum);
	}
	sample_add(b, f, "_sum", m, (double)h->sum_ns / 1e9);
	buf_add(b, "\n");
	sample_add(b, f, "_count", m, (double)h->count);
	buf_add(b, "\n");
}

/* What follows the family's name in the names of its samples. */
static const char *suffix_of(const struct metric_family *f)
{
	if (f->foreign)
		return "";
	return f->type == METRIC_COUNTER ? "_total" : f->type == METRIC_INFO ? "_info" : "";
}

static void head_add(struct buf *b, const struct metric_family *f, bool open)
{
	static const char *const plain[] = {"gauge", "counter", "gauge", "gauge", "histogram"};
	static const char *const full[] = {"gauge", "counter", "info", "stateset", "histogram"};
	/* OpenMetrics names the family, Prometheus the samples; a foreign counter's name is none of a counter there */
	const char *end = open ? "" : suffix_of(f);
	const char *type = !open ? plain[f->type] : f->foreign && f->type == METRIC_COUNTER ? "unknown" : full[f->type];
	buf_printf(b, "# HELP %s%s ", f->name, end);
	escaped_add(b, f->help, open);
	buf_printf(b, "\n# TYPE %s%s %s\n", f->name, end, type);
	if (open && f->unit[0])
		buf_printf(b, "# UNIT %s %s\n", f->name, f->unit);
}

void metrics_print(const struct metricset *s, bool open, struct buf *b)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct metric_family *f = &s->family[i];
		if (f->n == 0)
			continue;
		head_add(b, f, open);
		for (size_t k = 0; k < f->n; k++) {
			if (f->type == METRIC_HISTOGRAM) {
				histogram_add(b, f, &f->sample[k]);
				continue;
			}
			sample_add(b, f, suffix_of(f), &f->sample[k], f->sample[k].value);
			if (open && f->type == METRIC_COUNTER && !f->foreign)
				exemplar_add(b, &f->sample[k]);
			buf_add(b, "\n");
		}
	}
	if (open)
		buf_add(b, "# EOF\n");
}
