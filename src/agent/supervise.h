/*
 * Runs a job and keeps watch over it: starts its ranks, passes their output
 * on, keeps the guard alive, finds out why an attempt died, retries it.
 * This is `vigil run`, whole. Jobs that somebody else started: agent/adopt.
 */
#pragma once

#include "judge/guard.h"
#include "judge/retry.h"
#include "judge/victim.h"
#include "base/base.h"
#include "sense/cgroup.h"
#include "sense/world.h"

struct run_spec {
	char *const *argv;        /* NULL-terminated command */
	const char *name;         /* NULL: from the command */
	const char *state_dir;
	uint32_t nproc;
	struct retry_settings retry;
	double threshold_ratio;
	bool has_min_free;
	uint64_t min_free_bytes;
	uint64_t limit_bytes;     /* CGROUP_NO_LIMIT */
	uint64_t grace_ns;
	enum victim_policy policy;
	bool freeze, protect, quiet, json;
	uint64_t summary_ns;      /* how often kills are summed up on stderr */
};

/* The exit status of `vigil run`. */
int supervise_run(const struct run_spec *s, const struct world *w);
