/*
 * OTLP in JSON (opentelemetry-proto): lowerCamelCase keys, enums as numbers, 64-bit integers as texts. Counters and
 * histograms are cumulative.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tell/metrics/metricset.h"

#define CUMULATIVE 2 /* AGGREGATION_TEMPORALITY_CUMULATIVE */

static void put_time(struct js *o, const char *key, int64_t unix_ms)
{
	char text[32];
	TEXT_FORMAT(text, "%" PRId64 "000000", MAX(unix_ms, INT64_C(0)));
	js_put_text(o, key, unix_ms > 0 ? text : "0");
}

static struct js *text_value(const char *value)
{
	struct js *v = js_object();
	js_put_text(v, "stringValue", value);
	return v;
}

static void attribute(struct js *attributes, const char *key, const char *value)
{
	struct js *a = js_object();
	js_put_text(a, "key", key);
	js_put(a, "value", text_value(value));
	js_add(attributes, a);
}

static struct js *resource_of(const char *node)
{
	struct js *resource = js_object(), *attributes = js_array();
	attribute(attributes, "service.name", "vigil");
	attribute(attributes, "service.version", VIGIL_VERSION);
	attribute(attributes, "service.instance.id", node);
	attribute(attributes, "host.name", node);
	js_put(resource, "attributes", attributes);
	return resource;
}

static void put_number(struct js *attributes, const char *key, uint64_t value)
{
	struct js *a = js_object(), *v = js_object();
	char text[24];
	TEXT_FORMAT(text, "%" PRIu64, value);
	js_put_text(v, "intValue", text);
	js_put_text(a, "key", key);
	js_put(a, "value", v);
	js_add(attributes, a);
}

static struct js *scope(void)
{
	struct js *o = js_object();
	js_put_text(o, "name", "vigil");
	js_put_text(o, "version", VIGIL_VERSION);
	return o;
}

static void put_histogram(struct js *point, const struct step_histogram *h)
{
	struct js *counts = js_array(), *bounds = js_array();
	char text[32];
	TEXT_FORMAT(text, "%" PRIu64, h->count);
	js_put_text(point, "count", text);
	js_put_double(point, "sum", (double)h->sum_ns / 1e9);
	for (size_t i = 0; i <= STEP_BUCKETS; i++) {
		TEXT_FORMAT(text, "%" PRIu64, h->bucket[i]);
		js_add_text(counts, text);
	}
	for (size_t i = 0; i < STEP_BUCKETS; i++)
		js_add_double(bounds, step_bounds_s[i]);
	js_put(point, "bucketCounts", counts);
	js_put(point, "explicitBounds", bounds);
}

static struct js *point_of(const struct metric_sample *m, int64_t now_unix_ms)
{
	struct js *point = js_object(), *attributes = js_array();
	for (size_t i = 0; i < m->n_labels; i++)
		attribute(attributes, m->label[i].name, m->label[i].value);
	js_put(point, "attributes", attributes);
	put_time(point, "timeUnixNano", now_unix_ms);
	if (m->histogram)
		put_histogram(point, m->histogram);
	else if (trunc(m->value) == m->value && fabs(m->value) < 9e15) {
		char text[32];
		TEXT_FORMAT(text, "%.0f", m->value);
		js_put_text(point, "asInt", text);
	} else
		js_put_double(point, "asDouble", m->value);
	return point;
}

