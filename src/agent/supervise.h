/*
 * Runs a job and keeps watch over it: starts its ranks, passes their output
 * on, keeps the guard alive, finds out why an attempt died, retries it.
 * This is `vigil run`, whole; `vigil watch` is the same for a job that
 * somebody else started.
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

struct watch_spec {
	const char *name;         /* NULL: from the process or group */
	const char *state_dir;
	pid_t pid;                /* 0: by group */
	const char *cgroup;       /* relative to world->cgroup_fd; NULL: by pid */
	double threshold_ratio;
	bool has_min_free;
	uint64_t min_free_bytes, limit_bytes, grace_ns;
	enum victim_policy policy;
	bool freeze, protect, quiet, json;
};

/* Until the job ends or we are told to stop: 0; 4 no such process or group. */
int supervise_watch(const struct watch_spec *s, const struct world *w);
