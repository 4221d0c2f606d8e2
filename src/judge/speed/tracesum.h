/* The numbers of a trace that its judge decides by. */
#pragma once

#include "judge/speed/tracejudge.h"

/* A task that is shorter is hardly worth handing out. */
#define TRACE_WORTH_S 0.010
#define TRACE_WORTH_DEVICE_S 20e-6

struct traceview {
	const struct tracefacts *f;
	struct tracesum sum;
	size_t *worker; /* rows; owned */
	double *busy_s; /* of each worker; owned */
	size_t busiest; /* index of worker */
	uint32_t name; /* of most of the work */
	size_t name_tasks; /* number of those tasks */
	uint32_t short_name; /* of most of the short tasks */
};

/* -ENOMEM. Free with traceview_done also then. */
int must_check traceview_make(const struct tracefacts *f, struct traceview *ret);
void traceview_done(struct traceview *v);
