/*
 * Runs a job and keeps watch over it: starts its ranks, passes their output
 * on, keeps the guard alive, finds out why an attempt died, retries it.
 * This is `vigil run`, whole. Jobs that somebody else started: agent/run/adopt.
 */
#pragma once

#include "judge/memory/guard.h"
#include "judge/hang/hang.h"
#include "judge/death/retry.h"
#include "judge/memory/victim.h"
#include "model/notify/channel.h"
#include "base/base.h"
#include "sense/memory/cgroup.h"
#include "sense/world.h"

enum on_hang { ON_HANG_REPORT, ON_HANG_KILL, ON_HANG_RESTART };

struct run_spec {
	char *const *argv;        /* NULL-terminated command */
	const char *name;         /* NULL: from the command */
	const char *state_dir;
	const struct channels *channels; /* that are told of incidents; NULL: none */
	uint32_t nproc;
	struct retry_settings retry;
	double threshold_ratio;
	bool has_min_free;
	uint64_t min_free_bytes;
	uint64_t limit_bytes;     /* CGROUP_NO_LIMIT */
	uint64_t grace_ns;
	enum victim_policy policy;
	bool freeze, protect, quiet, json;
	const char *rules;        /* the user's files of rules, with ',' between; NULL none */
	bool calls;               /* each Python process counts its calls */
	bool heap;                /* each process leaves a heap profile */
	uint64_t heap_rate_bytes; /* mean distance of samples; 0: dormant */
	bool heap_objects;
	bool collectives;         /* NCCL loads the plugin that records its calls */
	const struct hang_settings *hang; /* NULL: nobody looks for hangs */
	const char *const *progress; /* patterns of progress, checked */
	size_t n_progress;
	enum on_hang on_hang;
	uint64_t summary_ns;      /* how often kills are summed up on stderr */
};

/* The exit status of `vigil run`. */
int supervise_run(const struct run_spec *s, const struct world *w);
