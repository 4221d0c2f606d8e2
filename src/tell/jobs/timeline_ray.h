/*
 * The tasks of `ray timeline` in the timeline of a job: a lane for each of Ray's nodes, a row for each worker, on the
 * job's clock. Ray's times are of the wall clock, as the job's start is.
 */
#pragma once

#include "model/speed/tracefacts.h"
#include "tell/jobs/trace_json.h"

/* Lanes from here on are Ray's; ranks have lower ones. */
#define TIMELINE_RAY_LANE (INT64_C(1) << 30)

/*
 * What lies between the two times (Unix ms) is written, cut at them; and how many tasks that are. Write errors stay in
 * the stream. -ENOMEM.
 */
int must_check timeline_ray(const struct tracefacts *ray, int64_t began_ms, int64_t until_ms, struct trace_json *to,
			    size_t *ret_tasks);
