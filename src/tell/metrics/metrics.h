/*
 * What vigil knows of its jobs and of the machine, as metrics: the text forms of Prometheus and OpenMetrics, and OTLP
 * in JSON. Names, labels and bounds: docs/formats/metrics.md. Pure: facts in, text out. The facts are filled by
 * agent/metrics/metricsgather.
 *
 * Bytes are bytes, times unix milliseconds. What is not known gives no sample. No label holds a pid (but those of
 * `processes`, which are only there when asked for) or free text: what users named is cut to letters that are safe.
 */
#pragma once

#include "base/base.h"
#include "base/buf.h"
#include "base/fault.h"
#include "model/gpu/gpuview.h"
#include "model/jobs/job.h"
#include "model/jobs/steptimes.h"

#define METRICS_JOBS 256 /* newest first; more are counted and left out */
#define METRICS_RANKS 65
#define METRICS_COUNTS 200 /* combinations of labels of one counter; what comes later is counted as "other" */
#define METRICS_PROCESSES 4096
#define METRICS_PROFILES 4 /* kinds of profiles */

enum metrics_form { METRICS_PROMETHEUS, METRICS_OPENMETRICS, METRICS_OTLP_JSON };

/* The states of vigil_hang_state. */
enum metrics_hang {
	METRICS_WELL,
	METRICS_SUSPECTED, /* it stands still, and evidence is gathered */
	METRICS_STANDSTILL, /* it stands still for a harmless reason */
	METRICS_HUNG,
	METRICS_STRAGGLER,
	METRICS_SLOWDOWN,
	METRICS_HANG_MAX,
};

struct metrics_rank {
	int32_t rank; /* NO_RANK: processes without one */
	bool has_use, has_io, has_step, has_total;
	uint32_t processes;
	uint64_t cpu_ns; /* this and the bytes read and written: sums since the job began */
	uint64_t own_bytes, rss_bytes;
	uint64_t read_bytes, written_bytes;
	uint64_t step, total;
	int64_t moved_unix_ms; /* when the step last changed */
	double slower_ratio; /* how much slower than the others, as the last report has it; 0: no report stands */
};

/* Processes of vigil itself that serve a job. */
enum metrics_own { METRICS_SUPERVISOR, METRICS_HELPERS, METRICS_OWN_MAX };
struct metrics_self {
	bool known;
	uint64_t cpu_ns, rss_bytes;
};

struct metrics_job {
	struct job job;
	int64_t sampled_unix_ms; /* of the ranks' use; 0: not sampled */
	uint64_t group_bytes; /* memory of its control group; 0: unknown */
	double threshold_ratio; /* of its guard; 0: unknown */
	char framework[80]; /* "pytorch+ray"; "": none that is known */
	struct metrics_profiles {
		const char *kind; /* static; NULL: no more */
		uint64_t n, took_ns;
	} profiles[METRICS_PROFILES];
	enum metrics_hang hang;
	struct metrics_rank *rank; /* owned */
	uint32_t n_ranks;
	struct step_histogram steps;
	struct metrics_self self[METRICS_OWN_MAX];
};

/* The states of a job and, behind them, that of a failed one that its user stopped. */
enum { METRICS_STOPPED = JOB_STATE_MAX, METRICS_STATES };
const char *metrics_state_name(int state);

enum metrics_what { METRICS_KILLS, METRICS_INCIDENTS, METRICS_RETRIES, METRICS_ENDED, METRICS_WHAT_MAX };
/* A counter over all jobs that the store has or had. label: see metrics.md. */
enum { METRICS_COUNT_LABELS = 4 };

struct metrics_count {
	enum metrics_what what;
	char label[METRICS_COUNT_LABELS][64];
	uint64_t n;
	char incident[64]; /* the newest one that was counted; empty: none is kept */
	int64_t time_unix_ms;
};

struct metrics_process {
	char job[64], role[16], name[32];
	pid_t pid;
	int32_t rank;
	uint64_t own_bytes, rss_bytes, shared_bytes, swap_bytes, pss_bytes;
	bool has_pss;
};

struct metrics_facts {
	char node[80];
	int64_t now_unix_ms;
	bool has_store, has_node, has_container;
	uint64_t node_used_bytes, node_total_bytes;
	uint64_t container_used_bytes,
		container_total_bytes; /* of the limited control group around us that is fullest */
	struct metrics_job *job; /* newest first; owned */
	size_t n_jobs, jobs_left_out;
	uint64_t jobs_in_state[METRICS_STATES];
	struct metrics_count *count; /* owned */
	size_t n_counts;
	struct metrics_process *process; /* owned */
	size_t n_processes, processes_left_out;
	struct gpuview *gpus; /* owned; NULL: not asked for */
};

void metrics_facts_done(struct metrics_facts *f);

/* 0; -ENOBUFS: ret is too small, and its text is cut; -ENOMEM. */
int must_check metrics_write(const struct metrics_facts *facts, enum metrics_form form, struct buf *ret);
/* The same into malloc'ed text of any length. */
int must_check metrics_text(const struct metrics_facts *facts, enum metrics_form form, char **ret, size_t *ret_len);
/* "text/plain; version=0.0.4; charset=utf-8" and the like. Prometheus 3 refuses an answer without it. */
const char *metrics_content_type(enum metrics_form form);
const char *metrics_hang_name(enum metrics_hang h);
/* The form that an Accept header asks for: OpenMetrics where it is named, else Prometheus. NULL: none. */
enum metrics_form metrics_accept(const char *accept);

/* Safe as the value of a label: letters, digits and "_.:@+-" stay, others become '_'; "unnamed" if nothing is left. */
char *metrics_name(const char *text, char *dst, size_t cap);
/* ExportLogsServiceRequest of OTLP in JSON: each event is one record. malloc'ed; NULL: no memory. */
char *metrics_logs(const struct job_event *events, size_t n, const char *node, int64_t now_unix_ms);
