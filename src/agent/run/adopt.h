/*
 * Watches over jobs that somebody else started: `vigil watch` for one,
 * `vigil agent` for all that match. Same guard, same reports; what cannot be
 * had from outside (the exit status of somebody else's child, output that goes to no file) is
 * not made up.
 */
#pragma once

#include "base/base.h"
#include "agent/run/supervise.h"
#include "judge/memory/victim.h"
#include "model/notify/channel.h"
#include "sense/world.h"

enum adopt_kind { ADOPT_PID, ADOPT_CGROUP, ADOPT_COMMAND };

struct adopt_target {
	enum adopt_kind kind;
	pid_t pid;
	const char *text; /* cgroup below the cgroup mount, or a piece of the command line */
};

struct adopt_spec {
	const struct adopt_target *target;
	size_t n_targets;
	bool service;     /* agent: stay when nothing matches, look for new matches, notify systemd */
	const char *name; /* of a single job; NULL: from the process or group */
	const char *state_dir;
	const char *rules; /* the user's files of rules, with ',' between; NULL none */
	const struct channels *channels; /* that are told of incidents; NULL: none */
	double threshold_ratio;
	bool has_min_free;
	uint64_t min_free_bytes, limit_bytes, grace_ns;
	enum victim_policy policy;
	bool freeze, protect, quiet, json;
	const struct hang_settings *hang; /* NULL: nobody looks for hangs */
	const char *const *progress; /* patterns of progress, checked */
	size_t n_progress;
	enum on_hang on_hang; /* report or kill: what somebody else started cannot be started again */
};

/* Exit status: 0 the job ended or we were told to stop; 3 not permitted; 4 no such process or group. */
int adopt_run(const struct adopt_spec *s, const struct world *w);
