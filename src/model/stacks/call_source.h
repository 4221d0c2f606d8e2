/*
 * Where call counts come from: one process and its profile, written by the plugin in the process
 * (plugins/python/vigil_calls.py) or by a person. Plain data; call_sources owns its items.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

struct call_source {
	char path[512]; /* of the .prof file */
	bool typed; /* a person named the file itself, not its folder */
	int32_t rank; /* NO_RANK */
	pid_t pid; /* 0: unknown */
	char role[16]; /* "main", "fork"; "": unknown */
	char process[64]; /* its name in multiprocessing: "Process-1"; "": none */
	char python[24]; /* "3.11.2"; "": unknown */
	char command[256]; /* arguments joined by blanks; "": unknown */
	char aside[200]; /* why the process was not counted, or not to its end; "": it was */
	char fault[200]; /* why the file could not be read; "": it was */
	int64_t started_unix_ms; /* 0: unknown */
	bool has_profile; /* there is a file at path */
	bool has_note; /* the plugin wrote the fields above beside the profile */
	bool complete; /* written at the end of the process, not while it ran */
	bool threads_mixed; /* several threads were counted on one stack: counts are right, times are not */
};

struct call_sources {
	struct call_source *items; /* by rank, start, pid */
	size_t n, cap;
};

static inline void call_sources_done(struct call_sources *s)
{
	free(s->items);
	*s = (struct call_sources){.items = NULL};
}
