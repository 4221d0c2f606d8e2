/* Whether a job is well (model/jobs/health). Pure. */
#pragma once

#include "model/jobs/health.h"
#include "model/jobs/steppace.h"

/* No step for as long as a hundred of them take, and for at least this time: the job is quiet. */
#define HEALTH_QUIET_MS (60 * 1000)
/* More than any pause between attempts. */
#define HEALTH_RETRY_MOST_MS ((uint64_t)366 * 86400 * 1000)
/* A warning of memory holds so long; it is repeated while it lasts. */
#define HEALTH_WARNING_MS (120 * 1000)
/* A suspicion is dropped by the next step, and where none are printed after this time. */
#define HEALTH_SUSPICION_MS (INT64_C(10) * 60 * 1000)
/* A slow rank that was reported longer ago is no news. */
#define HEALTH_SLOW_MS (INT64_C(15) * 60 * 1000)

/*
 * A rate is as usual within these parts of the usual one (model/jobs/steppace says what that is, and when too little is
 * known). Of a minute one step more or less may be by chance.
 */
#define HEALTH_SLOWER 0.8
#define HEALTH_FASTER 1.25

void health_judge(const struct health_facts *f, struct health *ret);
/* Takes over what an event of the job says of it. Events come in their order. */
void health_event(struct health_facts *f, const struct job_event *e);
/* True for a cause whose end is told: as long as it is not, it lasts. */
bool health_lasts(const char *cause);
/* The job's newest report is its trouble. */
void health_trouble(struct health_facts *f, const struct incident *in);
