/*
 * Samples of the node's accelerators and InfiniBand ports for the hang watcher:
 * every 10 s while a job moves, every 2 s while one stands still. Drivers are
 * asked in processes of their own, with a deadline (sense/gpu/gpuprobe); on a
 * machine without drivers no process is started.
 */
#pragma once

#include "agent/gpu/gpuholders.h"
#include "agent/hang/hangshm.h"
#include "model/hang/liveness.h"
#include "sense/gpu/gpuprobe.h"
#include "sense/net/ibport.h"

#define HANGDEVICES_BACKENDS 3

struct hangdevices {
	struct gpuprobe probe[HANGDEVICES_BACKENDS];
	size_t n_probes;
	struct gpu_set *set, *fresh; /* the newest sample; NULL until there is one */
	bool pids_foreign; /* the drivers' pids are of another namespace */
	struct gpuholders *holders; /* NULL without a driver */
	bool has_rdma;
	struct ibport port[IBPORT_MAX];
	size_t n_ports;
	uint64_t sampled_ns; /* 0: never */
};

/* Call it while the process has one thread. */
void hangdevices_open(struct hangdevices *d, const struct world *w);
/* Takes a sample if it is due. calm: the job moves. */
void hangdevices_sample(struct hangdevices *d, const struct world *w, bool calm, uint64_t now_ns);
/* Adds the counters of all ports to the sample. */
void hangdevices_ports(const struct hangdevices *d, struct liveness_sample *ret);
/*
 * Finds the devices of a rank. pids: its processes, sorted. own: those that open devices themselves; a loader does not
 * count, because it inherits open devices.
 */
struct gpuclaim hangdevices_claim(struct hangdevices *d, const struct world *w, const pid_t *pids, size_t n,
				  const pid_t *own, size_t n_own);
/* Publishes the newest sample of the devices whose bit is set; rank: whose they are. */
void hangdevices_publish(const struct hangdevices *d, const struct world *w, uint32_t devices,
			 const int32_t rank[static GPU_MAX], uint32_t attempt, struct hang_devices *to);
/* Another job or attempt has none yet. */
void hangdevices_forget(struct hang_devices *to);
/* Sets the counters of a rank from its devices: means, the lowest clock, the sum of energy. */
void hangdevices_fill(const struct hangdevices *d, struct gpuclaim claim, struct liveness_counters *seen);
/* True if any of the processes has a device open; for drivers that report no processes. */
bool hangdevices_any_open(struct hangdevices *d, const struct world *w, const pid_t *pids, size_t n);
/*
 * Copies the samples of the devices whose bit is set in `devices`, and findings and events of those in `ever` as well:
 * a device that its driver has given up belongs to no process any more. findings: also those about a driver as a whole.
 */
void hangdevices_of(const struct hangdevices *d, uint32_t devices, uint32_t ever, bool findings, struct gpu_set *ret);
