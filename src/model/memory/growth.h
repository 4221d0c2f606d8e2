/*
 * How a process has grown: a few points of its life, close at first and minutes apart later, from which is told by how
 * much it grew and over what time. A burst of half a second is no rate of a process that lives for an hour, and a
 * program that loads its data first and stands still afterwards does not grow.
 *
 * Pure, 16 points of 8 bytes, no allocation: kept for each process of the jobs by the guard (model/memory/unit).
 */
#pragma once

#include "base/base.h"

#define GROWTH_POINTS 16

struct growth_point {
	uint32_t at_ms; /* after the first point */
	uint32_t kib;
};

/* Zeroed by its owner at start. */
struct growth {
	struct growth_point point[GROWTH_POINTS]; /* oldest first */
	uint64_t first_ns;
	uint32_t step_ms; /* least distance of two points; doubles when the table is full */
	uint32_t n;
};

struct growth_said {
	int64_t bytes_per_s; /* grown_bytes over over_ns; 0: it does not grow, or nothing is known */
	int64_t grown_bytes; /* negative: it shrank */
	uint64_t over_ns; /* 0: nothing is known */
};

/* Adds a point; one that comes too soon after the last is left out. Times must not go back. */
void growth_add(struct growth *g, uint64_t mono_ns, uint64_t bytes);
/* It was found to have grown by so much more between two times: raises the points since then, evenly over that time. */
void growth_raise(struct growth *g, uint64_t from_ns, uint64_t to_ns, uint64_t bytes);
/*
 * By how much it grew in the later half of the time it is known for, up to now; all of it while that is short. Time in
 * which it stood still before it began to grow is not counted.
 */
struct growth_said growth_say(const struct growth *g, uint64_t mono_ns, uint64_t bytes);
