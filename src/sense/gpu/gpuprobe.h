/*
 * Calls a driver's library from a child process. Such calls can block for ever inside the kernel, where even SIGKILL
 * has no effect, and a blocked thread keeps its whole process from ending. The child shares memory with us and writes
 * there which call it is in, and the sample value by value. A child that is late is given up and sent SIGKILL; the
 * values that it had read are kept.
 *
 * Each backend has one child, started at the first sample, which inherits none of our descriptors. Start it while the
 * process has one thread, because the child loads libraries after the fork. Functions return 0 or a negative errno;
 * an absent, late or dead driver is reported in the set.
 */
#pragma once

#include "sense/gpu/gpu.h"
#include "sense/world.h"

/* The library call that the child is in. Only the child writes it. */
struct gpu_call {
	_Atomic(const char *) name; /* a literal, at the same address in both processes */
	_Atomic uint64_t since_ns; /* CLOCK_MONOTONIC; 0: in no call */
};

void gpu_call_begin(struct gpu_call *c, const char *name);
void gpu_call_end(struct gpu_call *c);

struct gpu_backend {
	const char *name; /* "NVML" */
	const char *library; /* "libnvidia-ml.so.1"; for messages */
	/* Runs in the child and adds a line to out->driver. sample is called only if that line's state is READY. */
	void (*open)(const struct world *w, struct gpu_call *call, void **ret_state, struct gpu_set *out);
	/* Appends to out device by device, so that out->n is right at every moment. */
	void (*sample)(void *state, struct gpu_set *out);
};

extern const struct gpu_backend gpu_backend_nvml;
extern const struct gpu_backend gpu_backend_dcmi;
extern const struct gpu_backend gpu_backend_files; /* amdgpu, i915, xe … through the kernel's files */

struct gpuprobe_limits {
	uint64_t call_ns; /* the longest time for one call */
	uint64_t total_ns; /* the longest time for a whole sample */
};

struct gpuprobe {
	const struct gpu_backend *backend;
	const struct world *world;
	struct gpuprobe_limits limits;
	pid_t pid; /* 0: none */
	pid_t left; /* a child that was given up and has not ended yet; 0: none */
	int fd;
	struct gpuprobe_shared *shared;
	uint64_t asked_ns;
	uint64_t retry_ns; /* not started again before this time; 0: any time */
};

void gpuprobe_init(struct gpuprobe *p, const struct gpu_backend *backend, const struct world *w,
		   struct gpuprobe_limits limits);
/* Begins a sample; starts the child if there is none. Several probes can sample at the same time. */
int must_check gpuprobe_ask(struct gpuprobe *p);
/* Appends the result to *set. Returns within the limits even if the driver blocks. */
void gpuprobe_collect(struct gpuprobe *p, struct gpu_set *set);
/* Kills the child; waits at most 100 ms for its end. */
void gpuprobe_stop(struct gpuprobe *p);
