/* The last lines of what a job printed in its newest attempt, for its report. */
#pragma once

#include "base/json.h"
#include "model/jobs/job.h"

/*
 * An array of {"rank", "attempt", "stream", "lines", "earlier_bytes"}, owned by the caller; empty if nothing is kept.
 * The victim and the culprit ranks of lead (a "vigil.incident/1", NULL: none) come first. ret_left_out: files in which
 * there is something, and which are not in it, as there are too many.
 */
struct js *report_output(const char *state_dir, const struct job *j, const struct js *lead, uint64_t *ret_left_out);
