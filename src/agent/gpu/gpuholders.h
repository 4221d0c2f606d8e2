/*
 * What processes have of device files, remembered: finding it out costs a
 * look at each descriptor, for large programs also at all mappings and the
 * environment. Read anew after ten seconds, or after a minute once something
 * was found: a program keeps its devices.
 */
#pragma once

#include "model/gpu/gpuclaim.h"
#include "sense/world.h"

#define GPUHOLDERS_ROWS 512
#define GPUHOLDERS_VISIBLE 192

struct gpuholders {
	struct gpuholder {
		pid_t pid; /* 0: unused; of two with the same place the last one stays */
		uint64_t read_ns;
		struct gpuheld open, mapped;
		bool has_visible, by_bus;
		char visible[GPUHOLDERS_VISIBLE]; /* CUDA_VISIBLE_DEVICES as at its start */
	} row[GPUHOLDERS_ROWS];
};

/*
 * Into open, mapped and visible of *rank: what these processes have together. visible is borrowed until the next call.
 * h may be NULL: then nothing is remembered, and *scratch takes its place.
 */
void gpuholders_read(struct gpuholders *h, const struct world *w, const pid_t *pids, size_t n,
		     struct gpuclaim_rank *rank, struct gpuholder *scratch);
