/*
 * A driver's library in a process of its own. Its calls can block for ever
 * inside the kernel, out of reach even of SIGKILL; a thread that does so keeps
 * its whole process from ending. So the calls are made by a child that shares
 * one piece of memory with us: it writes there which call it is in, and the
 * sample value by value. A child that is late is given up (and killed, should
 * that work); what it had read by then counts.
 *
 * One child a backend, started at the first sample, with no descriptors of
 * ours. Start it while the process has one thread: libraries are loaded after
 * the fork. Functions return 0 or a negative errno; that a driver is absent,
 * late or dead is told in the set.
 */
#pragma once

#include "sense/gpu/gpu.h"
#include "sense/world.h"

/* The call that the child is in. Written by the child alone. */
struct gpu_call {
	_Atomic(const char *) name; /* a literal of ours: at the same address in both processes */
	_Atomic uint64_t since_ns; /* CLOCK_MONOTONIC; 0: in none */
};

void gpu_call_begin(struct gpu_call *c, const char *name);
void gpu_call_end(struct gpu_call *c);

struct gpu_backend {
	const char *name; /* "NVML" */
	const char *library; /* "libnvidia-ml.so.1"; for people */
	/* In the child. driver->state tells whether sample will be called. */
	void (*open)(const struct world *w, struct gpu_call *call, void **ret_state, struct gpu_set *out);
	/* Appends to out, whose driver lines are filled; device by device, so that n is right at every instant. */
	void (*sample)(void *state, struct gpu_set *out);
};

extern const struct gpu_backend gpu_backend_nvml;
extern const struct gpu_backend gpu_backend_dcmi;
extern const struct gpu_backend gpu_backend_files; /* amdgpu, i915, xe … through the kernel's files */

struct gpuprobe_limits {
	uint64_t call_ns; /* a single call may take so long */
	uint64_t total_ns; /* and all of them together */
};

struct gpuprobe {
	const struct gpu_backend *backend;
	const struct world *world;
	struct gpuprobe_limits limits;
	pid_t pid; /* 0: none */
	pid_t left; /* one that was given up and has not ended yet; 0: none */
	int fd;
	struct gpuprobe_shared *shared;
	uint64_t asked_ns;
	uint64_t retry_ns; /* not to be started again before; 0: any time */
};

void gpuprobe_init(struct gpuprobe *p, const struct gpu_backend *backend, const struct world *w,
		   struct gpuprobe_limits limits);
/* Begin a sample; starts the child if there is none. Several probes work at the same time. */
int must_check gpuprobe_ask(struct gpuprobe *p);
/* Its result behind what *set has. Returns within the limits, whatever the driver does. */
void gpuprobe_collect(struct gpuprobe *p, struct gpu_set *set);
/* Never waits for the child. */
void gpuprobe_stop(struct gpuprobe *p);