static struct js *metric_of(const struct metric_family *f, int64_t now_unix_ms)
{
	struct js *metric = js_object(), *data = js_object(), *points = js_array();
	char name[96];
	TEXT_FORMAT(name, "%s%s", f->name, f->type == METRIC_INFO ? "_info" : "");
	js_put_text(metric, "name", name);
	js_put_text(metric, "description", f->help);
	js_put_text(metric, "unit", strcmp(f->unit, "bytes") == 0 ? "By" : strcmp(f->unit, "seconds") == 0 ? "s" : "1");
	for (size_t i = 0; i < f->n; i++)
		if (isfinite(f->sample[i].value))
			js_add(points, point_of(&f->sample[i], now_unix_ms));
	js_put(data, "dataPoints", points);
	if (f->type == METRIC_COUNTER || f->type == METRIC_HISTOGRAM)
		js_put_i64(data, "aggregationTemporality", CUMULATIVE);
	if (f->type == METRIC_COUNTER)
		js_put_bool(data, "isMonotonic", true);
	js_put(metric, f->type == METRIC_COUNTER ? "sum" : f->type == METRIC_HISTOGRAM ? "histogram" : "gauge", data);
	return metric;
}

/* {outer: [{"resource": …, scopes: [{"scope": …, items: …}]}]} */
static struct js *enveloped(const char *outer, const char *scopes, const char *items, struct js *list, const char *node)
{
	struct js *all = js_object(), *resources = js_array(), *one = js_object(), *groups = js_array(),
		  *group = js_object();
	js_put(group, "scope", scope());
	js_put(group, items, list);
	js_add(groups, group);
	js_put(one, "resource", resource_of(node));
	js_put(one, scopes, groups);
	js_add(resources, one);
	js_put(all, outer, resources);
	return all;
}

struct js *metrics_otlp(const struct metricset *s, const struct metrics_facts *f)
{
	struct js *metrics = js_array();
	for (size_t i = 0; i < s->n; i++)
		if (s->family[i].n > 0)
			js_add(metrics, metric_of(&s->family[i], f->now_unix_ms));
	return enveloped("resourceMetrics", "scopeMetrics", "metrics", metrics, f->node);
}

/* ---- events as log records ---- */

/* Severity numbers of OTLP: INFO 9, WARN 13, ERROR 17. */
static int record_severity(const char *kind)
{
	static const char *const bad[] = {"kill", "oom",   "crash",	"error",    "hang", "died",	 "failed",
					  "full", "stuck", "straggler", "slowdown", "lost", "unkillable"};
	static const char *const odd[] = {"retry", "hold", "warning",	 "suspected", "broken", "left_",
					  "cut",   "gap",  "end_others", "signal",    "clock_set",  "absurd"};
	if (strcmp(kind, "hang_left") == 0)
		return 13;
	if (strcmp(kind, "hang_resolved") == 0 || strcmp(kind, "straggler_over") == 0)
		return 9;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (strstr(kind, bad[i]))
			return 17;
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		if (strstr(kind, odd[i]))
			return 13;
	return 9;
}

static struct js *record_of(const struct job_event *e, int64_t now_unix_ms)
{
	struct js *record = js_object(), *attributes = js_array();
	int severity = record_severity(e->kind);
	put_time(record, "timeUnixNano", e->time_unix_ms);
	put_time(record, "observedTimeUnixNano", now_unix_ms);
	js_put_i64(record, "severityNumber", severity);
	js_put_text(record, "severityText", severity == 17 ? "ERROR" : severity == 13 ? "WARN" : "INFO");
	js_put(record, "body", text_value(e->text));
	attribute(attributes, "event.name", e->kind);
	attribute(attributes, "vigil.job_id", e->job);
	put_number(attributes, "vigil.attempt", e->attempt);
	put_number(attributes, "vigil.seq", e->seq);
	if (e->incident[0])
		attribute(attributes, "vigil.incident_id", e->incident);
	js_put(record, "attributes", attributes);
	return record;
}

char *metrics_logs(const struct job_event *events, size_t n, const char *node, int64_t now_unix_ms)
{
	struct js *records = js_array();
	for (size_t i = 0; i < n; i++)
		js_add(records, record_of(&events[i], now_unix_ms));
	cleanup(js_freep) struct js *all = enveloped("resourceLogs", "scopeLogs", "logRecords", records, node);
	return js_text(all, 0);
}
