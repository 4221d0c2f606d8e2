/*
 * Metrics between facts and text: families with their samples. Names and help are static text; values of labels are
 * copied. Lack of memory is remembered in `failed` and said once, by the writers.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "tell/metrics/metrics.h"

#define METRICSET_FAMILIES 80
#define METRICSET_LABELS 6

enum metric_type { METRIC_GAUGE, METRIC_COUNTER, METRIC_INFO, METRIC_STATESET, METRIC_HISTOGRAM };

struct metric_label {
	const char *name, *value;
};

struct metric_sample {
	struct metric_label label[METRICSET_LABELS];
	size_t n_labels;
	double value;
	const struct step_histogram *histogram; /* borrowed from the facts; of METRIC_HISTOGRAM only */
	const char *incident; /* exemplar: the newest incident of a counter; NULL: none */
	int64_t incident_unix_ms;
};

struct metric_family {
	const char *name; /* without "_total" and "_info" */
	const char *help;
	const char *unit; /* "bytes", "seconds", "ratio", with which the name ends; "" for none */
	enum metric_type type;
	bool foreign; /* a name of another exporter: printed as it is, also where OpenMetrics would add to it */
	struct metric_sample *sample; /* owned */
	size_t n, cap;
};

struct metricset {
	struct arena arena;
	struct metric_family family[METRICSET_FAMILIES];
	size_t n;
	struct metric_sample spare; /* takes what has no room */
	bool failed;
};

struct metric_family *metricset_family(struct metricset *s, enum metric_type type, const char *name, const char *unit,
				       const char *help);
/* The sample is valid until the next one is added. */
struct metric_sample *metricset_add(struct metricset *s, struct metric_family *f, double value);
void metricset_label(struct metricset *s, struct metric_sample *m, const char *name, const char *value);
void metricset_done(struct metricset *s);

/* Facts to families. */
void metrics_of_jobs(struct metricset *s, const struct metrics_facts *f);
void metrics_of_node(struct metricset *s, const struct metrics_facts *f);
void metrics_of_counts(struct metricset *s, const struct metrics_facts *f);
void metrics_of_gpus(struct metricset *s, const struct metrics_facts *f);
/* Families to text. */
void metrics_print(const struct metricset *s, bool open, struct buf *b);
/* Owned by the caller. */
struct js *metrics_otlp(const struct metricset *s, const struct metrics_facts *f);
