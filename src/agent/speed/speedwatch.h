/*
 * Watches a job for some seconds: what each of its threads costs, and what each of them does at many instants. Nothing
 * is stopped or changed. What may not be read is left out and counted. For `vigil doctor JOB|PID`.
 */
#pragma once

#include "agent/jobs/members.h"
#include "base/fault.h"
#include "model/speed/speedfacts.h"

struct speedwatch_want {
	const struct members_want *members;
	uint64_t for_ns;
	const volatile bool *stop; /* set by a signal handler: what was seen until then counts; may be NULL */
	void (*progress)(void *ctx, uint64_t left_ns); /* about ten times a second; may be NULL */
	void *ctx;
};

enum {
	SPEEDWATCH_NONE = 4, /* no process of it runs */
};

/* WORLD_DENIED: none of its processes may be looked into; SPEEDWATCH_NONE, -errno. The fault says why. */
int must_check speedwatch_take(const struct world *w, const struct speedwatch_want *want, struct speedfacts *ret,
			       struct fault *f);
