/* The options of `run`, `watch` and `agent` that say when the guard acts, and how. */
#pragma once

#include "agent/run/runspec.h"
#include "cli/options/hang_options.h"
#include "cli/options/option.h"
#include "sense/world.h"

struct guard_options {
	double memory_threshold;
	double warn_at;
	uint64_t min_free; /* 0: not given */
	uint64_t memory_limit; /* 0: none */
	uint64_t grace;
	int policy;
	struct option_list prefer, avoid;
	bool dry_run;
	bool freeze;
	bool protect;
	bool quiet;
	bool json;
	struct option_list notify;
	const char *state;
	uint64_t keep_jobs, keep_jobs_for; /* agent/jobs/retention */
	const char *name;
	const char *config; /* the one file that replaces the usual ones; NULL: these */
};

extern const char *const policy_choices[];

/* A pattern of --prefer or --avoid. -EINVAL with a sentence that begins with it when it is longer than one may be. */
int guard_pattern_check(const char *item, struct fault *f);

/*
 * Turn the options into the specification that supervise_run and adopt_run take. settings is filled if hangs are
 * detected, and borrowed by the result. State directory and channels are not set, because finding them can fail.
 */
struct watch_spec watch_spec_of(const struct guard_options *g, const struct hang_options *h, const char *rules,
				struct hang_settings *settings);

/* Forget what ended jobs left, if it is time. What goes wrong with that is no reason to fail: it is debug talk. */
void guard_options_sweep(const struct guard_options *g, const struct world *w, const char *state_dir);
/* For a vigil that stays: a process of its own does so from now on. */
void guard_options_stay(const struct guard_options *g, const struct world *w, const char *state_dir);

