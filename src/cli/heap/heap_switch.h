/*
 * The part of `vigil heap` that changes something: it switches the sampling of a running job on and off, loads the
 * library into a process, and gives the process its own functions back.
 */
#pragma once

#include "cli/options/option.h"
#include "cli/options/subject.h"

struct heap_switch {
	bool attach, detach, start, stop;
	uint64_t rate; /* bytes a sample; UINT64_MAX: not given */
};

#define HEAP_SWITCH_DEFAULTS {.rate = UINT64_MAX}

/* Rows for an option table whose struct S holds a struct heap_switch named `change`. */
#define HEAP_SWITCH_OPTIONS(S)                                                                                         \
	{.name = "attach",                                                                                             \
	 .type = OPTION_FLAG,                                                                                          \
	 .help = "load the sampler into processes that run already; sees what is allocated from then on",              \
	 .offset = offsetof(S, change.attach)},                                                                        \
	{.name = "detach",                                                                                             \
	 .type = OPTION_FLAG,                                                                                          \
	 .help = "end that, and give the program its own calls back",                                                  \
	 .offset = offsetof(S, change.detach)},                                                                        \
	{.name = "start",                                                                                              \
	 .type = OPTION_FLAG,                                                                                          \
	 .help = "begin to sample in a job of vigil run --heap-dormant or --heap",                                     \
	 .offset = offsetof(S, change.start)},                                                                         \
	{.name = "stop",                                                                                               \
	 .type = OPTION_FLAG,                                                                                          \
	 .help = "sample no more; what there is stays",                                                                \
	 .offset = offsetof(S, change.stop)},                                                                          \
	{.name = "rate",                                                                                               \
	 .type = OPTION_SIZE,                                                                                          \
	 .arg = "SIZE",                                                                                                \
	 .help = "with --attach and --start: one sample for each SIZE of memory that is asked for",                    \
	 .offset = offsetof(S, change.rate)}

/* True if the options ask for a change, instead of a profile to show. */
bool heap_switch_wanted(const struct heap_switch *o);
/* Make the change and log what was done. Returns the exit status. */
int heap_switch_run(const struct world *w, const char *state, const struct subject *s, const struct heap_switch *o);
