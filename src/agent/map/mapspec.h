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
};

enum map_output { MAP_GROUP, MAP_LINES, MAP_UNGROUP };

struct map_spec {
	const struct template *template;
	struct map_source source[MAP_SOURCES];
	size_t n_sources;
	char delimiter;
	bool split_items; /* the delimiter was given: it splits what follows ::: as well */
	uint32_t per_task; /* inputs of one task (-N); 0: one of each source */
	bool shuffle;

	uint32_t slots;
	uint32_t gpus_per_task;
	uint64_t delay_ns;
	uint64_t timeout_ns; /* 0: none */
	double timeout_ratio; /* of the median; 0: none */
	uint32_t tries; /* a failing task is run so often in all, at least 1 */
	struct halt halt;
	uint64_t memory_limit_bytes; /* of all tasks together; UINT64_MAX: what the machine has */

	enum map_output output;
	bool keep_order, tag, dry_run, bar, eta;
	const char *results; /* folder; NULL: none */
	const char *joblog; /* file; NULL: none */
	bool resume, resume_failed;

	char *const *words; /* the command as typed */
	const char *state_dir, *name;
	bool quiet, json;
};
