/*
 * A dump of stacks for people (grouped: threads with the same stack are shown
 * once) and for programs ("vigil.stacks/1").
 */
#pragma once

#include <stdio.h>

#include "base/json.h"
#include "model/hang/waitgraph.h"
#include "model/stacks/stackdump.h"

struct stack_show {
	bool color;
	bool all_threads; /* false: idle pool threads with the same stack are folded to one line */
	bool locals;
	const struct waitgraph *waits; /* whom the threads wait for; NULL: not told */
	bool waits_late; /* the time was up before every Python was asked about its locks and tasks */
};
void stack_text(const struct stackdump *d, const struct stack_show *how, FILE *to);
/* waits: as above. */
struct js *stack_json(const struct stackdump *d, const struct waitgraph *waits);
/* The "stacks[]" array of vigil.incident/1: rank, pid, role, tid, thread, waits_for, frames[]. waits: as above. */
struct js *stack_incident_json(const struct stackdump *d, const struct waitgraph *waits);
