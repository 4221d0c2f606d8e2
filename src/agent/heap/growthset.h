/*
 * `vigil heap JOB|PID --what growth`: agent/heap/growth over the processes of a
 * job, or a process and its descendants, as a set of who holds memory, so that
 * it is shown like a heap profile. Amounts are in `total`; their intervals are
 * those of a count of samples, which is wider than what the kernel's even
 * distances give.
 */
#pragma once

#include "agent/heap/growth.h"
#include "agent/jobs/members.h"
#include "model/heap/heapset.h"

#define GROWTH_PROCESSES_MAX 512 /* the rest is left out, and a remark says so */

struct growthset_want {
	const struct members_want *members;
	uint64_t duration_ns;
	const volatile bool *stop;
};

/* *ret is the caller's; remark: a sentence on what is missing, or "". As growth_record. */
int must_check growthset_record(const struct world *w, const struct growthset_want *want, struct heapset **ret,
				char remark[static 300], struct fault *f);
