/*
 * Gathers what `vigil gpus` shows: the samples of all backends, which are asked
 * at the same time, each in a process of its own; the jobs of the processes on
 * the devices; and the Xids of the kernel's log.
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
	uint64_t call_ns; /* limit of one call of a driver; all calls together may take twice that */
};

/* *ret is zeroed by the caller. An absent, late or dead driver is no error. */
int must_check gpus_gather(const struct world *w, const struct gpus_want *want, struct gpuview *ret, struct fault *f);

/* False: there is no driver that could tell of a device, so none is worth a process of its own. */
bool gpus_are_here(const struct world *w);

/*
 * GPU memory of each process, for `vigil mem`: asked first and collected last,
 * so that drivers work while vigil reads the rest. A driver without a device
 * file is neither forked for nor loaded; a driver that is late is left out.
 * Call gpus_memory_ask while the process has one thread.
 */
#define GPUS_BACKENDS 3
struct gpus_memory {
	struct gpuprobe probe[GPUS_BACKENDS];
	size_t n;
};
void gpus_memory_ask(const struct world *w, struct gpus_memory *ret);
/* Sets gpu_bytes of the rows that are on a device, summed over devices. */
void gpus_memory_collect(struct gpus_memory *m, const struct world *w, struct footprint_row *rows, size_t n);
/* The same from a set that was gathered already. */
void gpus_memory_put(const struct gpu_set *set, struct footprint_row *rows, size_t n);
/*
 * Makes a probe for each driver whose device file exists, not started yet; for repeated samples. Returns their number.
 */
size_t gpus_probes_init(const struct world *w, struct gpuprobe_limits limits, struct gpuprobe *ret, size_t cap);
