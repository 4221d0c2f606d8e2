/* A task of a bag, while it waits and while it runs, and what is known of the memory of all. */
#pragma once

#include "agent/map/mapinputs.h"
#include "agent/map/mapoutput.h"
#include "model/jobs/job.h"
#include "model/map/forecast.h"
#include "sense/memory/cgroup.h"

struct map_task {
	struct map_task *next; /* of those that wait to be tried again */
	uint64_t seq;
	struct map_args args;
	uint32_t tries, kills; /* kills: for memory, to make room for others */
	bool has_size; /* its input is a file, or a block of a stream */
	uint64_t size_bytes;
	struct forecast_need need;
	uint64_t reserve_bytes; /* at least so much is expected, after it was ended for memory */
};

/* Why we ended it. */
enum map_why { MAP_WHY_NONE, MAP_WHY_TIMEOUT, MAP_WHY_STOP, MAP_WHY_MEMORY, MAP_WHY_TOO_BIG };

struct map_runner {
	struct map_task *task;
	pid_t pid;
	uint32_t slot; /* from 1 */
	int64_t started_unix_ms;
	uint64_t started_ns;
	struct map_files files;
	char *line; /* the command, for the joblog */
	enum map_why why;
	uint64_t kill_ns; /* SIGKILL then; 0: it was not asked to end */
	uint64_t own_bytes, peak_bytes;
	struct forecast_need need;
	double held_byte_s; /* own memory over time, for its average */
	uint32_t n_looks;
	uint64_t grew_ns; /* when it was last seen to have grown */
	uint64_t looked_ns;
	uint32_t group; /* number of its control group; 0: none */
	bool suspended;
	bool frozen; /* by its group; else it was stopped */
	uint64_t suspended_since_ns, suspended_ns; /* suspended time does not count for --timeout */
	bool has_row;
	struct job_process row;
};

/* map_memory.c */
struct map_memory {
	int meminfo_fd;
	struct cgroup_chain chain;
	uint64_t room_bytes; /* for all tasks, at the last look */
	size_t n_processors; /* for all tasks: no more than the quota of their group, rounded up */
	uint64_t used_bytes, grow_bytes_per_s; /* by all tasks */
	uint64_t looked_ns, next_ns; /* the last look and the next */
	struct forecast forecast;
	double share_ratio; /* model/map/forecast */
	bool share_stale;
	uint64_t peak_bytes; /* of any task so far */
	uint64_t most_bytes; /* that tasks held together */
	uint64_t suspends;
};

/* map_bar.c: progress on a terminal */
struct map_bar {
	bool on, drawn;
	uint64_t begun_ns, next_ns;
};
