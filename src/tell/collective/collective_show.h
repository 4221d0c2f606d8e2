/* A verdict about a job's collectives for people, and as "vigil.collectives/1" (docs/json.md). */
#pragma once

#include <stdio.h>

#include "base/json.h"
#include "model/collective/collective.h"

struct collective_show {
	const struct collective_set *set;
	const struct collective_verdict *verdict; /* invalid: nothing could be judged */
	const char *subject; /* "job train-3f2a"; "" files */
	const char (*notes)[320];
	size_t n_notes;
};
void collective_text_show(const struct collective_show *c, FILE *to);
struct js *collective_json(const struct collective_show *c);
