/*
 * What the memory of the whole machine moved while a job was watched, what it could move at most, and how much of it
 * was the job's. Bytes are a second.
 */
#pragma once

#include "base/base.h"

enum speed_traffic_source {
	SPEED_TRAFFIC_UNSEEN,
	SPEED_TRAFFIC_CONTROLLERS, /* counted by the memory controllers: all that is moved */
	SPEED_TRAFFIC_CACHES, /* counted behind the last caches of processors: without what devices move */
};

/* Why it was not seen. */
enum speed_traffic_why {
	SPEED_TRAFFIC_ABSENT, /* the machine has no such counters that are known here */
	SPEED_TRAFFIC_DENIED, /* they are there, and may not be used: not root, or a container */
	SPEED_TRAFFIC_REFUSED, /* the kernel would not open them */
	SPEED_TRAFFIC_STILL, /* they stood still, or said that they have no number */
};

struct speed_traffic {
	enum speed_traffic_source source;
	enum speed_traffic_why why; /* of SPEED_TRAFFIC_UNSEEN */
	double bytes;
	double reads, writes; /* 0 both: they are not told apart */
	bool least; /* some counters did not count: bytes are too few */
	double limit_bytes; /* never too low; 0: not known */
	uint32_t channels; /* that the limit counts */
	/* Packages, or parts of them, with controllers of their own: the busiest has part_bytes. 0: not told apart. */
	uint32_t parts;
	double part_bytes;
	bool has_job; /* the job's tasks have groups of resource control for themselves */
	double job_bytes;
};
