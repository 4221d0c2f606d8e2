/*
 * Parses the prefixes that launchers write before a line of a job's output: "[rank3]:", "[default0]:" (torchrun),
 * "3: " (srun -l), "[1,3]<stdout>:" (mpirun), "(RayTrainWorker pid=12, ip=…)", "Rank:3", "[Rank 3]"; the rank that a
 * program names itself (sense/log/logrank); the time of a line, if it has year and day; and removes terminal colours.
 * Pure; spans are borrowed from the line.
 */
#pragma once

#include "base/text.h"
#include "sense/rank.h"

struct logline {
	struct span text; /* the rest after the prefixes */
	int32_t rank; /* NO_RANK */
	bool local_rank; /* rank is the number within its node */
	uint64_t pid; /* 0: unknown */
	bool has_time;
	int64_t time_unix_ms; /* taken as UTC, because these forms have no zone */
	bool has_ms; /* the time has milliseconds; false: whole seconds */
};

void logline_parse(struct span line, struct logline *ret);

/* State of removing terminal control sequences from a stream; a sequence may be split between two blocks. */
struct ansi {
	uint8_t state;
};

/* Removes the sequences from a block in place; returns the new length. */
size_t ansi_strip(struct ansi *a, char *text, size_t len);
