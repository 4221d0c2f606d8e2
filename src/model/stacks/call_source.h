/*
 * Where call counts came from: one process and its profile, as the plugin in
 * the process (plugins/python/vigil_calls.py) or a person left it. Plain data.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

struct call_source {
	char path[512]; /* of the .prof file */
	int32_t rank; /* NO_RANK */
	pid_t pid; /* 0: unknown */
	char role[16]; /* "main", "fork"; "" unknown */
	char process[64]; /* name it has in multiprocessing: "Process-1"; "" */
	char python[24]; /* "3.11.2"; "" */
	char command[256]; /* arguments joined by blanks; "" */
	char aside[200]; /* why the process was not counted, or only until then; "" */
	char fault[200]; /* why the file could not be read; "" */
	int64_t started_unix_ms; /* 0: unknown */
	bool has_profile; /* there is a file at path */
	bool has_note; /* the plugin said more than the numbers: the fields above */
	bool complete; /* written as the process ended, not while it ran */
	bool threads_mixed; /* several threads share one stack: counts are right, times are not */
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
