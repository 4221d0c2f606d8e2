/* What a person asked of `vigil map`. Plain data made by cli, borrowed for the whole run. */
#pragma once

#include "base/base.h"
#include "judge/map/halt.h"
#include "model/map/template.h"

#define MAP_SOURCES 16
#define MAP_SLOTS 1024 /* tasks at a time */

struct map_source {
	char *const *item; /* n of them, after ::: */
	size_t n;
	const char *path; /* or a file, one input a line; "-": stdin */
	bool linked; /* goes side by side with the one before it: the first with the first, … */
};

/* How many inputs a task gets, and what it is given them as. */
enum map_many {
	MAP_ONE, /* one of each source, or so many as are asked for */
	MAP_CONTEXT, /* -X: as many as fit into a line; a word with {} inside is repeated */
	MAP_PARTED, /* -m: as many as fit; a word with {} inside is parted */
};

/* --results: folders, or a table. */
enum map_results { MAP_FOLDERS, MAP_CSV, MAP_TSV, MAP_JSON };

enum map_output { MAP_GROUP, MAP_LINES, MAP_UNGROUP };

struct map_spec {
	const struct template *template;
	struct map_source source[MAP_SOURCES];
	size_t n_sources;
	char delimiter;
	bool split_items; /* the delimiter was given: it splits what follows ::: as well */
	bool link; /* linked sources that are shorter begin again; else the shortest one counts */
	const char *columns; /* regular expression that parts an input into several; NULL: none */
	uint32_t per_task; /* inputs of one task (-N); 0: one of each source */
	enum map_many many;
	bool spread; /* the last of them are spread over all slots */
	uint64_t line_bytes; /* of a command, with as many inputs as fit */
	bool pipe; /* the source is cut into blocks, which tasks have as their stdin */
	uint64_t block_bytes; /* at most, unless a record is longer; with per_task records count */
	const char *record_end; /* what a record ends with */
	bool shuffle;

	uint32_t slots;
	const char *slots_path; /* a file that says how many, and is read again as tasks end; NULL: none */
	uint32_t gpus_per_task;
	uint64_t delay_ns;
	uint64_t timeout_ns; /* 0: none */
	double timeout_ratio; /* of the median; 0: none */
	uint32_t tries; /* a failing task is run so often in all, at least 1 */
	struct halt halt;
	uint64_t memory_limit_bytes; /* of all tasks together; UINT64_MAX: what the machine has */

	enum map_output output;
	bool keep_order, tag, dry_run, bar, eta;
	const char *results; /* folder, or file of a table, of which "-" is stdout; NULL: none */
	enum map_results results_as;
	const char *joblog; /* file; NULL: none */
	bool resume, resume_failed;
	bool retry_failed; /* the tasks are those that the joblog says have failed */

	char *const *words; /* the command as typed */
	const char *state_dir, *name;
	bool quiet, json;
};
