/*
 * Gathers what `vigil gpus` shows: every backend asked at the same time, each
 * in a process of its own, the processes on the devices brought together with
 * the jobs they belong to, and the Xids of the kernel log.
 */
#pragma once

#include "agent/jobs/members.h"
#include "base/fault.h"
#include "model/memory/footprint.h"
#include "model/gpu/gpuview.h"
#include "sense/gpu/gpuprobe.h"

struct gpus_want {
	const struct members_want *members; /* NULL: the whole node */
	const char *subject;
	uint64_t call_ns; /* how long one call of a driver may take; all of them together twice that */
};

/* *ret is calloc'ed by the caller. That a driver is absent, late or dead is no failure. */
int must_check gpus_gather(const struct world *w, const struct gpus_want *want, struct gpuview *ret, struct fault *f);

/*
 * GPU memory by process, for `vigil mem`: asked first and collected last, so
 * that drivers work while vigil reads the rest. Nothing is forked or loaded
 * where no driver's device file is there; a driver that is late is left out.
 * Ask while the process has one thread.
 */
#define GPUS_BACKENDS 3
struct gpus_memory {
	struct gpuprobe probe[GPUS_BACKENDS];
	size_t n;
};
void gpus_memory_ask(const struct world *w, struct gpus_memory *ret);
/* Sets gpu_bytes of the rows that are on a device, summed over devices. */
void gpus_memory_collect(struct gpus_memory *m, const struct world *w, struct footprint_row *rows, size_t n);
/* A probe for each driver whose device file is here, not started yet; for who samples again and again. */
size_t gpus_probes_init(const struct world *w, struct gpuprobe_limits limits, struct gpuprobe *ret, size_t cap);
