#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "agent/host/world_open.h"
#include "agent/metrics/metricsfile.h"
#include "agent/metrics/metricsgather.h"
#include "agent/metrics/metricspush.h"
#include "base/clock.h"
#include "base/log.h"
#include "cli/options/commands.h"
#include "cli/screen/view.h"

struct metrics_options {
	int format;
	const char *textfile, *otlp, *token, *state;
	uint64_t watch_ns; /* 0: once */
	bool processes, gpus, insecure;
};

static const struct metrics_options defaults = {.watch_ns = 0};

static const char *const formats[] = {"prometheus", "openmetrics", "otlp", NULL};

static const struct option options[] = {
	{.name = "format",
	 .letter = 'f',
	 .type = OPTION_CHOICE,
	 .arg = "FORM",
	 .help = "what is printed",
	 .choices = formats,
	 .offset = offsetof(struct metrics_options, format)},
	{.name = "textfile",
	 .type = OPTION_TEXT,
	 .arg = "DIR",
	 .help = "write DIR/vigil.prom instead, for the textfile collector of node_exporter",
	 .offset = offsetof(struct metrics_options, textfile)},
	{.name = "otlp",
	 .type = OPTION_TEXT,
	 .arg = "URL",
	 .help = "send metrics and events to a receiver of OTLP/HTTP instead, as in http://127.0.0.1:4318",
	 .offset = offsetof(struct metrics_options, otlp)},
	{.name = "otlp-token",
	 .type = OPTION_TEXT,
	 .arg = "FILE",
	 .help = "with --otlp: a file with the token that the receiver asks for (Authorization: Bearer)",
	 .offset = offsetof(struct metrics_options, token)},
	{.name = "insecure",
	 .type = OPTION_FLAG,
	 .help = "with --otlp: http:// also to other machines",
	 .offset = offsetof(struct metrics_options, insecure)},
	{.name = "watch",
	 .letter = 'w',
	 .type = OPTION_DURATION,
	 .arg = "TIME",
	 .help = "do it again after this time (at least 1s), until it is ended",
	 .offset = offsetof(struct metrics_options, watch_ns)},
	{.name = "processes",
	 .type = OPTION_FLAG,
	 .help = "also the memory of each process of a job, with its pid; takes up to 4s",
	 .offset = offsetof(struct metrics_options, processes)},
	{.name = "gpus",
	 .type = OPTION_FLAG,
	 .help = "also the devices, under the names of dcgm-exporter; for nodes where that does not run",
	 .offset = offsetof(struct metrics_options, gpus)},
	OPTION_STATE(metrics_options),
	OPTION_END,
};

struct metrics_round {
	const struct metrics_options *o;
	struct world world;
	struct metrics_memory *memory; /* owned */
	struct metrics_receiver receiver;
	char said[512]; /* the last complaint: the same one again is not repeated */
	uint64_t rejected_said;
};

static int print_text(const struct metrics_facts *facts, enum metrics_form form, struct fault *f)
{
	cleanup(freep) char *text = NULL;
	size_t len;
	int r = metrics_text(facts, form, &text, &len);
	if (r < 0)
		return fault_set(f, r, "the metrics cannot be written: %s", strerror(-r));
	(void)fwrite(text, 1, len, stdout); /* main looks at stdout in the end */
	(void)fflush(stdout);
	return 0;
}

static int metrics_file(const struct metrics_facts *facts, const char *folder, struct fault *f)
{
	cleanup(freep) char *text = NULL;
	size_t len;
	int r = metrics_text(facts, METRICS_PROMETHEUS, &text, &len);
	return r < 0 ? fault_set(f, r, "the metrics cannot be written: %s", strerror(-r))
		     : metricsfile_write(folder, text, len, f);
}

static int metrics_push(struct metrics_round *m, struct store *store, const struct metrics_facts *facts,
			struct fault *f)
{
	int r = metricspush_metrics(&m->receiver, facts, f);
	if (r == 0 && store)
		r = metricspush_events(&m->receiver, store, facts->node, facts->now_unix_ms, f);
	if (m->receiver.rejected > m->rejected_said)
		log_warning("%s did not want %llu data points or records", m->receiver.url,
			    (unsigned long long)(m->receiver.rejected - m->rejected_said));
	m->rejected_said = m->receiver.rejected;
	return r;
}

static int metrics_status(int r)
{
	if (r == -EACCES || r == -EPERM)
		return EXIT_DENIED;
	return r == -EHOSTUNREACH ? EXIT_ENGINE : r < 0 ? EXIT_PROBLEM : 0;
}

