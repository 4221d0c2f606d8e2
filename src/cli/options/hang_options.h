/* The options of `run`, `watch` and `agent` about hangs. */
#pragma once

#include "agent/run/supervise.h"
#include "cli/options/option.h"
#include "sense/framework/progresspattern.h"

#define HANG_AFTER_BY_EVIDENCE UINT64_MAX /* --hang-after not given */

struct hang_options {
	uint64_t after; /* ns; 0: hangs are not detected */
	int rule; /* enum hang_rule */
	int on_hang; /* enum on_hang */
	int needs; /* enum hang_end_by */
	struct option_list progress;
};

extern const char *const hang_rule_choices[];
extern const char *const on_hang_choices[];
extern const char *const on_hang_needs_choices[];
extern const char *const on_adopted_hang_choices[]; /* without restart: vigil did not start the job */
#define ON_HANG_HELP                                                                                                   \
	"report it, kill the job (exit status 124), or restart it as --retries allows; what is not proved is "         \
	"reported only (see --on-hang-needs)"
#define ON_ADOPTED_HANG_HELP                                                                                           \
	"report it, or kill the job; what is not proved is reported only (see --on-hang-needs)"
#define ON_ADOPTED_HANG_WHY "vigil did not start this job and cannot start it again"

/* Check that a pattern of progress can be used. The fault says which character is wrong. */
int hang_progress_check(const char *item, struct fault *f);
/* Turn the options into settings. False: hangs are not detected. */
bool hang_settings_of(const struct hang_options *o, struct hang_settings *ret);

/*
 * Rows for an option table whose struct S holds a struct hang_options named `hang`. DEEDS: the choices of --on-hang;
 * DEEDS_HELP: its help; DEEDS_WHY: why a choice is missing, or NULL.
 */
#define HANG_OPTIONS(S, DEEDS, DEEDS_HELP, DEEDS_WHY)                                                                  \
	{.name = "hang-rule",                                                                                          \
	 .type = OPTION_CHOICE,                                                                                        \
	 .arg = "RULE",                                                                                                \
	 .help = "evidence: stacks, steps and counters of all ranks; io-gpu: no IO, then an unchanging GPU load",      \
	 .choices = hang_rule_choices,                                                                                 \
	 .offset = offsetof(S, hang.rule)},                                                                            \
	{.name = "hang-after",                                                                                         \
	 .type = OPTION_DURATION,                                                                                      \
	 .arg = "TIME",                                                                                                \
	 .help = "call it a hang when nothing has moved for this long, instead of by what is usual for the job; 0 "    \
		 "never; with --hang-rule io-gpu the minutes in MA_HANG_DETECT_TIME count, too, else 30m",             \
	 .offset = offsetof(S, hang.after),                                                                            \
	 .env = "MA_HANG_DETECT_TIME:m",                                                                               \
	 .env_if = HANG_RULE_IO_GPU,                                                                                   \
	 .env_if_offset = offsetof(S, hang.rule)},                                                                     \
	{.name = "on-hang",                                                                                            \
	 .type = OPTION_CHOICE,                                                                                        \
	 .arg = "DO",                                                                                                  \
	 .help = DEEDS_HELP,                                                                                           \
	 .choices = DEEDS,                                                                                             \
	 .choices_why = DEEDS_WHY,                                                                                     \
	 .offset = offsetof(S, hang.on_hang)},                                                                         \
	{.name = "on-hang-needs",                                                                                      \
	 .type = OPTION_CHOICE,                                                                                        \
	 .arg = "WHAT",                                                                                                \
	 .help = "what --on-hang acts on: a proof that the job cannot go on, or a verdict of high or of medium "       \
		 "confidence too",                                                                                     \
	 .choices = on_hang_needs_choices,                                                                             \
	 .offset = offsetof(S, hang.needs)},                                                                           \
	{.name = "progress-pattern",                                                                                   \
	 .type = OPTION_LIST,                                                                                          \
	 .arg = "REGEX",                                                                                               \
	 .help = "what progress looks like in the job's output, with (?<step>…), (?<total>…), (?<epoch>…), "           \
		 "(?<loss>…) as its named parts, beside the forms that are known; may be given several times",         \
	 .whole = true,                                                                                                \
	 .most = PROGRESS_PATTERNS,                                                                                    \
	 .check = hang_progress_check,                                                                                 \
	 .offset = offsetof(S, hang.progress)}

#define HANG_DEFAULTS {.after = HANG_AFTER_BY_EVIDENCE}
