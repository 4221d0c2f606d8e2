/*
 * Where `vigil heap` writes a set of profiles: stdout or a file, as a table, a picture, data, or the profiles
 * themselves.
 */
#pragma once

#include "sense/world.h"
#include "tell/heap/heap_show.h"

enum heap_format { HEAP_TABLE, HEAP_HTML, HEAP_SVG, HEAP_FOLDED, HEAP_PPROF, HEAP_JSON };
enum heap_by { HEAP_BY_JOB, HEAP_BY_RANK, HEAP_BY_PROCESS };

extern const char *const heap_format_choices[];
extern const char *const heap_by_choices[];

/* The names of a set of profiles in sentences and in names of files. */
struct heap_name {
	char title[256]; /* "job train-3f2a", "process 812", a path */
	char key[96]; /* the job's id, "pid-812", "file" */
};

struct heap_write_want {
	const struct world *world;
	const struct heapset *set;
	const struct heap_show_want *show;
	const struct heap_name *name;
	const char *output; /* --output or NULL */
	int format; /* enum heap_format; -1: by the suffix of output, else a table */
	bool json_flag; /* --json was given: a terminal is fine as the output */
	enum heap_by by;
};

/* Write it, and log where to. Returns the exit status. */
int heap_write_out(const struct heap_write_want *want);