/* Everything once. Returns an exit status; what went wrong has then been said, once while it stays the same. */
static int metrics_once(struct metrics_round *m)
{
	const struct metrics_options *o = m->o;
	const struct metrics_want want = {.processes = o->processes, .gpus = o->gpus};
	cleanup(view_done) struct view v = {.store = NULL};
	struct metrics_facts facts = {.n_jobs = 0};
	struct fault f = {.text = ""}, other = {.text = ""};
	int status = view_open(o->state, &v);
	if (status != 0)
		return status;
	int r = metrics_gather(m->memory, v.store, &m->world, &want, &facts, &f), e = 0;
	if (r == 0 && o->textfile)
		r = metrics_file(&facts, o->textfile, &f);
	if (r == 0 && !o->textfile && !o->otlp)
		r = print_text(&facts, (enum metrics_form)o->format, &f);
	if (o->otlp && f.text[0] == '\0')
		r = metrics_push(m, v.store, &facts, &f);
	else if (o->otlp && r != 0 && o->textfile)
		e = metrics_push(m, v.store, &facts, &other);
	metrics_facts_done(&facts);
	if (r < 0 && strcmp(m->said, f.text) != 0)
		log_error("%s", f.text);
	if (e < 0)
		log_error("%s", other.text);
	TEXT_COPY(m->said, r < 0 ? f.text : "");
	return metrics_status(r < 0 ? r : e);
}

static int options_check(const struct metrics_options *o)
{
	if (o->watch_ns > 0 && o->watch_ns < NS_PER_S) {
		log_error("--watch: at least 1s");
		return EXIT_USAGE;
	}
	if ((o->insecure || o->token) && !o->otlp) {
		log_error("%s says something about --otlp only; name the receiver with --otlp URL",
			  o->token ? "--otlp-token" : "--insecure");
		return EXIT_USAGE;
	}
	return 0;
}

static int metrics_begin(struct metrics_round *m)
{
	struct fault f = {.text = ""};
	cleanup(view_done) struct view v = {.store = NULL};
	int status = options_check(m->o);
	if (status == 0)
		status = view_open(m->o->state, &v); /* for the name of the state directory */
	if (status != 0)
		return status;
	int r = m->o->otlp ? metricspush_open(&m->receiver, m->o->otlp, m->o->insecure, v.state, &f) : 0;
	if (r == 0 && m->o->token)
		r = metricspush_token(&m->receiver, m->o->token, &f);
	if (r < 0) {
		log_error("%s", f.text);
		return EXIT_USAGE;
	}
	m->memory = metrics_memory_new();
	if (!m->memory || world_open(NULL, &m->world, &f) < 0) {
		log_error("%s", f.text[0] ? f.text : "no memory for metrics");
		return EXIT_PROBLEM;
	}
	return 0;
}

static int metrics_run(const void *opts, int argc, char **argv)
{
	/* Static: a thread that reads proportional sizes may outlive this function, and uses the world. */
	static struct metrics_round m;
	m.o = opts;
	int status = view_words("metrics", argc, argv, 0);
	if (status == 0)
		status = metrics_begin(&m);
	if (status != 0)
		return status;
	uint64_t next_ns = clock_mono_ns();
	do {
		status = metrics_once(&m);
		next_ns = MAX(next_ns + m.o->watch_ns, clock_mono_ns());
		uint64_t wait_ns = sub_floor(next_ns, clock_mono_ns());
		if (m.o->watch_ns > 0)
			(void)poll(NULL, 0, (int)MIN(wait_ns / NS_PER_MS + 1, UINT64_C(86400000)));
	} while (m.o->watch_ns > 0 && !ferror(stdout));
	m.memory = metrics_memory_free(m.memory);
	return status;
}

const struct command command_metrics = {
	.name = "metrics",
	.usage = "vigil metrics [OPTIONS]",
	.summary = "print or send metrics of jobs and node: Prometheus, OpenMetrics, OTLP",
	.about =
		"Prints what vigil knows as metrics: memory, processors and steps of each rank, whether a job hangs or "
		"who "
		"is slow, and how often what was ended by whom, the kernel included. Nothing is asked of the jobs: the "
		"numbers are those that their supervisors wrote down last, so it costs little and never waits for a "
		"job. "
		"Counters go on through restarts of vigil and through vigil jobs --forget.\n"
		"\n"
		"With --otlp, events go along as log records, each once. Dashboard, alerts and rules that give Ray's "
		"names are installed in share/vigil.\n",
	.examples = "vigil metrics\n"
		    "vigil metrics --textfile /var/lib/prometheus/node-exporter --watch 15s\n"
		    "vigil metrics --otlp http://127.0.0.1:4318 --watch 30s",
	.options = options,
	.options_size = sizeof(struct metrics_options),
	.defaults = &defaults,
	.run = metrics_run,
	.usage_status = EXIT_USAGE,
};
