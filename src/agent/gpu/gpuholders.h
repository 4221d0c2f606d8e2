/*
 * A cache of the device files that processes have open. Reading them costs a
 * readlink for each descriptor, for programs with several devices also all
 * mappings and the environment. A row is read again after 10 s, or after 60 s
 * if it has devices: a program keeps its devices.
 */
#pragma once

#include "model/gpu/gpuclaim.h"
#include "sense/world.h"

#define GPUHOLDERS_ROWS 512
#define GPUHOLDERS_VISIBLE 192

struct gpuholders {
	struct gpuholder {
		pid_t pid; /* 0: unused; of two pids with the same row the last one stays */
		uint64_t read_ns;
		struct gpuheld open, mapped;
		bool has_visible, by_bus;
		char visible[GPUHOLDERS_VISIBLE]; /* CUDA_VISIBLE_DEVICES as at its start */
	} row[GPUHOLDERS_ROWS];
};

/*
 * Joins the devices of these processes into open, mapped and visible of *rank. visible is borrowed until the next call.
 * h NULL: nothing is cached, and *scratch holds the row.
 */
void gpuholders_read(struct gpuholders *h, const struct world *w, const pid_t *pids, size_t n,
		     struct gpuclaim_rank *rank, struct gpuholder *scratch);
