/*
 * What a person asked of `vigil run`, and what `run`, `watch` and `agent` have in common. Plain data made by cli,
 * borrowed for the whole run.
 */
#pragma once

#include "base/base.h"
#include "judge/death/retry.h"
#include "judge/hang/hang.h"
#include "judge/memory/guard.h"
#include "judge/memory/victim.h"
#include "model/notify/channel.h"
#include "sense/memory/cgroup.h"

enum on_hang { ON_HANG_REPORT, ON_HANG_KILL, ON_HANG_RESTART };

/* When the guard acts, and on whom. */
struct guard_spec {
	double threshold_ratio;
	double warn_ratio; /* 0: no early warning */
	bool has_min_free;
	uint64_t min_free_bytes;
	uint64_t limit_bytes; /* CGROUP_NO_LIMIT */
	uint64_t grace_ns;
	const char *const *prefer, *const *avoid; /* patterns (model/memory/wish) */
	size_t n_prefer, n_avoid;
	bool dry_run; /* end nobody */
	enum victim_policy policy;
	bool freeze;
};

/* What both loops are told. */
struct watch_spec {
	const char *name; /* of a single job; NULL: from its command, process or group */
	const char *state_dir;
	const char *rules; /* the user's rule files, separated by ','; NULL: none */
	const struct channels *channels; /* channels for notices; NULL: none */
	struct guard_spec guard;
	const struct hang_settings *hang; /* NULL: hangs are not looked for */
	const char *const *progress; /* patterns of progress lines, checked */
	size_t n_progress;
	enum on_hang on_hang; /* an adopted job cannot be restarted */
	bool protect, quiet, json;
};

struct run_spec {
	struct watch_spec watch;
	char *const *argv; /* NULL-terminated command */
	uint32_t nproc; /* 0: one process without a rank */
	struct retry_settings retry;
	bool calls; /* each Python process counts its calls */
	bool heap; /* each process leaves a heap profile */
	uint64_t heap_rate_bytes; /* mean distance of samples; 0: dormant */
	bool heap_objects;
	bool collectives; /* NCCL loads the plugin that records its calls */
	uint64_t keep_bytes; /* kept output of this job; 0: no limit */
	uint64_t keep_all_bytes; /* of all jobs; 0: no limit, UINT64_MAX: by the disk (agent/jobs/keptoutput) */
	const char *const *env; /* "NAME=value" for each rank; n_env of them */
	size_t n_env;
	uint64_t summary_ns; /* how often kills are summed up on stderr */
};
