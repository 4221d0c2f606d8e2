/*
 * Runs agent/heap/growth over the processes of a job, or over a process and its descendants, for `vigil heap JOB|PID
 * --what growth`. The result is a set like that of a heap profile: model/heap/heapgrowth.
 */
#pragma once

#include "agent/heap/growth.h"
#include "agent/jobs/members.h"
#include "model/heap/heapset.h"

#define GROWTH_PROCESSES_MAX 512 /* more processes are left out, with a note */

struct growthset_want {
	const struct members_want *members;
	uint64_t duration_ns;
	const volatile bool *stop;
};

/* *ret is the caller's; remark: a sentence on what is missing, or "". Errors as growth_record. */
int must_check growthset_record(const struct world *w, const struct growthset_want *want, struct heapset **ret,
				char remark[static 300], struct fault *f);