/* Rows for an option table whose struct S holds a struct guard_options named `guard`. */
#define GUARD_OPTIONS(S)                                                                                               \
	{.name = "name",                                                                                               \
	 .type = OPTION_TEXT,                                                                                          \
	 .arg = "N",                                                                                                   \
	 .help = "what to call the job",                                                                               \
	 .offset = offsetof(S, guard.name)},                                                                           \
	{.name = "memory-threshold",                                                                                   \
	 .type = OPTION_RATIO,                                                                                         \
	 .arg = "RATIO",                                                                                               \
	 .help = "act when this share of the machine's (or container's) memory is in use; 0 switches the guard off",   \
	 .offset = offsetof(S, guard.memory_threshold),                                                                \
	 .env = "RAY_memory_usage_threshold"},                                                                         \
	{.name = "warn-at",                                                                                            \
	 .type = OPTION_RATIO,                                                                                         \
	 .arg = "RATIO",                                                                                               \
	 .help = "tell once who grows and when memory will be full when this share of it is in use; 0 for never",      \
	 .offset = offsetof(S, guard.warn_at)},                                                                        \
	{.name = "min-free",                                                                                           \
	 .type = OPTION_SIZE,                                                                                          \
	 .arg = "SIZE",                                                                                                \
	 .help = "raise the threshold to all but this much, on large machines",                                        \
	 .offset = offsetof(S, guard.min_free),                                                                        \
	 .env = "RAY_min_memory_free_bytes"},                                                                          \
	{.name = "memory-limit",                                                                                       \
	 .type = OPTION_SIZE,                                                                                          \
	 .arg = "SIZE",                                                                                                \
	 .help = "a limit for this job alone",                                                                         \
	 .offset = offsetof(S, guard.memory_limit)},                                                                   \
	{.name = "policy",                                                                                             \
	 .type = OPTION_CHOICE,                                                                                        \
	 .arg = "P",                                                                                                   \
	 .help = "whom to end first",                                                                                  \
	 .choices = policy_choices,                                                                                    \
	 .offset = offsetof(S, guard.policy)},                                                                         \
	{.name = "prefer",                                                                                             \
	 .type = OPTION_LIST,                                                                                          \
	 .arg = "PATTERN",                                                                                             \
	 .help = "end processes like this first: a name, or command:, user: or rank: and a pattern; may be repeated",  \
	 .offset = offsetof(S, guard.prefer),                                                                          \
	 .check = guard_pattern_check},                                                                                \
	{.name = "avoid",                                                                                              \
	 .type = OPTION_LIST,                                                                                          \
	 .arg = "PATTERN",                                                                                             \
	 .help = "end processes like this only when no other is left",                                                 \
	 .offset = offsetof(S, guard.avoid),                                                                           \
	 .check = guard_pattern_check},                                                                                \
	{.name = "dry-run",                                                                                            \
	 .type = OPTION_FLAG,                                                                                          \
	 .help = "end nobody for memory: only tell whom it would be",                                                  \
	 .offset = offsetof(S, guard.dry_run)},                                                                        \
	{.name = "[no-]freeze",                                                                                        \
	 .type = OPTION_FLAG,                                                                                          \
	 .help = "stop the growing process first, decide after",                                                       \
	 .offset = offsetof(S, guard.freeze)},                                                                         \
	{.name = "grace",                                                                                              \
	 .type = OPTION_DURATION,                                                                                      \
	 .arg = "TIME",                                                                                                \
	 .help = "send SIGTERM first when memory will last at least twice this long; 0 for SIGKILL at once",           \
	 .offset = offsetof(S, guard.grace)},                                                                          \
	{.name = "protect",                                                                                            \
	 .type = OPTION_FLAG,                                                                                          \
	 .help = "keep the kernel's and systemd's killers away from the job",                                          \
	 .offset = offsetof(S, guard.protect)},                                                                        \
	{.name = "notify",                                                                                             \
	 .type = OPTION_LIST,                                                                                          \
	 .arg = "NAME,…",                                                                                              \
	 .help = "tell these channels of the configuration what happens, instead of its default ones; none for none",  \
	 .offset = offsetof(S, guard.notify)},                                                                         \
	{.name = "config",                                                                                             \
	 .type = OPTION_TEXT,                                                                                          \
	 .arg = "FILE",                                                                                                \
	 .help = "read this configuration and none of the usual files; see vigil config",                              \
	 .offset = offsetof(S, guard.config),                                                                          \
	 .no_key = true},                                                                                              \
	{.name = "state",                                                                                              \
	 .type = OPTION_TEXT,                                                                                          \
	 .arg = "DIR",                                                                                                 \
	 .help = "where jobs, logs and reports are kept",                                                              \
	 .offset = offsetof(S, guard.state)},                                                                          \
	{.name = "keep-jobs",                                                                                          \
	 .type = OPTION_SIZE,                                                                                          \
	 .arg = "SIZE",                                                                                                \
	 .help = "keep at most this much of what ended jobs left besides output; the oldest go first; 0 keeps all; "   \
		 "not given: 2G, or a twentieth of the disk where that is less",                                       \
	 .offset = offsetof(S, guard.keep_jobs)},                                                                      \
	{.name = "keep-jobs-for",                                                                                      \
	 .type = OPTION_DURATION,                                                                                      \
	 .arg = "TIME",                                                                                                \
	 .help = "forget jobs that ended longer ago; not given, or 0: never by their age alone",                       \
	 .offset = offsetof(S, guard.keep_jobs_for)},                                                                  \
	{.name = "quiet",                                                                                              \
	 .letter = 'q',                                                                                                \
	 .type = OPTION_FLAG,                                                                                          \
	 .help = "say only what went wrong",                                                                           \
	 .offset = offsetof(S, guard.quiet)},                                                                          \
	{.name = "json",                                                                                               \
	 .type = OPTION_FLAG,                                                                                          \
	 .help = "end with one vigil.job/1 object on stderr",                                                          \
	 .offset = offsetof(S, guard.json)}

#define GUARD_DEFAULTS                                                                                                 \
	{.memory_threshold = 0.95,                                                                                     \
	 .warn_at = 0.85,                                                                                              \
	 .grace = 2 * NS_PER_S,                                                                                        \
	 .keep_jobs = UINT64_MAX, /* not given */                                                                      \
	 .policy = POLICY_GROUP,                                                                                       \
	 .freeze = true}
