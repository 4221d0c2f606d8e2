/*
 * The commands of vigil, one file each, in the room of what it is about (cli/<room>/<name>.c). A new one takes a line
 * here, a line in the table of cli/main.c and a line in cli/meson.build.
 */
#pragma once

#include "cli/options/option.h"

extern const struct command command_agent;
extern const struct command command_calls;
extern const struct command command_collectives;
extern const struct command command_config;
extern const struct command command_dashboard;
extern const struct command command_doctor;
extern const struct command command_events;
extern const struct command command_flame;
extern const struct command command_heap;
extern const struct command command_gpus;
extern const struct command command_help;
extern const struct command command_jobs;
extern const struct command command_logs;
extern const struct command command_map;
extern const struct command command_mem;
extern const struct command command_metrics;
extern const struct command command_notify;
extern const struct command command_protect;
extern const struct command command_ps;
extern const struct command command_rules;
extern const struct command command_run;
extern const struct command command_show;
extern const struct command command_report;
extern const struct command command_timeline;
extern const struct command command_stack;
extern const struct command command_top;
extern const struct command command_version;
extern const struct command command_waits;
extern const struct command command_watch;
extern const struct command command_why;

/* All commands in the order of `vigil help`; ends with NULL. Defined in cli/main.c. */
extern const struct command *const commands[];

/* The command of that name; NULL if there is none. */
const struct command *command_find(const char *name);
/* Log "unknown command …; did you mean …". */
void command_unknown(const char *name);

/* Exit statuses of the commands that only read. */
enum {
	EXIT_PROBLEM = 1,
	EXIT_USAGE = 2,
	EXIT_DENIED = 3,
	EXIT_ABSENT = 4,
	EXIT_ENGINE = 5,
};

/* Rows of an option table that many commands share. */
#define OPTION_STATE(st)                                                                                    \
	{.name = "state", .type = OPTION_TEXT, .arg = "DIR", .help = "directory of the store and the logs", \
	 .offset = offsetof(struct st, state), .env = "VIGIL_STATE"}
#define OPTION_JSON(st)                                                              \
	{.name = "json", .type = OPTION_FLAG, .help = "print JSON, one object a line", \
	 .offset = offsetof(struct st, json)}
#define OPTION_END {.name = NULL}
