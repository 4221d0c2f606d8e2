/*
 * What launchers put in front of a line of a job's output, and colours:
 * "[rank3]:", "[default0]:" (torchrun), "3: " (srun -l), "[1,3]<stdout>:"
 * (mpirun), "(RayTrainWorker pid=12, ip=…)", "Rank:3", "[Rank 3]". And the time,
 * where a line has one with year and day. Pure; borrowed spans.
 */
#pragma once

#include "base/text.h"
#include "sense/rank.h"

struct logline {
	struct span text; /* behind what was understood */
	int32_t rank; /* NO_RANK */
	bool local_rank; /* rank counts within its node */
	uint64_t pid; /* 0 unknown */
	bool has_time;
	int64_t time_unix_ms; /* a time without a zone is taken as UTC */
	bool has_ms; /* and it is no whole second that was cut */
};

void logline_parse(struct span line, struct logline *ret);

/* Takes terminal control sequences out of a stream, in place, whatever the cuts of its blocks. */
struct ansi {
	uint8_t state;
};

/* The new length. */
size_t ansi_strip(struct ansi *a, char *text, size_t len);
